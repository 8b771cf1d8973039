//! Settings as they are written, before anything is checked.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use malha_engine::EngineConfig;
use malha_engine::chunking::{ChunkOptions, ChunkUnit};
use malha_engine::types::{LinkConvention, Mode, Namespace, Times};
use serde::Deserialize;

use super::Settings;
use super::answers::Answers;
use super::extraction::Extraction;
use super::gate::Gate;
use super::memory::Memory;
use super::models::Models;
use super::search_models;
use crate::exit::{Exit, Refusal};
use crate::ui::stderr::Verbosity;

/// The reference file is the default.
const EXAMPLE: &str = include_str!("../../../../malha.example.toml");

/// Variables that belong to the tests and are no settings.
const FOREIGN_VARIABLES: [&str; 2] = ["MALHA_DATA_DIR", "MALHA_TCK_DIR"];

/// `malha.toml`, every key optional.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Raw {
    pub(super) store: Option<PathBuf>,
    namespace: Option<NamespaceName>,
    allow_network_file_system: Option<bool>,
    index: Index,
    chunk: Chunk,
    search: Search,
    gate: Gate,
    memory: Memory,
    ab: Ab,
    models: Models,
    local_models: search_models::LocalFolder,
    embedding: search_models::Embedding,
    rerank: search_models::Rerank,
    extraction: Extraction,
    answers: Answers,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Index {
    sources: Option<Vec<PathBuf>>,
    convention: Option<ConventionName>,
    lease_wait_ms: Option<u64>,
    watch_quiet_ms: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Chunk {
    size: Option<NonZeroUsize>,
    overlap: Option<usize>,
    unit: Option<UnitName>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Search {
    mode: Option<ModeName>,
    limit: Option<NonZeroUsize>,
    learned_ranker: Option<bool>,
    synonyms: Option<bool>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Ab {
    log: Option<bool>,
}

/// A name that the engine accepts; a file that states another one is refused at its line.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct NamespaceName(String);

impl TryFrom<String> for NamespaceName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        checked_namespace(&name).map(Self)
    }
}

/// What passages are measured in, as the user names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum UnitName {
    Characters,
    Tokens,
}

impl From<UnitName> for ChunkUnit {
    fn from(name: UnitName) -> Self {
        match name {
            UnitName::Characters => Self::Characters,
            UnitName::Tokens => Self::Tokens,
        }
    }
}

/// Link convention as the user names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ConventionName {
    /// By marker files
    Auto,
    Obsidian,
    Logseq,
    Dendron,
}

impl From<ConventionName> for Option<LinkConvention> {
    fn from(name: ConventionName) -> Self {
        match name {
            ConventionName::Auto => None,
            ConventionName::Obsidian => Some(LinkConvention::Obsidian),
            ConventionName::Logseq => Some(LinkConvention::Logseq),
            ConventionName::Dendron => Some(LinkConvention::Dendron),
        }
    }
}

/// Retrieval recipe as the user names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModeName {
    /// Graph where the question names something, hybrid otherwise
    Auto,
    /// Words only
    Keyword,
    /// Nearest by meaning (keyword while there are no vectors)
    Vector,
    /// From the names in the question along the graph
    Graph,
    /// Keyword and vector results fused (keyword alone while there are no vectors)
    Hybrid,
    /// Best passage per note, and one hop along its links
    Notes,
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Auto => Self::Auto,
            ModeName::Keyword => Self::Keyword,
            ModeName::Vector => Self::Vector,
            ModeName::Graph => Self::Graph,
            ModeName::Hybrid => Self::Hybrid,
            ModeName::Notes => Self::Notes,
        }
    }
}

/// What the example file says.
pub(super) fn defaults() -> Raw {
    toml::from_str(EXAMPLE).expect("malha.example.toml is read by a test")
}

/// Reads a configuration file; an error names the file and the line.
pub(super) fn read_file(path: &Path) -> Result<Raw, Refusal> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| bad(format!("{}: {error}", path.display())))?;
    toml::from_str(&text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start).min(text.len());
        let before = text.get(..start).unwrap_or_default();
        let line = 1 + before.matches('\n').count();
        let reason = error.message().trim();
        bad(format!("{}:{line}: {reason}", path.display()))
            .hint("malha.example.toml lists every key with its default")
    })
}

