//! `malha eval recall --queries FILE`

use std::io::Write;
use std::path::PathBuf;

use malha_engine::types::{Clock, SystemClock};
use malha_evaluation::{RecallFigures, evaluate_recall};

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::Output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// File of questions: JSONL, plain or gzip, rows {question}
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let engine = settings.open_read_only()?;
    let now = settings.times.as_of.unwrap_or_else(|| SystemClock.now());
    let report = evaluate_recall(&engine, &args.queries, now)?;
    let mut out = Output::new();
    if settings.json {
        out.json(&report)?;
    } else {
        writeln!(out, "{} questions", report.questions)?;
        write_figures(&mut out, "the present preferred", &report.present)?;
        write_figures(&mut out, "with history", &report.history)?;
    }
    out.flush()?;
    Ok(super::report_broken(&report.broken))
}

fn write_figures(out: &mut impl Write, name: &str, figures: &RecallFigures) -> std::io::Result<()> {
    let age = figures.mean_age_days.map_or_else(
        || "no passage has a date".to_owned(),
        |days| format!("evidence {days:.1} days old ({:.0} % dated)", figures.dated),
    );
    writeln!(
        out,
        "{name}: {age}; {:.0} tokens, {:.1} passages, {:.1} relations ({:.1} % ended); p50 {:.1} ms",
        figures.mean_tokens,
        figures.mean_passages,
        figures.mean_relations,
        figures.ended_relations,
        figures.p50_ms
    )
}
