//! `malha graph …`: look into the graph. Names, aliases and public ids are accepted alike.

mod communities;
mod entity;
mod hubs;
mod neighbors;
mod orphans;
mod path;
pub(crate) mod show;
mod unresolved;

pub(crate) use path::write_path;

use crate::config::Settings;
use crate::exit::Exit;

/// One question to the graph.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Show the entities that a name stands for
    Entity(entity::Args),
    /// Show what is around an entity
    Neighbors(neighbors::Args),
    /// Show how two entities are connected
    Path(path::Args),
    /// List the best connected entities
    Hubs(hubs::Args),
    /// List what belongs together: communities of entities, coarse to fine
    Communities(communities::Args),
    /// List the notes without any relation
    Orphans(orphans::Args),
    /// List the links that point to no note, or to several
    Unresolved(unresolved::Args),
}

pub(crate) fn run(command: Command, settings: &Settings) -> anyhow::Result<Exit> {
    match command {
        Command::Entity(args) => entity::run(&args, settings),
        Command::Neighbors(args) => neighbors::run(&args, settings),
        Command::Path(args) => path::run(&args, settings),
        Command::Hubs(args) => hubs::run(&args, settings),
        Command::Communities(args) => communities::run(&args, settings),
        Command::Orphans(args) => orphans::run(&args, settings),
        Command::Unresolved(args) => unresolved::run(&args, settings),
    }
}
