#!/usr/bin/env python3
"""Vector search beside PyPI `usearch`: the same vectors and questions, one thread each.

    benches/vectors.py --malha target/release/malha [--vectors 100000] [--dimensions 384]

Makes its own virtual environment (numpy, usearch) beside the data, in a temporary folder. `malha bench vectors` makes
the vectors; recall@10 is beside a full scan in single precision. A program built with `--features hnsw` is measured
through its graph of neighbours too. Memory of usearch is what it says of itself and holds its copy of the vectors;
malha keeps full vectors in a file.
"""
import argparse, json, os, subprocess, sys, tempfile, time


def malha(program, folder, args, *more):
    out = subprocess.run([program, "bench", "vectors", "--json", "--vectors", str(args.vectors), "--dimensions",
                          str(args.dimensions), *more], check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def measure(folder, args):
    """Runs in the virtual environment."""
    import numpy as np
    from usearch.index import Index
    read = lambda name: np.fromfile(f"{folder}/{name}.f32", np.float32).reshape(-1, args.dimensions)
    vectors, questions = read("vectors"), read("questions")
    exact = np.argpartition(-(questions @ vectors.T), 10, axis=1)[:, :10]
    for kind in ("f16", "i8"):
        index = Index(ndim=args.dimensions, metric="cos", dtype=kind)
        cpu = time.process_time()
        index.add(np.arange(len(vectors)), vectors, threads=1)
        build = time.process_time() - cpu
        times, found = [], 0
        for question, right in zip(questions, exact):
            start = time.perf_counter()
            keys = index.search(question, 10, threads=1).keys
            times.append(time.perf_counter() - start)
            found += len(set(map(int, keys)) & set(map(int, right)))
        times.sort()
        print(json.dumps({"name": f"usearch {kind}", "build_s": build, "memory_mb": index.memory_usage / 1e6,
                          "p50_ms": 1000 * times[len(times) // 2], "recall": found / exact.size}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--malha", required=True)
    parser.add_argument("--vectors", type=int, default=100_000)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        return measure(args.inside, args)
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        figures = malha(args.malha, folder, args, "--write", folder)
        runs = [("malha scan", figures)]
        shown = subprocess.run([args.malha, "bench", "vectors", "--help"], capture_output=True, text=True).stdout
        if "--neighbours" in shown:
            runs.append(("malha hnsw", malha(args.malha, folder, args, "--neighbours")))
        for name, figures in runs:
            rows.append({"name": name, "build_s": figures["build_s"],
                         "memory_mb": figures["code_mb"] + figures["neighbours_mb"],
                         "p50_ms": figures["search_p50_ms"], "recall": figures["recall_at_10"]})
        subprocess.run([sys.executable, "-m", "venv", f"{folder}/venv"], check=True)
        python = f"{folder}/venv/bin/python"
        subprocess.run([python, "-m", "pip", "install", "-q", "numpy", "usearch"], check=True)
        out = subprocess.run([python, __file__, "--malha", args.malha, "--vectors", str(args.vectors), "--dimensions",
                              str(args.dimensions), "--inside", folder], check=True, capture_output=True, text=True,
                             env={**os.environ, "OMP_NUM_THREADS": "1"}).stdout
        rows += [json.loads(line) for line in out.splitlines()]
        print(f"{args.vectors} vectors of {args.dimensions} dimensions, one thread")
        print(f"{'':14} {'build s':>9} {'memory MB':>10} {'p50 ms':>8} {'recall@10':>10}")
        for row in rows:
            print(f"{row['name']:14} {row['build_s']:9.1f} {row['memory_mb']:10.1f} {row['p50_ms']:8.2f} "
                  f"{row['recall']:10.4f}")


if __name__ == "__main__":
    main()
