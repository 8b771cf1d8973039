//! `malha diff --from DATE --to DATE`

use std::io::{self, Write};

use malha_engine::parse_moment;
use malha_engine::types::{GraphDiff, RelationView};

use super::graph::show;
use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{ACCENT, Output, count, painted, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The earlier moment
    #[arg(long, value_name = "DATE")]
    from: String,
    /// The later moment
    #[arg(long, value_name = "DATE")]
    to: String,
    /// Compare what was known at the two moments instead of what held
    #[arg(long)]
    knowledge: bool,
    /// How many relations of each kind to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 200)]
    limit: usize,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let (from, to) = (parse_moment(&args.from)?, parse_moment(&args.to)?);
    let engine = settings.open_read_only()?;
    let diff = engine.diff(from, to, args.knowledge, args.limit)?;
    let mut out = Output::new();
    if settings.json {
        out.json(&diff)?;
    } else {
        write_diff(&mut out, &diff)?;
    }
    out.flush()?;
    let unchanged = count(diff.unchanged as u64, "relation", "relations");
    let more = if diff.cut { "; --limit shows more" } else { "" };
    stderr::note(settings.verbosity, &format!("{unchanged} unchanged{more}"));
    Ok(Exit::Success)
}

fn write_diff(out: &mut impl Write, diff: &GraphDiff) -> io::Result<()> {
    let mut lines = |sign: &str, relations: &[RelationView]| -> io::Result<()> {
        for relation in relations {
            let period = show::period(&relation.times);
            write!(out, "{} {period:<24}  ", painted(ACCENT, sign))?;
            show::relation(out, relation)?;
        }
        Ok(())
    };
    lines("+", &diff.began)?;
    lines("−", &diff.ended)?;
    for (sign, claims) in [("+", &diff.claims_began), ("−", &diff.claims_ended)] {
        for claim in claims {
            write!(out, "{} ", painted(ACCENT, sign))?;
            show::claim(out, claim)?;
        }
    }
    Ok(())
}
