//! Replies of models stay of use when the program asks otherwise, and when another model is to be asked.

use std::collections::BTreeMap;

use malha_engine::extraction::{ExtractionSettings, Prompts};
use malha_engine::language_model::{ChatModel, ChatReply, ChatRequest, ModelError};
use malha_engine::{Engine, EngineConfig, ExtractionRun};
use rusqlite::Connection;
use serde_json::json;

#[path = "support/replay.rs"]
#[expect(dead_code, reason = "other tests need the rest")]
mod replay;

use replay::{Replay, documents, extract, reply, ties};

const TEXTS: &[(&str, &str)] = &[("a", "Ana knows Bea."), ("b", "Caio knows Dora.")];

/// Says that the first word has something to do with the last one.
fn model(kind: &'static str) -> Replay {
    Replay::new(move |passage, _| {
        let mut words = passage.trim().trim_end_matches('.').split(' ');
        let (source, target) = (words.next().unwrap(), words.next_back().unwrap());
        reply(json!({
            "entities": [{ "name": source }, { "name": target }],
            "relations": [{ "source": source, "type": kind, "target": target, "quote": passage.trim() }],
        }))
    })
}

/// Another model than `replay`.
struct Better(Replay);

impl ChatModel for Better {
    fn name(&self) -> &'static str {
        "better"
    }

    fn complete(
        &self,
        request: &ChatRequest,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, ModelError> {
        self.0.complete(request, on_text)
    }
}

#[test]
fn a_program_that_asks_otherwise_keeps_what_was_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let engine = Engine::create(&path, EngineConfig::default()).unwrap();
    engine
        .index_documents("notes", &documents(TEXTS), &())
        .unwrap();
    let model = model("knows");
    extract(&engine, &model);
    let whole = engine.digest().unwrap();
    drop(engine);
    // As after a release that reads replies otherwise and finds none, for its requests are other ones.
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch(
        "PRAGMA foreign_keys = OFF; DELETE FROM llm_part; DELETE FROM llm_call;
         UPDATE derivation SET fingerprint = CAST(substr(fingerprint, 1, 32) || zeroblob(32) AS BLOB);",
    )
    .unwrap();
    drop(raw);
    let engine = Engine::open(&path, EngineConfig::default()).unwrap();
    let mut texts = TEXTS.to_vec();
    texts.push(("c", "Edu knows Fe."));
    engine
        .index_documents("notes", &documents(&texts), &())
        .unwrap();
    assert_eq!(ties(&engine, "Ana"), ["Ana knows Bea"]);
    extract(&engine, &model);
    assert_eq!(model.total(), 3, "the new passage, and no other");
    engine
        .index_documents("notes", &documents(TEXTS), &())
        .unwrap();
    assert_eq!(engine.digest().unwrap(), whole);
    // What has changed is another matter.
    engine
        .index_documents("notes", &documents(&[("a", "Ana saw Bea."), TEXTS[1]]), &())
        .unwrap();
    assert!(ties(&engine, "Ana").is_empty());
}

#[test]
fn prompts_of_an_earlier_program_still_find_their_replies() {
    let engine = Engine::in_memory(EngineConfig::default()).unwrap();
    engine
        .index_documents("notes", &documents(TEXTS), &())
        .unwrap();
    let model = model("knows");
    let mut earlier = ExtractionSettings {
        sent: Prompts::texts(&BTreeMap::new()),
        ..ExtractionSettings::default()
    };
    let text = earlier.sent.get_mut("extract.md").unwrap();
    text.insert_str(0, "As it once was. ");
    let run = ExtractionRun::new(&model, &earlier);
    engine.extract(&run, &()).unwrap();
    assert_eq!(model.total(), 2);
    let settings = ExtractionSettings::default();
    let estimate = engine
        .estimate_extraction(&ExtractionRun::new(&model, &settings), 0, &())
        .unwrap();
    assert_eq!((estimate.calls, estimate.known), (0, 2));
    extract(&engine, &model);
    assert_eq!(model.total(), 2);
    assert_eq!(ties(&engine, "Ana"), ["Ana knows Bea"]);
}

#[test]
fn another_model_is_asked_about_everything_where_that_is_wanted() {
    let engine = Engine::in_memory(EngineConfig::default()).unwrap();
    engine
        .index_documents("notes", &documents(TEXTS), &())
        .unwrap();
    extract(&engine, &model("knows"));
    let better = Better(model("taught"));
    let settings = ExtractionSettings::default();
    let run = ExtractionRun::new(&better, &settings);
    engine.extract(&run, &()).unwrap();
    assert_eq!(better.0.total(), 0, "a reply is stored");
    let anew = ExtractionRun { anew: true, ..run };
    let estimate = engine.estimate_extraction(&anew, 0, &()).unwrap();
    assert_eq!((estimate.calls, estimate.known), (2, 0));
    engine.extract(&anew, &()).unwrap();
    assert_eq!(better.0.total(), 2);
    assert_eq!(ties(&engine, "Ana"), ["Ana taught Bea"]);
    engine.extract(&anew, &()).unwrap();
    assert_eq!(better.0.total(), 2, "nothing is paid for twice");
    assert!(engine.verify().unwrap().violations.is_empty());
}

#[test]
fn what_a_killed_run_left_to_follow_is_followed_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let engine = Engine::create(&path, EngineConfig::default()).unwrap();
    let index = |engine: &Engine| {
        engine
            .index_documents("notes", &documents(TEXTS), &())
            .unwrap();
    };
    index(&engine);
    extract(&engine, &model("knows"));
    let whole = engine.digest().unwrap();
    drop(engine);
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch(
        "UPDATE relation SET retracted_at = 1; UPDATE evidence SET retracted_at = 1;",
    )
    .unwrap();
    let engine = Engine::open(&path, EngineConfig::default()).unwrap();
    index(&engine);
    assert_ne!(
        engine.digest().unwrap(),
        whole,
        "nothing says that there is work"
    );
    drop(engine);
    // As a run leaves it that ended between the documents and what follows from them.
    raw.execute_batch("UPDATE meta SET value = '1' WHERE key LIKE 'unfollowed:%';")
        .unwrap();
    drop(raw);
    let engine = Engine::open(&path, EngineConfig::default()).unwrap();
    index(&engine);
    assert_eq!(engine.digest().unwrap(), whole);
}
