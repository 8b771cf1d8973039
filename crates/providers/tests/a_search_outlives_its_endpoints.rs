//! Embedding and reranking endpoints that are down, slow, busy, broken or cut off: the search answers, its record
//! says why, and nothing is lost.

#[allow(dead_code, reason = "shared with tests that use other parts of it")]
mod stub;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use malha_engine::types::{Lane, LaneStatus, Mode, SearchRequest, SearchResponse};
use malha_engine::{DocumentInput, Engine, EngineConfig};
use malha_providers::{
    EmbeddingSettings, RemoteEmbedder, RemoteReranker, RerankSettings, RerankShape, RetryPolicy,
    Secret,
};
use serde_json::{Value, json};
use stub::{Answer, Received, Stub};

const TEXTS: [&str; 3] = [
    "a stone bridge",
    "an apple orchard",
    "the keeper of the lighthouse",
];
/// How long a request may take in these tests.
const TIMEOUT: Duration = Duration::from_millis(400);

/// Each text's letters, counted.
fn embeddings(request: &Received) -> String {
    let texts = request.body["input"].as_array().unwrap();
    let data: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            let text = text.as_str().unwrap();
            let counts: Vec<usize> = ('a'..='h')
                .map(|letter| text.matches(letter).count())
                .collect();
            json!({ "index": index, "embedding": counts })
        })
        .collect();
    json!({ "data": data }).to_string()
}

/// Later passages are better.
fn scores(request: &Received) -> String {
    let count = request.body["documents"].as_array().unwrap().len();
    let results: Vec<Value> = (0..count)
        .map(|index| json!({ "index": index, "relevance_score": index }))
        .collect();
    json!({ "results": results }).to_string()
}

fn embedder(url: &str) -> RemoteEmbedder {
    RemoteEmbedder::new(EmbeddingSettings {
        base_url: url.to_owned(),
        model: "letters".to_owned(),
        dimensions: 8,
        query_prefix: String::new(),
        passage_prefix: String::new(),
        key: Secret::default(),
        timeout: TIMEOUT,
        retry: RetryPolicy {
            retries: 2,
            first_pause: Duration::from_millis(10),
            ..RetryPolicy::default()
        },
        proxy: None,
    })
    .unwrap()
}

fn reranker(url: &str) -> RemoteReranker {
    RemoteReranker::new(RerankSettings {
        url: url.to_owned(),
        model: "judge".to_owned(),
        shape: RerankShape::Documents,
        key: Secret::default(),
        timeout: TIMEOUT,
        proxy: None,
    })
    .unwrap()
}

fn with_embedder(engine: Engine, url: &str) -> Engine {
    let url = url.to_owned();
    engine.with_embedder(Box::new(move || Ok(Arc::new(embedder(&url)))))
}

fn indexed() -> Engine {
    let engine = Engine::in_memory(EngineConfig::default()).unwrap();
    let documents: Vec<DocumentInput> = TEXTS
        .iter()
        .enumerate()
        .map(|(n, text)| DocumentInput {
            uri: format!("{n}.md"),
            title: String::new(),
            text: (*text).to_owned(),
        })
        .collect();
    engine.index_documents("", &documents, &()).unwrap();
    engine
}

fn search(engine: &Engine, mode: Mode) -> SearchResponse {
    engine
        .search(&SearchRequest {
            mode,
            ..SearchRequest::new("the bridge or the orchard")
        })
        .unwrap()
}

fn lane(response: &SearchResponse, lane: Lane) -> (LaneStatus, &str) {
    let mut records = response.record.iter();
    let record = records.find(|record| record.lane == lane).unwrap();
    (record.status, &record.reason)
}

/// What an endpoint does with a request.
type Behaviour = Box<dyn Fn(&Received) -> Answer + Send + Sync>;

