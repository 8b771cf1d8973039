//! `malha usage`

use std::io::Write;

use clap::ValueEnum;
use malha_engine::types::{UsageKey, UsageLine};
use serde_json::json;

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{Output, Table, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What the lines are split by
    #[arg(long, value_enum, value_name = "WHAT", default_value = "step")]
    by: By,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum By {
    /// Extraction, reports, answers and so on
    Step,
    Model,
    Document,
    /// Days, UTC
    Day,
}

impl From<By> for UsageKey {
    fn from(by: By) -> Self {
        match by {
            By::Step => Self::Step,
            By::Model => Self::Model,
            By::Document => Self::Document,
            By::Day => Self::Day,
        }
    }
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let by = UsageKey::from(args.by);
    let lines = settings.open_read_only()?.usage(by)?;
    let total = total(&lines);
    let mut out = Output::new();
    if settings.json {
        out.json(&json!({ "by": by.as_str(), "lines": lines, "total": total }))?;
        out.flush()?;
        return Ok(Exit::Success);
    }
    if lines.is_empty() {
        stderr::note(settings.verbosity, "no model has been asked yet");
        return Ok(Exit::Success);
    }
    let mut table = Table::new(&[
        by.as_str(),
        ">calls",
        ">failed",
        ">rejected",
        ">from store",
        ">retries",
        ">tokens in",
        ">tokens out",
        ">cost",
    ]);
    for line in lines.iter().chain([&total]) {
        table.row(cells(line));
    }
    table.write(&mut out)?;
    out.flush()?;
    if total.unpriced > 0 {
        let message = format!(
            "{} calls went to models without a price; [[models.price]] in malha.toml sets it",
            total.unpriced
        );
        stderr::note(settings.verbosity, &message);
    }
    Ok(Exit::Success)
}

fn cells(line: &UsageLine) -> [String; 9] {
    let cost = if line.calls == line.failed + line.unpriced {
        "–".to_owned()
    } else {
        format!("{:.4}", line.cost)
    };
    [
        if line.name.is_empty() {
            "–".to_owned()
        } else {
            line.name.clone()
        },
        line.calls.to_string(),
        line.failed.to_string(),
        line.rejected.to_string(),
        line.cache_hits.to_string(),
        line.retries.to_string(),
        line.input_tokens.to_string(),
        line.output_tokens.to_string(),
        cost,
    ]
}

fn total(lines: &[UsageLine]) -> UsageLine {
    let mut total = UsageLine {
        name: "total".to_owned(),
        ..UsageLine::default()
    };
    for line in lines {
        total.calls += line.calls;
        total.failed += line.failed;
        total.rejected += line.rejected;
        total.cache_hits += line.cache_hits;
        total.retries += line.retries;
        total.waited_ms += line.waited_ms;
        total.input_tokens += line.input_tokens;
        total.output_tokens += line.output_tokens;
        total.cost += line.cost;
        total.unpriced += line.unpriced;
    }
    total
}
