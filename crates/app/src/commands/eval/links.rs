//! `malha eval links --vault DIR --gold FILE`

use std::io::Write;
use std::path::PathBuf;

use malha_evaluation::{FieldScore, LinkReport, evaluate_links};

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{Output, Table, count, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder of the vault
    #[arg(long, value_name = "DIR")]
    vault: PathBuf,
    /// Reference of its links, plain or gzip: {notes: {NAME: {path, wikilinks, embedded}}}
    #[arg(long, value_name = "FILE")]
    gold: PathBuf,
    /// List every link that only one side has
    #[arg(long)]
    differences: bool,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let report = evaluate_links(&args.vault, &args.gold)?;
    let mut out = Output::new();
    if settings.json {
        out.json(&report)?;
    } else {
        write(&mut out, &report, args.differences)?;
    }
    out.flush()?;
    for failure in &report.failures {
        stderr::warning(settings.verbosity, failure);
    }
    Ok(if report.failures.is_empty() {
        Exit::Success
    } else {
        Exit::Partial
    })
}

fn write(out: &mut Output, report: &LinkReport, differences: bool) -> std::io::Result<()> {
    let mut table = Table::new(&[
        "links",
        ">both",
        ">ours alone",
        ">reference alone",
        ">precision",
        ">recall",
        ">equal",
    ]);
    let mut row = |name: &str, score: &FieldScore, percents: [f64; 3]| {
        let counts = [score.tp, score.fp, score.fn_].map(|n| n.to_string());
        let percents = percents.map(|percent| format!("{percent:.2}"));
        table.row(
            std::iter::once(name.to_owned())
                .chain(counts)
                .chain(percents),
        );
    };
    let (wikilinks, embedded) = (&report.wikilinks, &report.embedded);
    for (name, score) in [("wikilinks", wikilinks), ("embeds", embedded)] {
        row(name, score, [score.precision, score.recall, score.equal]);
    }
    let both = FieldScore {
        tp: wikilinks.tp + embedded.tp,
        fp: wikilinks.fp + embedded.fp,
        fn_: wikilinks.fn_ + embedded.fn_,
        ..FieldScore::default()
    };
    row(
        "together",
        &both,
        [report.precision, report.recall, report.equal],
    );
    table.write(out)?;
    writeln!(
        out,
        "{} of {} agree exactly",
        report.notes_equal,
        count(report.reference_notes as u64, "note", "notes")
    )?;
    if !report.causes.is_empty() {
        writeln!(out)?;
        let mut table = Table::new(&[">links", "cause of the difference"]);
        for (cause, links) in &report.causes {
            table.row([&links.to_string(), cause]);
        }
        table.write(out)?;
    }
    if differences && !report.differences.is_empty() {
        writeln!(out)?;
        let mut table = Table::new(&["note", "field", "target", "side", "cause"]);
        for link in &report.differences {
            table.row([
                link.note.as_str(),
                link.field,
                &link.target,
                link.side,
                link.cause,
            ]);
        }
        table.write(out)?;
    }
    Ok(())
}
