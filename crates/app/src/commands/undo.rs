//! `malha undo [N]`

use std::io::Write;

use super::index::open_or_create;
use super::remember;
use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{Output, Table};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of the operation; without it the latest ones are listed
    operation: Option<i64>,
    /// How many to list
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    if let Some(operation) = args.operation {
        settings.check_store_exists()?;
        let report = open_or_create(settings)?.undo(operation)?;
        return remember::show(&report, settings);
    }
    let operations = settings.open_read_only()?.operations(args.limit)?;
    let mut out = Output::new();
    if settings.json {
        out.json(&operations)?;
    } else if !operations.is_empty() {
        let mut table = Table::new(&[">operation", "at", "what", "", "undone"]);
        for operation in &operations {
            table.row([
                operation.id.to_string(),
                operation.at.clone(),
                operation.kind.clone(),
                operation.summary.clone(),
                operation.undone_at.clone().unwrap_or_default(),
            ]);
        }
        table.write(&mut out)?;
    }
    out.flush()?;
    Ok(Exit::Success)
}
