//! `single-clustering-bench GRAPH SEED LABELS`: the Leiden of single-clustering on one graph, from u32 arrays in memory
//! to a partition. Writes the labels as little-endian u32 and prints CPU seconds and peak memory as JSON.

use single_clustering::community_search::leiden::{LeidenConfig, ObjectiveKind, leiden};
use single_clustering::network::CSRNetwork;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, graph, seed, labels] = arguments.as_slice() else {
        panic!("single-clustering-bench GRAPH SEED LABELS");
    };
    let bytes = std::fs::read(graph).expect("the graph can be read");
    let numbers: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|four| u32::from_le_bytes(four.try_into().expect("four bytes")))
        .collect();
    drop(bytes);
    let (nodes, edges) = (numbers[0] as usize, numbers[1] as usize);
    let (sources, targets) = numbers[2..].split_at(edges);
    std::fs::write("/proc/self/clear_refs", "5").expect("Linux");
    let (before, start) = (status("VmRSS:"), cpu_s());
    let triples: Vec<_> = sources
        .iter()
        .zip(targets)
        .map(|(&source, &target)| (source as _, target as _, 1.0))
        .collect();
    let network = CSRNetwork::from_edges(nodes, &triples).expect("a graph");
    drop(triples);
    let built = cpu_s();
    let config = LeidenConfig {
        objective: ObjectiveKind::Rb { resolution: 1.0 },
        seed: Some(seed.parse().expect("a number")),
        ..LeidenConfig::default()
    };
    let clustering = leiden(&network, &config).expect("a partition");
    let end = cpu_s();
    let found: Vec<u8> = clustering
        .labels()
        .iter()
        .flat_map(|&label| (label as u32).to_le_bytes())
        .collect();
    let peak_mb = status("VmHWM:") - before;
    std::fs::write(labels, found).expect("the labels can be written");
    println!(
        "{{\"cpu_s\": {}, \"core_cpu_s\": {}, \"peak_mb\": {peak_mb}}}",
        end - start,
        end - built
    );
}

/// User and system time of this process.
fn cpu_s() -> f64 {
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let (_, fields) = stat.rsplit_once(')').expect("a name in brackets");
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<f64>().expect("a number");
    (ticks(11) + ticks(12)) / TICKS
}

/// A line of the process's status, in megabytes.
fn status(key: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = text.lines().find(|line| line.starts_with(key));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
    kilobytes.and_then(|number| number.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0 / 1e6
}
