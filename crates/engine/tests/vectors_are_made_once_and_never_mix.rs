//! Embedding a store and searching by vectors, with models that fail in every way a model can.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use malha_engine::language_model::{
    Embedder, EmbeddingSpace, ModelError, ModelErrorKind, Reranker, TextRole,
};
use malha_engine::storage::Store;
use malha_engine::types::{
    CypherRequest, DocumentFilter, DocumentKind, Lane, LaneStatus, Mode, SearchRequest,
    SearchResponse,
};
use malha_engine::{DocumentInput, Engine, EngineConfig, Error, SourceSpec};

/// Counts each word's letters into a vector; words of one meaning share a spelling here.
struct Stub {
    space: EmbeddingSpace,
    trouble: Trouble,
    calls: AtomicUsize,
    texts: AtomicUsize,
}

/// What goes wrong with texts that hold the word "poison".
#[derive(Clone, Copy)]
enum Trouble {
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
    fn new(model: &str, dimensions: usize, trouble: Trouble) -> Arc<Self> {
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

fn with(engine: Engine, stub: &Arc<Stub>) -> Engine {
    let stub = Arc::clone(stub);
    engine.with_embedder(Box::new(move || Ok(stub.clone())))
}

fn documents(texts: &[&str]) -> Vec<DocumentInput> {
    (0..)
        .zip(texts)
        .map(|(n, text)| DocumentInput {
            uri: format!("{n}.md"),
            text: (*text).to_owned(),
            title: String::new(),
        })
        .collect()
}

fn sixteen() -> Vec<DocumentInput> {
    let texts: Vec<String> = (0..16)
        .map(|n| match n {
            9 => "a harmless note about poison ivy".to_owned(),
            _ => format!("note number{n} about harbour{n}"),
        })
        .collect();
    documents(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

fn search(engine: &Engine, mode: Mode, query: &str) -> SearchResponse {
    engine
        .search(&SearchRequest {
            mode,
            ..SearchRequest::new(query)
        })
        .unwrap()
}

fn uris(response: &SearchResponse) -> Vec<&str> {
    response
        .results
        .iter()
        .map(|hit| hit.uri.as_str())
        .collect()
}

fn vector_lane(response: &SearchResponse) -> (LaneStatus, &str) {
    let record = response
        .record
        .iter()
        .find(|record| record.lane == Lane::Vector)
        .unwrap();
    (record.status, &record.reason)
}

fn memory() -> Engine {
    Engine::in_memory(EngineConfig::default()).unwrap()
}

#[test]
fn one_bad_text_never_costs_the_others() {
    for (trouble, reason) in [
        (Trouble::Error, "HTTP 500"),
        (Trouble::NotNumbers, "no numbers"),
        (Trouble::Zero, "zero"),
        (Trouble::Short, "3 dimensions"),
        (Trouble::FewerVectors, "0 vectors came back for 1 texts"),
    ] {
        let stub = Stub::new("stub", 64, trouble);
        let engine = with(memory(), &stub);
        engine.index_documents("", &sixteen(), &()).unwrap();
        let report = engine.embed(&()).unwrap();
        assert_eq!((report.embedded, report.missing), (15, 1), "{reason}");
        assert_eq!(report.failed.len(), 1);
        assert_eq!(report.failed[0].uri, "9.md");
        assert!(
            report.failed[0].reason.contains(reason),
            "{:?}",
            report.failed
        );
        let state = engine.embedding_state().unwrap().unwrap();
        assert_eq!((state.vectors, state.missing, state.failed), (15, 1, 1));
        // It stays findable by its words, and no score is anything but a number.
        for mode in [Mode::Keyword, Mode::Hybrid, Mode::Auto, Mode::Notes] {
            let response = search(&engine, mode, "ivy");
            assert!(response.results.iter().all(|hit| hit.score.is_finite()));
            if mode != Mode::Notes {
                assert!(uris(&response).contains(&"9.md"), "{mode:?}");
            }
        }
        // A model that has recovered is asked for this one text only.
        let recovered = Stub::new("stub", 64, Trouble::None);
        let engine = with(engine, &recovered);
        let report = engine.embed(&()).unwrap();
        assert_eq!((report.embedded, report.missing), (1, 0));
        assert_eq!(recovered.texts.load(Ordering::Relaxed), 1);
        assert_eq!(engine.embedding_state().unwrap().unwrap().failed, 0);
    }
}

#[test]
fn a_model_that_is_down_ends_the_run_and_blames_no_text() {
    let stub = Stub::new("stub", 64, Trouble::Down);
    let engine = with(memory(), &stub);
    engine.index_documents("", &sixteen(), &()).unwrap();
    assert!(matches!(engine.embed(&()), Err(Error::Model(_))));
    assert!(stub.calls.load(Ordering::Relaxed) <= 3);
    assert_eq!(engine.embedding_state().unwrap().unwrap().failed, 0);
    // With vectors there but the model away, a search is the keyword search, and says why.
    let engine = with(engine, &Stub::new("stub", 64, Trouble::None));
    engine.embed(&()).unwrap();
    let engine = with(engine, &stub);
    let response = search(&engine, Mode::Hybrid, "harbour3");
    let plain = search(&engine, Mode::Keyword, "harbour3");
    assert_eq!(response.results, plain.results);
    assert_eq!(
        vector_lane(&response),
        (LaneStatus::Failed, "stub: HTTP 500")
    );
}

#[test]
fn another_dimension_is_refused_before_any_call_and_named() {
    let engine = with(memory(), &Stub::new("first", 64, Trouble::None));
    engine.index_documents("", &sixteen(), &()).unwrap();
    engine.embed(&()).unwrap();
    let second = Stub::new("second", 96, Trouble::None);
    let engine = with(engine, &second);
    let refusal = engine.embed(&()).unwrap_err().to_string();
    for part in ["first", "64", "second", "96", "malha reembed"] {
        assert!(refusal.contains(part), "{refusal}");
    }
    let response = search(&engine, Mode::Vector, "harbour3");
    assert_eq!(uris(&response), ["3.md"]);
    let (status, reason) = vector_lane(&response);
    assert_eq!(status, LaneStatus::Failed);
    assert!(reason.contains("malha reembed"), "{reason}");
    assert_eq!(second.calls.load(Ordering::Relaxed), 0);
}

#[test]
fn the_new_space_stands_beside_the_old_one_until_it_is_complete() {
    let first = Stub::new("first", 64, Trouble::None);
    let engine = with(memory(), &first);
    engine.index_documents("", &sixteen(), &()).unwrap();
    engine.embed(&()).unwrap();
    let down = with(engine, &Stub::new("second", 96, Trouble::Down));
    assert!(down.reembed(&()).is_err());
    let state = down.embedding_state().unwrap().unwrap();
    assert_eq!((state.space.model.as_str(), state.vectors), ("first", 16));
    assert_eq!(state.building, Some(("second".to_owned(), 16)));
    let engine = with(down, &first);
    assert_eq!(
        vector_lane(&search(&engine, Mode::Vector, "harbour3")).0,
        LaneStatus::Ran
    );

    let engine = with(engine, &Stub::new("second", 96, Trouble::None));
    let report = engine.reembed(&()).unwrap();
    assert!(report.switched && report.embedded == 16);
    let state = engine.embedding_state().unwrap().unwrap();
    assert_eq!((state.space.model.as_str(), state.vectors), ("second", 16));
    assert_eq!(state.building, None);
    assert_eq!(uris(&search(&engine, Mode::Vector, "harbour3"))[0], "3.md");
}

#[test]
fn vectors_find_what_shares_no_word_and_forget_what_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("malha.db");
    let stub = Stub::new("stub", 128, Trouble::None);
    let open = |path: &Path| {
        with(
            Engine::create(path, EngineConfig::default()).unwrap(),
            &stub,
        )
    };
    let engine = open(&path);
    let notes = documents(&["lighthouse keeper", "apple orchard", "stone bridge"]);
    engine.index_documents("", &notes, &()).unwrap();
    assert_eq!(
        vector_lane(&search(&engine, Mode::Vector, "farol")).0,
        LaneStatus::Skipped
    );
    engine.embed(&()).unwrap();
    assert_eq!(uris(&search(&engine, Mode::Keyword, "farol")), [""; 0]);
    for mode in [Mode::Vector, Mode::Hybrid, Mode::Notes] {
        assert_eq!(uris(&search(&engine, mode, "farol"))[0], "0.md", "{mode:?}");
    }
    // Filters apply inside the search.
    let bridge = search(&engine, Mode::Keyword, "bridge").results[0].document;
    let response = engine
        .search(&SearchRequest {
            mode: Mode::Vector,
            documents: Some(vec![bridge]),
            ..SearchRequest::new("farol")
        })
        .unwrap();
    assert_eq!(uris(&response), ["2.md"]);
    // Another process reads the cache file; what is deleted is gone at once, without new vectors.
    drop(engine);
    let engine = open(&path);
    assert_eq!(uris(&search(&engine, Mode::Vector, "farol"))[0], "0.md");
    engine.index_documents("", &notes[1..], &()).unwrap();
    assert!(!uris(&search(&engine, Mode::Vector, "farol")).contains(&"0.md"));
    // A damaged cache is built anew.
    std::fs::write(path.with_extension("1.vectors"), "damaged").unwrap();
    drop(engine);
    let engine = open(&path);
    let response = search(&engine, Mode::Vector, "stone");
    assert_eq!(uris(&response)[0], "2.md");
    assert_eq!(vector_lane(&response).0, LaneStatus::Ran);
    // What is embedded stays embedded.
    let before = stub.texts.load(Ordering::Relaxed);
    assert_eq!(engine.embed(&()).unwrap().embedded, 0);
    assert_eq!(stub.texts.load(Ordering::Relaxed), before);
}

/// Prefers short passages, or answers with these scores, or not at all.
struct Judge(Option<Vec<f32>>, bool);

impl Reranker for Judge {
    fn name(&self) -> &'static str {
        "judge"
    }

    fn rerank(&self, _: &str, passages: &[&str]) -> Result<Vec<f32>, ModelError> {
        if self.1 {
            return Err(ModelError::new(
                ModelErrorKind::Transient { retry_after: None },
                "judge",
                "HTTP 503",
            ));
        }
        let by_length = || passages.iter().map(|text| -(text.len() as f32)).collect();
        Ok(self.0.clone().unwrap_or_else(by_length))
    }
}

#[test]
fn a_reranker_has_the_last_word_and_a_broken_one_none() {
    let texts = [
        "bridge bridge bridge of the long old stone town",
        "a bridge",
        "bridge bridge by the river",
    ];
    let plain = memory();
    plain.index_documents("", &documents(&texts), &()).unwrap();
    let before = search(&plain, Mode::Keyword, "bridge");
    assert!(
        before
            .record
            .iter()
            .all(|record| record.lane != Lane::Rerank)
    );
    let judged = |engine: Engine, judge: fn() -> Judge| {
        engine.with_reranker(Box::new(move || Ok(Arc::new(judge()))))
    };
    let rerank_lane = |response: &SearchResponse| {
        let mut records = response.record.iter();
        let record = records.find(|record| record.lane == Lane::Rerank).unwrap();
        (record.status, record.candidates, record.reason.clone())
    };
    let engine = judged(plain, || Judge(None, false));
    let response = search(&engine, Mode::Keyword, "bridge");
    assert_eq!(uris(&response), ["1.md", "2.md", "0.md"]);
    assert_eq!(rerank_lane(&response), (LaneStatus::Ran, 3, String::new()));
    let nothing = search(&engine, Mode::Keyword, "zeppelin");
    assert_eq!(rerank_lane(&nothing).0, LaneStatus::Skipped);
    let engine = judged(engine, || Judge(None, true));
    let response = search(&engine, Mode::Keyword, "bridge");
    assert_eq!(response.results, before.results);
    assert_eq!(rerank_lane(&response).2, "judge: HTTP 503");
    for scores in [
        || Judge(Some(vec![f32::NAN; 3]), false),
        || Judge(Some(vec![1.0]), false),
    ] {
        let engine = judged(engine.at(malha_engine::types::Times::default()), scores);
        let response = search(&engine, Mode::Keyword, "bridge");
        assert_eq!(response.results, before.results);
        assert_eq!(rerank_lane(&response).0, LaneStatus::Failed);
    }
}

/// Gives every text another vector each time.
struct Restless(EmbeddingSpace, AtomicUsize);

impl Embedder for Restless {
    fn space(&self) -> &EmbeddingSpace {
        &self.0
    }

    fn embed(&self, texts: &[&str], _: TextRole) -> Result<Vec<Vec<f32>>, ModelError> {
        let unlike = |_: &&str| {
            let place = self.1.fetch_add(1, Ordering::Relaxed) % self.0.dimensions;
            let mut vector = vec![0.0; self.0.dimensions];
            vector[place] = 1.0;
            vector
        };
        Ok(texts.iter().map(unlike).collect())
    }
}

#[test]
fn a_name_is_one_whatever_the_vectors_say() {
    let space = Stub::new("restless", 8, Trouble::None).space.clone();
    let restless = Arc::new(Restless(space, AtomicUsize::new(0)));
    let mut engine = memory().with_embedder(Box::new(move || Ok(restless.clone())));
    for run in 0..4 {
        let text = format!("Report {run}: the agency DGIA met the press again.");
        let document = DocumentInput {
            uri: format!("{run}.md"),
            text,
            title: String::new(),
        };
        engine
            .index_documents(&format!("run {run}"), &[document], &())
            .unwrap();
        engine.embed(&()).unwrap();
        engine = engine.at(malha_engine::types::Times::default());
    }
    let found = engine.entity("DGIA").unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    let hits = search(&engine, Mode::Graph, "DGIA");
    assert_eq!(hits.entry_entities.len(), 1);
    assert_eq!(hits.results.len(), 4);
}

#[test]
fn a_query_calls_for_the_nearest_passages() {
    let engine = with(memory(), &Stub::new("stub", 256, Trouble::None));
    let texts = [
        "the lighthouse keeper",
        "a bakery of bread",
        "the harbour master",
    ];
    engine.index_documents("", &documents(&texts), &()).unwrap();
    engine.embed(&()).unwrap();
    for call in [
        "search.vector('o farol keeper', 2)",
        "db.index.vector.queryNodes('passages', 2, 'o farol keeper')",
    ] {
        let query = format!(
            "CALL {call} YIELD node, score MATCH (node)-[:PART_OF]->(d:Document) RETURN d.uri, score"
        );
        let answer = engine.cypher(&CypherRequest::new(query)).unwrap();
        let found: Vec<(&str, f64)> = answer
            .rows
            .iter()
            .map(|row| (row[0].as_str().unwrap(), row[1].as_f64().unwrap()))
            .collect();
        assert_eq!(found.len(), 2, "{call}: {found:?}");
        assert_eq!(found[0].0, "0.md", "{call}: no word is shared but one");
        assert!(found[0].1 > found[1].1, "{call}: {found:?}");
    }
}

#[test]
fn kinds_of_documents_are_left_out_inside_the_search() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..200 {
        let path = folder.path().join(format!("{number:03}.md"));
        std::fs::write(path, "lighthouse keeper").unwrap();
    }
    std::fs::write(folder.path().join("z.txt"), "apple orchard").unwrap();
    let engine = with(memory(), &Stub::new("stub", 64, Trouble::None));
    let source = SourceSpec {
        root: folder.path().to_owned(),
        convention: None,
    };
    engine.index(&[source], &()).unwrap();
    engine.embed(&()).unwrap();
    let only = |kind: DocumentKind| {
        let filter = DocumentFilter {
            kinds: vec![kind],
            ..DocumentFilter::default()
        };
        let (documents, counts) = engine.documents_matching(&filter).unwrap();
        let request = SearchRequest {
            mode: Mode::Vector,
            documents: Some(documents),
            ..SearchRequest::new("farol")
        };
        let response = engine.search(&request).unwrap();
        let uris: Vec<String> = uris(&response).into_iter().map(str::to_owned).collect();
        (counts.matching, uris)
    };
    // The one text is further away than all of the notes.
    let (matching, found) = only(DocumentKind::PlainText);
    assert_eq!((matching, found.len()), (1, 1));
    assert!(found[0].ends_with("z.txt"), "{found:?}");
    let (matching, found) = only(DocumentKind::Markdown);
    assert_eq!((matching, found.len()), (200, 10));
    assert_eq!(only(DocumentKind::Pdf), (0, Vec::new()));
}

#[test]
fn names_that_lie_near_one_another_are_joined_where_that_is_wanted() {
    let notes: Vec<DocumentInput> = ["Old Farol", "Old Lighthouse", "Apple Orchard", "12345"]
        .iter()
        .map(|title| DocumentInput {
            uri: format!("{title}.md"),
            title: (*title).to_owned(),
            text: format!("What is known of {title}."),
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let open = |name: &str, use_synonyms: bool| {
        let config = EngineConfig {
            use_synonyms,
            ..EngineConfig::default()
        };
        let engine = Engine::create(&folder.path().join(name), config).unwrap();
        with(engine, &Stub::new("stub", 64, Trouble::None))
    };
    let count = |name: &str, table: &str| {
        let path = folder.path().join(name);
        let engine = Engine::open_read_only(&path, EngineConfig::default()).unwrap();
        let sql = format!("SELECT count(*) FROM {table}");
        engine.sql(&sql).unwrap().rows[0][0].as_i64().unwrap()
    };
    let plain = open("plain.db", false);
    plain.index_documents("", &notes, &()).unwrap();
    plain.embed(&()).unwrap();
    assert_eq!(count("plain.db", "name_embedding"), 0);

    let engine = open("joined.db", true);
    engine.index_documents("", &notes, &()).unwrap();
    engine.embed(&()).unwrap();
    assert_eq!(
        count("joined.db", "name_embedding"),
        3,
        "numbers have no synonyms"
    );
    assert_eq!(
        count("joined.db", "synonym"),
        2,
        "one pair, in both directions"
    );
    let found = search(&engine, Mode::Graph, "Old Farol");
    assert!(uris(&found).contains(&"Old Lighthouse.md"), "{found:?}");
    // Nothing is done twice, and what another model made goes with it.
    assert_eq!(engine.embed(&()).unwrap().embedded, 0);
    let engine = with(engine, &Stub::new("second", 96, Trouble::None));
    engine.reembed(&()).unwrap();
    assert_eq!(count("joined.db", "synonym"), 2);
    assert_eq!(count("joined.db", "name_embedding"), 3);
    // A name that is gone takes its vector along; one that returns is compared again.
    engine.index_documents("", &notes[1..], &()).unwrap();
    assert_eq!(count("joined.db", "name_embedding"), 2);
    assert_eq!(count("joined.db", "synonym"), 0);
    engine.index_documents("", &notes, &()).unwrap();
    engine.embed(&()).unwrap();
    assert_eq!(count("joined.db", "name_embedding"), 3);
    assert_eq!(count("joined.db", "synonym"), 2);
}

/// Does something else in the middle of its first call.
struct Interrupting {
    inner: Arc<Stub>,
    meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Embedder for Interrupting {
    fn space(&self) -> &EmbeddingSpace {
        self.inner.space()
    }

    fn embed(&self, texts: &[&str], role: TextRole) -> Result<Vec<Vec<f32>>, ModelError> {
        if let Some(meanwhile) = self.meanwhile.lock().unwrap().take() {
            meanwhile();
        }
        self.inner.embed(texts, role)
    }
}

#[test]
fn runs_of_two_models_at_once_never_mix_their_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("malha.db");
    let open = |stub: &Arc<Stub>| {
        with(
            Engine::create(&path, EngineConfig::default()).unwrap(),
            stub,
        )
    };
    let stub = |model: &str| Stub::new(model, 64, Trouble::None);
    let first = open(&stub("first"));
    first.index_documents("", &sixteen(), &()).unwrap();
    first.embed(&()).unwrap();

    // A run of one model begins; one of another model, and the same, replace what it fills while it works.
    let replaced_by = |own: &'static str, other: Arc<Stub>| {
        let engine = open(&other);
        let embedder = Arc::new(Interrupting {
            inner: stub(own),
            meanwhile: Mutex::new(Some(Box::new(move || {
                engine.reembed(&()).unwrap();
            }))),
        });
        let engine = Engine::create(&path, EngineConfig::default()).unwrap();
        engine.with_embedder(Box::new(move || Ok(embedder.clone())))
    };
    let error = replaced_by("second", stub("third"))
        .reembed(&())
        .unwrap_err();
    assert!(error.to_string().contains("another run"), "{error}");
    let third = open(&stub("third"));
    let state = third.embedding_state().unwrap().unwrap();
    assert_eq!((state.space.model.as_str(), state.vectors), ("third", 16));
    assert!(state.building.is_none());

    let report = replaced_by("fourth", stub("fourth")).reembed(&()).unwrap();
    assert_eq!(report.missing, 0);
    let fourth = open(&stub("fourth"));
    let state = fourth.embedding_state().unwrap().unwrap();
    assert_eq!((state.space.model.as_str(), state.vectors), ("fourth", 16));
    assert_eq!(uris(&search(&fourth, Mode::Vector, "harbour3"))[0], "3.md");
    let engine = Engine::open_read_only(&path, EngineConfig::default()).unwrap();
    let rows = engine.sql("SELECT count(DISTINCT space), count(*) FROM embedding");
    assert_eq!(rows.unwrap().rows[0], [1, 16]);
}

#[test]
fn vectors_wait_for_the_lease_as_long_as_another_run_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("malha.db");
    let config = EngineConfig {
        lease_wait: Duration::ZERO,
        ..EngineConfig::default()
    };
    let stub = Stub::new("stub", 64, Trouble::None);
    let engine = Engine::create(&path, config).unwrap();
    engine.index_documents("", &sixteen(), &()).unwrap();
    let writer = path.clone();
    // Takes the lease while vectors are being made, and gives it back long after.
    let meanwhile = move || {
        let (taken, is_taken) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let store = Store::open(&writer).unwrap();
            let lease = store.write_lease("malha index", Duration::ZERO).unwrap();
            taken.send(()).unwrap();
            std::thread::sleep(Duration::from_millis(300));
            drop(lease);
        });
        is_taken.recv().unwrap();
    };
    let embedder = Arc::new(Interrupting {
        inner: Arc::clone(&stub),
        meanwhile: Mutex::new(Some(Box::new(meanwhile))),
    });
    let engine = engine.with_embedder(Box::new(move || Ok(embedder.clone())));
    let report = engine.embed(&()).unwrap();
    assert_eq!((report.embedded, report.missing), (16, 0));
    assert_eq!(stub.texts.load(Ordering::Relaxed), 16, "none is made twice");
}
