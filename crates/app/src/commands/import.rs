//! `malha import --format triples|malha FILE`

use std::io::Write;
use std::path::{Path, PathBuf};

use malha_engine::Engine;
use malha_engine::exchange::{TripleOptions, TripleReport};
use serde_json::json;

use super::index::{self, open_or_create};
use crate::config::Settings;
use crate::exit::{Exit, Refusal};
use crate::ui::stderr::{self, Verbosity};
use crate::ui::{Output, count, place};

/// How many failed lines are shown before the rest is only counted.
const FAILURES_SHOWN: usize = 20;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What the file holds
    #[arg(long, value_enum)]
    format: Format,
    /// File to read
    file: PathBuf,
    /// Triples: relation that a subject has to one thing at a time; repeatable
    #[arg(long, value_name = "RELATION")]
    exclusive: Vec<String>,
    /// Triples: name of the file in the store; another file of this name replaces its facts
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Facts, one a line: subject, relation, object, separated by tabs or as JSON
    Triples,
    /// What `malha export --format malha` wrote
    Malha,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    if !args.file.is_file() {
        let message = format!("{}: no such file", args.file.display());
        return Err(Refusal::new(Exit::NotFound, message).into());
    }
    match args.format {
        Format::Triples => import_triples(args, settings),
        Format::Malha => import_malha(&args.file, settings),
    }
}

fn import_malha(file: &Path, settings: &Settings) -> anyhow::Result<Exit> {
    let records = open_or_create(settings)?.import_malha(file)?;
    if settings.json {
        let mut out = Output::new();
        out.json(&json!({ "records": records }))?;
        out.flush()?;
    }
    let records = count(records, "record", "records");
    stderr::note(settings.verbosity, &format!("{records} added"));
    Ok(Exit::Success)
}

fn import_triples(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let engine = open_or_create(settings)?;
    let file_name = args.file.file_name().unwrap_or_default().to_string_lossy();
    let name = args
        .name
        .clone()
        .unwrap_or_else(|| format!("import/{file_name}"));
    let report = engine.import_triples(
        &args.file,
        &name,
        &TripleOptions {
            exclusive: args.exclusive.clone(),
            ..TripleOptions::default()
        },
    )?;
    if !report.unchanged {
        find_new_names(&engine, settings)?;
    }
    if settings.json {
        let mut out = Output::new();
        out.json(&report)?;
        out.flush()?;
    }
    summary(&report, &name, settings);
    Ok(if report.failed == 0 {
        Exit::Success
    } else {
        Exit::Partial
    })
}

/// Passages that are indexed already may speak of what the file named.
fn find_new_names(engine: &Engine, settings: &Settings) -> anyhow::Result<()> {
    if !engine.sources()?.is_empty() {
        index::once(engine, &[], settings)?;
    }
    Ok(())
}

fn summary(report: &TripleReport, name: &str, settings: &Settings) {
    let verbosity = settings.verbosity;
    let shown = if verbosity >= Verbosity::Verbose {
        report.failures.len()
    } else {
        FAILURES_SHOWN
    };
    for failure in report.failures.iter().take(shown) {
        stderr::failed(&place(name, failure.line), &failure.reason);
    }
    if report.failures.len() > shown {
        let more = report.failures.len() - shown;
        stderr::note(
            verbosity,
            &format!("{more} more failed lines; -v shows them"),
        );
    }
    for warning in &report.warnings {
        let message = format!("{}: {}", place(name, warning.line), warning.reason);
        stderr::warning(verbosity, &message);
    }
    if report.unchanged {
        stderr::note(
            verbosity,
            "this file was loaded before; nothing has changed",
        );
        return;
    }
    let lines = count(report.lines as u64, "line", "lines");
    let message = format!(
        "{lines}: {} facts, {} repeated, {} to themselves, {} failed; relations: +{} −{}, {} ended; \
         conflicts: {}; entities: +{}",
        report.facts,
        report.repeated,
        report.self_loops,
        report.failed,
        report.relations_added,
        report.relations_closed,
        report.relations_ended,
        report.conflicts,
        report.entities_added,
    );
    stderr::note(verbosity, &message);
}
