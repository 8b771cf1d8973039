//! Replies that are cut, half readable or odd: what can be read of them counts, the rest is listed and asked about again.

use malha_engine::extraction::{EntityType, ExtractionSettings, RelationType, Schema};
use malha_engine::language_model::{ChatReply, ModelErrorKind};
use malha_engine::types::SpendingLimit;
use malha_engine::{Engine, EngineConfig, SourceSpec};
use serde_json::{Value, json};

#[path = "support/replay.rs"]
mod replay;

use replay::{Replay, documents, engine, extract, extract_with, reply, ties};

/// `A knows B. C knows D.` as a model would put it.
fn facts(passage: &str) -> Value {
    let (mut entities, mut relations) = (Vec::new(), Vec::new());
    for sentence in passage.split(['.', '。', '\n']) {
        let words: Vec<&str> = sentence.split_whitespace().collect();
        if let [source, kind, target] = words[..] {
            entities.extend([json!({ "name": source }), json!({ "name": target })]);
            relations.push(json!({
                "source": source, "target": target, "type": kind, "quote": sentence.trim(),
            }));
        }
    }
    json!({ "entities": entities, "relations": relations })
}

/// A store in a file, with what it holds in SQL.
struct Stored {
    folder: tempfile::TempDir,
    engine: Engine,
}

impl Stored {
    fn new(texts: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let engine = Engine::create(&path, EngineConfig::default()).unwrap();
        engine
            .index_documents("notes", &documents(texts), &())
            .unwrap();
        Self { folder, engine }
    }

    fn rows(&self, query: &str) -> Value {
        let path = self.folder.path().join("store.db");
        let engine = Engine::open_read_only(&path, EngineConfig::default()).unwrap();
        json!(engine.sql(query).unwrap().rows)
    }
}

fn cut(text: &str) -> Result<ChatReply, ModelErrorKind> {
    let reply = reply(&text[..text.floor_char_boundary(text.len() * 2 / 3)]);
    reply.map(|reply| ChatReply {
        is_truncated: true,
        ..reply
    })
}

#[test]
fn a_reply_that_was_cut_is_asked_for_in_halves_whoever_says_so_and_whatever_the_script() {
    for (text, says_so) in [
        ("Ana knows Bea. Caio knows Dora. Edu knows Fe.", true),
        ("Ana knows Bea. Caio knows Dora. Edu knows Fe.", false),
        ("林 knows 安。 王 knows 李。 赵 knows 钱。", true),
        ("Ana knows Bea. Caio knows Dora. Edu knows Fe.\n", true),
    ] {
        let engine = engine(&[("a", text)]);
        let model = Replay::new(move |passage, _| {
            let whole = facts(passage).to_string();
            if passage.matches("knows").count() > 1 {
                cut(&whole).map(|reply| ChatReply {
                    is_truncated: says_so,
                    ..reply
                })
            } else {
                reply(whole)
            }
        });
        let report = extract(&engine, &model);
        assert_eq!(report.relations, 3, "{text}");
        assert_eq!(
            (report.failed.len(), report.items_rejected),
            (0, 0),
            "{text}"
        );
        let calls = model.total();
        let again = extract(&engine, &model);
        assert_eq!((again.known, model.total()), (1, calls), "{text}");
    }
}

#[test]
fn a_reply_that_stays_cut_counts_as_far_as_it_goes_and_is_listed() {
    let engine = engine(&[("a", "Ana knows Bea. Caio knows Dora.")]);
    let model = Replay::new(|passage, _| cut(&facts(passage).to_string()));
    let settings = ExtractionSettings::default();
    extract_with(&engine, &model, &settings, SpendingLimit::default()).unwrap();
    assert!(engine.entity("Ana").unwrap().len() == 1);
    let aside = engine.quarantine().unwrap();
    assert!(!aside.is_empty());
    for item in &aside {
        assert!(item.reason.contains("ends in the middle"), "{item:?}");
    }
    let calls = model.total();
    extract(&engine, &model);
    assert_eq!(
        model.total(),
        calls,
        "what it says is known, and that it is cut"
    );
    // With more room it is asked about anew.
    let roomier = ExtractionSettings {
        max_output_tokens: settings.max_output_tokens * 2,
        ..settings
    };
    extract_with(&engine, &model, &roomier, SpendingLimit::default()).unwrap();
    assert!(model.total() > calls);
}

