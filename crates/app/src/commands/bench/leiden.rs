//! `malha bench leiden`

use std::collections::HashSet;
use std::time::Instant;

use malha_engine::communities::{
    Change, HierarchyOptions, LeidenOptions, Network, Objective, disconnected, frontier, hierarchy,
    leiden, quality, update,
};
use malha_evaluation::Rng;
use malha_evaluation::generate::EdgeList;

use super::figures::Figures;
use super::planted::GraphArgs;
use super::process::{PeakMemory, cpu_s};

/// Runs of a dynamic update; one alone is shorter than the clock's tick.
const UPDATES: usize = 10;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    graph: GraphArgs,
    /// Equal seeds give equal partitions
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Higher gives more and smaller communities
    #[arg(long, default_value_t = 1.0, value_name = "X")]
    resolution: f64,
    /// Passes over the whole graph
    #[arg(long, default_value_t = 1, value_name = "N")]
    iterations: usize,
    /// Split communities further until they have at most so many nodes
    #[arg(long, value_name = "NODES")]
    max_cluster_size: Option<usize>,
    /// Threads that split communities
    #[arg(long, default_value_t = 1, value_name = "N")]
    threads: usize,
    /// Add random edges (percent of all) to the finished partition and update it
    #[arg(long, value_name = "PERCENT", conflicts_with = "max_cluster_size")]
    dynamic: Option<f64>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Figures> {
    let edges = args.graph.edges()?;
    let options = LeidenOptions {
        objective: Objective::Modularity,
        resolution: args.resolution,
        seed: args.seed,
        iterations: args.iterations,
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads)
        .build()?;
    let mut figures = Figures::default();
    figures.count("nodes", edges.nodes as usize);
    figures.count("edges", edges.sources.len());
    let memory = PeakMemory::start();
    let (start, cpu) = (Instant::now(), cpu_s());
    let network = Network::from_edges(edges.nodes, &edges.sources, &edges.targets, &[]);
    let levels: Vec<Vec<u32>> = if let Some(max_cluster_size) = args.max_cluster_size {
        let options = HierarchyOptions {
            leiden: options,
            max_cluster_size,
            max_levels: usize::MAX,
        };
        let found = pool.install(|| hierarchy(&network, &options));
        found.levels.into_iter().map(|level| level.labels).collect()
    } else {
        vec![leiden(&network, &options)]
    };
    figures.push_some("cpu_s", cpu_s().zip(cpu).map(|(now, then)| now - then));
    figures.push("wall_s", start.elapsed().as_secs_f64());
    figures.push_some("peak_mb", memory.peak_mb());
    let coarsest = &levels[0];
    figures.push_precise(
        "modularity",
        quality(&network, coarsest, options.objective, args.resolution),
    );
    figures.count("communities", count(coarsest));
    figures.count(
        "disconnected",
        levels
            .iter()
            .map(|labels| disconnected(&network, labels))
            .sum(),
    );
    if args.max_cluster_size.is_some() {
        figures.count("levels", levels.len());
        figures.count(
            "finest_communities",
            levels.last().map_or(0, |labels| count(labels)),
        );
        figures.count("checksum", checksum(&levels));
    }
    if let Some(percent) = args.dynamic {
        dynamic(&network, coarsest, &edges, percent, &options, &mut figures);
    }
    Ok(figures)
}

/// Adds edges, updates the partition, and compares with a fresh one of the new graph.
fn dynamic(
    network: &Network,
    before: &[u32],
    edges: &EdgeList,
    percent: f64,
    options: &LeidenOptions,
    figures: &mut Figures,
) {
    let changes = drawn_edges(edges, percent, options.seed);
    let sources: Vec<u32> = changes.iter().map(|change| change.source).collect();
    let targets: Vec<u32> = changes.iter().map(|change| change.target).collect();
    let cpu = cpu_s();
    let mut after = Vec::new();
    for _ in 0..UPDATES {
        let grown = network.with_edges(&sources, &targets, &[]);
        let frontier = frontier(grown.nodes(), before, &changes);
        after = update(&grown, before, frontier, options);
    }
    let dynamic_cpu = cpu_s()
        .zip(cpu)
        .map(|(now, then)| (now - then) / UPDATES as f64);
    let all_sources = [edges.sources.as_slice(), &sources].concat();
    let all_targets = [edges.targets.as_slice(), &targets].concat();
    let cpu = cpu_s();
    let grown = Network::from_edges(edges.nodes, &all_sources, &all_targets, &[]);
    let fresh = leiden(&grown, options);
    let fresh_cpu = cpu_s().zip(cpu).map(|(now, then)| now - then);
    let modularity =
        |labels: &[u32]| quality(&grown, labels, options.objective, options.resolution);
    figures.count("added_edges", changes.len());
    figures.push_some("dynamic_cpu_s", dynamic_cpu);
    figures.push_some("fresh_cpu_s", fresh_cpu);
    figures.push_precise("dynamic_modularity", modularity(&after));
    figures.push_precise("fresh_modularity", modularity(&fresh));
    figures.count("dynamic_disconnected", disconnected(&grown, &after));
}

/// New edges whose ends are ends of old edges: hubs get more of them, as in graphs that grow. Each stays in the
/// community or not as the old edges do, because it closes a triangle half of the time.
fn drawn_edges(edges: &EdgeList, percent: f64, seed: u64) -> Vec<Change> {
    let mut known: HashSet<(u32, u32)> = edges
        .sources
        .iter()
        .zip(&edges.targets)
        .map(|(&a, &b)| (a.min(b), a.max(b)))
        .collect();
    let wanted = (edges.sources.len() as f64 * percent / 100.0) as usize;
    let mut rng = Rng::new(seed);
    let mut changes = Vec::with_capacity(wanted);
    while changes.len() < wanted {
        let source = edges.sources[rng.below(edges.sources.len())];
        let target = edges.targets[rng.below(edges.targets.len())];
        if source != target && known.insert((source.min(target), source.max(target))) {
            changes.push(Change {
                source,
                target,
                is_added: true,
            });
        }
    }
    changes
}

fn count(labels: &[u32]) -> usize {
    labels.iter().max().map_or(0, |&most| most as usize + 1)
}

/// Tells whether two runs gave the same levels (FNV-1a, 32 bits, so that every JSON reader keeps it whole).
fn checksum(levels: &[Vec<u32>]) -> usize {
    let bytes = levels
        .iter()
        .flatten()
        .flat_map(|label| label.to_le_bytes());
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    hash as usize
}
