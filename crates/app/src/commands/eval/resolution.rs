//! `malha eval resolution --documents FILE`

use std::io::Write;
use std::path::PathBuf;

use malha_evaluation::evaluate_clusters;

use super::report_broken;
use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{Output, Table};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Documents with their entities: JSONL, plain or gzip, rows {entities: [{type, mentions: [{name}]}]}
    #[arg(long, value_name = "FILE")]
    documents: PathBuf,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let report = evaluate_clusters(&args.documents)?;
    let mut out = Output::new();
    if settings.json {
        out.json(&report)?;
    } else {
        let mut table = Table::new(&["names joined", ">B³ precision", ">recall", ">F1"]);
        for (what, found) in [
            ("equal ones only", report.same_name),
            ("by resolution", report.resolved),
        ] {
            table.row([
                what.to_owned(),
                format!("{:.1}", found.precision),
                format!("{:.1}", found.recall),
                format!("{:.1}", found.f1),
            ]);
        }
        table.write(&mut out)?;
        writeln!(
            out,
            "{} documents, {} names",
            report.documents, report.names
        )?;
        for (rule, (wrong, right)) in &report.rules {
            writeln!(
                out,
                "{}: {right} right, {wrong} wrong",
                rule.replace('_', " ")
            )?;
        }
        writeln!(
            out,
            "proposed: {} pairs, {} of them one thing",
            report.proposed, report.proposed_right
        )?;
    }
    out.flush()?;
    Ok(report_broken(&report.broken))
}
