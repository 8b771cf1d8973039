//! A model for vectors that fails in every way a model can, and searches by what it made.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use malha_engine::language_model::{
    Embedder, EmbeddingSpace, ModelError, ModelErrorKind, TextRole,
};
use malha_engine::types::{Lane, LaneStatus, Mode, SearchRequest, SearchResponse};
use malha_engine::{DocumentInput, Engine, EngineConfig};

/// Counts each word's letters into a vector; words of one meaning share a spelling here.
pub(crate) struct Stub {
    pub(crate) space: EmbeddingSpace,
    trouble: Trouble,
    pub(crate) calls: AtomicUsize,
    pub(crate) texts: AtomicUsize,
}

/// What goes wrong with texts that hold the word "poison".
#[derive(Clone, Copy)]
pub(crate) enum Trouble {
    None,
    Error,
    NotNumbers,
    Zero,
    Short,
    FewerVectors,
    /// Every call fails.
    Down,
}

impl Stub {
    pub(crate) fn new(model: &str, dimensions: usize, trouble: Trouble) -> Arc<Self> {
        Arc::new(Self {
            space: EmbeddingSpace {
                model: model.to_owned(),
                dimensions,
                query_prefix: "query: ".to_owned(),
                passage_prefix: "passage: ".to_owned(),
                pooling: "mean".to_owned(),
                is_normalized: false,
            },
            trouble,
            calls: AtomicUsize::new(0),
            texts: AtomicUsize::new(0),
        })
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.001; self.space.dimensions];
        for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
            let word = match word {
                "" => continue,
                "farol" => "lighthouse",
                other => other,
            };
            let hash = word
                .bytes()
                .fold(7_usize, |hash, byte| hash * 31 % 65_521 + usize::from(byte));
            vector[hash % self.space.dimensions] += 1.0;
        }
        vector
    }

    fn error(&self, kind: ModelErrorKind) -> ModelError {
        ModelError::new(kind, self.space.model.clone(), "HTTP 500")
    }
}

impl Embedder for Stub {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    fn embed(&self, texts: &[&str], _: TextRole) -> Result<Vec<Vec<f32>>, ModelError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.texts.fetch_add(texts.len(), Ordering::Relaxed);
        let poisoned = |text: &str| text.contains("poison");
        let mut vectors: Vec<Vec<f32>> = texts.iter().map(|text| self.vector(text)).collect();
        let bad = texts.iter().position(|text| poisoned(text));
        match (self.trouble, bad) {
            (Trouble::Down, _) => {
                return Err(self.error(ModelErrorKind::Transient { retry_after: None }));
            }
            (Trouble::None, _) | (_, None) => {}
            (Trouble::Error, Some(_)) => return Err(self.error(ModelErrorKind::Permanent)),
            (Trouble::NotNumbers, Some(n)) => vectors[n][0] = f32::NAN,
            (Trouble::Zero, Some(n)) => vectors[n].fill(0.0),
            (Trouble::Short, Some(n)) => vectors[n].truncate(3),
            (Trouble::FewerVectors, Some(n)) => {
                vectors.remove(n);
            }
        }
        Ok(vectors)
    }
}

pub(crate) fn with(engine: Engine, stub: &Arc<Stub>) -> Engine {
    let stub = Arc::clone(stub);
    engine.with_embedder(Box::new(move || Ok(stub.clone())))
}

pub(crate) fn documents(texts: &[&str]) -> Vec<DocumentInput> {
    (0..)
        .zip(texts)
        .map(|(n, text)| DocumentInput {
            uri: format!("{n}.md"),
            text: (*text).to_owned(),
            title: String::new(),
        })
        .collect()
}

pub(crate) fn sixteen() -> Vec<DocumentInput> {
    let texts: Vec<String> = (0..16)
        .map(|n| match n {
            9 => "a harmless note about poison ivy".to_owned(),
            _ => format!("note number{n} about harbour{n}"),
        })
        .collect();
    documents(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

pub(crate) fn search(engine: &Engine, mode: Mode, query: &str) -> SearchResponse {
    engine
        .search(&SearchRequest {
            mode,
            ..SearchRequest::new(query)
        })
        .unwrap()
}

pub(crate) fn uris(response: &SearchResponse) -> Vec<&str> {
    response
        .results
        .iter()
        .map(|hit| hit.uri.as_str())
        .collect()
}

pub(crate) fn vector_lane(response: &SearchResponse) -> (LaneStatus, &str) {
    let record = response
        .record
        .iter()
        .find(|record| record.lane == Lane::Vector)
        .unwrap();
    (record.status, &record.reason)
}

pub(crate) fn memory() -> Engine {
    Engine::in_memory(EngineConfig::default()).unwrap()
}
