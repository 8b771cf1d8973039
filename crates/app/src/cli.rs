//! The command line as clap sees it. The arguments of a command live in the command's own file.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands;

/// Folders of notes and documents in; ranked, followable evidence out. No model, no network.
#[derive(Debug, Parser)]
#[command(
    name = "malha",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Store file; otherwise `.malha/malha.db`, found upwards from here
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// Configuration file; otherwise `malha.toml` beside the store or upwards from here
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Namespace to work in
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) namespace: Option<String>,
    /// Read the store as of this date: what held in the world then
    #[arg(long, global = true, value_name = "DATE")]
    pub(crate) as_of: Option<String>,
    /// Read the store as it was known at this date
    #[arg(long, global = true, value_name = "DATE")]
    pub(crate) known_at: Option<String>,
    /// Print results as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print results and errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more on stderr; twice for the engine's own log
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// All the program does.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create an empty store in a folder
    Init(commands::init::Args),
    /// Bring the store up to date with folders and files; only what changed is read
    Index(commands::index::Args),
    /// Give a vector to every passage that has none, for search by meaning
    Embed(commands::embed::Args),
    /// Replace the vectors by those of the configured model, while the old ones are still searched
    Reembed(commands::embed::Args),
    /// Find ranked evidence for a question
    Search(commands::search::Args),
    /// Show what the graph was good for in your own searches of the last week
    Ab(commands::ab::Args),
    /// Answer a question with sentences of your documents, each with its place
    Ask(commands::ask::Args),
    /// Look into the graph: entities, neighbours, paths, hubs, orphans, open links
    #[command(subcommand)]
    Graph(commands::graph::Command),
    /// Store texts, entities and facts as they are given
    Remember(Box<commands::remember::Args>),
    /// Show what is known about a question, within a budget of tokens; never fails
    Recall(commands::recall::Args),
    /// Take a fact back, and state what is right instead
    Correct(commands::correct::Args),
    /// Delete documents, entities or sessions for good, with all that was derived from them
    Forget(commands::forget::Args),
    /// Relate two entities
    Link(commands::remember::LinkArgs),
    /// Show all that is known of an entity
    Describe(commands::describe::Args),
    /// Take back a remembered or corrected thing, or list them
    Undo(commands::undo::Args),
    /// Serve the store to agents over the Model Context Protocol
    Mcp(commands::mcp::Args),
    /// Show an entity's relations through time
    Timeline(commands::timeline::Args),
    /// Show which relations began and ended between two dates
    Diff(commands::diff::Args),
    /// Add a graph from a file
    Import(commands::import::Args),
    /// Write the store's content in a format of ours or of other programs
    Export(commands::export::Args),
    /// Keep what coding agents were asked and did, from their transcripts
    #[command(subcommand)]
    Ledger(commands::ledger::Command),
    /// Count what the store holds
    Stats(commands::stats::Args),
    /// Declare what may be extracted: check, infer, import
    #[command(subcommand)]
    Schema(commands::schema::Command),
    /// See what extraction put aside: list, show, retry, drop
    #[command(subcommand)]
    Quarantine(commands::quarantine::Command),
    /// Decide what extraction left open: which names mean one thing
    #[command(subcommand)]
    Review(commands::review::Command),
    /// See what each run did
    #[command(subcommand)]
    Runs(commands::runs::Command),
    /// Show what models were asked and what it cost
    Usage(commands::usage::Args),
    /// Check that store, configuration and sources are in good order
    Doctor(commands::doctor::Args),
    /// Check the store's integrity
    Verify(commands::verify::Args),
    /// Copy the store to a new file while it is in use
    Backup(commands::backup::Args),
    /// Ask the graph a query in openCypher
    Cypher(commands::cypher::Args),
    /// Run a read-only SQL query on the store
    Sql(commands::sql::Args),
    /// Local models: list, fetch, check and delete them
    #[command(subcommand)]
    Models(commands::models::Command),
    /// Show a small sample vault at work, in a temporary store
    Demo(commands::demo::Args),
    /// Print shell completions
    Completions(commands::completions::Args),
    /// Measure retrieval, links and more against data sets
    #[command(subcommand)]
    Eval(commands::eval::Command),
    /// Measure speed and memory
    #[command(subcommand)]
    Bench(commands::bench::Command),
}
