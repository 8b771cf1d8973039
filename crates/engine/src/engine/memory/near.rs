//! What is known that comes near what is to be remembered: passages of nearly the same words, or nearly the same
//! meaning where there are vectors.

use std::collections::BTreeSet;

use crate::Result;
use crate::engine::Engine;
use crate::language_model::TextRole;
use crate::memory::{likeness, terms};
use crate::retrieval::Vectors;
use crate::storage;
use crate::types::{ChunkId, Memory, Mode, Near, NearBy, SearchRequest};

/// Texts of one call that are compared with what is known; a larger call is an import.
const COMPARED: usize = 50;
/// Passages looked at for a text.
const CANDIDATES: usize = 3;
/// Share of words that two texts have in common, from which they are near.
const SAME_WORDS: f64 = 0.8;
/// Cosine from which two texts are near. Models differ in how close strangers are; this is past what they give those.
const SAME_MEANING: f64 = 0.94;
/// Fewer words than these are a yes or no.
const SHORTEST: usize = 4;
/// Letters of a text that are told.
const SHOWN: usize = 120;

impl Engine {
    /// Passages near the texts of these memories. What cannot be looked for costs nothing.
    pub(super) fn near_texts(&self, memories: &[Memory]) -> Vec<Near> {
        let mut found = Vec::new();
        if memories.len() > COMPARED {
            return found;
        }
        for memory in memories {
            let text = memory.text.trim();
            let words = terms(text);
            if words.len() < SHORTEST {
                continue;
            }
            let mut told = BTreeSet::new();
            let by_words = self.near_by_words(text, &words).unwrap_or_default();
            let by_vector = self.near_by_vector(text).unwrap_or_default();
            for near in by_words.into_iter().chain(by_vector) {
                let own = memory.id.as_ref().is_some_and(|id| near.uri.ends_with(id));
                if !own && told.insert(near.uri.clone()) {
                    found.push(near);
                }
            }
        }
        found
    }

    fn near_by_words(&self, text: &str, words: &BTreeSet<String>) -> Result<Vec<Near>> {
        let found = self.search(&SearchRequest {
            mode: Mode::Keyword,
            limit: CANDIDATES,
            ..SearchRequest::new(text)
        })?;
        let near = found.results.into_iter().filter_map(|passage| {
            let similarity = likeness(words, &terms(said(&passage.text)));
            (similarity >= SAME_WORDS).then(|| {
                near(
                    text,
                    (&passage.uri, &passage.text),
                    NearBy::Text,
                    similarity,
                )
            })
        });
        Ok(near.collect())
    }

    fn near_by_vector(&self, text: &str) -> Result<Vec<Near>> {
        let Some(embedder) = &self.embedder else {
            return Ok(Vec::new());
        };
        let store = self.store();
        let Vectors::Ready { index, .. } = self.vectors_for(&store, text) else {
            return Ok(Vec::new());
        };
        // Compared with passages, it is a passage.
        let vector = embedder.get()?.embed(&[text], TextRole::Passage)?.pop();
        let Some(vector) = vector.filter(|vector| vector.iter().all(|v| v.is_finite())) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        let hits = index.search(&vector, CANDIDATES, |_| true);
        for hit in hits.unwrap_or_default() {
            if hit.score < SAME_MEANING {
                break;
            }
            if let Some(passage) = storage::evidence_chunk(store.connection(), ChunkId(hit.owner))?
            {
                let place = (passage.uri.as_str(), passage.text.as_str());
                found.push(near(text, place, NearBy::Vector, hit.score));
            }
        }
        Ok(found)
    }
}

/// A turn without the name of who said it.
fn said(text: &str) -> &str {
    match text.split_once(": ") {
        Some((speaker, said)) if speaker.split_whitespace().count() <= 3 => said,
        _ => text,
    }
}

fn near(new: &str, (uri, known): (&str, &str), by: NearBy, similarity: f64) -> Near {
    let shown = |text: &str| -> String {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        line.chars().take(SHOWN).collect()
    };
    Near {
        new: shown(new),
        known: shown(known),
        by,
        similarity: (similarity * 100.0).round() / 100.0,
        uri: uri.to_owned(),
    }
}
