use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{GateSettings, HalfLives, LinkConvention, ModelPrice};

/// Checked settings of an engine.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent settings, each switched on its own"
)]
pub struct EngineConfig {
    /// Namespace that every operation works in.
    pub namespace: String,
    /// Chunk size and overlap, and what both are counted in.
    pub chunk_size: usize,
    pub chunk_overlap: usize,
    pub chunk_unit: ChunkUnit,
    /// A store that was indexed before keeps the size and overlap it was cut with; the three above are then for
    /// new stores.
    pub keep_chunks: bool,
    /// How long a writer waits for the lease of another one.
    pub lease_wait: Duration,
    /// Open a store that lies on a network file system, where locks may not hold.
    pub allow_network_file_system: bool,
    /// What models cost; the bill knows no price of others.
    pub prices: Vec<ModelPrice>,
    /// When the links of notes are not followed.
    pub gate: GateSettings,
    /// Keep a log of real searches in the store, for `malha ab`; whoever opens the store decides.
    pub log_queries: bool,
    /// Let the learned ranker put the candidates of the graph in order.
    pub use_ranker: bool,
    /// Give names vectors too, and let the graph's walk step between those that lie near one another.
    pub use_synonyms: bool,
    /// From which cosine on texts mean the same.
    pub likeness: Likeness,
    /// How fast confidence fades, for the order in which facts are recalled.
    pub half_lives: HalfLives,
}

/// Cosines of the embedding model from which on texts say the same in other words or another language. Models differ
/// in their scale; ours are measured with multilingual-e5-small (benches/likeness.py).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likeness {
    /// A question and a passage: the store knows about it. Above 1: only words count.
    pub known: f64,
    /// A sentence of an answer and a quote: it supports the sentence. Above 1: only words count.
    pub supported: f64,
}

impl Default for Likeness {
    fn default() -> Self {
        Self {
            known: 0.80,
            supported: 0.86,
        }
    }
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            namespace: "default".to_owned(),
            chunk_size: 1200,
            chunk_overlap: 200,
            chunk_unit: ChunkUnit::Characters,
            keep_chunks: false,
            lease_wait: Duration::from_secs(10),
            allow_network_file_system: false,
            prices: Vec::new(),
            gate: GateSettings::default(),
            log_queries: false,
            use_ranker: false,
            use_synonyms: false,
            likeness: Likeness::default(),
            half_lives: HalfLives::default(),
        }
    }
}

/// What the size of a chunk is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChunkUnit {
    /// Unicode scalar values.
    #[default]
    Characters,
    /// Tokens of a language model, estimated without its vocabulary.
    Tokens,
}

text_names!(ChunkUnit { Characters => "characters", Tokens => "tokens" });

/// A folder or file to index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceSpec {
    pub root: PathBuf,
    /// `None`: detected from marker files.
    pub convention: Option<LinkConvention>,
}

/// A document handed over in memory: a corpus row, a note of another program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentInput {
    /// Unique in the namespace; shown with the evidence.
    pub uri: String,
    /// May be empty.
    pub title: String,
    pub text: String,
}
