//! The `malha` command. `main` lists all the program does; each command is a file in `commands/`.

mod cli;
mod commands;
mod config;
mod exit;
mod interrupt;
mod locate;
mod mcp;
#[cfg(feature = "otel")]
mod otel;
mod telemetry;
mod ui;

use clap::Parser;
use cli::{Cli, Command};
use exit::Exit;
#[cfg(feature = "otel")]
use otel::Log;
#[cfg(not(feature = "otel"))]
use ui::stderr::Log;

/// For Rust and for `SQLite` alike: indexing spends a tenth less than with the allocator of glibc.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    let cli = Cli::parse();
    interrupt::install();
    run(cli).unwrap_or_else(|error| exit::report(&error)).into()
}

fn run(cli: Cli) -> anyhow::Result<Exit> {
    // These work anywhere, whatever the folder's configuration looks like.
    match cli.command {
        Command::Completions(args) => return commands::completions::run(&args),
        Command::Demo(args) => return commands::demo::run(&args, &cli.global),
        Command::Ledger(commands::ledger::Command::Hook(_)) => {
            return Ok(commands::ledger::hook(&cli.global));
        }
        _ => {}
    }
    let settings = config::load(&cli.global)?;
    let _log = Log::start(settings.verbosity);
    match cli.command {
        Command::Completions(_) | Command::Demo(_) => unreachable!("handled above"),
        Command::Init(args) => commands::init::run(&args, &settings),
        Command::Index(args) => commands::index::run(&args, &settings),
        Command::Ab(args) => commands::ab::run(&args, &settings),
        Command::Search(args) => commands::search::run(&args, &settings),
        Command::Ask(args) => commands::ask::run(&args, &settings),
        Command::Graph(command) => commands::graph::run(command, &settings),
        Command::Remember(args) => commands::remember::run(&args, &settings),
        Command::Recall(args) => commands::recall::run(&args, &settings),
        Command::Correct(args) => commands::correct::run(&args, &settings),
        Command::Forget(args) => commands::forget::run(&args, &settings),
        Command::Link(args) => commands::remember::link(&args, &settings),
        Command::Describe(args) => commands::describe::run(&args, &settings),
        Command::Undo(args) => commands::undo::run(&args, &settings),
        Command::Mcp(args) => commands::mcp::run(&args, &settings),
        Command::Timeline(args) => commands::timeline::run(&args, &settings),
        Command::Diff(args) => commands::diff::run(&args, &settings),
        Command::Import(args) => commands::import::run(&args, &settings),
        Command::Export(args) => commands::export::run(&args, &settings),
        Command::Schema(command) => commands::schema::run(&command, &settings),
        Command::Quarantine(command) => commands::quarantine::run(&command, &settings),
        Command::Review(command) => commands::review::run(&command, &settings),
        Command::Runs(command) => commands::runs::run(&command, &settings),
        Command::Ledger(command) => commands::ledger::run(command, &settings),
        Command::Usage(args) => commands::usage::run(&args, &settings),
        Command::Stats(args) => commands::stats::run(&args, &settings),
        Command::Doctor(args) => commands::doctor::run(&args, &settings),
        Command::Verify(args) => commands::verify::run(&args, &settings),
        Command::Backup(args) => commands::backup::run(&args, &settings),
        Command::Cypher(args) => commands::cypher::run(&args, &settings),
        Command::Sql(args) => commands::sql::run(&args, &settings),
        Command::Models(command) => commands::models::run(command, &settings),
        Command::Embed(args) => commands::embed::run(&args, &settings),
        Command::Reembed(args) => commands::embed::replace(&args, &settings),
        Command::Eval(command) => commands::eval::run(command, &settings),
        Command::Bench(command) => commands::bench::run(command, &settings),
    }
}
