//! The learned ranker: what it judges by, and the engine that uses one.

use std::sync::Arc;

use super::Engine;
use crate::Result;
use crate::ranker::{Features, Ranker, Rankers};
use crate::retrieval;
use crate::storage;
use crate::types::{GateSettings, SearchRequest};

/// A chunk that the graph lane put in order, and what a ranker would judge it by.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Of its document.
    pub uri: String,
    /// What the lane's own weights give it.
    pub score: f64,
    pub features: Features,
}

impl Engine {
    /// The same engine with rankers in place of the graph lane's own weights; `None` takes them away.
    #[must_use]
    pub fn with_rankers(mut self, rankers: Option<Rankers>) -> Self {
        self.rankers = rankers.map(Arc::new);
        self
    }

    /// The same engine with other rules of when links are followed.
    #[must_use]
    pub fn with_gate(mut self, gate: GateSettings) -> Self {
        self.config.gate = gate;
        self
    }

    /// The candidates of the graph lane for a question, best first: what a ranker is trained on. None when the
    /// question names nothing.
    pub fn candidates(&self, request: &SearchRequest) -> Result<Vec<Candidate>> {
        let judging = self
            .at(self.times)
            .with_rankers(Some(Rankers::both(Ranker::neutral())));
        judging.read(|reader| {
            let mut candidates = Vec::new();
            for (chunk, score, features) in retrieval::judged(reader, request) {
                if let Some(chunk) = storage::evidence_chunk(reader.connection, chunk)? {
                    candidates.push(Candidate {
                        uri: chunk.uri,
                        score,
                        features,
                    });
                }
            }
            Ok(candidates)
        })
    }
}
