//! `malha graph hubs`

use std::io::Write;

use super::show;
use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::Output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many to list
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let hubs = settings.open_read_only()?.hubs(args.limit as usize)?;
    let mut out = Output::new();
    if settings.json {
        out.json(&hubs)?;
    } else if !hubs.is_empty() {
        show::entities(&mut out, &hubs)?;
    }
    out.flush()?;
    Ok(Exit::Success)
}
