//! `malha export --format malha`

use std::io::Write;

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::Output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// `malha`: everything, as JSON lines that `malha import` reads
    #[arg(long, value_enum, default_value_t = Format::Malha)]
    format: Format,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    Malha,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let engine = settings.open_read_only()?;
    let mut out = Output::new();
    match args.format {
        Format::Malha => engine.export(&mut out)?,
    }
    out.flush()?;
    Ok(Exit::Success)
}
