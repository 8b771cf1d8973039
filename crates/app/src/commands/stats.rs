//! `malha stats`

use std::io::Write;

use malha_engine::types::Stats;

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{Output, STRONG, count, painted};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let stats = settings.open_read_only()?.stats()?;
    let mut out = Output::new();
    if settings.json {
        out.json(&stats)?;
    } else {
        for (name, number) in rows(&stats) {
            let number = format!("{:>12}", count(number, "", ""));
            writeln!(out, "{name:<20}{}", painted(STRONG, number))?;
        }
    }
    out.flush()?;
    Ok(Exit::Success)
}

fn rows(stats: &Stats) -> [(&'static str, u64); 16] {
    [
        ("documents", stats.documents),
        ("passages", stats.chunks),
        ("entities", stats.entities),
        ("aliases", stats.aliases),
        ("mentions", stats.mentions),
        ("relations", stats.relations),
        ("claims", stats.claims),
        ("links resolved", stats.links_resolved),
        ("links unresolved", stats.links_unresolved),
        ("links ambiguous", stats.links_ambiguous),
        ("files skipped", stats.issues_skipped),
        ("files failed", stats.issues_failed),
        ("warnings", stats.issues_warning),
        ("closed rows kept", stats.history),
        ("store bytes", stats.store_bytes),
        ("generation", stats.generation),
    ]
}
