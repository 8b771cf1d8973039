//! `malha eval evidence --corpus FILE --questions FILE`

use std::io::Write;
use std::path::PathBuf;

use malha_engine::types::Mode;
use malha_evaluation::{EvidenceOptions, EvidenceReport, evaluate_evidence};

use super::retrieval::VectorOptions;

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
    /// Retrieval recipes that find the chunks
    #[arg(
        short,
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "auto",
        value_name = "MODE,…"
    )]
    mode: Vec<ModeName>,
    /// Let entities, relations and reports take their share of the words, as a local question does
    #[arg(long)]
    with_graph: bool,
    #[command(flatten)]
    vectors: VectorOptions,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let modes: Vec<Mode> = args.mode.iter().map(|&mode| mode.into()).collect();
    let report = evaluate_evidence(
        &EvidenceOptions {
            corpus: &args.corpus,
            questions: &args.questions,
            words: &args.words,
            without: &args.without,
            modes: &modes,
            with_graph: args.with_graph,
            embedder: args.vectors.embedder(settings)?,
        },
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
    header.push(">ms");
    let mut table = Table::new(&header);
    for (system, groups) in &report.figures {
        for (group, rows) in groups {
            let figures = names.iter().map(String::as_str).chain(["ms"]);
            let figures = figures.map(|name| format!("{:.1}", rows[name]));
            table.row([system.clone(), group.clone()].into_iter().chain(figures));
        }
    }
    table.write(out)?;
    writeln!(
        out,
        "{} questions over {} documents; {} without evidence left out; indexed in {:.1} s, vectors in {:.1} s",
        report.questions, report.documents, report.skipped, report.index_s, report.embed_s
    )
}
