//! `malha eval extraction --rows FILE --ontologies FILE`

use std::io::Write;
use std::path::PathBuf;

use malha_evaluation::{Score, evaluate_triples};

use super::report_broken;
use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{Output, Table};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Replies of models: JSONL, plain or gzip, rows {sentence, ontology, gold, llm: {model: {text}}}
    #[arg(long, value_name = "FILE")]
    rows: PathBuf,
    /// What may be said: rows {id, ontology: {concepts, relations}}
    #[arg(long, value_name = "FILE")]
    ontologies: PathBuf,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let report = evaluate_triples(&args.rows, &args.ontologies)?;
    let mut out = Output::new();
    if settings.json {
        out.json(&report)?;
    } else {
        let mut table = Table::new(&[
            "model",
            "facts",
            ">found",
            ">right",
            ">precision",
            ">recall",
            ">F1",
        ]);
        for (model, score) in &report.models {
            for (what, score) in [("read", score.read), ("kept", score.kept)] {
                table.row(cells(model, what, score));
            }
        }
        table.write(&mut out)?;
        for (model, score) in &report.models {
            for (what, counts) in [
                ("without a fact", &score.unread),
                ("refused", &score.refused),
            ] {
                for (reason, count) in counts {
                    writeln!(out, "{model}, {what}: {count} {reason}")?;
                }
            }
        }
    }
    out.flush()?;
    Ok(report_broken(&report.broken))
}

fn cells(model: &str, what: &str, score: Score) -> [String; 7] {
    [
        model.to_owned(),
        what.to_owned(),
        score.found.to_string(),
        score.right.to_string(),
        format!("{:.1}", score.precision),
        format!("{:.1}", score.recall),
        format!("{:.1}", score.f1),
    ]
}
