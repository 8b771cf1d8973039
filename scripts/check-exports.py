#!/usr/bin/env python3
"""Reads every export back with a program that is not ours, and compares it with `malha sql`.

    python3 -m venv VENV && VENV/bin/pip install -r scripts/check-exports.txt
    VENV/bin/python scripts/check-exports.py target/debug/malha
"""

import csv
import json
import os
import re
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

import ladybug
import networkx
import pyarrow.parquet
import rdflib

MALHA = os.path.abspath(sys.argv[1])
# Notes and facts in which every format meets what it cannot hold as it is.
NOTES = {
    "Ana.md": "---\naliases: [\"A; B\", \"C,\\\"D\\\"\"]\ntags: [pessoa]\ndate: 2024-05-01\n---\n# Ana\n\n"
    "Works with [[Bia]] on [[Sub/Projeto X]]. ESC \x1b[31mred\x1b[0m, U+0001 \x01, form \x0c feed, \ufffe.\n",
    "Bia.md": "# a \x01 heading ]]> <&\"'\n\n[[Ana]] said \"yes\"; C:\\users \\u0027, `x`.\n\n```\n# code\n```\n",
    "Sub/Projeto X.md": "# Projeto X\n\nuses:: [[Ana]]\n\n😀 今天玩成语接龙游戏, tab\there.\n",
    "case.md": "Lower, see [[CASE]].\n",
    "Sub/CASE.md": "Upper, see [[case]] and [[CON]].\n",
    "long.md": "---\ntitle: " + "L" * 300 + "\n---\n_x0001_ is no control character. [[Ana]]\n",
    "rows.json": '[{"title": "..", "text": "two dots and Ana"}, {"title": "a/b", "text": "slash \\ud800 and Bia"},'
    ' {"title": "a:b", "text": "colon"}, {"title": "CON", "text": "a device"}]',
}
FACTS = [
    {"subject": "Ana", "relation": "co-worker", "object": "Bia", "subject_type": "Person",
     "object_type": "x` SET n.admin = true //", "valid_from": "2001", "valid_to": "2006",
     "fact": "Ana & Bia <worked> \"together\"", "source": "ü;1"},
    {"subject": "a/b", "relation": "has space", "object": "Bia", "subject_type": 'Ty;pe,"q")', "object_type": "//"},
    {"subject": "CON", "relation": "definiert_icp-kriterien_für", "object": ".."},
    {"subject": "Ana", "relation": "2nd_of", "object": "q'\\u0060 \\ \"`"},
    {"subject": "Bia", "relation": "MENTIONS", "object": "_x0001_"},
    {"subject": "Bia", "relation": "r`el; \\u0060", "object": "今天"},
    {"subject": "Ana", "relation": "r" * 200, "object": "x'; DROP"},
]
checks = 0


def malha(*arguments, cwd):
    run = subprocess.run([MALHA, "--store", "malha.db", *arguments], cwd=cwd, capture_output=True)
    if run.returncode not in (0, 4):
        sys.exit(f"malha {' '.join(arguments)}: {run.stderr.decode()}")
    return run.stdout.decode()


def equal(what, found, expected):
    global checks
    checks += 1
    if found != expected:
        if isinstance(found, (set, dict, list)) and isinstance(expected, type(found)):
            listed = [found, expected]
            if isinstance(found, set):
                listed = [sorted(map(repr, found - expected))[:5], sorted(map(repr, expected - found))[:5]]
            sys.exit(f"{what}: found and expected differ:\n{listed[0]}\n{listed[1]}")
        sys.exit(f"{what}: {found!r}, not {expected!r}")


def unescape_xml(text):
    return re.sub("_x([0-9A-Fa-f]{4})_", lambda match: chr(int(match[1], 16)), text)


