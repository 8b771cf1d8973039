//! `malha eval`: measure retrieval, links and more against data sets.

mod ablation;
mod all;
mod evidence;
mod extraction;
mod figures;
mod links;
mod recall;
mod resolution;
mod retrieval;
mod router;
mod temporal;
mod train;
mod vault;

use malha_evaluation::{BrokenRow, Error};

use crate::config::Settings;
use crate::exit::{Exit, Refusal};
use crate::ui::stderr;

/// What can be measured.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Rank the passages of a data set for its questions, and score the ranking
    Retrieval(Box<retrieval::Args>),
    /// Ask the mini-vault of this program 200 questions, with and without each part of the recipes
    Ablation(ablation::Args),
    /// Run the public data sets that docs/evaluation.md reports, one row a set and recipe
    All(all::Args),
    /// Measure how much of the evidence for questions stands in a context of so many words
    Evidence(evidence::Args),
    /// Measure how often the router takes the way that fits a question
    Router(router::Args),
    /// Read replies of models as extraction reads them, and compare the facts with those of a data set
    Extraction(extraction::Args),
    /// Measure how well names of one thing are joined, against entities of a data set
    Resolution(resolution::Args),
    /// Compare the links found in a vault with a reference made by another program
    Links(links::Args),
    /// Recall questions from this store: age of the evidence and size of the context, with what is fresh preferred
    /// and without
    Recall(recall::Args),
    /// Ask what held at given dates, of facts with dates
    Temporal(temporal::Args),
    /// Train the ranker on public sets, and judge it on the set it has not seen
    Train(train::Args),
    /// Ask which note each of your own links led to, in a copy of the vault without them
    Vault(vault::Args),
}

pub(crate) fn run(command: Command, settings: &Settings) -> anyhow::Result<Exit> {
    let done = match command {
        Command::Retrieval(args) => retrieval::run(&args, settings),
        Command::Ablation(args) => ablation::run(&args, settings),
        Command::All(args) => all::run(&args, settings),
        Command::Evidence(args) => evidence::run(&args, settings),
        Command::Router(args) => router::run(&args, settings),
        Command::Extraction(args) => extraction::run(&args, settings),
        Command::Resolution(args) => resolution::run(&args, settings),
        Command::Links(args) => links::run(&args, settings),
        Command::Recall(args) => recall::run(&args, settings),
        Command::Temporal(args) => temporal::run(&args, settings),
        Command::Train(args) => train::run(&args, settings),
        Command::Vault(args) => vault::run(&args, settings),
    };
    done.map_err(|error| match error.downcast::<Error>() {
        Ok(Error::Engine(error)) => error.into(),
        Ok(Error::Usage(message)) => Refusal::new(Exit::Usage, message).into(),
        Ok(error) => error.into(),
        Err(error) => error,
    })
}

/// Names the rows that could not be used; they cost no other row.
fn report_broken(rows: &[BrokenRow]) -> Exit {
    for row in rows {
        stderr::failed(&format!("{}:{}", row.path.display(), row.line), &row.reason);
    }
    if rows.is_empty() {
        Exit::Success
    } else {
        Exit::Partial
    }
}
