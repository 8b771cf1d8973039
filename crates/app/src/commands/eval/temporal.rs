//! `malha eval temporal --facts FILE --queries FILE`

use std::io::Write;
use std::path::PathBuf;

use malha_evaluation::evaluate_temporal;

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{Output, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// File of facts: JSONL, plain or gzip, rows {s, r, o, start, end}
    #[arg(long, value_name = "FILE")]
    facts: PathBuf,
    /// File of questions: JSONL, plain or gzip, rows {qid, s, r, at, answers}
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let report = evaluate_temporal(&args.facts, &args.queries, &settings.engine)?;
    let mut out = Output::new();
    if settings.json {
        out.json(&report)?;
    } else {
        writeln!(
            out,
            "exact {:.1} of {} questions over {} facts, {:.2} ms a question",
            report.exact, report.questions, report.facts, report.mean_ms
        )?;
        for wrong in &report.wrong {
            writeln!(
                out,
                "{}: expected {:?}, found {:?}",
                wrong.qid, wrong.expected, wrong.found
            )?;
        }
    }
    out.flush()?;
    for reason in &report.refused {
        stderr::warning(settings.verbosity, &format!("facts, {reason}"));
    }
    Ok(super::report_broken(&report.broken))
}
