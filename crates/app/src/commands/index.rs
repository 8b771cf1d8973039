//! `malha index [PATH…]`

mod beside;
mod extract;
mod report;
mod watch;

use std::io::Write;
use std::path::PathBuf;

use malha_engine::types::IngestReport;
use malha_engine::{Engine, Error, SourceSpec};

use super::{embed, init};
use crate::config::{self, ConventionName, Settings};
use crate::exit::{Exit, Refusal};
use crate::interrupt;
use crate::ui::{Bar, Output, stderr};

pub(crate) use report::{Standing, summary};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folders or files; otherwise those of malha.toml, those indexed before, or the store's folder
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Go on: index again whenever something changes, until Ctrl-C
    #[arg(long, conflicts_with = "extract")]
    watch: bool,
    /// Give new passages vectors afterwards, as `malha embed` does; with --watch, beside it
    #[arg(long, conflicts_with = "extract")]
    embed: bool,
    /// List every file that was left out, with the reason
    #[arg(long)]
    skipped: bool,
    /// Link syntax of the notes; later runs keep it until another one, or `auto`, is named
    #[arg(long, value_enum, value_name = "NAME")]
    convention: Option<ConventionName>,
    /// Passage size, in characters unless `[chunk] unit` says tokens; later runs keep it
    #[arg(long, value_name = "N")]
    chunk_size: Option<usize>,
    /// Overlap of neighbouring passages, in the same unit
    #[arg(long, value_name = "N")]
    chunk_overlap: Option<usize>,
    #[command(flatten)]
    extraction: extract::Args,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    args.extraction.check()?;
    let mut settings = settings.clone();
    settings.apply_chunking(args.chunk_size, args.chunk_overlap)?;
    if let Some(convention) = args.convention {
        settings.convention = convention.into();
    }
    interrupt::stop_at_safe_points();
    let given = given_sources(args, &settings)?;
    let engine = open_or_create(&settings)?;
    if args.convention == Some(ConventionName::Auto) {
        engine.state_convention(None)?;
    } else if given.is_empty() && settings.convention.is_some() {
        engine.state_convention(settings.convention)?;
    }
    let sources = if given.is_empty() && engine.sources()?.is_empty() {
        vec![SourceSpec {
            root: settings.base.clone(),
            convention: settings.convention,
        }]
    } else {
        given
    };

    if args.extraction.is_wanted() {
        return extract::run(&args.extraction, &engine, &sources, &settings);
    }
    let report = once(&engine, &sources, &settings)?;
    show(&engine, &report, args, &settings)?;
    if args.watch {
        let index = |embedding: Option<&beside::Embedding<'_>>| {
            watch(&engine, &settings, || {
                let report = once(&engine, &[], &settings)?;
                show(&engine, &report, args, &settings)?;
                if let Some(embedding) = embedding {
                    embedding.go_on();
                }
                Ok(())
            })
        };
        if args.embed {
            beside::embedding(&settings, |embedding| index(Some(embedding)))?;
        } else {
            index(None)?;
        }
        return Ok(Exit::Interrupted);
    }
    let exit = exit_of(&report);
    if !args.embed {
        return Ok(exit);
    }
    Ok(match embed::after_index(&engine, &settings)? {
        Exit::Success => exit,
        other => other,
    })
}

fn watch(
    engine: &Engine,
    settings: &Settings,
    index: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let roots: Vec<PathBuf> = engine.sources()?.into_iter().map(|s| s.root).collect();
    watch::until_interrupted(&roots, settings.watch_quiet, settings.verbosity, index)
}

/// Brings the store up to date; used by `search --fresh` too.
pub(crate) fn once(
    engine: &Engine,
    sources: &[SourceSpec],
    settings: &Settings,
) -> anyhow::Result<IngestReport> {
    let bar = Bar::new(settings.verbosity);
    let report = engine.index(sources, &bar);
    bar.clear();
    Ok(report?)
}

/// A run whose files partly failed is a partial success.
fn exit_of(report: &IngestReport) -> Exit {
    if report.failed.is_empty() {
        Exit::Success
    } else {
        Exit::Partial
    }
}

pub(crate) fn open_or_create(settings: &Settings) -> anyhow::Result<Engine> {
    settings.check_writes_now()?;
    if settings.store.is_file() {
        let engine = Engine::open(&settings.store, settings.engine.clone())?;
        return Ok(settings.with_models(engine));
    }
    let engine = init::create(&settings.store, settings)?;
    let message = format!("new store: {}", settings.store.display());
    stderr::note(settings.verbosity, &message);
    Ok(settings.with_models(engine))
}

/// What to index: the arguments, or the configuration, or nothing in particular.
fn given_sources(args: &Args, settings: &Settings) -> anyhow::Result<Vec<SourceSpec>> {
    let paths = if args.paths.is_empty() {
        &settings.sources
    } else {
        &args.paths
    };
    let mut sources = Vec::with_capacity(paths.len());
    for path in paths {
        let root = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        if !root.exists() {
            let message = format!("{}: no such file or folder", path.display());
            return Err(Refusal::new(Exit::NotFound, message).into());
        }
        sources.push(SourceSpec {
            root,
            convention: settings.convention,
        });
    }
    Ok(sources)
}

fn show(
    engine: &Engine,
    report: &IngestReport,
    args: &Args,
    settings: &Settings,
) -> anyhow::Result<()> {
    let standing = Standing::after(report, engine)?;
    let mut out = Output::new();
    if settings.json {
        out.json(report)?;
    } else if args.skipped {
        for skipped in &standing.skipped {
            writeln!(out, "{}", report::skipped_line(skipped))?;
        }
    }
    out.flush()?;
    summary(report, &standing, settings.verbosity);
    Ok(())
}

impl Settings {
    /// Sizes given as flags replace the configured ones.
    fn apply_chunking(
        &mut self,
        size: Option<usize>,
        overlap: Option<usize>,
    ) -> anyhow::Result<()> {
        self.engine.keep_chunks &= size.or(overlap).is_none();
        self.engine.chunk_size = size.unwrap_or(self.engine.chunk_size);
        self.engine.chunk_overlap = overlap.unwrap_or(self.engine.chunk_overlap);
        config::check_chunking(self.engine.chunk_size, self.engine.chunk_overlap)
            .map_err(|reason| Error::Usage(reason).into())
    }
}