class Store:
    def __init__(self, folder):
        self.folder = folder
        for name, text in NOTES.items():
            path = folder / "vault" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        facts = "".join(json.dumps(fact) + "\n" for fact in FACTS)
        (folder / "facts.jsonl").write_text(facts)
        malha("index", "vault", cwd=folder)
        malha("import", "--format", "triples", "facts.jsonl", cwd=folder)
        # A vector as the store keeps it: little-endian numbers of 32 bits.
        self.vector = [0.5, -1.25, 3.0]
        with sqlite3.connect(folder / "malha.db") as connection:
            connection.execute("INSERT INTO embedding (space, chunk, vector) SELECT 7, min(id), ? FROM chunk"
                               " WHERE retracted_at IS NULL", [struct.pack("<3f", *self.vector)])
        self.entities = {row["id"]: row for row in self.sql(
            "SELECT public_id AS id, name FROM entity WHERE retracted_at IS NULL")}
        self.chunks = {row["id"]: row["text"] for row in self.sql(
            "SELECT d.public_id || '-' || c.ordinal AS id, c.text FROM chunk c JOIN document d ON d.id = c.document"
            " WHERE c.retracted_at IS NULL AND d.retracted_at IS NULL")}
        self.documents = {row["id"]: row["title"] for row in self.sql(
            "SELECT public_id AS id, title FROM document WHERE retracted_at IS NULL")}
        self.relations = {(row["a"], row["type"], row["b"]) for row in self.sql(
            "SELECT a.public_id AS a, t.name AS type, b.public_id AS b FROM relation r"
            " JOIN entity a ON a.id = r.source JOIN entity b ON b.id = r.target"
            " JOIN relation_type t ON t.id = r.type WHERE r.retracted_at IS NULL")}
        self.names = {id: row["name"] for id, row in self.entities.items()}
        self.mentions = self.sql("SELECT count(*) AS n FROM mention")[0]["n"]
        self.nodes = len(self.entities) + len(self.chunks) + len(self.documents)
        if not (len(self.relations) > 10 and self.mentions > 10):
            sys.exit("the store holds too little to compare")

    def sql(self, query):
        return json.loads(malha("--json", "sql", query, cwd=self.folder))

    def export(self, format):
        path = self.folder / format
        malha("export", "--format", format, "--out", str(path), cwd=self.folder)
        again = self.folder / (format + "-again")
        malha("export", "--format", format, "--out", str(again), cwd=self.folder)
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        for file in files:
            other = again / file.relative_to(path) if path.is_dir() else again
            equal(f"{format}: second run of {file.name}", other.read_bytes(), file.read_bytes())
        return path


def check_networkx(store):
    for format, read in [
        ("graphml", lambda path: networkx.read_graphml(path, force_multigraph=True)),
        ("gexf", networkx.read_gexf),
    ]:
        graph = read(store.export(format))
        table, kind = ("label", "type") if format == "graphml" else ("table", "kind")
        equal(f"{format} nodes", graph.number_of_nodes(), store.nodes)
        names = {id: unescape_xml(data["name"]) for id, data in graph.nodes(data=True) if data[table] == "Entity"}
        equal(f"{format} names", names, store.names)
        texts = {id: unescape_xml(data["text"]) for id, data in graph.nodes(data=True) if data[table] == "Chunk"}
        equal(f"{format} chunks", texts, store.chunks)
        entities = set(store.entities)
        edges = {(a, unescape_xml(data[kind]), b) for a, b, data in graph.edges(data=True) if {a, b} <= entities}
        equal(f"{format} relations", edges, store.relations)


def check_rdflib(store):
    graphs = {}
    for format, name in [("ntriples", "nt"), ("jsonld", "json-ld")]:
        graphs[format] = rdflib.Graph().parse(str(store.export(format)), format=name)
    equal("JSON-LD is the same graph as N-Triples", set(graphs["jsonld"]), set(graphs["ntriples"]))
    graph = graphs["ntriples"]
    term = rdflib.Namespace("urn:malha:term:")
    names = {str(node).rsplit(":", 1)[1]: str(graph.value(node, rdflib.RDFS.label))
             for node in graph.subjects(rdflib.RDF.type, term.Entity)}
    equal("rdf names", names, store.names)
    texts = {str(node).rsplit(":", 1)[1]: str(graph.value(node, term.text))
             for node in graph.subjects(rdflib.RDF.type, term.Chunk)}
    equal("rdf chunks", texts, store.chunks)
    last = lambda iri: str(iri).rsplit(":", 1)[1]
    predicates = {node: str(graph.value(node, rdflib.RDFS.label))
                  for node in graph.subjects(rdflib.RDF.type, rdflib.RDF.Property)}
    relations = {(last(a), predicates[p], last(b)) for a, p, b in graph if p in predicates}
    equal("rdf relations", relations, store.relations)
    held = list(graph.query(
        "SELECT ?from ?to WHERE { ?s a rdf:Statement ; <urn:malha:term:valid_from> ?from ;"
        " <urn:malha:term:valid_to> ?to ; <urn:malha:term:fact> ?fact }"))
    equal("rdf times", [[str(value) for value in row] for row in held],
          [["2001-01-01T00:00:00+00:00", "2007-01-01T00:00:00+00:00"]])


