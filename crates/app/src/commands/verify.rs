//! `malha verify [--digest]`

use std::io::Write;

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::Output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print one line that depends only on the content: equal stores print equal lines
    #[arg(long)]
    digest: bool,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let engine = settings.open_read_only()?;
    let mut out = Output::new();
    if args.digest {
        writeln!(out, "{}", engine.digest()?)?;
    }
    out.flush()?;
    Ok(Exit::Success)
}
