#!/usr/bin/env python3
"""Community detection side by side: malha, graspologic-native, igraph, networkit, single-clustering, CPU time.

  benches/leiden.py GRAPH.bin --malha target/release/malha [--seeds 5] [--skip networkit] [--only igraph] [--json]
  benches/leiden.py GRAPH.bin --malha … --hierarchy 10      # against graspologic's hierarchical_leiden
  benches/leiden.py GRAPH.bin --malha … --dynamic 1         # an update after 1 % new edges against a fresh run
  benches/leiden.py GRAPH.bin --malha … --threads-equal     # the same hierarchy on one thread and on two

GRAPH is little-endian u32: nodes, edges, sources, targets (`malha bench` reads the same). Without numpy and the
libraries at hand it makes a virtual environment beside itself (`benches/.venv`) and installs them there;
single-clustering is built by cargo in `benches/single-clustering`.

Every run is a process of its own, from u32 arrays in memory to a partition: cpu_s is user and system time of that
call, core_cpu_s the same without what only turns arrays into the library's own input, peak_mb the peak of resident
memory minus what was resident before the call. Modularity is computed here, by one function for all. graspologic
takes string labels: its core is estimated as the call minus a call of its own `modularity` on the same input.
"""
import argparse, json, os, resource, statistics, subprocess, sys, tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = ["numpy", "graspologic-native", "python-igraph", "networkit"]


def ensure_libraries():
    try:
        import igraph, networkit, numpy, graspologic_native  # noqa: F401
    except ImportError:
        python = HERE / ".venv/bin/python"
        if Path(sys.prefix).resolve() == (HERE / ".venv").resolve():
            raise
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", HERE / ".venv"], check=True)
            subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
        os.execv(python, [str(python), *sys.argv])


def read_graph(path):
    import numpy as np
    a = np.fromfile(path, dtype="<u4")
    n, m = int(a[0]), int(a[1])
    return n, a[2:2 + m], a[2 + m:2 + 2 * m]


def modularity(n, u, v, part):
    """Newman's modularity of an unweighted graph without loops."""
    import numpy as np
    part = np.asarray(part)
    degree = np.bincount(u, minlength=n) + np.bincount(v, minlength=n)
    total = np.bincount(part, weights=degree)
    inside = np.count_nonzero(part[u] == part[v])
    m = len(u)
    return inside / m - float(((total / (2 * m)) ** 2).sum())


def disconnected(n, u, v, part):
    """Communities whose own edges do not connect them."""
    import numpy as np
    part = np.asarray(part)
    label = np.arange(n)
    same = part[u] == part[v]
    a, b = u[same], v[same]
    while True:
        low = np.minimum(label[a], label[b])
        before = label.copy()
        np.minimum.at(label, a, low)
        np.minimum.at(label, b, low)
        label = label[label]
        if (label == before).all():
            break
    pieces = len(np.unique(label))
    return pieces - len(np.unique(part))


def cpu():
    r = resource.getrusage(resource.RUSAGE_SELF)
    return r.ru_utime + r.ru_stime


def status(key):
    for line in open("/proc/self/status"):
        if line.startswith(key):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def reset_peak():
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")


def child(name, path, seed, hierarchy):
    n, u, v = read_graph(path)
    if name == "igraph":
        import igraph, random
        import numpy as np
        random.seed(seed)
        pairs = np.column_stack([u, v])
        reset_peak(); base, t0 = status("VmRSS"), cpu()
        g = igraph.Graph(n, pairs)
        t1 = cpu()
        part = g.community_leiden(objective_function="modularity", n_iterations=2).membership
        t2 = cpu()
    elif name == "networkit":
        import networkit as nk
        import numpy as np
        nk.setNumberOfThreads(1)
        nk.setSeed(seed, False)
        ones = np.ones(len(u))
        reset_peak(); base, t0 = status("VmRSS"), cpu()
        g = nk.GraphFromCoo((ones, (u.astype(np.uint64), v.astype(np.uint64))), n=n, directed=False)
        t1 = cpu()
        algorithm = nk.community.ParallelLeiden(g)
        algorithm.run()
        part = algorithm.getPartition().getVector()
        t2 = cpu()
    elif name == "graspologic":
        import graspologic_native as gn
        reset_peak(); base, t0 = status("VmRSS"), cpu()
        edges = [(str(a), str(b), 1.0) for a, b in zip(u.tolist(), v.tolist())]
        t1 = cpu()
        if hierarchy:
            rows = gn.hierarchical_leiden(edges, None, 1.0, 0.001, 1, True, hierarchy, seed)
            t2 = cpu()
            part = list(range(n))
            for row in rows:
                if row.level == 0:
                    part[int(row.node)] = row.cluster
        else:
            _, found = gn.leiden(edges, None, 1.0, 0.001, 1, True, seed, 1)
            t2 = cpu()
            part = [found.get(str(i), 0) for i in range(n)]
            peak = status("VmHWM")
            t3 = cpu()
            gn.modularity(edges, found, 1.0)
            strings = cpu() - t3
            return finish(n, u, v, part, t2 - t1, t2 - t1 - strings, peak - base)
    else:
        sys.exit(f"{name}?")
    finish(n, u, v, part, t2 - t0 if name != "graspologic" else t2 - t1, t2 - t1, status("VmHWM") - base)