def check_parquet(store):
    folder = store.export("parquet")
    tables = {path.stem: pyarrow.parquet.read_table(path).to_pylist() for path in folder.glob("*.parquet")}
    equal("parquet names", {row["id"]: row["name"] for row in tables["entity"]}, store.names)
    equal("parquet chunks", {row["id"]: row["text"] for row in tables["chunk"]}, store.chunks)
    relations = {(row["source"], row["type"], row["target"]) for row in tables["relation"]}
    equal("parquet relations", relations, store.relations)
    equal("parquet mentions", len(tables["mentions"]), store.mentions)
    types = sorted(name for row in tables["entity"] for name in row["types"])
    expected = sorted(row["type"] for row in store.sql("SELECT DISTINCT entity, type FROM entity_type"))
    equal("parquet types", types, expected)
    ana = [row["aliases"] for row in tables["document"] if row["uri"].endswith("Ana.md")]
    equal("parquet lists", ana, [["A; B", 'C,"D"']])
    vectors = [(row["space"], row["vector"], row["chunk"] in store.chunks) for row in tables["embedding"]]
    equal("parquet vectors", vectors, [(7, store.vector, True)])
    dated = [(str(row["valid_from"]), str(row["valid_to"])) for row in tables["relation"] if row["fact"]]
    equal("parquet times", dated, [("2001-01-01 00:00:00+00:00", "2007-01-01 00:00:00+00:00")])
    equal("parquet evidence", {row["relation"] for row in tables["evidence"]},
          {row["id"] for row in tables["relation"]})
    chunks = {row["chunk"] for row in tables["evidence"]} - {None}
    equal("parquet evidence chunks", chunks - set(store.chunks), set())


def check_ladybug(store):
    folder = store.export("ladybug")
    os.chdir(folder)
    connection = ladybug.Connection(ladybug.Database(str(store.folder / "ladybug.db")))
    run = lambda query: connection.execute(query)
    rows = lambda query: [tuple(row) for row in run(query).get_all()]
    for script in ["schema.cypher", "copy.cypher"]:
        for statement in (folder / script).read_text().splitlines():
            run(statement)
    os.chdir("/")
    equal("ladybug names", dict(rows("MATCH (e:Entity) RETURN e.id, e.name")), store.names)
    equal("ladybug chunks", dict(rows("MATCH (c:Chunk) RETURN c.id, c.text")), store.chunks)
    equal("ladybug documents", dict(rows("MATCH (d:Document) RETURN d.id, d.title")), store.documents)
    relations = set(rows("MATCH (a:Entity)-[r]->(b:Entity) RETURN a.id, r.type, b.id"))
    equal("ladybug relations", relations, store.relations)
    equal("ladybug mentions", rows("MATCH (:Chunk)-[m:MENTIONS]->(:Entity) RETURN count(m)"), [(store.mentions,)])
    named = rows("MATCH (a)-[r:`definiert_icp-kriterien_für`]->(b) RETURN a.name, b.name")
    equal("ladybug relation by its name", named, [("CON", "..")])
    quoted = rows("MATCH (a)-[r:`r``el; \\u0060`]->(b) RETURN a.name, b.name")
    equal("ladybug relation with a back-tick", quoted, [("Bia", "今天")])
    dated = rows("MATCH (a)-[r:`co-worker`]->(b) RETURN r.valid_from, r.valid_to, r.fact")
    equal("ladybug times", [(str(a), str(b), fact) for a, b, fact in dated],
          [("2001-01-01 00:00:00", "2007-01-01 00:00:00", FACTS[0]["fact"])])
    # A walk of two steps over notes, chunks and entities, as SQL and as Cypher.
    found = rows("MATCH (d:Document)<-[:PART_OF]-(c:Chunk)-[:MENTIONS]->(e:Entity)-[r:`co-worker`]->(b:Entity)"
                 " RETURN DISTINCT d.uri, b.name")
    expected = store.sql(
        "SELECT DISTINCT d.uri, b.name FROM document d JOIN chunk c ON c.document = d.id"
        " JOIN mention m ON m.chunk = c.id JOIN relation r ON r.source = m.entity"
        " JOIN relation_type t ON t.id = r.type AND t.key = 'co-worker' JOIN entity b ON b.id = r.target")
    equal("ladybug walk", set(found), {(row["uri"], row["name"]) for row in expected})


