//! `malha forget`

use std::io::Write;

use malha_engine::types::{ForgetReport, ForgetRequest, PurgeState};

use super::documents::DocumentArgs;
use super::index::open_or_create;
use crate::config::Settings;
use crate::exit::{Exit, Refusal};
use crate::ui::{Output, PATH, STRONG, count, painted, plain_line, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A document or episode, by its uri; repeatable
    #[arg(long, value_name = "URI")]
    document: Vec<String>,
    /// An entity with its relations, by name, alias or public id; repeatable
    #[arg(long, value_name = "NAME")]
    entity: Vec<String>,
    /// All episodes of a session; repeatable
    #[arg(long, value_name = "NAME")]
    session: Vec<String>,
    /// All documents that hold this text, letter by letter; repeatable
    #[arg(long, value_name = "TEXT")]
    text: Vec<String>,
    #[command(flatten)]
    documents: DocumentArgs,
    /// Everything in the namespace
    #[arg(long)]
    everything: bool,
    /// Do it; without this it is only shown what would be forgotten
    #[arg(long)]
    yes: bool,
    /// Let a forgotten document (by uri) or entity (by name) come back with the next run
    #[arg(long, value_name = "NAME", conflicts_with_all = ["document", "entity", "session", "text", "everything", "yes", "under", "tag", "since", "until", "kind"])]
    allow: Option<String>,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    settings.check_store_exists()?;
    if let Some(name) = &args.allow {
        if open_or_create(settings)?.allow(name)? {
            stderr::note(settings.verbosity, &format!("{name:?} may come back"));
            return Ok(Exit::Success);
        }
        let message = format!("nothing of the name {name:?} was forgotten");
        return Err(Refusal::new(Exit::NotFound, message).into());
    }
    let request = ForgetRequest {
        documents: args.document.clone(),
        entities: args.entity.clone(),
        sessions: args.session.clone(),
        texts: args.text.clone(),
        filter: args.documents.filter(),
        everything: args.everything,
    };
    if request == ForgetRequest::default() && !args.yes {
        let message = "say what to forget: --document, --entity, --session, --text, --under, --tag, \
                       --since, --until, --kind or --everything";
        return Err(Refusal::new(Exit::Usage, message).into());
    }
    let report = if args.yes {
        open_or_create(settings)?.forget(&request)?
    } else {
        settings.open_read_only()?.preview_forget(&request)?
    };
    show(&report, settings)
}

fn show(report: &ForgetReport, settings: &Settings) -> anyhow::Result<Exit> {
    let mut out = Output::new();
    if settings.json {
        out.json(report)?;
    } else {
        for uri in &report.documents {
            writeln!(out, "{}", painted(PATH, plain_line(uri)))?;
        }
        for name in &report.entities {
            writeln!(out, "{}", painted(STRONG, plain_line(name)))?;
        }
    }
    out.flush()?;
    for uri in &report.still_named_in {
        let message = format!("{} stays and names it", plain_line(uri));
        stderr::warning(settings.verbosity, &message);
    }
    let what = format!(
        "{}, {}, {}",
        count(report.documents.len() as u64, "document", "documents"),
        count(report.entities.len() as u64, "entity", "entities"),
        count(report.relations as u64, "relation", "relations"),
    );
    let message = match report.purge {
        PurgeState::Preview => format!("{what} would be forgotten; --yes does it"),
        PurgeState::Done => format!("{what} forgotten; {} rows deleted", report.rows),
        PurgeState::Pending => format!(
            "{what} hidden and deleted; a reader still holds the write-ahead log, so the purge is pending: \
             run `malha forget --yes` when it has ended"
        ),
    };
    stderr::note(settings.verbosity, &message);
    Ok(Exit::Success)
}
