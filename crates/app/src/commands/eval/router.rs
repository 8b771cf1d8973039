//! `malha eval router`

use std::io::Write;

use malha_evaluation::evaluate_router;

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::Output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let report = evaluate_router()?;
    let mut out = Output::new();
    if settings.json {
        out.json(&report)?;
    } else {
        writeln!(
            out,
            "accuracy {:.1} % of {} questions",
            report.accuracy, report.questions
        )?;
        for (name, percent) in report.by_language.iter().chain(&report.by_mode) {
            writeln!(out, "  {name}: {percent:.1} %")?;
        }
        for wrong in &report.wrong {
            let taken = wrong.taken.as_str();
            writeln!(
                out,
                "{} (expected {}, taken {taken}: {})",
                wrong.question, wrong.expected, wrong.reason
            )?;
        }
    }
    out.flush()?;
    Ok(Exit::Success)
}
