//! Sentences that answer a question, with what stands beside them.
//!
//! Measured on the dev questions of GraphRAG-Bench (see docs/answers.md): sentences chosen so hold more of the
//! evidence in the same number of words than whole chunks do.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Reader;
use super::quote::states_something;
use crate::Result;
use crate::storage::{self, EvidenceChunk, full_text};
use crate::text::{QueryTerm, Tokenizer, detect_language, query_terms, sentences};
use crate::types::{ChunkId, Citation, Evidence};

/// Best chunks whose sentences compete.
pub(crate) const CHUNKS: usize = 60;
/// Best chunks whose neighbours in the document compete too: the premise may stand here and the conclusion there.
const WITH_NEIGHBORS: usize = 20;
/// What a neighbour gets of its chunk's score.
const NEIGHBOR_CHUNK: f64 = 0.5;
/// What a sentence gets of the scores of the one before it and of the one after: conclusions follow.
const FROM_BEFORE: f64 = 0.35;
const FROM_AFTER: f64 = 0.25;
/// BM25 over sentences: shorter texts saturate earlier and differ more in length for no reason.
const K1: f64 = 1.2;
const B: f64 = 0.6;
/// A sentence longer than this many bytes is cut at a blank.
const LONGEST: usize = 1_200;

/// Words of a question that are looked at.
const MOST_WORDS: usize = 64;

/// A sentence with what it is worth.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sentence {
    /// Number of its chunk in [`Sentences::chunks`].
    pub chunk: usize,
    /// Bytes of the chunk's text.
    pub range: Range<usize>,
    pub score: f64,
    /// Which words of the question it holds itself, by bit.
    pub words: u64,
}

/// The sentences of the best chunks, in the order of the documents.
#[derive(Debug, Default)]
pub(crate) struct Sentences {
    pub chunks: Vec<EvidenceChunk>,
    pub all: Vec<Sentence>,
    /// How rare each word of the question is in the store.
    pub rarity: Vec<f64>,
}

impl Sentences {
    /// Share of the question that these words make, each weighted by its rarity: 0 to 1.
    pub(crate) fn coverage(&self, words: u64) -> f64 {
        let all: f64 = self.rarity.iter().sum();
        let held = |&(bit, _): &(usize, &f64)| words & (1 << bit) != 0;
        let covered: f64 = self
            .rarity
            .iter()
            .enumerate()
            .filter(held)
            .map(|(_, rarity)| rarity)
            .sum();
        if all > 0.0 { covered / all } else { 0.0 }
    }

    /// Where a run of sentences of one chunk stands.
    pub(crate) fn citation(&self, chunk: usize, range: Range<usize>) -> Citation {
        self.chunks[chunk].citation(range)
    }
}

/// A word of the question: its forms, and how rare it is.
struct Word<'a> {
    forms: &'a [String],
    rarity: f64,
}

/// The sentences of these results and of what stands beside the best of them, scored for a question: half by the
/// rank of the chunk, half by the sentence's own words, and something from the sentences beside it.
pub(crate) fn score_sentences(
    reader: &Reader<'_>,
    query: &str,
    results: &[Evidence],
) -> Result<Sentences> {
    let terms = query_terms(query, &reader.languages);
    let words = words_of(reader, &terms)?;
    let mut pool = chunk_pool(reader, results)?;
    pool.sort_by_key(|(_, chunk)| (chunk.document, chunk.start));
    let mut found = Sentences {
        rarity: words.iter().map(|word| word.rarity).collect(),
        ..Sentences::default()
    };
    let mut own: Vec<(f64, u64)> = Vec::new();
    let mut prior: Vec<f64> = Vec::new();
    let mut tokenizer = Tokenizer::default();
    for (chunk_score, chunk) in pool {
        let number = found.chunks.len();
        for range in sentences(&chunk.text, LONGEST) {
            if !states_something(&chunk.text[range.clone()]) {
                continue;
            }
            own.push(sentence_score(
                &chunk.text[range.clone()],
                &chunk,
                &words,
                &mut tokenizer,
            ));
            prior.push(chunk_score);
            found.all.push(Sentence {
                chunk: number,
                range,
                score: 0.0,
                words: 0,
            });
        }
        found.chunks.push(chunk);
    }
    let best = own
        .iter()
        .map(|own| own.0)
        .fold(f64::MIN_POSITIVE, f64::max);
    let alone: Vec<f64> = own
        .iter()
        .zip(&prior)
        .map(|((own, _), prior)| prior + own / best)
        .collect();
    for at in 0..alone.len() {
        let beside = |other: Option<usize>| {
            other
                .filter(|&other| is_beside(&found, at.min(other), at.max(other)))
                .and_then(|other| alone.get(other))
                .copied()
                .unwrap_or(0.0)
        };
        found.all[at].score =
            alone[at] + FROM_BEFORE * beside(at.checked_sub(1)) + FROM_AFTER * beside(Some(at + 1));
        found.all[at].words = own[at].1;
    }
    Ok(found)
}

