//! `malha graph unresolved`

use std::io::Write;

use malha_engine::types::{LinkStatus, OpenLink};

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{ACCENT, DIM, Output, PATH, count, painted, plain_line, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let links = settings.open_read_only()?.open_links()?;
    let mut out = Output::new();
    if settings.json {
        out.json(&links)?;
    } else {
        for link in &links {
            writeln!(out, "{}", line(link))?;
        }
    }
    out.flush()?;
    let ambiguous = links
        .iter()
        .filter(|link| link.status == LinkStatus::Ambiguous)
        .count() as u64;
    let missing = count(links.len() as u64 - ambiguous, "link", "links");
    let message = format!("{missing} to no note, {ambiguous} to several");
    stderr::note(settings.verbosity, &message);
    Ok(Exit::Success)
}

fn line(link: &OpenLink) -> String {
    let place = format!("{}:{}", plain_line(&link.uri), link.line);
    let mut line = format!(
        "{}  {}",
        painted(PATH, place),
        painted(ACCENT, plain_line(&link.target)),
    );
    if !link.candidates.is_empty() {
        let candidates = plain_line(&link.candidates.join(", "));
        line.push_str(&painted(DIM, format!("  could be {candidates}")));
    }
    line
}
