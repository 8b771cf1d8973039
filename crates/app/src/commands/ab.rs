//! `malha ab`

use std::io::Write;

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{DIM, Output, Table, painted, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Days to look back
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: u32,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let report = settings.open_read_only()?.graph_report(args.days)?;
    let mut out = Output::new();
    if settings.json {
        out.json(&report)?;
        out.flush()?;
        return Ok(Exit::Success);
    }
    if !report.rows.is_empty() {
        let mut table = Table::new(&[
            "class",
            "gate",
            ">queries",
            ">added",
            ">entered",
            ">by graph",
            ">helped %",
            ">search ms",
            ">graph ms",
        ]);
        for row in &report.rows {
            table.row([
                row.class.clone(),
                row.gate.clone(),
                row.queries.to_string(),
                format!("{:.1}", row.added),
                row.entered.to_string(),
                row.by_graph.to_string(),
                format!("{:.1}", row.helped),
                format!("{:.2}", row.search_ms),
                format!("{:.2}", row.graph_ms),
            ]);
        }
        table.write(&mut out)?;
        for suggestion in &report.suggestions {
            writeln!(out, "{suggestion}")?;
        }
        writeln!(out, "\n{}", painted(DIM, &report.sql))?;
    }
    out.flush()?;
    if report.rows.is_empty() {
        let log = if settings.engine.log_queries {
            "`malha search` fills the log"
        } else {
            "`[ab] log` is off"
        };
        let days = report.days;
        stderr::note(
            settings.verbosity,
            &format!("no question was compared in the last {days} days; {log}"),
        );
    }
    Ok(Exit::Success)
}
