#!/usr/bin/env python3
"""Extraction against a stub of a chat model: what it costs, and what every kind of failure does.

    python scripts/extract-against-stub.py MALHA STUB_FOLDER [--kilobytes 2300]
                                           [--only cost|failures|kills|sharing|edits]

MALHA is the program (a release build for figures), STUB_FOLDER holds `stub_llm.py`, an OpenAI-compatible server
with fixed replies, and `make_corpus.py`, which writes its corpus. Needs nothing but Python; where `tiktoken` is
there, the stub counts prompts with it.

Prints one line a run, and says at the end what did not hold (exit code 1): everything asked for once, nothing asked
for by a second run, less than 2 s of processor time and 1.4 million tokens of prompts, an estimate within 10 %, every
good passage stored whatever fails, the bad ones listed, exit code 4, and a run after that which calls for the bad
ones only; after a kill nothing asked for again whose reply was stored; two workers, no call twice. It also prints what
small passages save that share a call, and how long an edit takes on a store with extraction.
"""

import argparse
import json
import os
import resource
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

# The product's own prompts, whole: what a test adds are the stub's marks.
PROMPTS = Path(__file__).resolve().parent.parent / "crates" / "engine" / "src" / "extraction" / "prompts"
FAILURES = ["http500", "http429", "garbage", "empty", "disconnect"]
wrong = []


def expect(is_so, what):
    if not is_so:
        wrong.append(what)
        print(f"  WRONG: {what}")