impl Raw {
    /// The tables of models that a search may ask.
    pub(super) fn search_models(&self) -> search_models::Raw {
        search_models::Raw {
            local: self.local_models.clone(),
            embedding: self.embedding.clone(),
            rerank: self.rerank.clone(),
        }
    }

    fn set_search_models(&mut self, models: search_models::Raw) {
        self.local_models = models.local;
        self.embedding = models.embedding;
        self.rerank = models.rerank;
    }

    /// `self` with everything that `over` states.
    pub(super) fn overlaid_by(self, over: Self) -> Self {
        let search_models = self.search_models().overlaid_by(over.search_models());
        Self {
            store: over.store.or(self.store),
            namespace: over.namespace.or(self.namespace),
            allow_network_file_system: over
                .allow_network_file_system
                .or(self.allow_network_file_system),
            index: Index {
                sources: over.index.sources.or(self.index.sources),
                convention: over.index.convention.or(self.index.convention),
                lease_wait_ms: over.index.lease_wait_ms.or(self.index.lease_wait_ms),
                watch_quiet_ms: over.index.watch_quiet_ms.or(self.index.watch_quiet_ms),
            },
            chunk: Chunk {
                size: over.chunk.size.or(self.chunk.size),
                overlap: over.chunk.overlap.or(self.chunk.overlap),
                unit: over.chunk.unit.or(self.chunk.unit),
            },
            search: Search {
                mode: over.search.mode.or(self.search.mode),
                limit: over.search.limit.or(self.search.limit),
                learned_ranker: over.search.learned_ranker.or(self.search.learned_ranker),
                synonyms: over.search.synonyms.or(self.search.synonyms),
            },
            gate: self.gate.overlaid_by(over.gate),
            memory: self.memory.overlaid_by(over.memory),
            ab: Ab {
                log: over.ab.log.or(self.ab.log),
            },
            models: self.models.overlaid_by(over.models),
            local_models: search_models.local,
            embedding: search_models.embedding,
            rerank: search_models.rerank,
            extraction: self.extraction.overlaid_by(over.extraction),
            answers: self.answers.overlaid_by(over.answers),
        }
    }

    /// The table of the gate.
    #[cfg(test)]
    pub(super) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// The table of the memory.
    #[cfg(test)]
    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Whether it says how passages are cut.
    pub(super) fn states_chunks(&self) -> bool {
        self.chunk != Chunk::default()
    }

    /// Makes relative paths absolute, from the place they were written at.
    pub(super) fn resolve_paths(&mut self, folder: &Path) {
        let sources = self.index.sources.iter_mut().flatten();
        let single = [
            &mut self.store,
            &mut self.local_models.folder,
            &mut self.extraction.schema,
            &mut self.extraction.prompts,
            &mut self.answers.prompts,
        ];
        for path in sources.chain(single.into_iter().filter_map(Option::as_mut)) {
            *path = folder.join(&*path);
        }
    }

    /// Checks what the types do not.
    pub(super) fn check(
        self,
        store: PathBuf,
        base: PathBuf,
        config_file: Option<PathBuf>,
        variables: &BTreeMap<String, String>,
    ) -> Result<Settings, Refusal> {
        const SET: &str = "the example file sets every key but `store`";
        let search_models = self.search_models().check(variables).map_err(bad)?;
        let models = self.models.check(variables).map_err(bad)?;
        let extraction = self.extraction.check(&base).map_err(bad)?;
        let likeness = self.answers.likeness();
        let answers = self.answers.check(&base);
        let engine = EngineConfig {
            namespace: self.namespace.expect(SET).0,
            chunk_size: self.chunk.size.expect(SET).get(),
            chunk_overlap: self.chunk.overlap.expect(SET),
            chunk_unit: self.chunk.unit.expect(SET).into(),
            keep_chunks: true,
            lease_wait: Duration::from_millis(self.index.lease_wait_ms.expect(SET)),
            allow_network_file_system: self.allow_network_file_system.expect(SET),
            prices: models.prices.clone(),
            gate: self.gate.check().map_err(bad)?,
            log_queries: self.ab.log.expect(SET),
            use_ranker: self.search.learned_ranker.expect(SET),
            use_synonyms: self.search.synonyms.expect(SET),
            likeness,
            half_lives: self.memory.check().map_err(bad)?,
        };
        check_chunking(engine.chunk_size, engine.chunk_overlap).map_err(bad)?;
        Ok(Settings {
            store,
            store_is_stated: false,
            base,
            config_file,
            engine,
            sources: self.index.sources.expect(SET),
            convention: self.index.convention.expect(SET).into(),
            watch_quiet: Duration::from_millis(self.index.watch_quiet_ms.expect(SET)),
            search_mode: self.search.mode.expect(SET).into(),
            search_limit: self.search.limit.expect(SET).get(),
            times: Times::default(),
            models,
            search_models,
            extraction,
            answers,
            json: false,
            verbosity: Verbosity::default(),
        })
    }
}

