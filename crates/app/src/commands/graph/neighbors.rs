//! `malha graph neighbors NAME…`

use std::io::{self, Write};

use malha_engine::types::{Direction, NeighborRequest, Neighborhood};

use super::show;
use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{DIM, Output, STRONG, painted, plain_line, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Names, aliases or public ids to start from
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// How far to go
    #[arg(long, value_name = "N", default_value_t = 2)]
    hops: u32,
    /// How many entities to show at most
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    nodes: u32,
    /// Which way to follow relations
    #[arg(long, value_enum, default_value_t = DirectionName::Both)]
    direction: DirectionName,
    /// Follow these relation types only, in any case
    #[arg(long, value_name = "TYPE")]
    relation: Vec<String>,
    /// Show where each relation is stated
    #[arg(long)]
    evidence: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum DirectionName {
    Out,
    In,
    Both,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let request = NeighborRequest {
        seeds: args.names.clone(),
        max_hops: args.hops,
        max_nodes: args.nodes as usize,
        direction: match args.direction {
            DirectionName::Out => Direction::Out,
            DirectionName::In => Direction::In,
            DirectionName::Both => Direction::Both,
        },
        relation_types: args.relation.clone(),
    };
    let found = settings.open_read_only()?.neighbors(&request)?;
    let mut out = Output::new();
    if settings.json {
        out.json(&found)?;
    } else {
        write_neighborhood(&mut out, &found, args.evidence)?;
    }
    out.flush()?;
    if found.cut {
        let message = format!("more than {} entities; --nodes shows more", args.nodes);
        stderr::note(settings.verbosity, &message);
    }
    Ok(Exit::Success)
}

fn write_neighborhood(
    out: &mut impl Write,
    found: &Neighborhood,
    evidence: bool,
) -> io::Result<()> {
    let mut depth = None;
    for node in &found.nodes {
        if depth != Some(node.depth) {
            depth = Some(node.depth);
            let heading = match node.depth {
                0 => "start".to_owned(),
                1 => "1 hop".to_owned(),
                hops => format!("{hops} hops"),
            };
            writeln!(out, "{}", painted(DIM, heading))?;
        }
        let name = painted(STRONG, plain_line(&node.entity.name));
        let kind = painted(DIM, show::kind(&node.entity));
        writeln!(out, "  {name}  {kind}")?;
    }
    if !found.relations.is_empty() {
        writeln!(out, "{}", painted(DIM, "relations"))?;
    }
    for relation in &found.relations {
        write!(out, "  ")?;
        show::relation(out, relation)?;
        if evidence {
            for stated in &relation.evidence {
                show::evidence(out, stated)?;
            }
        }
    }
    Ok(())
}
