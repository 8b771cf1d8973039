#!/usr/bin/env python3
"""What a question costs: calls and prompt tokens of global and local questions, against a stub of a chat model.

  benches/answers.py --malha target/release/malha --bench ../shared/bench [--kb 2300] [--questions 5] [--json]

BENCH holds `make_corpus.py` (the text) and `stub_llm.py` (an OpenAI-compatible endpoint that counts what it is asked).
The corpus is indexed without a model. Reports of communities are written when a question first needs them, so the first
global question is told apart from the later ones. Tokens are the stub's own count of the prompts. Needs only Python.
"""
import argparse, collections, json, re, socket, subprocess, sys, tempfile, time, urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROMPTS = HERE.parent / "crates/engine/src/answer/prompts"
GLOBAL = ["What are the main themes of these records?", "What groups of people and places are there overall?",
          "What are the most important topics across all documents?", "Give an overview of everything in the records.",
          "What happens overall in this collection?"]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Stub:
    def __init__(self, bench):
        self.url = f"http://127.0.0.1:{(port := free_port())}"
        self.process = subprocess.Popen([sys.executable, bench / "stub_llm.py", "--port", str(port)],
                                        stdout=subprocess.DEVNULL)
        for _ in range(100):
            try:
                return self.get("/stats") and None
            except OSError:
                time.sleep(0.1)
        sys.exit("the stub did not start")

    def get(self, path):
        request = urllib.request.Request(self.url + path, method="POST" if path == "/reset" else "GET")
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)

    def taken(self):
        """Calls and prompt tokens since the last time, by kind."""
        stats = self.get("/stats")
        self.get("/reset")
        kinds = {k: (v["calls"], v["prompt_tokens"]) for k, v in stats["kinds"].items()}
        return {"calls": sum(c for c, _ in kinds.values()), "tokens": sum(t for _, t in kinds.values()),
                "kinds": {k: c for k, (c, _) in kinds.items()}, "tokenizer": stats["tokenizer"]}


def local_questions(text, count):
    names = collections.Counter(re.findall(r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)+\b", text)).most_common(2 * count)
    return [f"How is {names[2 * i][0]} related to {names[2 * i + 1][0]}?" for i in range(count)]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--malha", required=True); p.add_argument("--bench", type=Path, required=True)
    p.add_argument("--kb", type=int, default=2300); p.add_argument("--questions", type=int, default=5)
    p.add_argument("--json", action="store_true")
    args = p.parse_args()
    args.malha = str(Path(args.malha).resolve())
    stub = Stub(args.bench.resolve())
    try:
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            corpus = folder / "corpus.txt"
            subprocess.run([sys.executable, args.bench / "make_corpus.py", corpus, str(args.kb)], check=True,
                           stdout=subprocess.DEVNULL)
            prompts = folder / "prompts"
            prompts.mkdir()
            # The stub tells its kinds of replies by words of the prompts.
            for name, mark in [("report.md", "STUB-REPORT"), ("map.md", "(score: see rating)")]:
                (prompts / name).write_text((PROMPTS / name).read_text() + mark + "\n")
            (folder / "malha.toml").write_text(
                f'[models]\nmodel = "stub"\nbase_url = "{stub.url}/v1"\n[answers]\nprompts = "prompts"\n')
            run = lambda *a: subprocess.run([args.malha, *a], cwd=folder, check=True, stdout=subprocess.PIPE)
            run("index", "corpus.txt", "-q")
            stub.get("/reset")
            rows = []
            locals_ = local_questions(corpus.read_text(), args.questions)
            for mode, questions in [("global", GLOBAL[:args.questions]), ("local", locals_)]:
                for question in questions:
                    answer = json.loads(run("ask", "--mode", mode, "--json", question).stdout)
                    rows.append({"mode": mode, "question": question, **stub.taken(),
                                 "evidence": answer["context"]["used"], "failure": answer["failure"]})
    finally:
        stub.process.terminate()
    mean = lambda rows, key: sum(r[key] for r in rows) / max(1, len(rows))
    globals_ = [r for r in rows if r["mode"] == "global"]
    summary = {"first global": globals_[:1], "later global": globals_[1:], "global": globals_,
               "local": [r for r in rows if r["mode"] == "local"]}
    summary = {name: {"questions": len(r), "calls": mean(r, "calls"), "tokens": mean(r, "tokens")} for name, r in summary.items()}
    if args.json:
        return print(json.dumps({"summary": summary, "rows": rows}))
    for row in rows:
        print(f"{row['mode']:7s} {row['calls']:4d} calls {row['tokens']:7d} tokens {row['kinds']}  {row['question']}")
    for name, r in summary.items():
        print(f"{name:13s} mean of {r['questions']}: {r['calls']:.1f} calls, {r['tokens']:.0f} prompt tokens")
    print(f"tokens by {rows[0]['tokenizer']}")


if __name__ == "__main__":
    main()