/// The engine's own rule, asked before anything is made.
pub(crate) fn check_chunking(size: usize, overlap: usize) -> Result<(), String> {
    ChunkOptions::new(size, overlap, ChunkUnit::Characters)
        .map(drop)
        .map_err(|error| error.to_string())
}

pub(super) fn checked_namespace(name: &str) -> Result<String, String> {
    match Namespace::new(name) {
        Ok(namespace) => Ok(namespace.as_str().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// What the `MALHA_*` variables say.
#[derive(Debug, Default)]
pub(super) struct Environment {
    pub(super) settings: Raw,
    pub(super) config: Option<PathBuf>,
    /// Variables that look like settings and are none.
    pub(super) unknown: Vec<String>,
}

impl Environment {
    pub(super) fn read(variables: impl Iterator<Item = (String, String)>) -> Result<Self, Refusal> {
        let mut found = Self::default();
        for (name, value) in variables.filter(|(name, _)| name.starts_with("MALHA_")) {
            let settings = &mut found.settings;
            match name.as_str() {
                "MALHA_CONFIG" => found.config = Some(value.into()),
                "MALHA_STORE" => settings.store = Some(value.into()),
                "MALHA_ALLOW_NETWORK_FILE_SYSTEM" => {
                    let value = value.trim().parse();
                    settings.allow_network_file_system = Some(
                        value.map_err(|_| bad(format!("{name}: neither `true` nor `false`")))?,
                    );
                }
                "MALHA_NAMESPACE" => {
                    settings.namespace = Some(NamespaceName::try_from(value).map_err(bad)?);
                }
                "MALHA_INDEX_SOURCES" => {
                    settings.index.sources = Some(std::env::split_paths(&value).collect());
                }
                "MALHA_INDEX_CONVENTION" => settings.index.convention = Some(named(&name, &value)?),
                "MALHA_INDEX_LEASE_WAIT_MS" => {
                    settings.index.lease_wait_ms = Some(number(&name, &value)?);
                }
                "MALHA_INDEX_WATCH_QUIET_MS" => {
                    settings.index.watch_quiet_ms = Some(number(&name, &value)?);
                }
                "MALHA_CHUNK_SIZE" => settings.chunk.size = Some(number(&name, &value)?),
                "MALHA_CHUNK_OVERLAP" => settings.chunk.overlap = Some(number(&name, &value)?),
                "MALHA_CHUNK_UNIT" => settings.chunk.unit = Some(named(&name, &value)?),
                "MALHA_SEARCH_MODE" => settings.search.mode = Some(named(&name, &value)?),
                "MALHA_SEARCH_LIMIT" => settings.search.limit = Some(number(&name, &value)?),
                _ if name.starts_with("MALHA_MODELS_") => {
                    let rest = &name["MALHA_MODELS_".len()..];
                    match settings.models.set(rest, &value) {
                        Some(result) => {
                            result.map_err(|reason| bad(format!("{name}: {reason}")))?;
                        }
                        None => found.unknown.push(name),
                    }
                }
                "MALHA_SEARCH_LEARNED_RANKER" => {
                    let value = value.trim().parse();
                    settings.search.learned_ranker = Some(
                        value.map_err(|_| bad(format!("{name}: neither `true` nor `false`")))?,
                    );
                }
                "MALHA_SEARCH_SYNONYMS" => {
                    let value = value.trim().parse();
                    settings.search.synonyms = Some(
                        value.map_err(|_| bad(format!("{name}: neither `true` nor `false`")))?,
                    );
                }
                "MALHA_AB_LOG" => {
                    let value = value.trim().parse();
                    settings.ab.log = Some(
                        value.map_err(|_| bad(format!("{name}: neither `true` nor `false`")))?,
                    );
                }
                _ if name.starts_with("MALHA_GATE_") => {
                    match settings.gate.set(&name["MALHA_GATE_".len()..], &value) {
                        Some(result) => {
                            result.map_err(|reason| bad(format!("{name}: {reason}")))?;
                        }
                        None => found.unknown.push(name),
                    }
                }
                _ if name.starts_with("MALHA_MEMORY_") => {
                    match settings.memory.set(&name["MALHA_MEMORY_".len()..], &value) {
                        Some(result) => {
                            result.map_err(|reason| bad(format!("{name}: {reason}")))?;
                        }
                        None => found.unknown.push(name),
                    }
                }
                _ if name.starts_with("MALHA_EXTRACTION_") => {
                    let rest = &name["MALHA_EXTRACTION_".len()..];
                    match settings.extraction.set(rest, &value) {
                        Some(result) => {
                            result.map_err(|reason| bad(format!("{name}: {reason}")))?;
                        }
                        None => found.unknown.push(name),
                    }
                }
                _ if ["MALHA_LOCAL_MODELS_", "MALHA_EMBEDDING_", "MALHA_RERANK_"]
                    .iter()
                    .any(|prefix| name.starts_with(prefix)) =>
                {
                    let mut models = settings.search_models();
                    match models.set(&name["MALHA_".len()..], &value) {
                        Some(result) => {
                            result.map_err(|reason| bad(format!("{name}: {reason}")))?;
                            settings.set_search_models(models);
                        }
                        None => found.unknown.push(name),
                    }
                }
                _ if name.starts_with("MALHA_ANSWERS_") => {
                    let rest = &name["MALHA_ANSWERS_".len()..];
                    match settings.answers.set(rest, &value) {
                        Some(result) => {
                            result.map_err(|reason| bad(format!("{name}: {reason}")))?;
                        }
                        None => found.unknown.push(name),
                    }
                }
                _ if FOREIGN_VARIABLES.contains(&name.as_str()) => {}
                _ => found.unknown.push(name),
            }
        }
        found.unknown.sort();
        Ok(found)
    }
}

fn number<N: std::str::FromStr>(name: &str, value: &str) -> Result<N, Refusal> {
    value.trim().parse().map_err(|_| {
        bad(format!(
            "{name}: `{value}` is not a whole number that is possible here"
        ))
    })
}

fn named<V: clap::ValueEnum>(name: &str, value: &str) -> Result<V, Refusal> {
    V::from_str(value.trim(), true).map_err(|_| {
        let names: Vec<String> = V::value_variants()
            .iter()
            .filter_map(clap::ValueEnum::to_possible_value)
            .map(|possible| possible.get_name().to_owned())
            .collect();
        bad(format!("{name}: `{value}` is none of {}", names.join(", ")))
    })
}

fn bad(message: String) -> Refusal {
    Refusal::new(Exit::Configuration, message)
}

#[cfg(test)]
mod tests {
    use malha_engine::types::GateSettings;

    use super::*;

    #[test]
    fn example_sets_every_key_and_equals_the_engine_defaults() {
        let settings = defaults()
            .check(PathBuf::new(), PathBuf::new(), None, &BTreeMap::new())
            .unwrap();
        // The program keeps what a store was made with unless somebody states otherwise, and a log of searches;
        // it knows names of tools, which the library does not.
        let gate = GateSettings {
            tools: settings.engine.gate.tools.clone(),
            ..GateSettings::default()
        };
        let expected = EngineConfig {
            keep_chunks: true,
            log_queries: true,
            gate,
            ..EngineConfig::default()
        };
        assert_eq!(settings.engine, expected);
        assert_eq!(settings.search_mode, Mode::default());
        assert_eq!(settings.convention, None);
        assert!(settings.sources.is_empty());
    }
}
