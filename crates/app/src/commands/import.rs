//! `malha import --format triples|malha|msgraphrag|lightrag|nano|openie|chat PATH`

use std::io::Write;
use std::path::{Path, PathBuf};

use malha_engine::Engine;
use malha_engine::exchange::{ForeignFormat, TripleOptions, TripleReport};
use malha_engine::types::{ForeignReport, ItemFailure};
use serde_json::json;

use super::index::{self, open_or_create};
use crate::config::Settings;
use crate::exit::{Exit, Refusal};
use crate::ui::stderr::{self, Verbosity};
use crate::ui::{Bar, Output, count, place};

/// How many failed lines are shown before the rest is only counted.
const FAILURES_SHOWN: usize = 20;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What the file holds
    #[arg(long, value_enum)]
    format: Format,
    /// File to read; for msgraphrag, lightrag and nano the folder; for chat either
    file: PathBuf,
    /// Triples: relation that a subject has to one thing at a time; repeatable
    #[arg(long, value_name = "RELATION")]
    exclusive: Vec<String>,
    /// Triples: names are one entity only when they are written alike (otherwise `Rocky` and `rocky` are)
    #[arg(long)]
    exact_names: bool,
    /// Name in the store; another file or folder of this name replaces its facts
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[expect(clippy::doc_markdown, reason = "the help shows these words")]
enum Format {
    /// Facts, one a line: subject, relation, object, separated by tabs or as JSON
    Triples,
    /// What `malha export --format malha` wrote
    Malha,
    /// Output folder of Microsoft GraphRAG (Parquet tables)
    Msgraphrag,
    /// Working folder of LightRAG
    Lightrag,
    /// Working folder of nano-graphrag
    Nano,
    /// Entities and triples by passage, as HippoRAG keeps them (JSON or JSON lines)
    Openie,
    /// Conversations as ChatGPT, Claude, Gemini, Open WebUI and others export them: conversations.json,
    /// MyActivity.json, or the ZIP or folder with it
    Chat,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let is_folder = matches!(
        args.format,
        Format::Msgraphrag | Format::Lightrag | Format::Nano
    );
    let is_either = args.format == Format::Chat && args.file.exists();
    if !(is_either || args.file.is_file() && !is_folder || args.file.is_dir() && is_folder) {
        let what = if is_folder { "folder" } else { "file" };
        let message = format!("{}: no such {what}", args.file.display());
        return Err(Refusal::new(Exit::NotFound, message).into());
    }
    match args.format {
        Format::Triples => import_triples(args, settings),
        Format::Malha => import_malha(&args.file, settings),
        Format::Msgraphrag => import_foreign(args, ForeignFormat::GraphRag, settings),
        Format::Lightrag => import_foreign(args, ForeignFormat::LightRag, settings),
        Format::Nano => import_foreign(args, ForeignFormat::Nano, settings),
        Format::Openie => import_foreign(args, ForeignFormat::OpenIe, settings),
        Format::Chat => import_chats(&args.file, settings),
    }
}

fn import_foreign(args: &Args, format: ForeignFormat, settings: &Settings) -> anyhow::Result<Exit> {
    let engine = open_or_create(settings)?;
    let name = name_of(args);
    let bar = Bar::new(settings.verbosity);
    let report = engine.import_foreign(format, &args.file, &name, &bar);
    bar.clear();
    let report = report?;
    if settings.json {
        let mut out = Output::new();
        out.json(&report)?;
        out.flush()?;
    }
    foreign_summary(&report, &name, settings);
    Ok(if report.failures.is_empty() {
        Exit::Success
    } else {
        Exit::Partial
    })
}

fn import_chats(path: &Path, settings: &Settings) -> anyhow::Result<Exit> {
    let report = open_or_create(settings)?.import_chats(path)?;
    if settings.json {
        let mut out = Output::new();
        out.json(&report)?;
        out.flush()?;
    }
    let verbosity = settings.verbosity;
    for failure in &report.failures {
        stderr::failed(&place(&failure.uri, failure.line), &failure.reason);
    }
    let undo = report.operation.map_or(String::new(), |id| {
        format!("; `malha undo {id}` takes it back")
    });
    let message = format!(
        "{} with {}: {} new, {} closed; {} of other branches left out{undo}",
        count(report.conversations as u64, "conversation", "conversations"),
        count(report.turns as u64, "turn", "turns"),
        report.turns_added,
        report.turns_closed,
        report.left_out,
    );
    stderr::note(verbosity, &message);
    Ok(if report.failures.is_empty() {
        Exit::Success
    } else {
        Exit::Partial
    })
}

fn foreign_summary(report: &ForeignReport, name: &str, settings: &Settings) {
    show_failures(&report.failures, name, settings.verbosity);
    let message = format!(
        "{} passages of {}; {} entities, {} relations, {} communities; {} items that no passage bears out \
         (malha quarantine list)",
        report.matched,
        report.passages,
        report.entities,
        report.relations,
        report.communities,
        report.rejected,
    );
    stderr::note(settings.verbosity, &message);
    for (left_out, why) in [
        (
            report.communities_too_fine,
            "are finer than our three levels",
        ),
        (report.communities_unknown, "hold no entity of this store"),
    ] {
        if left_out > 0 {
            let left_out = count(left_out as u64, "community", "communities");
            stderr::note(
                settings.verbosity,
                &format!("{left_out} left out, which {why}"),
            );
        }
    }
}

fn name_of(args: &Args) -> String {
    let file_name = args.file.file_name().unwrap_or_default().to_string_lossy();
    args.name
        .clone()
        .unwrap_or_else(|| format!("import/{file_name}"))
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
    let name = name_of(args);
    let report = engine.import_triples(
        &args.file,
        &name,
        &TripleOptions {
            exclusive: args.exclusive.clone(),
            exact_names: args.exact_names,
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

/// The first failures, or all with `-v`, and how many more there are.
fn show_failures(failures: &[ItemFailure], name: &str, verbosity: Verbosity) {
    let number = failures.len();
    let shown = if verbosity >= Verbosity::Verbose {
        number
    } else {
        FAILURES_SHOWN
    };
    for failure in failures.iter().take(shown) {
        stderr::failed(&place(name, failure.line), &failure.reason);
    }
    if number > shown {
        let more = number - shown;
        stderr::note(
            verbosity,
            &format!("{more} more failed lines; -v shows them"),
        );
    }
}

fn summary(report: &TripleReport, name: &str, settings: &Settings) {
    let verbosity = settings.verbosity;
    show_failures(&report.failures, name, verbosity);
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
