//! Settings: raw ones as written in `malha.toml`, the environment and flags become checked ones, once.

mod answers;
#[cfg(feature = "otel")]
mod collector;
mod extraction;
mod gate;
mod memory;
mod models;
mod raw;
mod search_models;

use std::path::{Path, PathBuf};
use std::time::Duration;

use malha_engine::types::{LinkConvention, Mode, SpendingLimit, Times};
use malha_engine::{Engine, EngineConfig, QueryWriter, parse_times};

use crate::cli::Global;
use crate::exit::{Exit, Refusal};
use crate::locate;
use crate::ui::stderr::{self, Verbosity};

pub(crate) use answers::AnswerFiles;
#[cfg(feature = "otel")]
pub(crate) use collector::Collector;
pub(crate) use extraction::{ExtractionFiles, read_schema};
pub(crate) use models::{Task, TaskModels};
pub(crate) use raw::{ConventionName, ModeName, check_chunking};
pub(crate) use search_models::SearchModels;

/// Everything the commands need to know, checked.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The store's file, whether or not it is there.
    pub(crate) store: PathBuf,
    /// Whether the user named the store, by flag, environment or configuration.
    pub(crate) store_is_stated: bool,
    /// The folder the store belongs to: what `index` starts from when told nothing else.
    pub(crate) base: PathBuf,
    /// The `malha.toml` that was read.
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) engine: EngineConfig,
    /// Configured sources, absolute; empty when none are.
    pub(crate) sources: Vec<PathBuf>,
    /// `None`: detected per source.
    pub(crate) convention: Option<LinkConvention>,
    pub(crate) watch_quiet: Duration,
    pub(crate) search_mode: Mode,
    pub(crate) search_limit: usize,
    /// The moment that reading commands look at.
    pub(crate) times: Times,
    /// Which chat model does what.
    pub(crate) models: TaskModels,
    /// What turns texts into vectors, and what puts results in order.
    pub(crate) search_models: SearchModels,
    /// What may be extracted, and how it is asked for.
    pub(crate) extraction: ExtractionFiles,
    /// How answers are asked for.
    pub(crate) answers: AnswerFiles,
    pub(crate) json: bool,
    pub(crate) verbosity: Verbosity,
}

impl Settings {
    /// The engine with the models that a search may ask.
    pub(crate) fn with_models(&self, engine: Engine) -> Engine {
        let engine = engine.with_embedder(self.search_models.embedder());
        match self.search_models.reranker() {
            Some(reranker) => engine.with_reranker(reranker),
            None => engine,
        }
    }

    /// The engine whose queries know the names of the schema.
    pub(crate) fn with_schema(&self, engine: Engine) -> anyhow::Result<Engine> {
        Ok(engine.with_schema(self.extraction.load()?.schema))
    }

    /// The engine with what questions to its graph need: the names of the schema, and the model that answers, where
    /// one is configured.
    pub(crate) fn with_graph_questions(
        &self,
        engine: Engine,
        limit: SpendingLimit,
    ) -> anyhow::Result<Engine> {
        let engine = self.with_schema(engine)?;
        if self.models.get(Task::Answers).is_none() {
            return Ok(engine);
        }
        Ok(engine.with_query_writer(QueryWriter {
            model: self.models.connect(Task::Answers)?,
            prompts: self.answers.query_prompts()?,
            limit,
        }))
    }

    /// Opens the store for reading commands, which never write to it, at the moment they look at.
    pub(crate) fn open_read_only(&self) -> anyhow::Result<Engine> {
        self.check_store_exists()?;
        let engine = Engine::open_read_only(&self.store, self.engine.clone())?;
        Ok(self.with_models(engine.at(self.times)))
    }

    /// What is written is written now.
    pub(crate) fn check_writes_now(&self) -> anyhow::Result<()> {
        if self.times.is_present() {
            return Ok(());
        }
        let message = "--as-of and --known-at are for commands that read";
        Err(Refusal::new(Exit::Usage, message).into())
    }

    /// A store that is not there is the commonest mistake of all: say what to do.
    pub(crate) fn check_store_exists(&self) -> anyhow::Result<()> {
        if self.store.is_file() {
            return Ok(());
        }
        let message = format!("no store at {}", self.store.display());
        let hint = "run `malha index` in the folder of your notes, or name a store with --store";
        Err(Refusal::new(Exit::Failure, message).hint(hint).into())
    }
}

/// Reads file, environment and flags.
pub(crate) fn load(global: &Global) -> anyhow::Result<Settings> {
    let here = std::env::current_dir()?;
    let environment = std::env::vars_os().filter_map(|(name, value)| {
        Some((
            name.into_string().ok()?,
            value.to_string_lossy().into_owned(),
        ))
    });
    load_from(global, &here, environment)
}

