//! `malha eval ablation`

use std::io::Write;
use std::path::PathBuf;

use malha_evaluation::{
    Comparison, Metrics, MiniVaultParts, mini_vault_questions, rank_mini_vault, write_mini_vault,
};

use super::figures;
use super::retrieval::{BOOTSTRAP_SEED, VectorOptions, variants};
use crate::config::{ModeName, Settings};
use crate::exit::{Exit, Refusal};
use crate::ui::{Output, count, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Recipes, each also without each of its parts; differences are to the first
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "MODE",
        default_value = "notes,auto"
    )]
    mode: Vec<ModeName>,
    /// Group the questions by language instead of by class
    #[arg(long)]
    by_language: bool,
    #[command(flatten)]
    vectors: VectorOptions,
    /// Only write the notes as files below this folder
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
}

const CUT_OFFS: [usize; 3] = [2, 5, 10];

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    if let Some(folder) = &args.write {
        if folder
            .read_dir()
            .is_ok_and(|mut entries| entries.next().is_some())
        {
            let message = format!("{} is not empty", folder.display());
            return Err(Refusal::new(Exit::Usage, message).into());
        }
        let notes = write_mini_vault(folder)?;
        let message = format!("{} written", count(notes as u64, "note", "notes"));
        stderr::note(settings.verbosity, &message);
        return Ok(Exit::Success);
    }
    let folder = tempfile::tempdir()?;
    write_mini_vault(folder.path())?;
    let questions = mini_vault_questions(if args.by_language {
        MiniVaultParts::Language
    } else {
        MiniVaultParts::Class
    })?;
    let metrics = Metrics::new(&CUT_OFFS, &questions);
    let runs = rank_mini_vault(
        folder.path(),
        &questions,
        &variants(&args.mode, true),
        metrics.depth(),
        &settings.engine,
        args.vectors.embedder(settings)?,
        settings.search_models.reranker(),
    )?;
    let comparison = Comparison::new(&metrics, &questions, &runs, BOOTSTRAP_SEED);
    let mut out = Output::new();
    if settings.json {
        out.json(&figures::json(&comparison))?;
    } else {
        figures::write(&mut out, &comparison, &CUT_OFFS)?;
    }
    out.flush()?;
    Ok(Exit::Success)
}
