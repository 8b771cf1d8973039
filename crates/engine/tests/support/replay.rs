//! A chat model that replays, and what the tests of extraction do with it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use malha_engine::extraction::ExtractionSettings;
use malha_engine::language_model::{ChatModel, ChatReply, ChatRequest, ModelError, ModelErrorKind};
use malha_engine::types::{DocumentInput, ExtractReport, NeighborRequest, SpendingLimit};
use malha_engine::{Engine, EngineConfig, ExtractionRun};

pub(crate) type Answer =
    Box<dyn Fn(&str, usize) -> Result<ChatReply, ModelErrorKind> + Send + Sync>;

/// Answers by the passage; counts the calls about each.
pub(crate) struct Replay {
    pub(crate) answer: Answer,
    pub(crate) calls: Mutex<BTreeMap<String, usize>>,
    /// Room for each reply, in the order of the calls.
    pub(crate) rooms: Mutex<Vec<u32>>,
    pub(crate) concurrency: usize,
}

impl Replay {
    pub(crate) fn new(
        answer: impl Fn(&str, usize) -> Result<ChatReply, ModelErrorKind> + Send + Sync + 'static,
    ) -> Self {
        Self {
            answer: Box::new(answer),
            calls: Mutex::default(),
            rooms: Mutex::default(),
            concurrency: 4,
        }
    }

    pub(crate) fn total(&self) -> usize {
        self.calls.lock().unwrap().values().sum()
    }
}

impl ChatModel for Replay {
    fn name(&self) -> &'static str {
        "replay"
    }

    fn concurrency(&self) -> usize {
        self.concurrency
    }

    fn complete(
        &self,
        request: &ChatRequest,
        _on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, ModelError> {
        self.rooms.lock().unwrap().push(request.max_output_tokens);
        let user = &request.messages[1].text;
        // Questions about names have no passage.
        let passage = user
            .split_once("Passage:\n")
            .map_or(user.as_str(), |(_, passage)| passage);
        let number = {
            let mut calls = self.calls.lock().unwrap();
            let count = calls.entry(passage.to_owned()).or_default();
            *count += 1;
            *count
        };
        (self.answer)(passage, number)
            .map_err(|kind| ModelError::new(kind, "replay", "out of order"))
    }
}

#[expect(clippy::unnecessary_wraps, reason = "answers are results")]
pub(crate) fn reply(text: impl std::fmt::Display) -> Result<ChatReply, ModelErrorKind> {
    Ok(ChatReply {
        text: text.to_string(),
        input_tokens: Some(10),
        output_tokens: Some(5),
        ..ChatReply::default()
    })
}

pub(crate) fn documents(texts: &[(&str, &str)]) -> Vec<DocumentInput> {
    texts
        .iter()
        .map(|(uri, text)| DocumentInput {
            uri: (*uri).to_owned(),
            title: String::new(),
            text: (*text).to_owned(),
        })
        .collect()
}

pub(crate) fn engine(texts: &[(&str, &str)]) -> Engine {
    let engine = Engine::in_memory(EngineConfig::default()).unwrap();
    engine
        .index_documents("notes", &documents(texts), &())
        .unwrap();
    engine
}

pub(crate) fn extract(engine: &Engine, model: &Replay) -> ExtractReport {
    extract_with(
        engine,
        model,
        &ExtractionSettings::default(),
        SpendingLimit::default(),
    )
    .unwrap()
}

pub(crate) fn extract_with(
    engine: &Engine,
    model: &Replay,
    settings: &ExtractionSettings,
    limit: SpendingLimit,
) -> malha_engine::Result<ExtractReport> {
    let run = ExtractionRun {
        limit,
        ..ExtractionRun::new(model, settings)
    };
    engine.extract(&run, &())
}

pub(crate) fn ties(engine: &Engine, name: &str) -> Vec<String> {
    let Some(entity) = engine.entity(name).unwrap().into_iter().next() else {
        return Vec::new();
    };
    let neighbors = engine
        .neighbors(&NeighborRequest {
            max_hops: 1,
            ..NeighborRequest::new(entity.public_id.0)
        })
        .unwrap();
    let mut ties: Vec<String> = neighbors
        .relations
        .iter()
        .map(|tie| format!("{} {} {}", tie.source, tie.relation_type, tie.target))
        .collect();
    ties.sort();
    ties
}
