#!/usr/bin/env python3
"""Variable-length queries beside Ladybug on the same graph.

    python3 -m venv venv && venv/bin/pip install ladybug
    venv/bin/python benches/cypher.py EDGES [--malha target/release/malha] [--folder DIR] [--load-only]

EDGES holds two node numbers a line, or is a file of little-endian u32: nodes, edges, all sources, all targets. Both
engines answer the same queries from the same start nodes, count the same nodes, and are timed inside their process;
the table shows the mean a start, and ladybug's best of three rounds. --folder keeps both databases for the next run,
--load-only stops when they are there.
"""

import argparse
import array
import json
import pathlib
import random
import re
import statistics
import subprocess
import tempfile
import time

import ladybug


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


def with_ladybug(connection, starts):
    found = {}
    for hops in (2, 3):
        query = f"MATCH (a:N {{id: $id}})-[:R*1..{hops}]->(b:N) RETURN count(DISTINCT b)"
        prepared = connection.prepare(query)
        rounds = []
        for _ in range(3):
            counts, began = [], time.perf_counter()
            for start in starts:
                counts.append(connection.execute(prepared, {"id": start}).get_next()[0])
            rounds.append((time.perf_counter() - began) * 1000 / len(starts))
        found[hops] = (min(rounds), counts)
    return found


def with_malha(malha, store, starts):
    found = {}
    names = json.dumps([f"n{start}" for start in starts])
    for hops in (2, 3):
        query = (
            "UNWIND $names AS name MATCH (a {name: name})-[:R*1.." + str(hops) + "]->(b) "
            "RETURN name, count(DISTINCT b) AS n"
        )
        command = [malha, "--store", store, "--json", "-v", "cypher", query, "--param", f"names={names}"]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        counts = {row["name"]: row["n"] for row in json.loads(run.stdout)}
        elapsed = float(re.search(r"rows in ([\d.]+) ms", run.stderr)[1])
        found[hops] = (elapsed / len(starts), [counts.get(f"n{start}", 0) for start in starts])
    return found


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("edges")
    arguments.add_argument("--malha", default="target/release/malha")
    arguments.add_argument("--starts", type=int, default=100)
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
        theirs = with_ladybug(connection, starts)
        ours = with_malha(malha, store, starts)
    print(f"{len(edges)} edges, {options.starts} starts, ladybug {ladybug.__version__}")
    for hops in (2, 3):
        assert theirs[hops][1] == ours[hops][1], f"{hops} hops: the counts differ"
        ratio = theirs[hops][0] / ours[hops][0]
        reached = statistics.mean(ours[hops][1])
        print(
            f"{hops} hops (mean {reached:.0f} nodes): ladybug {theirs[hops][0]:.2f} ms, "
            f"malha {ours[hops][0]:.3f} ms, {ratio:.0f}x"
        )


main()
