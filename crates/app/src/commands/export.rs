//! `malha export --format FORMAT [--out PATH]`

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValue;
use malha_engine::exchange::ExportFormat;

use crate::config::Settings;
use crate::exit::{Exit, Refusal};
use crate::interrupt;
use crate::ui::{Bar, Output, count, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to write
    #[arg(long, value_enum, default_value = "malha")]
    format: Format,
    /// File or folder to write; without it the formats of one file go to stdout
    #[arg(long, short, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Relations and entities that were retracted too, with the time of it
    #[arg(long)]
    history: bool,
}

#[derive(Debug, Clone, Copy)]
struct Format(ExportFormat);

impl clap::ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [Format; ExportFormat::ALL.len()] = {
            let mut all = [Format(ExportFormat::Malha); ExportFormat::ALL.len()];
            let mut index = 0;
            while index < all.len() {
                all[index] = Format(ExportFormat::ALL[index]);
                index += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self.0 {
            ExportFormat::Malha => "Everything, as JSON lines that `malha import` reads",
            ExportFormat::Cypher => "A Cypher script, for Neo4j and others",
            ExportFormat::Neo4jCsv => "A folder of CSV files for `neo4j-admin database import`",
            ExportFormat::Ladybug => "A folder with tables, CSV files and a script for Ladybug",
            ExportFormat::Graphml => "GraphML, for yEd, igraph, networkx and others",
            ExportFormat::Gexf => "GEXF, for Gephi",
            ExportFormat::Jsonld => "JSON-LD",
            ExportFormat::Ntriples => "RDF as N-Triples",
            ExportFormat::Obsidian => "A folder of notes, one an entity, for Obsidian",
            ExportFormat::Html => "One HTML file that shows the graph offline",
            ExportFormat::Parquet => "A folder of Parquet files, one a table",
            ExportFormat::NeptuneCsv => "A folder of CSV files for Amazon Neptune",
        };
        Some(PossibleValue::new(self.0.name()).help(help))
    }
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let format = args.format.0;
    if !settings.times.is_present() {
        let message = "an export holds what is there now, or everything with --history; it knows no --as-of and --known-at";
        return Err(Refusal::new(Exit::Usage, message).into());
    }
    let engine = settings.open_read_only()?;
    interrupt::stop_at_safe_points();
    // It asks for Ctrl-C; how far an export is cannot be told.
    let progress = Bar::new(settings.verbosity);
    let report = match &args.out {
        Some(path) => engine.export(format, args.history, path, &progress)?,
        None if format.is_folder() => {
            let message = format!("{format} is a folder of files: say where with --out FOLDER");
            return Err(Refusal::new(Exit::Usage, message).into());
        }
        None => {
            let name = Path::new("stdout");
            let mut out = Output::new();
            if out.is_terminal() {
                let report = engine.export_to(format, args.history, name, &mut out, &progress)?;
                out.flush()?;
                report
            } else {
                // Bytes as they are: `Output` drops characters that look like a terminal's commands.
                let mut out = std::io::stdout().lock();
                engine.export_to(format, args.history, name, &mut out, &progress)?
            }
        }
    };
    if settings.json && args.out.is_some() {
        let mut out = Output::new();
        out.json(&report)?;
        out.flush()?;
    }
    let rows: Vec<String> = report
        .rows
        .iter()
        .map(|(table, rows)| format!("{table} {rows}"))
        .collect();
    let total = count(report.rows.values().sum(), "row", "rows");
    let message = format!("{total} written: {}", rows.join(", "));
    stderr::note(settings.verbosity, &message);
    Ok(Exit::Success)
}