def check_csv(store):
    folder = store.export("neo4j-csv")
    read = lambda name: list(csv.DictReader(open(folder / name, newline="", encoding="utf-8")))
    equal("neo4j names", {row["id:ID(Entity)"]: row["name:string"] for row in read("entity.csv")}, store.names)
    relations = {(row[":START_ID(Entity)"], row[":TYPE"], row[":END_ID(Entity)"]) for row in read("relation.csv")}
    equal("neo4j relations", relations, store.relations)
    delimiter = re.search("--array-delimiter='(.*?)'", (folder / "import.sh").read_text())[1]
    delimiter = chr(int(delimiter[2:], 16)) if delimiter.startswith("U+") else delimiter
    labels = {label for row in read("entity.csv") for label in row[":LABEL"].split(delimiter)}
    equal("neo4j labels", labels - {"Entity"}, {row["type"] for row in store.sql("SELECT type FROM entity_type")})
    folder = store.export("neptune-csv")
    vertices = list(csv.DictReader(open(folder / "vertices/chunk.csv", newline="", encoding="utf-8")))
    equal("neptune chunks", {row["~id"]: row["text:String(single)"] for row in vertices}, store.chunks)
    edges = list(csv.DictReader(open(folder / "edges/relation.csv", newline="", encoding="utf-8")))
    equal("neptune relations", {(row["~from"], row["type:String"], row["~to"]) for row in edges}, store.relations)


def check_obsidian(store):
    folder = store.export("obsidian")
    labels = [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]
    found = {row["id"]: row["label"] for row in labels if row["file"].startswith("Entities/")}
    equal("obsidian labels", found, store.names)
    files = {str(path.relative_to(folder)) for path in folder.rglob("*.md")}
    equal("obsidian files", {row["file"] for row in labels}, files)
    folded = {unicodedata.normalize("NFC", name).casefold() for name in files}
    equal("obsidian files without regard to case", len(folded), len(files))
    illegal = re.compile(r'[<>:"\\|?*\x00-\x1f]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)', re.I)
    for name in files:
        equal(f"name of {name!r}", illegal.search(Path(name).stem), None)
        text = re.sub(r"^(`{3,})text\n.*?^\1$", "", (folder / name).read_bytes().decode(), flags=re.M | re.S)
        for target in re.findall(r"^(?:### .*|- |)\[\[([^|\]]+)", text, re.M):
            equal(f"link of {name!r} to {target!r}", f"{target}.md" in files, True)


def check_html(store):
    page = store.export("html").read_text()
    graph = json.loads(re.search('<script type="application/json" id="graph">(.*?)</script>', page, re.S)[1])
    equal("html names", {node[0]: node[1] for node in graph["nodes"]}, store.names)
    equal("html relations", {(edge[0], edge[2], edge[1]) for edge in graph["edges"]}, store.relations)
    equal("html loads nothing", re.findall(r"(?:src|href)\s*=|https?://|@import|url\(", page.split('id="graph">')[0]), [])


with tempfile.TemporaryDirectory() as folder:
    store = Store(Path(folder))
    for check in [check_networkx, check_rdflib, check_parquet, check_ladybug, check_csv, check_obsidian, check_html]:
        check(store)
        print(f"{check.__name__[6:]}: equal")
print(f"{checks} passed, 0 failed")
