//! `malha bench cold`

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::ensure;
use malha_evaluation::generate::Vault;

use super::figures::Figures;
use super::process;
use super::workspace::{VaultArgs, Workspace};
use crate::config::Settings;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    vault: VaultArgs,
    /// Processes to start
    #[arg(long, default_value_t = 30, value_name = "N")]
    runs: usize,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Figures> {
    let workspace = Workspace::indexed(&args.vault)?;
    let vault = Vault::new(args.vault.spec());
    let program = std::env::current_exe()?;
    let mut times = Vec::new();
    let cpu_before = process::children_cpu_s();
    for run in 0..args.runs {
        let question = vault.question(run * 101 % vault.len());
        let start = Instant::now();
        let output = Command::new(&program)
            .current_dir(workspace.folder())
            .args([
                "--json",
                "--namespace",
                &settings.engine.namespace,
                "--store",
            ])
            .arg(workspace.store())
            .args(["search", &question])
            .stderr(Stdio::null())
            .output()?;
        times.push(start.elapsed());
        ensure!(output.status.success(), "malha search: {}", output.status);
    }
    let mut figures = Figures::default();
    figures.count("notes", vault.len());
    figures.latencies("search_process", &times);
    let cpu = process::children_cpu_s().zip(cpu_before);
    figures.push_some(
        "search_process_mean_cpu_ms",
        cpu.map(|(after, before)| (after - before) * 1000.0 / times.len() as f64),
    );
    Ok(figures)
}