#[test]
fn one_half_that_cannot_be_read_costs_the_other_nothing() {
    for broken in ["Ana", "Edu"] {
        let text = "Ana knows Bea. Caio knows Dora. Edu knows Fe. Gil knows Hugo.";
        let engine = engine(&[("a", text)]);
        let model = Replay::new(move |passage, number| {
            if passage.matches("knows").count() > 2 {
                Err(ModelErrorKind::TooLong)
            } else if passage.contains(broken) && number < 3 {
                reply("Let me think.")
            } else {
                reply(facts(passage))
            }
        });
        let report = extract(&engine, &model);
        assert_eq!((report.relations, report.failed.len()), (2, 1), "{broken}");
        assert_eq!(engine.quarantine().unwrap().len(), 1, "{broken}");
        // An index without a model takes nothing back.
        engine
            .index_documents("notes", &documents(&[("a", text), ("b", "nothing")]), &())
            .unwrap();
        assert_eq!(
            ties(&engine, "Caio").len() + ties(&engine, "Gil").len(),
            1,
            "{broken}"
        );
        let calls = model.total();
        let report = extract(&engine, &model);
        assert_eq!((report.relations, report.failed.len()), (4, 0), "{broken}");
        assert!(model.total() > calls, "{broken}");
        assert!(engine.quarantine().unwrap().is_empty(), "{broken}");
        assert!(engine.verify().unwrap().violations.is_empty());
    }
}

#[test]
fn a_second_pass_that_fails_costs_the_first_one_nothing() {
    for kind in [ModelErrorKind::TooLong, ModelErrorKind::Permanent] {
        let engine = engine(&[("a", "Ana knows Bea. Caio knows Dora.")]);
        let model = Replay::new(move |passage, number| match number {
            1 => reply(facts(passage.split_inclusive('.').next().unwrap())),
            2 => Err(kind),
            _ => reply(facts(passage)),
        });
        let settings = ExtractionSettings {
            second_pass: true,
            ..ExtractionSettings::default()
        };
        let run = || extract_with(&engine, &model, &settings, SpendingLimit::default()).unwrap();
        let report = run();
        assert_eq!((report.relations, report.failed.len()), (1, 1), "{kind:?}");
        assert_eq!(ties(&engine, "Ana"), ["Ana knows Bea"]);
        let report = run();
        assert_eq!((report.relations, report.failed.len()), (2, 0), "{kind:?}");
        assert_eq!(model.total(), 3, "the first reply was not paid for again");
    }
}

#[test]
fn a_dropped_passage_stays_dropped_where_it_moves_and_no_longer_when_it_changes() {
    let bad =
        "Ana knows Bea and much more that no model can read, it seems, whatever is asked about it.";
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("vault").join("log.md");
    std::fs::create_dir_all(note.parent().unwrap()).unwrap();
    let config = EngineConfig {
        chunk_size: 110,
        chunk_overlap: 0,
        ..EngineConfig::default()
    };
    let engine = Engine::create(&folder.path().join("store.db"), config).unwrap();
    let source = SourceSpec {
        root: note.parent().unwrap().to_owned(),
        convention: None,
    };
    let write = |text: &str| {
        std::fs::write(&note, text).unwrap();
        engine.index(std::slice::from_ref(&source), &()).unwrap();
    };
    let model = Replay::new(|passage, _| {
        if passage.contains("much more") {
            reply("no")
        } else {
            reply(facts(passage))
        }
    });
    let settings = ExtractionSettings {
        passage_tokens: 1,
        ..ExtractionSettings::default()
    };
    let run = || extract_with(&engine, &model, &settings, SpendingLimit::default()).unwrap();
    write(&format!("# One\n\n{bad}\n"));
    assert_eq!(run().failed.len(), 1);
    let id = engine.quarantine().unwrap()[0].id;
    engine.set_dropped(id, true).unwrap();
    write(&format!("# Zero\n\nCaio knows Dora.\n\n# One\n\n{bad}\n"));
    let report = run();
    assert_eq!(
        (report.failed.len(), report.relations),
        (0, 1),
        "it only moved"
    );
    let aside = engine.quarantine().unwrap();
    assert!(aside.len() == 1 && aside[0].dropped, "{aside:?}");
    assert_eq!(aside[0].line, 5);
    // Other text in its place is another passage.
    write(&format!(
        "# Zero\n\nCaio knows Dora.\n\n# One\n\n{}\n",
        bad.replace("Ana", "Eva")
    ));
    assert!(engine.quarantine().unwrap().is_empty());
    assert_eq!(run().failed.len(), 1);
    assert!(!engine.quarantine().unwrap()[0].dropped);
}

