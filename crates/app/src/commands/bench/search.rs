//! `malha bench search`

use std::time::Instant;

use malha_engine::types::{Mode, SearchRequest};
use malha_evaluation::generate::Vault;

use super::figures::Figures;
use super::process;
use super::workspace::{VaultArgs, Workspace};
use crate::config::{ModeName, Settings};

/// Questions asked before the clock runs.
const WARM_UP: usize = 20;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    vault: VaultArgs,
    /// Questions to ask under each recipe
    #[arg(long, default_value_t = 300, value_name = "N")]
    questions: usize,
    /// Recipes to measure
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "keyword,graph,auto,notes",
        value_name = "MODE"
    )]
    mode: Vec<ModeName>,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Figures> {
    let workspace = Workspace::indexed(&args.vault)?;
    let vault = Vault::new(args.vault.spec());
    let questions: Vec<String> = (0..args.questions + WARM_UP)
        .map(|n| vault.question(n * 37 % vault.len()))
        .collect();
    drop(vault);

    let start = Instant::now();
    let engine = workspace.open(&settings.engine)?;
    let mut figures = Figures::default();
    figures.count("chunks", engine.stats()?.chunks as usize);
    engine.search(&SearchRequest::new(questions[0].as_str()))?;
    figures.push(
        "open_and_first_search_ms",
        start.elapsed().as_secs_f64() * 1000.0,
    );
    for name in &args.mode {
        let mode = Mode::from(*name);
        let mut times = Vec::with_capacity(args.questions);
        let mut empty = 0;
        let mut cpu_before = None;
        for (n, question) in questions.iter().enumerate() {
            if n == WARM_UP {
                cpu_before = process::cpu_s();
            }
            let request = SearchRequest {
                mode,
                ..SearchRequest::new(question.as_str())
            };
            let start = Instant::now();
            let response = engine.search(&request)?;
            if n >= WARM_UP {
                times.push(start.elapsed());
                empty += usize::from(response.results.is_empty());
            }
        }
        figures.latencies(mode.as_str(), &times);
        let cpu = process::cpu_s().zip(cpu_before);
        figures.push_some(
            &format!("{}_mean_cpu_ms", mode.as_str()),
            cpu.map(|(after, before)| (after - before) * 1000.0 / times.len() as f64),
        );
        figures.count(format!("{}_without_result", mode.as_str()), empty);
    }
    figures.push_some("peak_mb", process::peak_mb());
    Ok(figures)
}
