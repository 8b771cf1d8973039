//! `malha bench index`

use std::fs;
use std::time::Instant;

use malha_engine::Engine;

use super::figures::Figures;
use super::process;
use super::workspace::{VaultArgs, Workspace};
use crate::config::Settings;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    vault: VaultArgs,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Figures> {
    let workspace = Workspace::with_vault(&args.vault)?;
    let store = workspace.store();
    if store.exists() {
        fs::remove_file(&store)?;
    }
    let cpu_before = process::cpu_s();
    let start = Instant::now();
    let engine = Engine::create(&store, settings.engine.clone())?;
    let report = engine.index(&[workspace.source()], &())?;
    let seconds = start.elapsed().as_secs_f64();
    let cpu = process::cpu_s()
        .zip(cpu_before)
        .map(|(after, before)| after - before);
    let peak = process::peak_mb();

    let stats = engine.stats()?;
    let mut figures = Figures::default();
    figures.count("notes", report.added);
    figures.push("notes_per_s", report.added as f64 / seconds);
    figures.push("wall_s", seconds);
    figures.push_some("cpu_s", cpu);
    figures.push_some("peak_mb", peak);
    figures.count("failed", report.failed.len());
    figures.count("chunks", stats.chunks as usize);
    figures.count("entities", stats.entities as usize);
    figures.count("mentions", stats.mentions as usize);
    figures.count("relations", stats.relations as usize);
    figures.push("store_mb", stats.store_bytes as f64 / 1e6);
    Ok(figures)
}
