//! `malha timeline ENTITY`

use std::io::{self, Write};

use malha_engine::types::{Standing, Timeline, TimelineRequest};

use super::graph::show;
use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{DIM, Output, painted, plain_line, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name, alias or public id
    entity: String,
    /// Show these relation types only, in any case
    #[arg(long, value_name = "TYPE")]
    relation: Vec<String>,
    /// Show what was taken back too
    #[arg(long)]
    history: bool,
    /// How many relations to show, the latest ones
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100)]
    limit: usize,
    /// Show where each relation is stated
    #[arg(long)]
    evidence: bool,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let timeline = settings.open_read_only()?.timeline(&TimelineRequest {
        relation_types: args.relation.clone(),
        history: args.history,
        limit: args.limit,
        ..TimelineRequest::new(&args.entity)
    })?;
    let mut out = Output::new();
    if settings.json {
        out.json(&timeline)?;
    } else {
        write_timeline(&mut out, &timeline, args.evidence)?;
    }
    out.flush()?;
    if timeline.cut {
        let message = format!(
            "earlier ones were left out; --limit shows more than {}",
            args.limit
        );
        stderr::note(settings.verbosity, &message);
    }
    Ok(Exit::Success)
}

/// `2019 – 2021-05  A —lives in→ B  (past; ended by …)`
fn write_timeline(out: &mut impl Write, timeline: &Timeline, evidence: bool) -> io::Result<()> {
    for entry in &timeline.entries {
        write!(out, "{:<24}  ", show::period(&entry.relation.times))?;
        show::relation(out, &entry.relation)?;
        let mut remarks = Vec::new();
        if entry.standing != Standing::Current {
            remarks.push(entry.standing.as_str().to_owned());
        }
        if let Some(cause) = &entry.relation.ended_by {
            remarks.push(format!("ended by: {}", plain_line(cause)));
        }
        if let Some(at) = &entry.relation.times.retracted_at {
            remarks.push(format!("taken back {at}"));
        }
        if !remarks.is_empty() {
            writeln!(out, "{:<26}{}", "", painted(DIM, remarks.join("; ")))?;
        }
        if evidence {
            for stated in &entry.relation.evidence {
                show::evidence(out, stated)?;
            }
        }
    }
    for claim in &timeline.claims {
        show::claim(out, claim)?;
        if evidence {
            for stated in &claim.evidence {
                show::evidence(out, stated)?;
            }
        }
    }
    Ok(())
}
