//! `malha eval vault`

use std::io::Write;
use std::path::PathBuf;

use malha_evaluation::{Comparison, Error, Metrics, hold_out, rank_held_out};
use serde_json::json;

use super::figures;
use super::retrieval::{BOOTSTRAP_SEED, CutOffs, distinct};
use crate::config::{ModeName, Settings};
use crate::exit::Exit;
use crate::ui::{Output, count};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The vault; otherwise the folder the store belongs to
    #[arg(value_name = "VAULT")]
    vault: Option<PathBuf>,
    /// Links to hold out at most
    #[arg(long, default_value_t = 200, value_name = "N")]
    sample: usize,
    /// Which links are held out
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    seed: u64,
    /// Recipes to compare; differences are to the first
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "keyword,graph,auto,notes",
        value_name = "MODE"
    )]
    mode: Vec<ModeName>,
    /// Cut-offs
    #[arg(long, default_value = "1,5,10", value_name = "K,…", value_parser = CutOffs::parse)]
    k: CutOffs,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let vault = args.vault.as_ref().unwrap_or(&settings.base);
    let copy = tempfile::tempdir()?;
    let held_out = hold_out(vault, copy.path(), args.sample, args.seed)?;
    if held_out.questions.is_empty() {
        let message = format!(
            "{}: {} and no link between two of them with a paragraph around it; nothing to ask",
            vault.display(),
            count(held_out.notes as u64, "note", "notes")
        );
        return Err(Error::Usage(message).into());
    }
    let questions = &held_out.questions;
    let metrics = Metrics::new(&args.k.0, questions);
    let runs = rank_held_out(
        &held_out,
        copy.path(),
        settings.convention,
        &distinct(&args.mode),
        metrics.depth(),
        &settings.engine,
    )?;
    let comparison = Comparison::new(&metrics, questions, &runs, BOOTSTRAP_SEED);

    let mut out = Output::new();
    if settings.json {
        let mut object = figures::json(&comparison);
        object.insert("notes".to_owned(), json!(held_out.notes));
        object.insert("candidates".to_owned(), json!(held_out.candidates));
        out.json(&object)?;
    } else {
        figures::write(&mut out, &comparison, &args.k.0)?;
        writeln!(
            out,
            "{} of {} held out; {}",
            questions.len(),
            count(held_out.candidates as u64, "link", "links"),
            count(held_out.notes as u64, "note", "notes")
        )?;
    }
    out.flush()?;
    Ok(Exit::Success)
}
