//! `malha graph communities`

use std::io::Write;

use malha_engine::types::{CommunityLevel, CommunityList, CommunityRequest};
use malha_engine::{AnswerRun, Engine};

use crate::commands::spending::SpendingArgs;
use crate::config::{Settings, Task};
use crate::exit::{Exit, Refusal};
use crate::ui::{DIM, Output, STRONG, count, painted, plain_line, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How finely the store is divided
    #[arg(long, value_enum, default_value_t = LevelName::Coarse, conflicts_with = "entity")]
    level: LevelName,
    /// Only the communities of this entity, from coarse to fine
    #[arg(long, value_name = "NAME")]
    entity: Option<String>,
    /// How many to list, the largest first
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// How many members of each to list
    #[arg(long, value_name = "N", default_value_t = 8)]
    members: usize,
    /// Let the model of [models.reports] write every report that is missing or stale, fine communities first
    #[arg(long, conflicts_with = "entity")]
    reports: bool,
    #[command(flatten)]
    spending: SpendingArgs,
}

/// [`CommunityLevel`] on the command line.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum LevelName {
    Coarse,
    Middle,
    Fine,
}

impl From<LevelName> for CommunityLevel {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::Coarse => Self::Coarse,
            LevelName::Middle => Self::Middle,
            LevelName::Fine => Self::Fine,
        }
    }
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    settings.check_store_exists()?;
    settings.check_writes_now()?;
    if args.reports {
        return write_reports(args, settings);
    }
    if args.spending.is_stated() {
        let message = "limits of spending are for --reports";
        return Err(Refusal::new(Exit::Usage, message).into());
    }
    let engine = Engine::open(&settings.store, settings.engine.clone())
        .or_else(|_| Engine::open_read_only(&settings.store, settings.engine.clone()))?;
    let list = engine.communities(&CommunityRequest {
        level: args.level.into(),
        entity: args.entity.clone(),
        limit: args.limit as usize,
        members: args.members,
    })?;
    let mut out = Output::new();
    if settings.json {
        out.json(&list)?;
    } else {
        write(&mut out, &list)?;
    }
    out.flush()?;
    if list.is_stale {
        let note = "stale: the store has changed since these were found and cannot be written now";
        stderr::note(settings.verbosity, note);
    }
    if list.communities.is_empty() {
        let note = "no communities: nothing in the store is connected to anything";
        stderr::note(settings.verbosity, note);
    } else if list.communities.len() < list.total {
        let shown = format!(
            "{} of {}; -n lists more",
            list.communities.len(),
            list.total
        );
        stderr::note(settings.verbosity, &shown);
    }
    Ok(Exit::Success)
}

fn write_reports(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let model = settings.models.connect(Task::Reports)?;
    let answers = settings.answers.load()?;
    let run = AnswerRun {
        model: &*model,
        reports: Some(&*model),
        router: None,
        settings: &answers,
        limit: args.spending.limit(&[&*model], settings)?,
    };
    let engine = Engine::open(&settings.store, settings.engine.clone())?;
    let done = engine.write_reports(&run)?;
    if settings.json {
        let mut out = Output::new();
        out.json(&done)?;
        out.flush()?;
    }
    for missing in &done.missing {
        let message = format!("no report of {}: {}", missing.title, missing.reason);
        stderr::warning(settings.verbosity, &plain_line(&message));
    }
    let spent = &done.spent;
    let summary = format!(
        "{} communities: {} reports written, {} missing; {} calls, {} tokens in, {} out",
        done.communities,
        done.written,
        done.missing.len(),
        spent.calls,
        spent.input_tokens,
        spent.output_tokens
    );
    stderr::note(settings.verbosity, &summary);
    Ok(if done.budget_reached {
        Exit::Budget
    } else if done.missing.is_empty() {
        Exit::Success
    } else {
        Exit::Partial
    })
}

fn write(out: &mut impl Write, list: &CommunityList) -> std::io::Result<()> {
    for community in &list.communities {
        let size = count(community.size as u64, "entity", "entities");
        let place = format!("{} {}, {size}", community.level.as_str(), community.id);
        writeln!(
            out,
            "{}  {}",
            painted(STRONG, plain_line(&community.title)),
            painted(DIM, place),
        )?;
        let names: Vec<String> = community
            .members
            .iter()
            .map(|member| plain_line(&member.name))
            .collect();
        writeln!(out, "    {}", names.join(" · "))?;
    }
    Ok(())
}
