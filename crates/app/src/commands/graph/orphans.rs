//! `malha graph orphans`

use std::io::Write;

use super::show;
use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{Output, count, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let orphans = settings.open_read_only()?.orphans()?;
    let mut out = Output::new();
    if settings.json {
        out.json(&orphans)?;
    } else if !orphans.is_empty() {
        show::entities(&mut out, &orphans)?;
    }
    out.flush()?;
    let notes = count(orphans.len() as u64, "note", "notes");
    stderr::note(settings.verbosity, &format!("{notes} without any relation"));
    Ok(Exit::Success)
}
