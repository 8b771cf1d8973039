//! `malha recall QUERY`

use std::io::{self, Write};

use malha_engine::types::{RecallRequest, Recalled};

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{ACCENT, DIM, Output, PATH, STRONG, painted, place, plain, plain_line, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to recall
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Tokens that the answer may take
    #[arg(long, value_name = "TOKENS", default_value_t = 2_000)]
    budget: usize,
    /// How far to walk from the entities that the question names
    #[arg(long, value_name = "N", default_value_t = 2)]
    hops: u32,
    /// Passages at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Show relations that have ended too
    #[arg(long)]
    history: bool,
}

/// Never fails: an agent that asks its memory gets what can be had, and the reason why it is not more.
pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let request = RecallRequest {
        budget: args.budget,
        max_hops: args.hops,
        limit: args.limit,
        prefer_present: !args.history,
        ..RecallRequest::new(args.query.join(" "))
    };
    let recalled = match settings.open_read_only() {
        Ok(engine) => engine.recall(&request),
        Err(error) => Recalled {
            query: request.query,
            notes: vec![format!("{error:#}")],
            ..Recalled::default()
        },
    };
    let mut out = Output::new();
    if settings.json {
        out.json(&recalled)?;
    } else {
        write_recalled(&mut out, &recalled)?;
    }
    out.flush()?;
    for note in &recalled.notes {
        stderr::note(settings.verbosity, note);
    }
    let cut = if recalled.cut {
        "; more was left out"
    } else {
        ""
    };
    stderr::note(
        settings.verbosity,
        &format!("{} tokens{cut}", recalled.tokens),
    );
    Ok(Exit::Success)
}

fn write_recalled(out: &mut impl Write, recalled: &Recalled) -> io::Result<()> {
    for entity in &recalled.entities {
        let is_root = recalled.entrypoint_roots.contains(&entity.name);
        let mark = if is_root { "•" } else { " " };
        write!(
            out,
            "{mark} {}  {}",
            painted(STRONG, plain_line(&entity.name)),
            painted(DIM, plain_line(&entity.kind))
        )?;
        writeln!(out, "  {}", plain_line(&entity.description))?;
    }
    for relation in &recalled.relations {
        let type_name = format!("—{}→", plain_line(&relation.relation));
        writeln!(
            out,
            "{} {} {}  {}",
            painted(STRONG, plain_line(&relation.from)),
            painted(ACCENT, type_name),
            painted(STRONG, plain_line(&relation.to)),
            painted(DIM, plain_line(&relation.context))
        )?;
    }
    for claim in &recalled.claims {
        let object = claim.object.as_deref().map(plain_line).unwrap_or_default();
        let status = format!("{}, {}", plain_line(&claim.kind), claim.status.as_str());
        writeln!(
            out,
            "{} {object} [{}]  {}",
            painted(STRONG, plain_line(&claim.subject)),
            painted(ACCENT, status),
            painted(DIM, plain_line(&claim.description))
        )?;
    }
    for passage in &recalled.evidence {
        let place = place(&plain_line(&passage.uri), passage.line);
        let said_at = passage
            .said_at
            .as_deref()
            .map(plain_line)
            .unwrap_or_default();
        writeln!(out, "{}  {}", painted(PATH, place), painted(DIM, said_at))?;
        for line in passage.text.lines() {
            writeln!(out, "    {}", plain(line))?;
        }
    }
    Ok(())
}