class Stub:
    """The stub on a free port."""

    def __init__(self, folder, *flags):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [sys.executable, str(folder / "stub_llm.py"), "--port", str(self.port), "--latency-ms", "20", *flags]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                self.stats()
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit("the stub does not answer")

    def stats(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/stats") as reply:
            return json.load(reply)

    def calls(self):
        kinds = self.stats()["kinds"]
        return sum(kind["calls"] for kind in kinds.values()), sum(kind["failed"] for kind in kinds.values())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def prepare(folder, bench, kilobytes, files):
    """A folder with the corpus in so many files, and prompts that tell the stub what is wanted."""
    folder.mkdir()
    text = folder / "corpus.txt"
    subprocess.run([sys.executable, str(bench / "make_corpus.py"), str(text), str(kilobytes)], check=True,
                   stdout=subprocess.DEVNULL)
    paragraphs = text.read_text().split("\n\n")
    text.unlink()
    notes = folder / "notes"
    notes.mkdir()
    share = -(-len(paragraphs) // files)
    for at in range(files):
        part = paragraphs[at * share:(at + 1) * share]
        if part:
            (notes / f"part{at:03}.txt").write_text("\n\n".join(part) + "\n")
    (folder / "prompts").mkdir()
    own = (PROMPTS / "extract.md").read_text()
    (folder / "prompts" / "extract.md").write_text(own + "\nother_relationships\n")
    own = (PROMPTS / "passage.md").read_text()
    marked = own.replace("{{text}}", "<<DOCUMENT_START>>{{text}}<<DOCUMENT_END>>")
    (folder / "prompts" / "passage.md").write_text(marked)


def configure(folder, port):
    prompts = 'prompts = "prompts"\n' if (folder / "prompts").exists() else ""
    (folder / "malha.toml").write_text(
        f'[models]\nprovider = "openai"\nbase_url = "http://127.0.0.1:{port}/v1"\nmodel = "stub"\n'
        "retries = 2\nretry_pause_ms = 20\nconcurrency = 16\n"
        '[[models.price]]\nmodel = "stub"\ninput_per_million = 1.0\noutput_per_million = 4.0\n'
        "[extraction]\n" + prompts
    )


def malha(program, folder, *args):
    """Exit code, standard output as JSON, CPU seconds, peak memory in MB, seconds by the clock."""
    start = time.time()
    environment = {**os.environ, "OPENAI_API_KEY": "none"}
    process = subprocess.Popen(
        [program, "--json", "-q", *args], cwd=folder, env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )
    out, error = process.communicate()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    code = process.returncode
    if code not in (0, 4, 5):
        print(error, file=sys.stderr)
    return code, json.loads(out) if out.strip() else None, cpu, time.time() - start


def index(program, folder, *args):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    before = before.ru_utime + before.ru_stime
    code, report, cpu, seconds = malha(program, folder, "index", "notes", "--extract", "llm", *args)
    return code, report, cpu - before, seconds


def rows(folder):
    """Entities, relations and evidence of the store, as a set that row ids play no part in."""
    store = sqlite3.connect(folder / ".malha" / "malha.db")
    found = store.execute(
        "SELECT a.key, t.key, b.key, v.quote, d.uri FROM relation r JOIN entity a ON a.id = r.source"
        " JOIN entity b ON b.id = r.target JOIN relation_type t ON t.id = r.type"
        " JOIN evidence v ON v.relation = r.id AND v.retracted_at IS NULL JOIN document d ON d.id = v.document"
        " WHERE r.origin = 'llm' AND r.retracted_at IS NULL"
    ).fetchall()
    store.close()
    return set(found)


def cost(program, bench, folder, kilobytes):
    prepare(folder, bench, kilobytes, 1)
    with Stub(bench) as stub:
        configure(folder, stub.port)
        _, estimate, _, _ = malha(program, folder, "index", "notes", "--extract", "llm", "--estimate")
        expect(stub.calls()[0] == 0, "an estimate sends nothing")
        # From nothing: the estimate has indexed already.
        shutil.rmtree(folder / ".malha")
        code, report, cpu, seconds = index(program, folder)
        spent = report["extract"]["spent"]
        stats = stub.stats()
        tokens = sum(kind["prompt_tokens"] for kind in stats["kinds"].values())
        print(f"first run, from an empty store: exit {code}, {report['extract']['passages']} passages, {spent['calls']} calls, "
              f"{tokens} prompt tokens ({stats['tokenizer']}), {estimate['input_tokens']} by our own cl100k counter, "
              f"CPU {cpu:.2f} s, {seconds:.1f} s, {report['extract']['entities']} entities, "
              f"{report['extract']['relations']} relations")
        print(f"estimate before it: {estimate['calls']} calls, {estimate['input_tokens']} tokens in, "
              f"{estimate['output_tokens']} out; the bill: {spent['input_tokens']} in, {spent['output_tokens']} out")
        cpu_first = cpu
        expect(code == 0, "the first run ends with 0")
        expect(estimate["calls"] == spent["calls"], "the estimate knows the calls")
        expect(abs(estimate["input_tokens"] / spent["input_tokens"] - 1) < 0.1, "tokens of prompts within 10 %")
        expect(estimate["input_tokens"] < 1_400_000, "fewer than 1.4 million tokens of prompts")
        calls = stub.calls()[0]
        code, _, cpu, seconds = index(program, folder)
        print(f"second run: exit {code}, {stub.calls()[0] - calls} calls, CPU {cpu:.2f} s, {seconds:.1f} s")
        expect((code, stub.calls()[0]) == (0, calls), "a second run asks nothing")
        expect(cpu_first < 2, "less than 2 s of processor time")
        # What a sample teaches, before the first run.
        shutil.rmtree(folder / ".malha")
        _, estimate, _, _ = malha(program, folder, "index", "notes", "--extract", "llm", "--estimate", "--sample", "20")
        _, report, _, _ = index(program, folder)
        spent = report["extract"]["spent"]
        print(f"estimate with a sample of 20: {estimate['calls']} calls, {estimate['input_tokens']} tokens in, "
              f"{estimate['output_tokens']} out, {estimate['seconds']:.0f} s; the bill: {spent['calls']} calls, "
              f"{spent['input_tokens']} in, {spent['output_tokens']} out")
        expect(estimate["calls"] == spent["calls"], "the sample is not paid for again")
        for name in ["input_tokens", "output_tokens", "cost"]:
            expect(abs(estimate[name] / spent[name] - 1) < 0.1, f"{name} within 10 % after a sample of 20")
    # Seconds, where they are the model's and not ours.
    shutil.rmtree(folder)
    prepare(folder, bench, 600, 1)
    with Stub(bench, "--latency-ms", "1000") as stub:
        configure(folder, stub.port)
        _, estimate, _, _ = malha(program, folder, "index", "notes", "--extract", "llm", "--estimate", "--sample", "20")
        _, report, _, _ = index(program, folder)
        took = report["extract"]["elapsed_ms"] / 1000
        print(f"a model that takes 1 s: estimate {estimate['seconds']:.1f} s for {estimate['calls']} calls, "
              f"took {took:.1f} s")
        expect(abs(estimate["seconds"] / took - 1) < 0.1, "seconds within 10 % after a sample of 20")


def kills(program, bench, folder):
    folder.mkdir()
    whole = folder / "whole"
    prepare(whole, bench, 300, 40)
    with Stub(bench) as stub:
        configure(whole, stub.port)
        _, report, _, _ = index(program, whole)
        passages = report["extract"]["passages"]
    good = rows(whole)
    killed = folder / "killed"
    prepare(killed, bench, 300, 40)
    with Stub(bench, "--latency-ms", "200") as stub:
        configure(killed, stub.port)
        process = subprocess.Popen([program, "-q", "index", "notes", "--extract", "llm"], cwd=killed,
                                   env={**os.environ, "OPENAI_API_KEY": "none"})
        while stub.calls()[0] < passages // 2:
            time.sleep(0.02)
        process.kill()
        process.wait()
        before = stub.calls()[0]
        store = sqlite3.connect(killed / ".malha" / "malha.db")
        stored, = store.execute("SELECT count(*) FROM llm_call WHERE reply IS NOT NULL").fetchone()
        store.close()
        code, _, _, _ = index(program, killed)
        after = stub.calls()[0]
    repeated = after - passages
    print(f"kill -9 after {before} of {passages} calls: {stored} replies stored; the next run: exit {code}, "
          f"{after - before} calls, {repeated} of them repeated")
    expect(code == 0 and rows(killed) == good, "after a kill the next run ends with everything")
    expect(after - before == passages - stored, "no call whose reply was stored is made again")
    expect(repeated <= 16, "repeated calls are at most those in flight")
    shared = folder / "two"
    prepare(shared, bench, 300, 40)
    with Stub(bench) as stub:
        configure(shared, stub.port)
        malha(program, shared, "index", "notes")
        workers = [subprocess.Popen([program, "-q", "index", "notes", "--extract", "llm"], cwd=shared,
                                    env={**os.environ, "OPENAI_API_KEY": "none"}) for _ in range(2)]
        codes = [worker.wait() for worker in workers]
        calls = stub.calls()[0]
    print(f"two workers: exits {codes}, {calls} calls for {passages} passages")
    expect(codes == [0, 0] and calls == passages, "two workers make no call twice")
    expect(rows(shared) == good, "two workers store what one stores")


def sharing(program, bench, folder):
    prepare(folder, bench, 100, 250)
    shutil.rmtree(folder / "prompts")
    for together in [0, 400, 800, 1600]:
        configure(folder, 9)
        with open(folder / "malha.toml", "a") as file:
            file.write(f"together_tokens = {together}\n")
        _, estimate, _, _ = malha(program, folder, "index", "notes", "--extract", "llm", "--estimate")
        print(f"{estimate['passages']} small notes, together_tokens = {together}: {estimate['calls']} calls, "
              f"{estimate['input_tokens']} tokens of prompts")


def edits(program, bench, folder, kilobytes):
    prepare(folder, bench, kilobytes, 1000)
    with Stub(bench) as stub:
        configure(folder, stub.port)
        _, report, _, _ = index(program, folder)
        found = report["extract"]
        note = folder / "notes" / "part010.txt"
        times = {"index": [], "index --extract llm": []}
        for number in range(5):
            for name, args in [("index", ["index", "notes"]),
                               ("index --extract llm", ["index", "notes", "--extract", "llm"])]:
                note.write_text(note.read_text() + f"Ana Prado {number} met Bruno Tavares.\n")
                _, _, _, seconds = malha(program, folder, *args)
                times[name].append(seconds)
    for name, seconds in times.items():
        print(f"one note of 1,000 edited, {found['entities']} entities, {found['relations']} relations: {name} takes "
              f"{sorted(seconds)[2] * 1000:.0f} ms")


def failures(program, bench, folder):
    whole = folder / "whole"
    folder.mkdir()
    prepare(whole, bench, 60, 40)
    with Stub(bench) as stub:
        configure(whole, stub.port)
        index(program, whole)
    good = rows(whole)
    for kind in FAILURES:
        for sticky in [False, True]:
            at = folder / f"{kind}{'-sticky' if sticky else ''}"
            prepare(at, bench, 60, 40)
            # A reply that cannot be read is asked for once more in other words: that has to fail too.
            rate = "0.5" if sticky and kind in ("garbage", "empty") else "0.1"
            flags = ["--fail-rate", rate, "--fail-kind", kind, *(["--fail-sticky"] if sticky else [])]
            with Stub(bench, *flags) as stub:
                configure(at, stub.port)
                code, report, _, _ = index(program, at)
                failed = [item["uri"] for item in report["extract"]["failed"]]
                calls, hit = stub.calls()
            name = kind + (", always" if sticky else ", once")
            print(f"{name}: exit {code}, {calls} calls, {hit} failed, {len(failed)} passages listed")
            missing = {row for row in good if row[4] in failed}
            expect(rows(at) == good - missing, f"{name}: every good passage is stored")
            expect(code == (4 if failed else 0), f"{name}: the exit code says whether something failed")
            expect(not sticky or failed, f"{name}: some passages fail")
            _, listed, _, _ = malha(program, at, "quarantine", "list", "--passages")
            expect(sorted(item["uri"] for item in listed) == sorted(failed), f"{name}: the bad ones are listed")
            with Stub(bench) as stub:
                configure(at, stub.port)
                code, report, _, _ = index(program, at)
                calls = stub.calls()[0]
            print(f"    the run after it: exit {code}, {calls} calls")
            expect((code, calls) == (0, len(failed)), f"{name}: the next run calls for those only")
            expect(rows(at) == good, f"{name}: and the store is whole")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("malha", type=Path)
    arguments.add_argument("stub_folder", type=Path)
    arguments.add_argument("--kilobytes", type=int, default=2300)
    arguments.add_argument("--only", choices=["cost", "failures", "kills", "sharing", "edits"])
    given = arguments.parse_args()
    program, bench = str(given.malha.resolve()), given.stub_folder.resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        steps = {
            "cost": lambda at: cost(program, bench, at, given.kilobytes),
            "failures": lambda at: failures(program, bench, at),
            "kills": lambda at: kills(program, bench, at),
            "sharing": lambda at: sharing(program, bench, at),
            "edits": lambda at: edits(program, bench, at, given.kilobytes),
        }
        for name, step in steps.items():
            if given.only in (None, name):
                step(folder / name)
    print("all as it should be" if not wrong else f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
