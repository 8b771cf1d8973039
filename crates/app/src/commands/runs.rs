//! `malha runs show`: what each run did.

use std::io::Write;

use malha_engine::types::RunRecord;
use serde_json::Value;

use crate::config::Settings;
use crate::exit::{Exit, Refusal};
use crate::ui::{Output, Table, plain_line, stderr};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List the newest runs, or all that one of them noted
    Show(Args),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its number; without one the newest runs are listed
    #[arg(value_name = "NUMBER")]
    id: Option<i64>,
    /// Runs listed
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

pub(crate) fn run(command: &Command, settings: &Settings) -> anyhow::Result<Exit> {
    let Command::Show(args) = command;
    let engine = settings.open_read_only()?;
    let mut out = Output::new();
    let Some(id) = args.id else {
        let runs = engine.runs(args.limit)?;
        if settings.json {
            out.json(&runs)?;
        } else if runs.is_empty() {
            stderr::note(settings.verbosity, "no run yet");
        } else {
            let mut table = Table::new(&[">number", "started", "what", ">ms", "did"]);
            for run in &runs {
                table.row(cells(run));
            }
            table.write(&mut out)?;
        }
        out.flush()?;
        return Ok(Exit::Success);
    };
    let runs = engine.runs(usize::try_from(i64::MAX).unwrap_or(usize::MAX))?;
    let Some(run) = runs.into_iter().find(|run| run.id == id) else {
        return Err(Refusal::new(Exit::NotFound, format!("no run {id}")).into());
    };
    if settings.json {
        out.json(&run)?;
    } else {
        writeln!(out, "{}", plain_line(&cells(&run).join("  ")))?;
        write_value(&mut out, 0, "", &run.report)?;
    }
    out.flush()?;
    Ok(Exit::Success)
}

fn cells(run: &RunRecord) -> [String; 5] {
    let started = run.started_at.to_string();
    let ms = run.finished_at.map_or_else(
        || "–".to_owned(),
        |finished| (finished.0 - run.started_at.0).to_string(),
    );
    [run.id.to_string(), started, run.kind.clone(), ms, did(run)]
}

/// The few numbers that tell one run from another.
fn did(run: &RunRecord) -> String {
    let report = &run.report;
    if let Some(error) = report["error"].as_str() {
        return error.to_owned();
    }
    if run.finished_at.is_none() {
        return "no end: it was killed, or goes on".to_owned();
    }
    let number = |name: &str| report[name].as_u64().unwrap_or_default();
    let length = |name: &str| report[name].as_array().map_or(0, Vec::len);
    let spent = |name: &str| {
        let of = |field: &str| report[name][field].as_u64().unwrap_or_default();
        format!(
            "{} calls, {} retries, {} tokens",
            of("calls"),
            of("retries"),
            of("input_tokens") + of("output_tokens"),
        )
    };
    match run.kind.as_str() {
        "extract" => format!(
            "{} passages, {} extracted, {} failed, {} left; {}",
            number("passages"),
            number("extracted"),
            length("failed"),
            number("left"),
            spent("spent"),
        ),
        "estimate" => format!("a sample: {}", spent("sampled")),
        "schema" => format!(
            "{} entity types and {} relations proposed; {}",
            number("entity_types"),
            number("relations"),
            spent("spent"),
        ),
        "reports" => format!(
            "{} communities, {} reports written, {} missing; {}",
            number("communities"),
            number("written"),
            length("missing"),
            spent("spent"),
        ),
        "import" => format!(
            "{} passages, {} matched, {} entities, {} relations, {} communities, {} failed",
            number("passages"),
            number("matched"),
            number("entities"),
            number("relations"),
            number("communities"),
            length("failures"),
        ),
        _ => format!(
            "{} read, {} added, {} changed, {} removed, {} failed",
            number("read"),
            number("added"),
            number("changed"),
            number("removed"),
            length("failed"),
        ),
    }
}

fn write_value(out: &mut Output, depth: usize, name: &str, value: &Value) -> std::io::Result<()> {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(map) => {
            if !name.is_empty() {
                writeln!(out, "{indent}{}:", plain_line(name))?;
            }
            let inner = if name.is_empty() { depth } else { depth + 1 };
            for (name, value) in map {
                write_value(out, inner, name, value)?;
            }
            Ok(())
        }
        Value::Array(items) => {
            writeln!(out, "{indent}{}: {}", plain_line(name), items.len())?;
            for item in items {
                writeln!(out, "{indent}  {}", plain_line(&item.to_string()))?;
            }
            Ok(())
        }
        scalar => writeln!(
            out,
            "{indent}{}: {}",
            plain_line(name),
            plain_line(&scalar.to_string())
        ),
    }
}
