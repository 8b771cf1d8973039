//! `malha backup FILE`

use std::path::PathBuf;

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::stderr;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// File to make; it must not be there yet
    file: PathBuf,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    settings.open_read_only()?.backup(&args.file)?;
    let message = format!("copied the store to {}", args.file.display());
    stderr::note(settings.verbosity, &message);
    Ok(Exit::Success)
}
