//! `malha verify [--digest]`

use std::io::Write;

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{Output, STRONG, count, painted, plain_line, stderr};

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
    let found = engine.verify()?;
    if settings.json {
        out.json(&found)?;
    } else {
        for violation in &found.violations {
            let check = painted(STRONG, plain_line(&violation.check));
            writeln!(out, "{check}  {}", plain_line(&violation.item))?;
        }
    }
    out.flush()?;
    if found.more > 0 {
        stderr::note(
            settings.verbosity,
            &format!("{} more of the same kinds", found.more),
        );
    }
    let checks = count(found.checks as u64, "check", "checks");
    if found.violations.is_empty() {
        stderr::note(
            settings.verbosity,
            &format!("the store is whole ({checks})"),
        );
        return Ok(Exit::Success);
    }
    stderr::error(&format!("the store is damaged ({checks})"));
    stderr::hint("make a backup, then remove the store and run `malha index`");
    Ok(Exit::Failure)
}
