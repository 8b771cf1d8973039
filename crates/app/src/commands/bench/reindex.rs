//! `malha bench reindex`

use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::ensure;
use malha_engine::Engine;
use malha_evaluation::generate::Vault;

use super::figures::Figures;
use super::process;
use super::workspace::{VaultArgs, Workspace};
use crate::config::Settings;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    vault: VaultArgs,
    /// Edits to make, each to another note
    #[arg(long, default_value_t = 10, value_name = "N")]
    edits: usize,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Figures> {
    let workspace = Workspace::indexed(&args.vault)?;
    let vault = Vault::new(args.vault.spec());
    // Everything a run after an edit does: open the store, look at every file, read the one that changed.
    let index = || -> anyhow::Result<(Duration, usize)> {
        let start = Instant::now();
        let engine = Engine::open(&workspace.store(), settings.engine.clone())?;
        let report = engine.index(&[workspace.source()], &())?;
        Ok((start.elapsed(), report.changed))
    };
    let mut nothing = Vec::new();
    let mut edit_cpu = 0.0;
    let mut edits = Vec::new();
    for edit in 0..args.edits {
        nothing.push(index()?.0);
        let note = vault.note(edit * vault.len() / args.edits);
        let linked = vault.note((edit * 7 + 1) % vault.len()).title;
        let path = workspace.vault().join(&note.path);
        let mut file = fs::OpenOptions::new().append(true).open(path)?;
        writeln!(
            file,
            "\nSeen again with [[{linked}]] on the way to Bright Harbour {edit}."
        )?;
        drop(file);
        let cpu_before = process::cpu_s();
        let (time, changed) = index()?;
        edit_cpu += process::cpu_s()
            .zip(cpu_before)
            .map_or(0.0, |(after, before)| after - before);
        ensure!(changed == 1, "{changed} notes changed instead of one");
        edits.push(time);
    }
    let mut figures = Figures::default();
    figures.count("notes", vault.len());
    figures.count("edits", args.edits);
    figures.latencies("one_edit", &edits);
    figures.push(
        "one_edit_mean_cpu_ms",
        edit_cpu * 1000.0 / args.edits as f64,
    );
    figures.latencies("no_edit", &nothing);
    Ok(figures)
}
