//! `malha export --format malha`

use std::io::Write;
use std::path::Path;

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{Output, count, stderr};

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
    let records = match args.format {
        Format::Malha => engine.export_malha(Path::new("stdout"), &mut out)?,
    };
    out.flush()?;
    let records = count(records, "record", "records");
    stderr::note(settings.verbosity, &format!("{records} written"));
    Ok(Exit::Success)
}