/// Whether two sentences that follow each other in the pool follow each other in a document too.
fn is_beside(found: &Sentences, before: usize, after: usize) -> bool {
    /// Blank lines and a heading may stand between two chunks.
    const GAP: usize = 200;
    let Some(second) = found.all.get(after) else {
        return false;
    };
    let first = &found.all[before];
    if first.chunk == second.chunk {
        return true;
    }
    let (a, b) = (&found.chunks[first.chunk], &found.chunks[second.chunk]);
    a.document == b.document && b.start <= a.end + GAP
}

/// The chunks of the results with their scores, and neighbours of the best.
fn chunk_pool(reader: &Reader<'_>, results: &[Evidence]) -> Result<Vec<(f64, EvidenceChunk)>> {
    let graph = &reader.graph.graph;
    let mut scores: Vec<(ChunkId, f64)> = Vec::new();
    let mut known: FxHashSet<ChunkId> = results.iter().map(|evidence| evidence.chunk).collect();
    for (place, evidence) in results.iter().enumerate() {
        let score = chunk_score(place);
        scores.push((evidence.chunk, score));
        let Some(index) = graph
            .chunks
            .get(evidence.chunk)
            .filter(|_| place < WITH_NEIGHBORS)
        else {
            continue;
        };
        let row = graph
            .document_chunks
            .row(graph.chunk_document[index as usize]);
        let Some(at) = row.iter().position(|&chunk| chunk == index) else {
            continue;
        };
        let neighbors = [at.checked_sub(1), Some(at + 1)];
        for neighbor in neighbors.into_iter().flatten().filter_map(|at| row.get(at)) {
            let id = graph.chunks.id(*neighbor);
            if known.insert(id) && !reader.hidden.chunks.contains(&id) {
                scores.push((id, score * NEIGHBOR_CHUNK));
            }
        }
    }
    let mut pool = Vec::with_capacity(scores.len());
    for (id, score) in scores {
        if let Some(chunk) = storage::evidence_chunk(reader.connection, id)? {
            pool.push((score, chunk));
        }
    }
    Ok(pool)
}

/// From 1 for the best chunk down. Scores of different lanes do not compare, ranks do.
fn chunk_score(place: usize) -> f64 {
    1.0 / (1.0 + place as f64 / 20.0)
}

/// Share of the question's words, each weighted by its rarity in the store, that each text holds: 0 to 1.
pub(crate) fn coverage_of(
    reader: &Reader<'_>,
    question: &str,
    texts: &[String],
) -> Result<Vec<f64>> {
    let terms = query_terms(question, &reader.languages);
    let words = words_of(reader, &terms)?;
    let all: f64 = words.iter().map(|word| word.rarity).sum();
    let mut tokenizer = Tokenizer::default();
    let held = texts.iter().map(|text| {
        let mut indexed = String::new();
        tokenizer.index_terms(text, detect_language(text), &mut indexed);
        let stands: FxHashSet<&str> = indexed.split(' ').collect();
        let found = words
            .iter()
            .filter(|word| word.forms.iter().any(|form| stands.contains(form.as_str())));
        let covered: f64 = found.map(|word| word.rarity).sum();
        if all > 0.0 { covered / all } else { 0.0 }
    });
    Ok(held.collect())
}

fn words_of<'a>(reader: &Reader<'_>, terms: &'a [QueryTerm]) -> Result<Vec<Word<'a>>> {
    let chunks = reader.graph.graph.chunks.len() as f64;
    let content: Vec<&QueryTerm> = terms.iter().filter(|term| !term.stop).collect();
    // A question of function words alone is about them.
    let asked: Vec<&QueryTerm> = if content.is_empty() {
        terms.iter().collect()
    } else {
        content
    };
    asked
        .into_iter()
        .take(MOST_WORDS)
        .map(|term| {
            let mut holders = 0;
            for form in &term.alternatives {
                holders += full_text::document_frequency(reader.connection, form)?;
            }
            let holders = (holders as f64).min(chunks);
            Ok(Word {
                forms: &term.alternatives,
                rarity: libm::log1p((chunks - holders + 0.5) / (holders + 0.5)),
            })
        })
        .collect()
}

/// BM25 of one sentence, and which words of the question it holds.
fn sentence_score(
    sentence: &str,
    chunk: &EvidenceChunk,
    words: &[Word<'_>],
    tokenizer: &mut Tokenizer,
) -> (f64, u64) {
    /// Words of a middling sentence.
    const MIDDLING: f64 = 22.0;
    let mut terms = String::new();
    tokenizer.index_terms(sentence, chunk.language, &mut terms);
    let mut counts: FxHashMap<&str, f64> = FxHashMap::default();
    let mut length = 0.0;
    for term in terms.split(' ').filter(|term| !term.is_empty()) {
        *counts.entry(term).or_default() += 1.0;
        length += 1.0;
    }
    let (mut score, mut held) = (0.0, 0);
    for (bit, word) in words.iter().enumerate() {
        let count: f64 = word
            .forms
            .iter()
            .filter_map(|form| counts.get(form.as_str()))
            .sum();
        if count > 0.0 {
            held |= 1 << bit;
            let norm = K1 * (1.0 - B + B * length / MIDDLING);
            score += word.rarity * count * (K1 + 1.0) / (count + norm);
        }
    }
    (score, held)
}