fn load_from(
    global: &Global,
    here: &Path,
    environment: impl Iterator<Item = (String, String)>,
) -> anyhow::Result<Settings> {
    let variables: std::collections::BTreeMap<String, String> = environment.collect();
    let environment = raw::Environment::read(variables.clone().into_iter())?;
    let verbosity = Verbosity::new(global.quiet, global.verbose);
    for name in &environment.unknown {
        stderr::warning(verbosity, &format!("{name} is not a setting of malha"));
    }
    let stated_store = global
        .store
        .clone()
        .or_else(|| environment.settings.store.clone())
        .map(|path| here.join(path));
    let stated_config = global.config.clone().or(environment.config);
    let config_file = match stated_config {
        Some(path) => Some(here.join(path)),
        None => stated_store
            .as_deref()
            .and_then(locate::config_beside)
            .or_else(|| locate::config_upwards(here)),
    };

    let mut settings = raw::defaults();
    let mut config_folder = here.to_owned();
    let mut chunks_are_stated = environment.settings.states_chunks();
    if let Some(file) = &config_file {
        let mut from_file = raw::read_file(file)?;
        if let Some(folder) = file.parent() {
            folder.clone_into(&mut config_folder);
        }
        from_file.resolve_paths(&config_folder);
        chunks_are_stated |= from_file.states_chunks();
        settings = settings.overlaid_by(from_file);
    }
    let mut from_environment = environment.settings;
    from_environment.resolve_paths(here);
    settings = settings.overlaid_by(from_environment);

    let stated_store = stated_store.or_else(|| settings.store.clone());
    let store_is_stated = stated_store.is_some();
    let store = stated_store
        .or_else(|| locate::store_upwards(here))
        .unwrap_or_else(|| {
            config_folder
                .join(locate::STORE_FOLDER)
                .join(locate::STORE_FILE)
        });
    let in_own_folder = store
        .parent()
        .is_some_and(|folder| folder.ends_with(locate::STORE_FOLDER));
    let base = if in_own_folder {
        locate::base_of(&store).unwrap_or(config_folder)
    } else {
        config_folder
    };

    let mut checked = settings.check(store, base, config_file, &variables)?;
    if let Some(namespace) = &global.namespace {
        checked.engine.namespace = raw::checked_namespace(namespace)
            .map_err(|reason| Refusal::new(Exit::Usage, reason))?;
    }
    checked.engine.keep_chunks = !chunks_are_stated;
    checked.store_is_stated = store_is_stated;
    checked.times = parse_times(global.as_of.as_deref(), global.known_at.as_deref())?;
    checked.json = global.json;
    checked.verbosity = verbosity;
    Ok(checked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_in(
        folder: &Path,
        config: &str,
        environment: &[(&str, &str)],
    ) -> anyhow::Result<Settings> {
        std::fs::write(folder.join(locate::CONFIG_FILE), config).unwrap();
        let environment = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        load_from(&Global::default(), folder, environment)
    }

    #[test]
    fn later_sources_win() {
        let folder = tempfile::tempdir().unwrap();
        let limit = |config, environment: &[_]| {
            load_in(folder.path(), config, environment)
                .unwrap()
                .search_limit
        };
        assert_eq!(limit("", &[]), 10);
        assert_eq!(limit("[search]\nlimit = 3", &[]), 3);
        assert_eq!(
            limit("[search]\nlimit = 3", &[("MALHA_SEARCH_LIMIT", "4")]),
            4
        );
    }

    #[test]
    fn bad_settings_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let check = |config, environment: &[_], expected: &str| {
            let error = load_in(folder.path(), config, environment).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            let refusal = error.downcast_ref::<Refusal>().unwrap();
            assert_eq!(refusal.exit, Exit::Configuration, "{error}");
        };
        check(
            "\n[search]\nlimt = 3",
            &[],
            "malha.toml:3: unknown field `limt`",
        );
        check("[serch]", &[], "malha.toml:1: unknown field `serch`");
        check("[search]\nlimit = \"many\"", &[], "malha.toml:2: ");
        check("[search]\nlimit = 0", &[], "malha.toml:2: ");
        check("[chunk]\nsize = 50\noverlap = 49", &[], "chunk overlap 49");
        check("[chunk]\nsize = 0", &[], "malha.toml:2: ");
        check("[chunk]\nsize = 9\noverlap = 0", &[], "chunk size 9");
        check("\nnamespace = \"\"", &[], "malha.toml:2: namespace");
        check("this is no toml", &[], "malha.toml:1: ");
        check("", &[("MALHA_SEARCH_LIMIT", "x")], "MALHA_SEARCH_LIMIT");
        check("", &[("MALHA_SEARCH_MODE", "fast")], "MALHA_SEARCH_MODE");
    }

    #[test]
    fn paths_start_where_they_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let settings = load_in(
            folder.path(),
            "store = \"s/x.db\"\n[index]\nsources = [\"notes\", \"/abs\"]",
            &[],
        )
        .unwrap();
        assert_eq!(settings.store, folder.path().join("s/x.db"));
        assert_eq!(settings.sources[0], folder.path().join("notes"));
        assert_eq!(settings.sources[1], Path::new("/abs"));
        assert_eq!(settings.base, folder.path());
    }
}
