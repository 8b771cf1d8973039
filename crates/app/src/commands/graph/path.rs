//! `malha graph path FROM TO`

use std::io::{self, Write};

use malha_engine::types::PathView;

use super::show;
use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{Output, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name, alias or public id to start from
    from: String,
    /// Name, alias or public id to reach
    to: String,
    /// How long a path may be
    #[arg(long, value_name = "N", default_value_t = 6)]
    hops: u32,
    /// How many paths to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 3)]
    limit: usize,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let engine = settings.open_read_only()?;
    let paths = engine.paths(&args.from, &args.to, args.hops, args.limit)?;
    let mut out = Output::new();
    if settings.json {
        out.json(&paths)?;
    } else {
        for (place, path) in paths.iter().enumerate() {
            if place > 0 {
                writeln!(out)?;
            }
            write_path(&mut out, path, "")?;
        }
    }
    out.flush()?;
    if paths.is_empty() {
        let message = format!("no path of at most {} relations", args.hops);
        stderr::note(settings.verbosity, &message);
    }
    Ok(Exit::Success)
}

/// One relation a line, each with the place that states it.
pub(crate) fn write_path(out: &mut impl Write, path: &PathView, indent: &str) -> io::Result<()> {
    for relation in &path.relations {
        write!(out, "{indent}")?;
        show::relation(out, relation)?;
        for stated in &relation.evidence {
            write!(out, "{indent}")?;
            show::evidence(out, stated)?;
        }
    }
    Ok(())
}
