//! `malha correct FROM RELATION TO`

use malha_engine::types::Correction;

use super::index::open_or_create;
use super::remember;
use crate::config::Settings;
use crate::exit::Exit;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Subject of the wrong fact
    from: String,
    /// Its relation
    relation: String,
    /// Its object
    to: String,
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
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    settings.check_store_exists()?;
    let report = open_or_create(settings)?.correct(&Correction {
        source: args.from.clone(),
        relation: args.relation.clone(),
        target: args.to.clone(),
        new_target: args.instead.clone(),
        valid_from: args.valid_from.clone(),
        valid_to: args.valid_to.clone(),
        reason: args.reason.clone(),
    })?;
    remember::show(&report, settings)
}
