//! The log of real searches: what it holds, what it suggests, and that forgetting erases it.

use std::time::Duration;

use malha_engine::types::{
    ForgetRequest, GateRule, Lane, LaneStatus, Mode, QueryClass, SearchRequest, SearchResponse,
};
use malha_engine::{Engine, EngineConfig, SourceSpec};

const NOTES: [(&str, &str); 4] = [
    (
        "Harbour.md",
        "The harbour at dusk. See [[Keeper]] and [[Lamp]].\n",
    ),
    ("Keeper.md", "Someone who wakes at four.\n"),
    ("Lamp.md", "Oil until 1931.\n"),
    ("Orchard.md", "Apples and pears by the harbour wall.\n"),
];

fn vault(folder: &std::path::Path) -> Engine {
    let notes = folder.join("vault");
    std::fs::create_dir(&notes).unwrap();
    for (name, text) in NOTES {
        std::fs::write(notes.join(name), text).unwrap();
    }
    let engine = Engine::create(&folder.join("store.db"), EngineConfig::default()).unwrap();
    let source = SourceSpec {
        root: notes,
        convention: None,
    };
    engine.index(&[source], &()).unwrap();
    engine
}

fn notes(question: &str) -> SearchRequest {
    SearchRequest {
        mode: Mode::Notes,
        ..SearchRequest::new(question)
    }
}

fn links(response: &SearchResponse) -> (LaneStatus, &str) {
    let mut records = response.record.iter();
    let record = records.find(|record| record.lane == Lane::Links).unwrap();
    (record.status, &record.reason)
}

#[test]
fn what_the_links_brought_is_counted_even_where_the_gate_was_closed() {
    let folder = tempfile::tempdir().unwrap();
    let engine = vault(folder.path());
    let open = engine.search(&notes("dusk at the harbour")).unwrap();
    assert!(open.gate.open);
    assert_eq!(links(&open).0, LaneStatus::Ran);
    assert_eq!(open.results.len(), 4);

    let request = notes("Harbour");
    let closed = engine.search(&request).unwrap();
    assert_eq!(closed.gate.rule, Some(GateRule::ProperName));
    assert_eq!(
        links(&closed),
        (LaneStatus::Skipped, closed.gate.reason.as_str())
    );
    assert_eq!(closed.results.len(), 2);

    let logged = engine
        .observe(&request, &closed, Duration::from_millis(3))
        .unwrap();
    assert_eq!((logged.class, logged.results), (QueryClass::Name, 2));
    let comparison = logged.comparison.clone().unwrap();
    assert_eq!((comparison.added, comparison.by_graph), (2, 2));
    assert_eq!(comparison.entered, ["vault/Keeper.md", "vault/Lamp.md"]);
    // Nobody waits for telemetry of a slow search, and words alone have nothing to compare.
    let slow = engine
        .observe(&request, &closed, Duration::from_secs(1))
        .unwrap();
    assert_eq!(slow.comparison, None);
    let words = SearchRequest {
        mode: Mode::Keyword,
        ..request
    };
    let logged_words = engine.observe(&words, &closed, Duration::ZERO).unwrap();
    assert_eq!(logged_words.comparison, None);

    for _ in 0..20 {
        assert!(engine.log_query(&logged).unwrap());
    }
    let report = engine.graph_report(7).unwrap();
    assert_eq!(report.rows.len(), 1);
    let row = &report.rows[0];
    assert_eq!(
        (row.class.as_str(), row.gate.as_str()),
        ("name", "proper_name")
    );
    assert_eq!((row.queries, row.entered, row.by_graph), (20, 40, 40));
    assert!((row.helped - 100.0).abs() < 1e-9);
    assert!(report.suggestions[0].contains("proper_name"), "{report:?}");
    // The statement is one that anybody can run.
    let reader = Engine::open_read_only(&folder.path().join("store.db"), EngineConfig::default());
    assert_eq!(reader.unwrap().sql(&report.sql).unwrap().rows.len(), 1);
}

#[test]
fn forgetting_erases_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let engine = vault(folder.path());
    let request = notes("zqxwvkpj of the harbour");
    let response = engine.search(&request).unwrap();
    let logged = engine.observe(&request, &response, Duration::ZERO).unwrap();
    engine.log_query(&logged).unwrap();
    assert!(!engine.absence("zqxwvkpj").unwrap().found.is_empty());
    // It stands in no document, only in what was asked.
    engine
        .forget(&ForgetRequest {
            texts: vec!["zqxwvkpj".to_owned()],
            ..ForgetRequest::default()
        })
        .unwrap();
    assert_eq!(engine.absence("zqxwvkpj").unwrap().found, []);
    assert!(engine.graph_report(7).unwrap().rows.is_empty());
}

#[test]
fn a_lane_that_fails_leaves_the_others_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let engine = vault(folder.path());
    let request = SearchRequest {
        mode: Mode::Graph,
        ..SearchRequest::new("who keeps the harbour")
    };
    let whole = engine.search(&request).unwrap();
    assert!(!whole.entry_entities.is_empty());
    let plain = engine
        .search(&SearchRequest {
            without: vec![Lane::Graph],
            ..request.clone()
        })
        .unwrap();
    // The table that names are looked up in is gone; the graph in memory is not.
    let connection = rusqlite::Connection::open(folder.path().join("store.db")).unwrap();
    connection
        .execute_batch("ALTER TABLE alias RENAME TO lost")
        .unwrap();
    let broken = engine.search(&request).unwrap();
    assert_eq!(broken.results, plain.results);
    let graph = broken
        .record
        .iter()
        .find(|record| record.lane == Lane::Graph);
    assert_eq!(graph.unwrap().status, LaneStatus::Failed);
    assert!(graph.unwrap().reason.contains("alias"), "{graph:?}");
}
