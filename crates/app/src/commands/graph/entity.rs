//! `malha graph entity NAME`

use std::io::{self, Write};

use malha_engine::Error;
use malha_engine::types::EntityView;

use super::show;
use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{DIM, Output, PATH, STRONG, painted, plain_line};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name, alias or public id
    name: String,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let entities = settings.open_read_only()?.entity(&args.name)?;
    if entities.is_empty() {
        let name = args.name.clone();
        return Err(Error::NotFound {
            kind: "entity",
            name,
        }
        .into());
    }
    let mut out = Output::new();
    if settings.json {
        out.json(&entities)?;
    } else {
        for (place, entity) in entities.iter().enumerate() {
            if place > 0 {
                writeln!(out)?;
            }
            write_entity(&mut out, entity)?;
        }
    }
    out.flush()?;
    Ok(Exit::Success)
}

fn write_entity(out: &mut impl Write, entity: &EntityView) -> io::Result<()> {
    let name = painted(STRONG, plain_line(&entity.name));
    writeln!(out, "{name}  {}", painted(DIM, show::kind(entity)))?;
    if let Some(description) = &entity.description {
        writeln!(out, "  {}", plain_line(description))?;
    }
    if let Some(uri) = &entity.uri {
        writeln!(out, "  note       {}", painted(PATH, plain_line(uri)))?;
    }
    if !entity.aliases.is_empty() {
        writeln!(
            out,
            "  also       {}",
            plain_line(&entity.aliases.join(", "))
        )?;
    }
    writeln!(out, "  relations  {}", entity.degree)?;
    writeln!(out, "  mentions   {}", entity.mentions)?;
    writeln!(out, "  id         {}", painted(DIM, &entity.public_id.0))
}
