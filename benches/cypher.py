#!/usr/bin/env python3
"""Variable-length queries beside Ladybug on the same graph.

    python3 -m venv venv && venv/bin/pip install ladybug
    venv/bin/python benches/cypher.py EDGES [--malha target/release/malha] [--folder DIR] [--load-only]

EDGES holds two node numbers a line, or is a file of little-endian u32: nodes, edges, all sources, all targets. Both
engines answer one query a start node, the same ones, and are timed inside their process: Ladybug a prepared query until
all its rows are there, malha text to rows (`malha bench cypher`). After a round that warms up, the median of equally
many rounds is shown, a query. The answers have to be equal. --folder keeps both databases for the next run, --load-only
stops when they are there.
"""

import argparse
import array
import json
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

import ladybug

# What is asked for, in Ladybug and in malha.
ANSWERS = [
    ("count", "count(DISTINCT b)", "count(DISTINCT b) AS n"),
    ("nodes", "DISTINCT b.id", "DISTINCT b.name AS b"),
]


def edges_of(path):
    if path.endswith(".bin"):
        numbers = array.array("I", pathlib.Path(path).read_bytes())
        count = numbers[1]
        yield from zip(numbers[2 : 2 + count], numbers[2 + count :])
        return
    for line in open(path, encoding="utf-8"):
        fields = line.split()
        if len(fields) >= 2 and fields[0].isdigit():
            yield int(fields[0]), int(fields[1])


def load_ladybug(edges, folder):
    database = folder / "ladybug.db"
    is_loaded = database.exists()
    connection = ladybug.Connection(ladybug.Database(str(database)))
    if not is_loaded:
        nodes = folder / "nodes.csv"
        pairs = folder / "edges.csv"
        numbers = sorted({number for edge in edges for number in edge})
        nodes.write_text("".join(f"{number}\n" for number in numbers))
        pairs.write_text("".join(f"{a},{b}\n" for a, b in edges))
        connection.execute("CREATE NODE TABLE N(id INT64, PRIMARY KEY(id))")
        connection.execute("CREATE REL TABLE R(FROM N TO N)")
        connection.execute(f"COPY N FROM '{nodes}'")
        connection.execute(f"COPY R FROM '{pairs}'")
    return connection


def load_malha(malha, edges, folder):
    store = folder / "malha.db"
    if not store.exists():
        facts = folder / "facts.tsv"
        facts.write_text("".join(f"n{a}\tR\tn{b}\n" for a, b in edges))
        subprocess.run([malha, "--store", store, "init"], cwd=folder, check=True, capture_output=True)
        command = [malha, "--store", store, "import", "--format", "triples", facts]
        subprocess.run(command, check=True, capture_output=True)
    return store


def with_ladybug(connection, starts, query, rounds):
    prepared = connection.prepare(query)
    times = []
    for _ in range(rounds + 1):
        answers, began = [], time.perf_counter()
        for start in starts:
            answers.append(connection.execute(prepared, {"id": start}).get_all())
        times.append((time.perf_counter() - began) * 1000 / len(starts))
    # The first round warms up.
    return statistics.median(times[1:]), answers


def with_malha(malha, store, starts, query, rounds):
    names = json.dumps([f"n{start}" for start in starts])
    command = [malha, "--store", store, "--json", "bench", "cypher", query]
    command += ["--each", f"name={names}", "--rounds", str(rounds)]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(run.stdout)["query_median_ms"]


def answers_of_malha(malha, store, starts, query):
    """What each start has for an answer: the same query behind an UNWIND."""
    names = json.dumps([f"n{start}" for start in starts])
    named = query.replace("$name", "name").replace("RETURN ", "RETURN name, ")
    unwound = "UNWIND $names AS name " + named.replace("RETURN name, DISTINCT ", "RETURN DISTINCT name, ")
    command = [malha, "--store", store, "--json", "cypher", unwound, "--param", f"names={names}"]
    run = subprocess.run([*command, "--limit", "100000000"], check=True, capture_output=True, text=True)
    answers = {f"n{start}": [] for start in starts}
    for row in json.loads(run.stdout):
        answers[row.pop("name")] += row.values()
    return [answers[f"n{start}"] for start in starts]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("edges")
    arguments.add_argument("--malha", default="target/release/malha")
    arguments.add_argument("--starts", type=int, default=100)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--folder")
    arguments.add_argument("--load-only", action="store_true")
    options = arguments.parse_args()
    edges = sorted({edge for edge in edges_of(options.edges) if edge[0] != edge[1]})
    sources = sorted({edge[0] for edge in edges})
    starts = random.Random(1).sample(sources, options.starts)
    malha = str(pathlib.Path(options.malha).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(options.folder or name)
        folder.mkdir(parents=True, exist_ok=True)
        connection = load_ladybug(edges, folder)
        store = load_malha(malha, edges, folder)
        if options.load_only:
            return
        print(f"{len(edges)} edges, {options.starts} starts, {options.rounds} rounds, ladybug {ladybug.__version__}")
        for hops in (2, 3):
            for what, theirs, ours in ANSWERS:
                their_query = f"MATCH (a:N {{id: $id}})-[:R*1..{hops}]->(b:N) RETURN {theirs}"
                our_query = f"MATCH (a {{name: $name}})-[:R*1..{hops}]->(b) RETURN {ours}"
                their_time, rows = with_ladybug(connection, starts, their_query, options.rounds)
                our_time = with_malha(malha, store, starts, our_query, options.rounds)
                found = answers_of_malha(malha, store, starts, our_query)
                rows = [[row[0] for row in answer] for answer in rows]
                if what == "nodes":
                    rows = [[f"n{number}" for number in answer] for answer in rows]
                for theirs, ours in zip(rows, found):
                    # Nothing reached is no row of a group, and a count of 0 without one.
                    assert sorted(theirs) == sorted(ours) or theirs == [0] and not ours, "the answers differ"
                print(
                    f"{hops} hops, {what}: ladybug {their_time:.3f} ms, malha {our_time:.4f} ms, "
                    f"{their_time / our_time:.0f}x"
                )


main()
