//! `malha embed`, `malha reembed`

use std::fmt::Write as _;
use std::io::Write;

use malha_engine::Engine;
use malha_engine::types::EmbedReport;

use crate::config::Settings;
use crate::exit::Exit;
use crate::interrupt;
use crate::ui::{Bar, Output, count, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// Vectors for the passages that have none.
pub(crate) fn run(_: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    finish(settings, |engine, bar| engine.embed(bar))
}

/// Vectors of another model in the place of those that are there.
pub(crate) fn replace(_: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    finish(settings, |engine, bar| engine.reembed(bar))
}

fn finish(
    settings: &Settings,
    embed: impl FnOnce(&Engine, &Bar) -> malha_engine::Result<EmbedReport>,
) -> anyhow::Result<Exit> {
    settings.check_writes_now()?;
    settings.check_store_exists()?;
    interrupt::stop_at_safe_points();
    let engine = settings.with_models(Engine::open(&settings.store, settings.engine.clone())?);
    let report = with_bar(&engine, settings, embed)?;
    let mut out = Output::new();
    if settings.json {
        out.json(&report)?;
    }
    out.flush()?;
    show(&report, settings);
    Ok(exit_of(&report))
}

fn exit_of(report: &EmbedReport) -> Exit {
    if interrupt::requested() {
        Exit::Interrupted
    } else if report.failed.is_empty() {
        Exit::Success
    } else {
        Exit::Partial
    }
}

/// Vectors for what an indexing run brought. Texts that the model fails on are listed and tried again next time.
pub(crate) fn after_index(engine: &Engine, settings: &Settings) -> anyhow::Result<Exit> {
    let report = with_bar(engine, settings, |engine, bar| engine.embed(bar))?;
    show(&report, settings);
    Ok(exit_of(&report))
}

fn with_bar(
    engine: &Engine,
    settings: &Settings,
    embed: impl FnOnce(&Engine, &Bar) -> malha_engine::Result<EmbedReport>,
) -> malha_engine::Result<EmbedReport> {
    let bar = Bar::new(settings.verbosity);
    let report = embed(engine, &bar);
    bar.clear();
    report
}

pub(super) fn show(report: &EmbedReport, settings: &Settings) {
    for item in &report.failed {
        stderr::failed(&format!("{}:{}", item.uri, item.line), &item.reason);
    }
    let made = count(report.embedded as u64, "vector", "vectors");
    let mut line = format!("{made} of {} made", report.model);
    if report.missing > 0 {
        let rest = count(report.missing as u64, "passage has", "passages have");
        let _ = write!(
            line,
            "; {rest} none yet and stay searchable by their words; run it again to go on"
        );
    }
    if report.switched {
        line.push_str("; they are searched from now on");
    }
    stderr::note(settings.verbosity, &line);
}
