//! A recipe is data: which lanes run, and their limits.

use crate::types::{Lane, Mode};

/// What a mode does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a recipe is data: what it has, and what not"
)]
pub(super) struct Recipe {
    /// Chunks that the keyword lane gives.
    pub keyword_limit: usize,
    /// Rank by the graph around the question's entities.
    pub graph: bool,
    /// Rank turns of conversations by their neighbours and speakers, where they prevail.
    pub turns: bool,
    /// What stands where nothing better ranks.
    pub base: Base,
    /// Expand along hand-made links.
    pub links: Option<LinkExpansion>,
    /// Add the notes of what the question names; where only a name is asked for they come first.
    pub cards: bool,
    /// Ask the reranker, where there is one.
    pub rerank: bool,
}

/// Which lane, or both, the first list of a search comes from. Without vectors it is the keyword lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    Keyword,
    Vector,
    /// Keyword and vector results fused.
    Fused,
    /// The same where the store has vectors; nobody asked for them where it has none.
    FusedWhereStored,
}

impl Base {
    pub(super) fn asks_vectors(self) -> bool {
        self != Self::Keyword
    }
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

impl Recipe {
    /// The same with these lanes left out; words are always searched.
    pub(super) fn without(mut self, lanes: &[Lane]) -> Self {
        for lane in lanes {
            match lane {
                Lane::Keyword => {}
                Lane::Vector => self.base = Base::Keyword,
                Lane::Graph => self.graph = false,
                Lane::Links => self.links = self.links.map(LinkExpansion::without_links),
                Lane::Cards => self.cards = false,
                Lane::Turns => self.turns = false,
                Lane::Rerank => self.rerank = false,
            }
        }
        self
    }
}

impl LinkExpansion {
    /// The best chunk of each note, and nothing that they link to.
    pub(super) fn without_links(self) -> Self {
        Self { seeds: 0, ..self }
    }
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
            base: Base::Keyword,
            links: None,
            cards: false,
            rerank: true,
        };
        match mode {
            Mode::Keyword => plain,
            Mode::Auto => Self {
                graph: true,
                turns: true,
                base: Base::FusedWhereStored,
                ..plain
            },
            Mode::Graph => Self {
                graph: true,
                base: Base::FusedWhereStored,
                ..plain
            },
            Mode::Vector => Self {
                base: Base::Vector,
                ..plain
            },
            Mode::Hybrid => Self {
                base: Base::Fused,
                ..plain
            },
            // "Graph RAG, no graph database needed": 60 notes, 15 seeds, 40 neighbours.
            Mode::Notes => Self {
                keyword_limit: 600,
                base: Base::Vector,
                links: Some(LinkExpansion {
                    notes: 60,
                    seeds: 15,
                    neighbors: 40,
                }),
                cards: true,
                ..plain
            },
        }
    }
}
