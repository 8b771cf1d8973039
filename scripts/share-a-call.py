#!/usr/bin/env python3
"""What several passages a call do to the facts that a real model finds.

    python scripts/share-a-call.py MALHA ROWS ONTOLOGIES [--each 20] [--together 0,400,800] [--work FOLDER]
                                   [--threads 2] [--endpoint URL --model NAME]

ROWS {ontology, sentence, gold: [[subject, relation, object]]} and ONTOLOGIES {ontology: {concepts, relations}} are JSON
lines (gzip or plain) as Text2KGBench has them. Every sentence becomes a note; the notes of an ontology are extracted
with its relations as schema (the gold gives no types), once for each value of `[extraction] together_tokens`. Prints calls, tokens, seconds, and
precision and recall against the gold facts, names and relations compared folded.

The model is that of extract-with-a-small-model.py, which see; with --endpoint another OpenAI-compatible server is asked.
"""

import argparse
import gzip
import importlib.util
import json
import re
import shutil
import tempfile
import time
import unicodedata
from pathlib import Path

small = importlib.util.spec_from_file_location("small", Path(__file__).with_name("extract-with-a-small-model.py"))
SMALL = importlib.util.module_from_spec(small)
small.loader.exec_module(SMALL)


def rows(path):
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
    with opened as lines:
        return [json.loads(line) for line in lines]


def folded(name):
    """A name as both sides write it: no case, accents, signs, nor what stands in brackets behind it."""
    name = re.sub(r"\s*\([^)]*\)\s*$", "", name.replace("_", " ").strip().strip('"'))
    name = unicodedata.normalize("NFKD", name).lower()
    return re.sub(r"[\W_]+", "", "".join(c for c in name if not unicodedata.combining(c)))


def schema(ontology):
    labels = sorted({relation["label"] for relation in ontology["relations"]})
    return "".join(f"[relation.{json.dumps(label)}]\n" for label in labels)


def extract(program, folder, sentences, ontology, together, url, model):
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "notes").mkdir(parents=True)
    for number, row in enumerate(sentences):
        (folder / "notes" / f"note {number:03}.md").write_text(row["sentence"] + "\n")
    (folder / "schema.toml").write_text(schema(ontology))
    (folder / "malha.toml").write_text(
        f'[models]\nprovider = "openai"\nbase_url = "{url}"\nmodel = "{model}"\nconcurrency = 1\n'
        "timeout_ms = 3600000\nretries = 1\n"
        f"[extraction]\nmax_output_tokens = 1500\ntogether_tokens = {together}\n"
    )
    start = time.time()
    _, report = SMALL.malha(program, folder, "index", "notes", "--extract", "llm")
    seconds = time.time() - start
    _, review = SMALL.malha(program, folder, "review", "extraction", "--sample", "100000")
    found = {(folded(fact["source"]), folded(fact["type"]), folded(fact["target"])) for fact in review["sample"]}
    return report["extract"], found, seconds


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("malha", type=Path)
    arguments.add_argument("rows", type=Path)
    arguments.add_argument("ontologies", type=Path)
    arguments.add_argument("--each", type=int, default=20, help="sentences of each ontology")
    arguments.add_argument("--only", default="1_movie,3_sport,4_book", help="ontologies")
    arguments.add_argument("--together", default="0,400,800")
    arguments.add_argument("--work", type=Path, help="where packages and stores go (a temporary folder)")
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--endpoint", help="base URL of a server that is running already")
    arguments.add_argument("--model", default=SMALL.NAME)
    given = arguments.parse_args()
    program = str(given.malha.resolve())
    temporary = tempfile.TemporaryDirectory()
    work = (given.work or Path(temporary.name)).resolve()
    work.mkdir(parents=True, exist_ok=True)
    ontologies = {row["id"].split("/")[-1]: row["ontology"] for row in rows(given.ontologies)}
    by_ontology = {}
    for row in rows(given.rows):
        by_ontology.setdefault(row["ontology"], []).append(row)
    server, url = None, given.endpoint
    try:
        if url is None:
            server, url = SMALL.start_server(work, given.threads)
        print("together  calls  tokens of prompts  of replies  seconds  facts  precision  recall")
        for together in map(int, given.together.split(",")):
            calls = prompts = replies = hits = facts = gold = 0
            took = 0.0
            for name in given.only.split(","):
                sentences = by_ontology[name][: given.each]
                report, found, seconds = extract(
                    program, work / f"sharing-{together}-{name}", sentences, ontologies[name], together, url, given.model
                )
                wanted = {tuple(map(folded, fact)) for row in sentences for fact in row["gold"]}
                calls += report["spent"]["calls"]
                prompts += report["spent"]["input_tokens"]
                replies += report["spent"]["output_tokens"]
                took += seconds
                hits += len(found & wanted)
                facts += len(found)
                gold += len(wanted)
            precision, recall = 100 * hits / max(facts, 1), 100 * hits / max(gold, 1)
            print(f"{together:8}  {calls:5}  {prompts:17}  {replies:10}  {took:7.0f}  {facts:5}  {precision:9.1f}  "
                  f"{recall:6.1f}", flush=True)
    finally:
        if server is not None:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