#[test]
fn an_item_cannot_be_asked_about_again_and_that_is_said() {
    let engine = engine(&[("a", "Ana knows Bea.")]);
    let model = Replay::new(|_, _| reply(r#"{"entities":["Ana","Nobody"]}"#));
    extract(&engine, &model);
    let id = engine.quarantine().unwrap()[0].id;
    let error = engine.set_dropped(id, false).unwrap_err().to_string();
    assert!(error.contains("no passage"), "{error}");
    engine.set_dropped(id, true).unwrap();
    engine.set_dropped(id, false).unwrap();
    assert!(!engine.quarantine().unwrap()[0].dropped);
}

#[test]
fn three_odd_replies_give_what_they_say_and_a_warning_each() {
    let engine = engine(&[
        ("a", "Ana uses Bea."),
        ("b", "Caio uses Dora."),
        ("c", "Edu uses Fe."),
    ]);
    let model = Replay::new(|passage, _| {
        if passage.contains("Ana") {
            reply(r#"[{"nodes":[{"id":"Ana"},{"id":"Bea"}],"relationships":[]}]"#)
        } else if passage.contains("Caio") {
            reply(r#"[{"source":"Caio","type":"USES","target":"Dora"}]"#)
        } else {
            reply("\"none\"")
        }
    });
    let report = extract(&engine, &model);
    assert_eq!((report.entities, report.relations), (4, 1));
    assert_eq!(ties(&engine, "Caio"), ["Caio USES Dora"]);
    assert_eq!(report.failed.len(), 0);
    assert_eq!(
        report.warnings,
        [
            "replies with a word instead of JSON: 1, the first about notes/c",
            "replies with an array where an object was asked for: 2, the first about notes/a",
        ]
    );
}

#[test]
fn more_room_is_given_for_thoughts_that_left_no_answer() {
    for says_so in [true, false] {
        let engine = engine(&[("a", "Ana knows Bea.")]);
        let model = Replay::new(move |passage, number| {
            let thoughts = reply("<think>where to begin");
            match number {
                1 => thoughts.map(|reply| ChatReply {
                    is_truncated: says_so,
                    ..reply
                }),
                _ => reply(facts(passage)),
            }
        });
        assert_eq!(extract(&engine, &model).relations, 1);
        let rooms = model.rooms.lock().unwrap();
        assert_eq!(rooms[1], rooms[0] * 2, "{says_so}");
    }
}

#[test]
fn nested_properties_are_stored_as_they_came() {
    let stored = Stored::new(&[("a", "Kafka streams to Flink.")]);
    let profile = json!({"profile":{"title":"stream","tags":["a",{"k":1}]},"year":2011});
    let said = profile.clone();
    let model = Replay::new(move |_, _| {
        reply(json!({
            "entities": [{"name": "Kafka", "attributes": said}, {"name": "Flink"}],
            "relations": [{"source": "Kafka", "target": "Flink", "type": "STREAMS_TO", "properties": said}],
        }))
    });
    let report = extract(&stored.engine, &model);
    assert_eq!(
        (report.entities, report.relations, report.items_rejected),
        (2, 1, 0)
    );
    let rows = stored.rows(
            "SELECT e.properties, r.properties FROM relation r JOIN entity e ON e.id = r.source WHERE r.origin = 'llm'",
        );
    let read =
        |at: usize| -> Value { serde_json::from_str(rows[0][at].as_str().unwrap()).unwrap() };
    assert_eq!(read(0)["extracted"]["properties"], profile);
    assert_eq!(read(1), profile);
    assert_eq!(ties(&stored.engine, "Flink"), ["Kafka STREAMS_TO Flink"]);
}

#[test]
fn spellings_of_one_name_meet_under_the_best_one() {
    let texts = [
        ("a", "The \"ROMAN EMPIRE \" fell."),
        ("b", "The ROMAN EMPIRE fell."),
        ("c", "The “Roman Empire” fell."),
        ("d", "The Roman  Empire fell."),
        ("e", "The Roman\u{200b} Empire fell."),
        ("f", "The &quot;Roman Empire&quot; fell."),
    ];
    let engine = engine(&texts);
    let model = Replay::new(|passage, _| {
        let name = passage
            .trim()
            .strip_prefix("The ")
            .and_then(|rest| rest.strip_suffix(" fell."))
            .unwrap();
        reply(json!({ "entities": [{ "name": name }] }))
    });
    let report = extract(&engine, &model);
    assert_eq!((report.entities, report.items_rejected), (1, 0));
    let found = engine.entity("roman empire").unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].name, "Roman Empire");
    for spelling in ["ROMAN EMPIRE", "\"Roman  Empire\"", "Roman\u{200b} Empire"] {
        assert_eq!(engine.entity(spelling).unwrap().len(), 1, "{spelling}");
    }
}

#[test]
fn flags_of_the_schema_and_words_for_certainty_reach_the_store() {
    let kind = |symmetric: bool, reflexive: bool| RelationType {
        symmetric,
        reflexive,
        ..RelationType::default()
    };
    let settings = ExtractionSettings {
        schema: Schema {
            entity: [("Person".to_owned(), EntityType::default())].into(),
            relation: [
                ("MARRIED_TO".to_owned(), kind(true, false)),
                ("TEACHES".to_owned(), kind(false, true)),
                ("LEADS".to_owned(), kind(false, false)),
            ]
            .into(),
            ..Schema::default()
        },
        ..ExtractionSettings::default()
    };
    let stored = Stored::new(&[
        (
            "a",
            "Bea married Ana. Ana teaches herself. Ana led Caio until 2020.",
        ),
        ("b", "Ana married Bea."),
    ]);
    let model = Replay::new(|passage, _| {
        let person = |name: &str| json!({ "name": name, "type": "Person" });
        if passage.contains("led") {
            reply(json!({
                "entities": [person("Ana"), person("Bea"), person("Caio")],
                "relations": [
                    {"source": "Bea", "target": "Ana", "type": "MARRIED_TO", "quote": "Bea married Ana."},
                    {"source": "Ana", "target": "Ana", "type": "TEACHES", "quote": "Ana teaches herself.", "status": "implied"},
                    {"source": "Ana", "target": "Caio", "type": "LEADS", "quote": "Ana led Caio until 2020.", "valid_to": "2020"},
                ],
            }))
        } else {
            reply(json!({
                "entities": [person("Ana"), person("Bea")],
                "relations": [{"source": "Ana", "target": "Bea", "type": "MARRIED_TO", "quote": "Ana married Bea."}],
            }))
        }
    });
    let report = extract_with(&stored.engine, &model, &settings, SpendingLimit::default()).unwrap();
    assert_eq!(report.relations, 3, "a marriage is one in both directions");
    let rows = stored.rows(
            "SELECT t.name, s.name, e.name, r.confidence, r.valid_to_written, r.weight FROM relation r
             JOIN relation_type t ON t.id = r.type JOIN entity s ON s.id = r.source JOIN entity e ON e.id = r.target
             WHERE r.origin = 'llm' ORDER BY t.name",
        );
    assert_eq!(
        rows,
        json!([
            ["LEADS", "Ana", "Caio", 1.0, "2020", 1.0],
            ["MARRIED_TO", "Ana", "Bea", 1.0, null, 2.0],
            ["TEACHES", "Ana", "Ana", 0.6, null, 1.0],
        ])
    );
    assert!(stored.engine.verify().unwrap().violations.is_empty());
}

#[test]
fn words_for_any_company_are_no_names_of_one() {
    let stored = Stored::new(&[
        (
            "a",
            "Acme Works, the Anvil, sells iron. The Company hired Ana. 该公司 grows.",
        ),
        ("b", "The Company closed."),
    ]);
    let model = Replay::new(|passage, _| {
        if passage.contains("Acme") {
            reply(json!({ "entities": [{
                "name": "Acme Works", "type": "Company", "aliases": ["the Anvil", "The Company", "该公司"],
            }] }))
        } else {
            reply(json!({ "entities": [] }))
        }
    });
    extract(&stored.engine, &model);
    assert_eq!(
        stored.rows("SELECT written FROM alias WHERE source = 'extracted' ORDER BY written"),
        json!([["Acme Works"], ["the Anvil"]])
    );
}
