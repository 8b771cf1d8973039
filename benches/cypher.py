#!/usr/bin/env python3
"""Variable-length queries beside Ladybug on the same graph.

    python3 -m venv /tmp/ladybug && /tmp/ladybug/bin/pip install ladybug
    /tmp/ladybug/bin/python benches/cypher.py EDGES.tsv [--malha target/release/malha]

EDGES.tsv holds two node numbers a line, separated by a tab. Both engines answer the same queries from the
same start nodes, count the same nodes, and are timed inside their process; the table shows the mean a start.
"""

import argparse
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
    for line in open(path, encoding="utf-8"):
        fields = line.split()
        if len(fields) >= 2 and fields[0].isdigit():
            yield int(fields[0]), int(fields[1])


def with_ladybug(edges, starts, folder):
    nodes = folder / "nodes.csv"
    pairs = folder / "edges.csv"
    numbers = sorted({number for edge in edges for number in edge})
    nodes.write_text("".join(f"{number}\n" for number in numbers))
    pairs.write_text("".join(f"{a},{b}\n" for a, b in edges))
    connection = ladybug.Connection(ladybug.Database(str(folder / "ladybug.db")))
    connection.execute("CREATE NODE TABLE N(id INT64, PRIMARY KEY(id))")
    connection.execute("CREATE REL TABLE R(FROM N TO N)")
    connection.execute(f"COPY N FROM '{nodes}'")
    connection.execute(f"COPY R FROM '{pairs}'")
    found = {}
    for hops in (2, 3):
        query = f"MATCH (a:N {{id: $id}})-[:R*1..{hops}]->(b:N) RETURN count(DISTINCT b)"
        prepared = connection.prepare(query)
        times, counts = [], []
        for start in starts:
            began = time.perf_counter()
            counts.append(connection.execute(prepared, {"id": start}).get_next()[0])
            times.append((time.perf_counter() - began) * 1000)
        found[hops] = (statistics.mean(times), counts)
    return found


def with_malha(malha, edges, starts, folder):
    facts = folder / "facts.tsv"
    facts.write_text("".join(f"n{a}\tR\tn{b}\n" for a, b in edges))
    store = folder / "malha.db"
    subprocess.run([malha, "--store", store, "init"], cwd=folder, check=True, capture_output=True)
    command = [malha, "--store", store, "import", "--format", "triples", facts]
    subprocess.run(command, check=True, capture_output=True)
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
    arguments.add_argument("--starts", type=int, default=20)
    options = arguments.parse_args()
    edges = list(edges_of(options.edges))
    sources = sorted({edge[0] for edge in edges})
    starts = random.Random(1).sample(sources, options.starts)
    malha = str(pathlib.Path(options.malha).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        theirs = with_ladybug(edges, starts, folder)
        ours = with_malha(malha, edges, starts, folder)
    for hops in (2, 3):
        assert theirs[hops][1] == ours[hops][1], f"{hops} hops: the counts differ"
        ratio = theirs[hops][0] / ours[hops][0]
        print(f"{hops} hops: ladybug {theirs[hops][0]:.2f} ms, malha {ours[hops][0]:.3f} ms, {ratio:.0f}x")


main()
