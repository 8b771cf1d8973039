//! `malha schema …`: what may be extracted.

use std::io::Write;
use std::path::PathBuf;

use malha_engine::extraction::{Schema, schema_of_ddl};
use malha_engine::types::SpendingLimit;
use serde_json::json;

use crate::config::{Settings, Task, read_schema};
use crate::exit::{Exit, Refusal};
use crate::ui::{Output, stderr};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Say what is wrong with the schema, and what is unwise
    Check(CheckArgs),
    /// Let the extraction model propose a schema from a sample of passages
    Infer(InferArgs),
    /// Make a schema of Cypher's CREATE NODE TABLE and CREATE REL TABLE
    Import(ImportArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Otherwise the configured one
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InferArgs {
    /// Passages that are read
    #[arg(long, value_name = "N", default_value_t = 12)]
    sample: usize,
    /// Write it here, where no file is yet; otherwise to stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// Statements in Cypher
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write it here, where no file is yet; otherwise to stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn run(command: &Command, settings: &Settings) -> anyhow::Result<Exit> {
    match command {
        Command::Check(args) => check(args, settings),
        Command::Infer(args) => infer(args, settings),
        Command::Import(args) => import(args, settings),
    }
}

fn check(args: &CheckArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let file = args.file.as_ref().unwrap_or(&settings.extraction.schema);
    if !file.is_file() {
        let message = format!("no schema at {}", file.display());
        let hint = "`malha schema infer --out schema.toml` proposes one";
        return Err(Refusal::new(Exit::NotFound, message).hint(hint).into());
    }
    let schema = read_schema(file)?;
    let findings = schema.check();
    let mut out = Output::new();
    if settings.json {
        out.json(&json!({
            "entity_types": schema.entity.len(), "relations": schema.relation.len(),
            "errors": findings.errors, "warnings": findings.warnings,
        }))?;
    } else {
        for (what, list) in [("error", &findings.errors), ("warning", &findings.warnings)] {
            for line in list {
                writeln!(out, "{what}: {}", crate::ui::plain_line(line))?;
            }
        }
        writeln!(
            out,
            "{} entity types, {} relations",
            schema.entity.len(),
            schema.relation.len()
        )?;
    }
    out.flush()?;
    Ok(if findings.errors.is_empty() {
        Exit::Success
    } else {
        Exit::Failure
    })
}

fn infer(args: &InferArgs, settings: &Settings) -> anyhow::Result<Exit> {
    settings.check_store_exists()?;
    let extraction = settings.extraction.load()?;
    let model = settings.models.connect(Task::Extraction)?;
    let engine = malha_engine::Engine::open(&settings.store, settings.engine.clone())?;
    let schema =
        engine.infer_schema(&*model, &extraction, args.sample, SpendingLimit::default())?;
    let findings = schema.check();
    for warning in findings.errors.iter().chain(&findings.warnings) {
        stderr::warning(settings.verbosity, warning);
    }
    write(&schema, args.out.as_ref(), settings)
}

fn import(args: &ImportArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let text = std::fs::read_to_string(&args.file).map_err(|source| malha_engine::Error::Io {
        path: args.file.clone(),
        source,
    })?;
    let (schema, warnings) = schema_of_ddl(&text).map_err(|reason| {
        Refusal::new(Exit::Failure, format!("{}: {reason}", args.file.display()))
    })?;
    for warning in &warnings {
        stderr::warning(settings.verbosity, warning);
    }
    for warning in schema.check().warnings {
        stderr::warning(settings.verbosity, &warning);
    }
    write(&schema, args.out.as_ref(), settings)
}

fn write(schema: &Schema, file: Option<&PathBuf>, settings: &Settings) -> anyhow::Result<Exit> {
    let text = toml::to_string_pretty(schema)?;
    let mut out = Output::new();
    match file {
        Some(file) => {
            // Somebody's own work is never overwritten.
            let mut target =
                std::fs::File::create_new(file).map_err(|source| malha_engine::Error::Io {
                    path: file.clone(),
                    source,
                })?;
            target.write_all(text.as_bytes())?;
            stderr::note(settings.verbosity, &format!("wrote {}", file.display()));
        }
        None if settings.json => out.json(schema)?,
        None => out.write_all(text.as_bytes())?,
    }
    out.flush()?;
    Ok(Exit::Success)
}
