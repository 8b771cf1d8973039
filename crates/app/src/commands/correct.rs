//! `malha correct FROM RELATION TO`, `malha correct --claim ID`

use malha_engine::types::{ClaimCorrection, Correction};

use super::index::open_or_create;
use super::remember::{self, StatusName};
use crate::config::Settings;
use crate::exit::Exit;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Subject of the wrong fact
    #[arg(required_unless_present = "claim", requires_all = ["relation", "to"])]
    from: Option<String>,
    /// Its relation
    relation: Option<String>,
    /// Its object
    to: Option<String>,
    /// What is right instead of the object; without it and without dates the fact is only taken back
    #[arg(long, value_name = "NAME")]
    instead: Option<String>,
    /// When the right fact began to hold
    #[arg(long, value_name = "DATE")]
    valid_from: Option<String>,
    /// Until when it holds; `2006` means until 2007
    #[arg(long, value_name = "DATE")]
    valid_to: Option<String>,
    /// Why, kept as the evidence of the right fact
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// A claim instead of a fact, by the id that `describe` and `timeline` show
    #[arg(long, value_name = "ID", conflicts_with_all = ["from", "instead", "valid_from", "valid_to", "reason"])]
    claim: Option<String>,
    /// How the claim stands instead; without it and without words it is only taken back
    #[arg(long, value_enum, requires = "claim")]
    status: Option<StatusName>,
    /// What is right, as a sentence
    #[arg(long, value_name = "SENTENCE", requires = "claim")]
    words: Option<String>,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    settings.check_store_exists()?;
    let engine = open_or_create(settings)?;
    let report = if let Some(id) = &args.claim {
        engine.correct_claim(&ClaimCorrection {
            id: id.clone(),
            status: args.status.map(Into::into),
            description: args.words.clone(),
        })?
    } else {
        engine.correct(&Correction {
            source: args.from.clone().unwrap_or_default(),
            relation: args.relation.clone().unwrap_or_default(),
            target: args.to.clone().unwrap_or_default(),
            new_target: args.instead.clone(),
            valid_from: args.valid_from.clone(),
            valid_to: args.valid_to.clone(),
            reason: args.reason.clone(),
        })?
    };
    remember::show(&report, settings)
}
