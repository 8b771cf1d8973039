//! `malha quarantine …`: what extraction put aside.

use std::io::Write;

use malha_engine::types::QuarantineItem;

use crate::config::Settings;
use crate::exit::{Exit, Refusal};
use crate::ui::{Output, Table, plain, stderr};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List passages whose reply could not be used, and items that were not stored
    List(ListArgs),
    /// Show one with what the model said
    Show(ItemArgs),
    /// Take a drop back: the next run asks about a passage again
    Retry(ItemArgs),
    /// Want no more of it: a passage is not asked about again
    Drop(ItemArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Passages only: what a run with --extract asks about again
    #[arg(long)]
    passages: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ItemArgs {
    /// Its number
    #[arg(value_name = "NUMBER")]
    id: i64,
}

pub(crate) fn run(command: &Command, settings: &Settings) -> anyhow::Result<Exit> {
    match command {
        Command::List(args) => list(args, settings),
        Command::Show(args) => show(args.id, settings),
        Command::Retry(args) => set_dropped(args.id, false, settings),
        Command::Drop(args) => set_dropped(args.id, true, settings),
    }
}

fn list(args: &ListArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let mut items = settings.open_read_only()?.quarantine()?;
    items.retain(|item| !args.passages || item.kind == "passage");
    let mut out = Output::new();
    if settings.json {
        out.json(&items)?;
    } else if items.is_empty() {
        stderr::note(settings.verbosity, "nothing is put aside");
    } else {
        let mut table = Table::new(&[">number", "what", "where", "reason", "item"]);
        for item in &items {
            let shown: String = item.item.chars().take(60).collect();
            let kind = if item.dropped {
                format!("{} (dropped)", item.kind)
            } else {
                item.kind.clone()
            };
            let place = format!("{}:{}", item.uri, item.line);
            table.row([item.id.to_string(), kind, place, item.reason.clone(), shown]);
        }
        table.write(&mut out)?;
    }
    out.flush()?;
    Ok(Exit::Success)
}

fn show(id: i64, settings: &Settings) -> anyhow::Result<Exit> {
    let items = settings.open_read_only()?.quarantine()?;
    let Some(item) = items.into_iter().find(|item| item.id == id) else {
        let message = format!("no quarantined item {id}");
        let hint = "`malha quarantine list` shows the numbers";
        return Err(Refusal::new(Exit::NotFound, message).hint(hint).into());
    };
    let mut out = Output::new();
    if settings.json {
        out.json(&item)?;
    } else {
        write_item(&mut out, &item)?;
    }
    out.flush()?;
    Ok(Exit::Success)
}

fn write_item(out: &mut Output, item: &QuarantineItem) -> std::io::Result<()> {
    writeln!(out, "{}:{}: {}", plain(&item.uri), item.line, item.kind)?;
    writeln!(out, "reason: {}", plain(&item.reason))?;
    writeln!(out, "{}", plain(&item.item))
}

fn set_dropped(id: i64, dropped: bool, settings: &Settings) -> anyhow::Result<Exit> {
    settings.check_store_exists()?;
    let engine = malha_engine::Engine::open(&settings.store, settings.engine.clone())?;
    engine.set_dropped(id, dropped)?;
    let what = if dropped {
        "dropped"
    } else {
        "not dropped: a passage is asked about by the next run with --extract"
    };
    stderr::note(settings.verbosity, &format!("{id}: {what}"));
    Ok(Exit::Success)
}
