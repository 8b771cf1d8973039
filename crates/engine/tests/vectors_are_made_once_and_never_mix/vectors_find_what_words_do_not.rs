use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use malha_engine::language_model::{Embedder, EmbeddingSpace, ModelError, TextRole};
use malha_engine::types::{
    CypherRequest, DocumentFilter, DocumentKind, LaneStatus, Mode, SearchRequest,
};
use malha_engine::{DocumentInput, Engine, EngineConfig, SourceSpec};

use crate::embedder::{Stub, Trouble, documents, memory, search, uris, vector_lane, with};

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
