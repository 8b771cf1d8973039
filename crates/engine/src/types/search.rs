use serde::{Deserialize, Serialize};

use super::{ChunkId, DocumentId, GateDecision, PublicId};

/// A preset recipe of retrieval.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Graph where the question names something, hybrid otherwise.
    #[default]
    Auto,
    Keyword,
    /// Nearest by meaning; keyword where there are no vectors.
    Vector,
    Graph,
    /// Keyword and vector results fused.
    Hybrid,
    /// The vault recipe: best chunk per note, one hop along outgoing links, best chunk per neighbour.
    Notes,
}

/// A lane of a recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    Keyword,
    Vector,
    Graph,
    Links,
    /// The notes of people, projects and tools that the question names.
    Cards,
    /// Turns of conversations, each with a share of its neighbours' scores.
    Turns,
    Rerank,
}

/// What became of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaneStatus {
    Ran,
    Skipped,
    Failed,
    /// Ran, but stopped at a limit.
    Cut,
}

text_names!(LaneStatus {
    Ran => "ran",
    Skipped => "skipped",
    Failed => "failed",
    Cut => "cut",
});

/// One line of the degradation record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneRecord {
    pub lane: Lane,
    pub status: LaneStatus,
    /// Candidates the lane gave.
    pub candidates: usize,
    /// Why it did not simply run; empty when it did.
    pub reason: String,
}

/// A question to the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    pub query: String,
    pub mode: Mode,
    /// Results wanted, at least 1.
    pub limit: usize,
    /// Only chunks of these documents; `None` for all. Applied inside the search.
    pub documents: Option<Vec<DocumentId>>,
    /// Lanes of the recipe that are left out, to see what they are good for. Words are always searched.
    pub without: Vec<Lane>,
}

impl SearchRequest {
    /// Ten results of the automatic recipe over everything.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            mode: Mode::Auto,
            limit: 10,
            documents: None,
            without: Vec::new(),
        }
    }
}

/// An entity the question was found to name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntryEntity {
    pub public_id: PublicId,
    pub name: String,
    /// Share of the reset mass that starts here, 0 to 1.
    pub weight: f64,
}

/// Why a graph result is connected to the question: an entity it shares with the question or with
/// a better-ranked result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    /// Display name of the shared entity.
    pub entity: String,
    /// Rank of the other result that holds it, from 1; `None` when the question itself names it.
    pub through: Option<usize>,
}

/// A ranked chunk with everything needed to follow it to the byte.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// From 1.
    pub rank: usize,
    /// Higher is better; comparable within one response only.
    pub score: f64,
    pub chunk: ChunkId,
    pub document: DocumentId,
    pub uri: String,
    pub title: String,
    pub heading_path: Vec<String>,
    /// Line where the chunk starts in the document, from 1.
    pub line: usize,
    /// Bytes of the document's text.
    pub start: usize,
    pub end: usize,
    /// The chunk's text, as in the document.
    pub text: String,
    /// The best sentence or lines for the question, a verbatim part of `text`.
    pub quote: String,
    /// Byte where the quote starts in the document's text, and its line.
    pub quote_start: usize,
    pub quote_line: usize,
    /// Lanes that found it, with the rank each gave it.
    pub lanes: Vec<(Lane, usize)>,
    pub connections: Vec<Connection>,
}

/// The answer to a [`SearchRequest`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchResponse {
    pub query: String,
    /// The recipe that was asked for.
    pub mode: Mode,
    pub entry_entities: Vec<EntryEntity>,
    /// Whether links of notes may be followed for this question; recipes without links only report it.
    pub gate: GateDecision,
    pub results: Vec<Evidence>,
    /// The degradation record: lanes that ran, failed, were skipped or cut.
    pub record: Vec<LaneRecord>,
    /// Notes for the reader, such as `no entry entity`.
    pub notes: Vec<String>,
}

text_names!(Mode { Auto => "auto", Keyword => "keyword", Vector => "vector", Graph => "graph", Hybrid => "hybrid", Notes => "notes" });

text_names!(Lane { Keyword => "keyword", Vector => "vector", Graph => "graph", Links => "links", Cards => "cards", Turns => "turns", Rerank => "rerank" });
