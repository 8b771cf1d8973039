//! A recipe is data: which lanes run, and their limits.

use crate::types::Mode;

/// What a mode does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Recipe {
    /// Chunks that the keyword lane gives.
    pub keyword_limit: usize,
    /// Rank by the graph around the question's entities.
    pub graph: bool,
    /// Rank turns of conversations by their neighbours and speakers, where they prevail.
    pub turns: bool,
    /// Ask for vectors, and say so when there are none.
    pub vectors: bool,
    /// Expand along hand-made links.
    pub links: Option<LinkExpansion>,
}

/// One hop along outgoing links from the best notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LinkExpansion {
    /// Notes kept of the first lane, each by its best chunk.
    pub notes: usize,
    /// Of these, the first so many are expanded, in order.
    pub seeds: usize,
    /// Expansion stops at so many neighbours.
    pub neighbors: usize,
}

/// Chunks of the keyword lane that a result list needs beyond its limit, for fusion and priors.
const KEYWORD_POOL: usize = 100;

impl Recipe {
    /// The preset of a mode, for so many results.
    pub(super) fn of(mode: Mode, limit: usize) -> Self {
        let plain = Self {
            keyword_limit: limit.max(KEYWORD_POOL),
            graph: false,
            turns: false,
            vectors: false,
            links: None,
        };
        match mode {
            Mode::Keyword => plain,
            Mode::Auto => Self {
                graph: true,
                turns: true,
                ..plain
            },
            Mode::Graph => Self {
                graph: true,
                ..plain
            },
            Mode::Hybrid => Self {
                vectors: true,
                ..plain
            },
            // "Graph RAG, no graph database needed": 60 notes, 15 seeds, 40 neighbours.
            Mode::Notes => Self {
                keyword_limit: 600,
                vectors: true,
                links: Some(LinkExpansion {
                    notes: 60,
                    seeds: 15,
                    neighbors: 40,
                }),
                ..plain
            },
        }
    }
}
