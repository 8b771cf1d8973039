//! `malha bench khop`

use std::time::{Duration, Instant};

use anyhow::ensure;
use malha_engine::graph::{Moment, Traversal};
use malha_engine::types::Timestamp;
use malha_evaluation::{RecursiveCte, Rng};

use super::figures::Figures;
use super::planted::{GraphArgs, graph};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    graph: GraphArgs,
    /// Seeds to walk from
    #[arg(long, default_value_t = 30, value_name = "N")]
    seeds: usize,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Figures> {
    let edges = args.graph.edges()?;
    let folder = tempfile::tempdir()?;
    let cte = RecursiveCte::build(&folder.path().join("graph.db"), &edges)?;
    let graph = graph(&edges);
    let mut rng = Rng::new(1);
    let seeds: Vec<u32> = (0..args.seeds)
        .map(|_| rng.below(edges.nodes as usize) as u32)
        .collect();

    let mut figures = Figures::default();
    figures.count("nodes", edges.nodes as usize);
    figures.count("edges", edges.sources.len());
    for hops in [2, 3] {
        let mut ours = Duration::ZERO;
        let mut theirs = Duration::ZERO;
        let mut reached = 0;
        for &seed in &seeds {
            let walk = Traversal {
                max_hops: hops,
                max_nodes: usize::MAX,
                ..Traversal::new(vec![seed], Moment::present(Timestamp(1)))
            };
            let start = Instant::now();
            let expected = cte.walk(seed, hops)?;
            theirs += start.elapsed();
            // Once to warm the caches, as the query's repeats of its own pages do.
            walk.nodes(&graph.relations);
            let start = Instant::now();
            let (nodes, _) = walk.nodes(&graph.relations);
            ours += start.elapsed();
            let found: Vec<(u32, u32)> =
                nodes.iter().map(|node| (node.entity, node.depth)).collect();
            ensure!(
                found == expected,
                "{hops} hops from {seed}: not the nodes of the query"
            );
            reached += found.len();
        }
        let mean = |total: Duration| total.as_secs_f64() * 1000.0 / seeds.len() as f64;
        figures.count(format!("hops{hops}_mean_nodes"), reached / seeds.len());
        figures.push(format!("hops{hops}_ms"), mean(ours));
        figures.push(format!("hops{hops}_recursive_cte_ms"), mean(theirs));
        figures.push(
            format!("hops{hops}_times_faster"),
            mean(theirs) / mean(ours),
        );
    }
    Ok(figures)
}
