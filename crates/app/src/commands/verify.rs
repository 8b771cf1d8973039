//! `malha verify [--digest]`

use std::io::Write;

use malha_engine::Engine;

use crate::config::Settings;
use crate::exit::{Exit, Refusal};
use crate::ui::{Output, STRONG, count, painted, plain_line, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print one line that depends only on the content: equal stores print equal lines
    #[arg(long)]
    digest: bool,
    /// Look for a text in every file of the store, byte by byte; found is a failure
    #[arg(long, value_name = "TEXT", conflicts_with = "digest")]
    absent: Option<String>,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let engine = settings.open_read_only()?;
    let mut out = Output::new();
    if let Some(text) = &args.absent {
        return absent(&engine, text, settings);
    }
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

fn absent(engine: &Engine, text: &str, settings: &Settings) -> anyhow::Result<Exit> {
    let absence = engine.absence(text)?;
    let mut out = Output::new();
    if settings.json {
        out.json(&absence)?;
    } else {
        for trace in &absence.found {
            writeln!(
                out,
                "{}  {}",
                plain_line(&trace.place),
                plain_line(&trace.form)
            )?;
        }
    }
    out.flush()?;
    let files = count(absence.files as u64, "file", "files");
    if absence.searched.is_empty() {
        let message = "the text is too short to be told from chance; at least 4 bytes are needed";
        return Err(Refusal::new(Exit::Usage, message).into());
    }
    if absence.found.is_empty() {
        stderr::note(settings.verbosity, &format!("absent from {files}"));
        return Ok(Exit::Success);
    }
    stderr::error(&format!(
        "the text is still in the store ({files} searched)"
    ));
    Ok(Exit::Failure)
}
