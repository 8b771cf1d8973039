//! `malha bench snapshot`

use std::fs;
use std::time::Instant;

use anyhow::ensure;
use malha_engine::graph::SnapshotFiles;

use super::figures::Figures;
use super::planted::{GraphArgs, graph};

/// The least of so many times: the work itself, without what else the machine does.
const REPEATS: usize = 5;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    graph: GraphArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Figures> {
    let edges = args.graph.edges()?;
    let folder = tempfile::tempdir()?;
    let store = folder.path().join("malha.db");
    let files = SnapshotFiles::beside(&store);
    let graph_of_edges = graph(&edges);

    let mut figures = Figures::default();
    figures.count("nodes", edges.nodes as usize);
    figures.count("edges", edges.sources.len());
    figures.push(
        "build_ms",
        least_ms(|| {
            drop(graph(&edges));
            Ok(())
        })?,
    );
    figures.push("save_ms", least_ms(|| Ok(files.save(&graph_of_edges)?))?);
    let mut loaded = None;
    figures.push(
        "load_ms",
        least_ms(|| {
            loaded = Some(files.load(graph_of_edges.generation)?);
            Ok(())
        })?,
    );
    ensure!(
        loaded.as_ref() == Some(&graph_of_edges),
        "the loaded graph is another one"
    );
    let size = fs::metadata(store.with_extension("graph"))?.len();
    figures.push("file_mb", size as f64 / 1e6);
    Ok(figures)
}

fn least_ms(mut work: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..REPEATS {
        let start = Instant::now();
        work()?;
        least = least.min(start.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(least)
}
