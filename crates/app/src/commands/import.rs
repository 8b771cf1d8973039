//! `malha import --format triples|malha FILE`

use std::path::PathBuf;

use malha_engine::ImportFormat;

use super::index::open_or_create;
use crate::config::Settings;
use crate::exit::Exit;
use crate::interrupt;
use crate::ui::{Bar, Output, count, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What the file holds
    #[arg(long, value_enum)]
    format: Format,
    /// File to read
    file: PathBuf,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// Subject, relation, object, separated by tabs, or as JSON lines
    Triples,
    /// What `malha export --format malha` wrote
    Malha,
}
