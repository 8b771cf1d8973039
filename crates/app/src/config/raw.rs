//! Settings as they are written, before anything is checked.

mod environment;

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

pub(in crate::config) use environment::Environment;

/// The reference file is the default.
const EXAMPLE: &str = include_str!("../../../../malha.example.toml");

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
        let answers = self.answers.check();
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
