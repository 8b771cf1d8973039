//! `malha verify [--digest]`

use std::io::Write;

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{Output, plain_line, stderr};

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
        let digest = engine.digest()?;
        if settings.json {
            out.json(&serde_json::json!({ "digest": digest }))?;
        } else {
            writeln!(out, "{digest}")?;
        }
        out.flush()?;
        return Ok(Exit::Success);
    }
    let problems = engine.check()?;
    if settings.json {
        out.json(&serde_json::json!({ "problems": problems }))?;
    } else {
        for problem in &problems {
            writeln!(out, "{}", plain_line(problem))?;
        }
    }
    out.flush()?;
    if problems.is_empty() {
        stderr::note(settings.verbosity, "the store is whole");
        return Ok(Exit::Success);
    }
    stderr::hint("make a backup, then remove the store and run `malha index`");
    Ok(Exit::Failure)
}
