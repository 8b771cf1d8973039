//! `malha bench pagerank`

use std::time::Instant;

use malha_engine::graph::pagerank::{Push, WeightedGraph, personalised};
use malha_engine::graph::{EdgeFilter, Moment, RelationCsr};
use malha_engine::types::{Direction, Timestamp};
use malha_evaluation::Rng;

use super::figures::Figures;
use super::planted::{GraphArgs, graph};

/// Nodes that a question starts from.
const STARTS: usize = 3;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    graph: GraphArgs,
    /// Rankings to make, each from other nodes
    #[arg(long, default_value_t = 200, value_name = "N")]
    runs: usize,
    /// A node passes mass on when it has more than this for each of its edges
    #[arg(long, default_value_t = 1e-5, value_name = "MASS")]
    threshold: f64,
}

/// Made-up relations have no dates: every moment shows all of them.
const PRESENT: Moment = Moment {
    valid: Timestamp(1),
    known: Timestamp(1),
};

/// Relations in both directions.
struct Undirected<'a> {
    relations: &'a RelationCsr,
    filter: EdgeFilter,
}

impl WeightedGraph for Undirected<'_> {
    fn nodes(&self) -> usize {
        self.relations.nodes()
    }

    fn degree(&self, node: u32) -> usize {
        self.relations.degree(node, PRESENT) as usize
    }

    fn edges(&self, node: u32, out: &mut Vec<(u32, f64)>) {
        self.relations
            .each_neighbor(node, &self.filter, |neighbor, position| {
                out.push((neighbor, f64::from(self.relations.weight(position))));
            });
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Figures> {
    let edges = args.graph.edges()?;
    let graph = graph(&edges);
    let relations = &graph.relations;
    let undirected = Undirected {
        relations,
        filter: EdgeFilter::new(
            relations,
            Direction::Both,
            None,
            Moment::present(Timestamp(1)),
        ),
    };
    let push = Push {
        damping: 0.85,
        threshold: args.threshold,
    };
    let mut rng = Rng::new(1);
    let mut times = Vec::new();
    let mut reached = 0;
    for _ in 0..args.runs {
        let mut reset: Vec<(u32, f64)> = (0..STARTS)
            .map(|_| (rng.below(edges.nodes as usize) as u32, 1.0 / STARTS as f64))
            .collect();
        reset.sort_by_key(|start| start.0);
        let start = Instant::now();
        reached += personalised(&undirected, &reset, push).len();
        times.push(start.elapsed());
    }
    let mut figures = Figures::default();
    figures.count("nodes", edges.nodes as usize);
    figures.count("edges", edges.sources.len());
    figures.count("mean_nodes_reached", reached / args.runs.max(1));
    figures.latencies("pagerank", &times);
    Ok(figures)
}
