//! `malha eval evidence --corpus FILE --questions FILE`

use std::io::Write;
use std::path::PathBuf;

use malha_evaluation::{EvidenceReport, evaluate_evidence};

use crate::config::{ModeName, Settings};
use crate::exit::Exit;
use crate::ui::{Output, Table, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Texts: JSONL, plain or gzip, rows {id, text}
    #[arg(long, value_name = "FILE")]
    corpus: PathBuf,
    /// Questions: JSONL, plain or gzip, rows {question, type, evidence}
    #[arg(long, value_name = "FILE")]
    questions: PathBuf,
    /// Words retrieved
    #[arg(long, value_delimiter = ',', default_values_t = [300, 1000], value_name = "N,…")]
    words: Vec<usize>,
    /// Types of questions to leave out
    #[arg(long, value_name = "TYPE")]
    without: Vec<String>,
    /// Retrieval recipe that finds the chunks
    #[arg(short, long, value_enum, default_value_t = ModeName::Auto)]
    mode: ModeName,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let report = evaluate_evidence(
        &args.corpus,
        &args.questions,
        &args.words,
        &args.without,
        args.mode.into(),
        &settings.engine,
    )?;
    let mut out = Output::new();
    if settings.json {
        out.json(&report)?;
    } else {
        write(&mut out, &report, &args.words)?;
    }
    out.flush()?;
    for row in &report.broken {
        let place = format!("{}:{}", row.path.display(), row.line);
        stderr::failed(&place, &row.reason);
    }
    Ok(if report.broken.is_empty() {
        Exit::Success
    } else {
        Exit::Partial
    })
}

fn write(out: &mut Output, report: &EvidenceReport, words: &[usize]) -> std::io::Result<()> {
    let names: Vec<String> = words.iter().map(|n| format!("coverage@{n}w")).collect();
    let titles: Vec<String> = names.iter().map(|name| format!(">{name}")).collect();
    let mut header = vec!["retrieved", "questions"];
    header.extend(titles.iter().map(String::as_str));
    let mut table = Table::new(&header);
    for (system, groups) in &report.figures {
        for (group, figures) in groups {
            let figures = names.iter().map(|name| format!("{:.1}", figures[name]));
            table.row([system.clone(), group.clone()].into_iter().chain(figures));
        }
    }
    table.write(out)?;
    writeln!(
        out,
        "{} questions over {} documents; {} without evidence left out",
        report.questions, report.documents, report.skipped
    )
}