/// Ways in which an endpoint fails, by name, and a part of what the record says.
fn failures() -> Vec<(&'static str, Behaviour, &'static str)> {
    vec![
        ("down", Box::new(|_| Answer::Disconnect), ""),
        (
            "slow",
            Box::new(|_| {
                std::thread::sleep(3 * TIMEOUT);
                Answer::ok("{}")
            }),
            "no answer within",
        ),
        (
            "busy",
            Box::new(|_| {
                let after = ("retry-after".to_owned(), "30".to_owned());
                Answer::Status(429, vec![after], "{}".to_owned())
            }),
            "429",
        ),
        (
            "broken",
            Box::new(|_| Answer::error(500, "out of memory")),
            "500",
        ),
        (
            "cut off",
            Box::new(|request| {
                let whole = if request.path == "/rerank" {
                    scores(request)
                } else {
                    embeddings(request)
                };
                Answer::Half(whole)
            }),
            "",
        ),
        (
            "another shape",
            Box::new(|_| Answer::ok(r#"{"hello": 1}"#)),
            "not understood",
        ),
    ]
}

#[test]
fn a_question_without_its_vector_is_answered_by_words_at_once() {
    let well = Stub::start(|request| Answer::ok(embeddings(request)));
    let mut engine = with_embedder(indexed(), &well.url);
    assert_eq!(engine.embed(&()).unwrap().embedded, 3);
    let by_words = search(&engine, Mode::Keyword);
    for (name, answer, reason) in failures() {
        let sick = Stub::start(answer);
        engine = with_embedder(engine, &sick.url);
        let start = Instant::now();
        let response = search(&engine, Mode::Hybrid);
        assert_eq!(response.results, by_words.results, "{name}");
        let (status, said) = lane(&response, Lane::Vector);
        assert_eq!(status, LaneStatus::Failed, "{name}");
        assert!(!said.is_empty() && said.contains(reason), "{name}: {said}");
        assert_eq!(sick.calls(), 1, "{name}: nobody waits for a second try");
        assert!(start.elapsed() < 6 * TIMEOUT, "{name}");
        // Nothing is lost.
        assert_eq!(engine.embedding_state().unwrap().unwrap().vectors, 3);
    }
    // Nobody listens there.
    engine = with_embedder(engine, "http://127.0.0.1:9");
    let response = search(&engine, Mode::Vector);
    assert_eq!(lane(&response, Lane::Vector).0, LaneStatus::Failed);
    assert_eq!(response.results, by_words.results);
    engine = with_embedder(engine, &well.url);
    let response = search(&engine, Mode::Hybrid);
    assert_eq!(lane(&response, Lane::Vector).0, LaneStatus::Ran);
}

#[test]
fn a_reranker_in_trouble_leaves_the_order_as_it_was() {
    let engine = indexed();
    let before = search(&engine, Mode::Keyword);
    let reranked = |engine: Engine, url: &str| {
        let url = format!("{url}/rerank");
        engine.with_reranker(Box::new(move || Ok(Arc::new(reranker(&url)))))
    };
    let well = Stub::start(|request| Answer::ok(scores(request)));
    let mut engine = reranked(engine, &well.url);
    let response = search(&engine, Mode::Keyword);
    assert_eq!(lane(&response, Lane::Rerank), (LaneStatus::Ran, ""));
    assert_ne!(response.results, before.results);
    for (name, answer, reason) in failures() {
        let sick = Stub::start(answer);
        engine = reranked(engine, &sick.url);
        let response = search(&engine, Mode::Keyword);
        assert_eq!(response.results, before.results, "{name}");
        let (status, said) = lane(&response, Lane::Rerank);
        assert_eq!(status, LaneStatus::Failed, "{name}");
        assert!(
            said.starts_with("judge: ") && said.contains(reason),
            "{name}: {said}"
        );
        assert_eq!(sick.calls(), 1, "{name}");
    }
}

#[test]
fn an_embedding_run_waits_as_long_as_it_is_told_to_and_keeps_what_it_has() {
    let is_sick = Arc::new(AtomicBool::new(true));
    let sick = Arc::clone(&is_sick);
    let stub = Stub::start(move |request| {
        if sick.swap(false, Ordering::SeqCst) {
            let after = ("retry-after".to_owned(), "1".to_owned());
            return Answer::Status(429, vec![after], "{}".to_owned());
        }
        Answer::ok(embeddings(request))
    });
    let engine = with_embedder(indexed(), &stub.url);
    let start = Instant::now();
    assert_eq!(engine.embed(&()).unwrap().embedded, 3);
    assert!(start.elapsed() >= Duration::from_millis(900));
    assert_eq!(stub.calls(), 2);
    // A run against an endpoint that is down ends with the reason; the vectors that are there stay.
    let engine = with_embedder(engine, "http://127.0.0.1:9");
    let more = [DocumentInput {
        uri: "more.md".to_owned(),
        title: String::new(),
        text: "one more note".to_owned(),
    }];
    engine.index_documents("more", &more, &()).unwrap();
    assert!(engine.embed(&()).is_err());
    let state = engine.embedding_state().unwrap().unwrap();
    assert_eq!((state.vectors, state.missing, state.failed), (3, 1, 0));
}
