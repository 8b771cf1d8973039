//! `malha eval`: measure retrieval, links and more against data sets.

use crate::config::Settings;
use crate::exit::Exit;

/// What can be measured.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {}

pub(crate) fn run(command: Command, _settings: &Settings) -> anyhow::Result<Exit> {
    match command {}
}