def finish(n, u, v, part, cpu_s, core, peak):
    import numpy as np
    _, part = np.unique(np.asarray(part), return_inverse=True)
    print(json.dumps({"cpu_s": cpu_s, "core_cpu_s": core, "modularity": modularity(n, u, v, part),
                      "communities": int(part.max()) + 1, "disconnected": disconnected(n, u, v, part), "peak_mb": peak}))


def single_clustering(path, seed):
    """Its own process, too; the labels come back in a file."""
    import numpy as np
    project = HERE / "single-clustering"
    build = ["cargo", "build", "--release", "-q", "--manifest-path", project / "Cargo.toml", "--target-dir", project / "target"]
    subprocess.run(build, check=True)
    with tempfile.TemporaryDirectory() as folder:
        labels = Path(folder) / "labels"
        call = [project / "target/release/single-clustering-bench", path, str(seed), labels]
        found = json.loads(subprocess.run(call, check=True, stdout=subprocess.PIPE).stdout)
        n, u, v = read_graph(path)
        _, part = np.unique(np.fromfile(labels, dtype="<u4"), return_inverse=True)
    return {**found, "modularity": modularity(n, u, v, part), "communities": int(part.max()) + 1,
            "disconnected": disconnected(n, u, v, part)}


def malha(args, seed, *more):
    call = [args.malha, "bench", "leiden", "--edges", args.graph, "--json", "--seed", str(seed), *more]
    return json.loads(subprocess.run(call, check=True, stdout=subprocess.PIPE).stdout)


def dynamic(args):
    """What an update costs beside a fresh run of the same grown graph."""
    rows = [malha(args, seed, "--dynamic", str(args.dynamic)) for seed in range(1, args.seeds + 1)]
    mean = {k: statistics.mean(row[k] for row in rows) for k in
            ("dynamic_cpu_s", "fresh_cpu_s", "dynamic_modularity", "fresh_modularity", "dynamic_disconnected")}
    mean["times_cheaper"] = mean["fresh_cpu_s"] / mean["dynamic_cpu_s"]
    print(json.dumps(mean) if args.json else "\n".join(f"{k:22s} {v:.6f}" for k, v in mean.items()))


def threads_equal(args):
    """Whether the hierarchy is the same on one thread and on two."""
    for seed in range(1, args.seeds + 1):
        one, two = (malha(args, seed, "--max-cluster-size", "10", "--threads", t)["checksum"] for t in ("1", "2"))
        print(f"seed {seed}: {one} {two} {'equal' if one == two else 'DIFFERENT'}")
        if one != two:
            sys.exit(1)


def run(name, args, seed):
    if name == "single-clustering":
        return single_clustering(args.graph, seed)
    if name == "malha":
        return malha(args, seed, *(["--max-cluster-size", str(args.hierarchy)] if args.hierarchy else []))
    call = [sys.executable, __file__, args.graph, "--child", name, "--seed", str(seed)]
    call += ["--hierarchy", str(args.hierarchy)] if args.hierarchy else []
    out = subprocess.run(call, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(out)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("graph"); p.add_argument("--malha"); p.add_argument("--seeds", type=int, default=5)
    p.add_argument("--skip", action="append", default=[]); p.add_argument("--only", action="append", default=[])
    p.add_argument("--hierarchy", type=int); p.add_argument("--dynamic", type=float)
    p.add_argument("--threads-equal", action="store_true")
    p.add_argument("--json", action="store_true"); p.add_argument("--child"); p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    ensure_libraries()
    if args.child:
        return child(args.child, args.graph, args.seed, args.hierarchy)
    if args.dynamic or args.threads_equal:
        return dynamic(args) if args.dynamic else threads_equal(args)
    names = ["malha", "graspologic"]
    if not args.hierarchy:
        names += ["igraph", "networkit", "single-clustering"]
    names = [n for n in names if n not in args.skip and (n != "malha" or args.malha)]
    names = [n for n in names if not args.only or n in args.only]
    rows = {n: [] for n in names}
    # Seeds outside, tools inside: what else the machine does hits all of them alike.
    for seed in range(1, args.seeds + 1):
        for name in names:
            rows[name].append(run(name, args, seed))
    mean = {n: {k: statistics.mean(x.get(k, x["cpu_s"]) for x in r)
                for k in ("cpu_s", "core_cpu_s", "modularity", "communities", "disconnected", "peak_mb")}
            for n, r in rows.items()}
    if args.json:
        print(json.dumps(mean))
    else:
        print(f"{'':17s} {'cpu_s':>8s} {'core':>8s} {'modularity':>11s} {'communities':>12s} {'disconn.':>9s} {'peak_mb':>8s}")
        for n, m in mean.items():
            print(f"{n:17s} {m['cpu_s']:8.3f} {m['core_cpu_s']:8.3f} {m['modularity']:11.6f} {m['communities']:12.1f} "
                  f"{m['disconnected']:9.1f} {m['peak_mb']:8.1f}")


if __name__ == "__main__":
    main()
