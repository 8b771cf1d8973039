//! `malha bench`: measure speed and memory. Every bench makes its own input, the same on every machine, and prints
//! figures with their units in their names.

mod cold;
mod cypher;
mod embed;
mod figures;
mod generate;
mod index;
mod khop;
mod ledger;
mod leiden;
mod memory;
mod pagerank;
mod planted;
mod process;
mod reindex;
mod search;
mod snapshot;
mod vectors;
mod workspace;

use malha_evaluation::Error;

use crate::config::Settings;
use crate::exit::{Exit, Refusal};

/// What can be measured.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Write the vault that the other benches measure with
    Generate(generate::Args),
    /// Index a vault from nothing: notes a second, CPU, peak memory
    Index(index::Args),
    /// Index again after editing one note
    Reindex(reindex::Args),
    /// Ask natural questions in process: latency of each recipe
    Search(search::Args),
    /// Start `malha search` as a process and wait for its end
    Cold(cold::Args),
    /// Turn texts into vectors: texts and tokens a second, latency of one question
    Embed(embed::Args),
    /// Read a transcript of an agent, then one more turn of it
    Ledger(ledger::Args),
    /// Find the nearest vectors: latency, and recall beside a full scan
    Vectors(vectors::Args),
    /// Ask a query in openCypher again and again: the median of a round, a query
    Cypher(cypher::Args),
    /// Walk two and three hops, against a recursive query over tables
    Khop(khop::Args),
    /// Find the communities of a large graph: CPU, peak memory, modularity
    Leiden(leiden::Args),
    /// Rank a large graph from a few of its nodes
    Pagerank(pagerank::Args),
    /// Save and load the snapshot of a large graph
    Snapshot(snapshot::Args),
    /// Peak memory of indexing and of searching, each in a process of its own
    Memory(memory::Args),
}

pub(crate) fn run(command: Command, settings: &Settings) -> anyhow::Result<Exit> {
    let figures = match command {
        Command::Generate(args) => generate::run(&args),
        Command::Index(args) => index::run(&args, settings),
        Command::Reindex(args) => reindex::run(&args, settings),
        Command::Search(args) => search::run(&args, settings),
        Command::Cold(args) => cold::run(&args, settings),
        Command::Embed(args) => embed::run(&args, settings),
        Command::Ledger(args) => ledger::run(&args),
        Command::Vectors(args) => vectors::run(&args),
        Command::Cypher(args) => cypher::run(&args, settings),
        Command::Khop(args) => khop::run(&args),
        Command::Leiden(args) => leiden::run(&args),
        Command::Pagerank(args) => pagerank::run(&args),
        Command::Snapshot(args) => snapshot::run(&args),
        Command::Memory(args) => memory::run(&args),
    };
    let figures = figures.map_err(|error| match error.downcast::<Error>() {
        Ok(Error::Engine(error)) => error.into(),
        Ok(Error::Usage(message)) => Refusal::new(Exit::Usage, message).into(),
        Ok(error) => error.into(),
        Err(error) => error,
    })?;
    figures.print(settings.json)?;
    Ok(Exit::Success)
}
