//! `malha graph path FROM TO`

use std::io::{self, Write};

use malha_engine::types::PathView;

use super::show;
use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{Output, count, stderr};

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
    #[arg(short = 'n', long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let engine = settings.open_read_only()?;
    let paths = engine.paths(&args.from, &args.to, args.hops, args.limit as usize)?;
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
        let relations = count(u64::from(args.hops), "relation", "relations");
        stderr::note(
            settings.verbosity,
            &format!("no path of at most {relations}"),
        );
    } else if paths.iter().all(|path| path.relations.is_empty()) {
        let message = format!("{} and {} are the same entity", args.from, args.to);
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
