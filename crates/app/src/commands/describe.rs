//! `malha describe ENTITY`

use std::io::{self, Write};

use malha_engine::types::{Description, RelationView};

use super::graph::show;
use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{DIM, Output, PATH, STRONG, painted, place, plain_line};

/// Letters of a passage that are shown.
const EXCERPT: usize = 200;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name, alias or public id
    entity: String,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let descriptions = settings.open_read_only()?.describe(&args.entity)?;
    let mut out = Output::new();
    if settings.json {
        out.json(&descriptions)?;
    } else {
        for (place, description) in descriptions.iter().enumerate() {
            if place > 0 {
                writeln!(out)?;
            }
            write_description(&mut out, description)?;
        }
    }
    out.flush()?;
    Ok(Exit::Success)
}

fn write_description(out: &mut impl Write, description: &Description) -> io::Result<()> {
    let entity = &description.entity;
    let name = painted(STRONG, plain_line(&entity.name));
    writeln!(out, "{name}  {}", painted(DIM, show::kind(entity)))?;
    for text in entity.description.iter().chain(&description.community) {
        writeln!(out, "  {}", plain_line(text))?;
    }
    for relation in &description.relations {
        write_relation(out, relation, "")?;
    }
    for entry in &description.history {
        write_relation(out, &entry.relation, entry.standing.as_str())?;
    }
    for claim in &description.claims {
        show::claim(out, claim)?;
    }
    for passage in &description.passages {
        let place = place(&plain_line(&passage.uri), passage.line);
        let excerpt: String = plain_line(&passage.text).chars().take(EXCERPT).collect();
        writeln!(out, "  {}  {}", painted(PATH, place), painted(DIM, excerpt))?;
    }
    Ok(())
}

fn write_relation(out: &mut impl Write, relation: &RelationView, remark: &str) -> io::Result<()> {
    let period = show::period(&relation.times);
    write!(out, "  {period:<24} {:<10}", painted(DIM, remark))?;
    show::relation(out, relation)?;
    for stated in relation.evidence.iter().take(1) {
        show::evidence(out, stated)?;
    }
    Ok(())
}
