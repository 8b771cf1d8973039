//! Extraction end to end with a model that replays: what is stored follows from texts and replies alone,
//! nothing is asked twice, and no failure costs more than itself.

use malha_engine::extraction::{EntityType, ExtractionSettings, RelationType, Schema};
use malha_engine::language_model::{ChatReply, ModelErrorKind};
use malha_engine::types::{Correction, ForgetRequest, SpendingLimit};
use malha_engine::{Engine, EngineConfig, Error, SourceSpec};
use serde_json::json;

#[path = "support/replay.rs"]
mod replay;

use replay::{Replay, documents, engine, extract, extract_with, reply, ties};

/// `A knows B. C knows D.` as a model would put it.
fn facts(passage: &str, _number: usize) -> Result<ChatReply, ModelErrorKind> {
    let mut entities = Vec::new();
    let mut relations = Vec::new();
    for sentence in passage.split('.') {
        let words: Vec<&str> = sentence.split_whitespace().collect();
        if let [source, kind, target] = words[..] {
            entities.push(json!({ "name": source, "type": "Person" }));
            entities.push(json!({ "name": target, "type": "Person" }));
            relations.push(json!({
                "source": source, "target": target, "type": kind, "quote": sentence.trim(),
            }));
        }
    }
    reply(json!({ "entities": entities, "relations": relations }))
}

#[test]
fn a_second_run_asks_nothing_and_changes_nothing() {
    let engine = engine(&[
        ("a", "Ana knows Bea. Bea knows Caio."),
        ("b", "Ana knows Bea."),
    ]);
    let model = Replay::new(facts);
    let report = extract(&engine, &model);
    assert_eq!(
        (report.passages, report.extracted, report.relations),
        (2, 2, 2)
    );
    assert_eq!((report.entities, report.relations_added), (3, 2));
    assert!(engine.verify().unwrap().violations.is_empty());
    let (digest, generation) = (engine.digest().unwrap(), engine.stats().unwrap().generation);
    let again = extract(&engine, &model);
    assert_eq!(
        (again.known, again.spent.calls, again.relations_added),
        (2, 0, 0)
    );
    assert_eq!(model.total(), 2);
    assert_eq!(engine.digest().unwrap(), digest);
    assert_eq!(engine.stats().unwrap().generation, generation);
    let entity = &engine.entity("Bea").unwrap()[0];
    assert_eq!(entity.types, ["Person"]);
}

#[test]
fn any_order_of_edits_and_runs_ends_where_a_fresh_run_does() {
    let model = Replay::new(facts);
    let edited = engine(&[("a", "Ana knows Bea."), ("gone", "Dora knows Edu.")]);
    extract(&edited, &model);
    let last = [
        ("a", "Ana likes Bea. Bea knows Caio."),
        ("new", "Caio knows Ana."),
    ];
    edited
        .index_documents("notes", &documents(&last), &())
        .unwrap();
    assert!(ties(&edited, "Dora").is_empty(), "its document is gone");
    extract(&edited, &model);
    let fresh = engine(&last);
    extract(&fresh, &model);
    assert_eq!(edited.digest().unwrap(), fresh.digest().unwrap());
    assert!(edited.verify().unwrap().violations.is_empty());
    // And back again: the replies to the first texts are still there.
    let calls = model.total();
    let first = [("a", "Ana knows Bea."), ("gone", "Dora knows Edu.")];
    edited
        .index_documents("notes", &documents(&first), &())
        .unwrap();
    let report = extract(&edited, &model);
    assert_eq!((model.total(), report.known), (calls, 2));
}

#[test]
fn one_bad_reply_costs_one_passage_and_is_asked_for_again() {
    let texts: Vec<(String, String)> = (0..7)
        .map(|n| (format!("d{n}"), format!("Ana{n} knows Bea{n}.")))
        .collect();
    let texts: Vec<(&str, &str)> = texts
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let engine = engine(&texts);
    // First nothing, then prose, then sense.
    let model = Replay::new(|passage, number| match (passage.contains("Ana3"), number) {
        (true, 1) => reply(""),
        (true, 2) => reply("Let me analyse the text…"),
        _ => facts(passage, number),
    });
    let report = extract(&engine, &model);
    assert_eq!((report.extracted, report.failed.len()), (6, 1));
    assert_eq!(report.failed[0].uri, "notes/d3");
    let aside = engine.quarantine().unwrap();
    assert_eq!((aside.len(), aside[0].kind.as_str()), (1, "passage"));
    assert!(aside[0].item.contains("Let me analyse"), "{aside:?}");
    assert!(!ties(&engine, "Ana6").is_empty() && ties(&engine, "Ana3").is_empty());
    let calls = model.total();
    let report = extract(&engine, &model);
    assert_eq!(
        (report.known, report.extracted, model.total()),
        (6, 1, calls + 1)
    );
    assert!(engine.quarantine().unwrap().is_empty());
    assert!(!ties(&engine, "Ana3").is_empty());
}

#[test]
fn thoughts_and_nothing_else_is_no_answer() {
    let engine = engine(&[
        ("a", "Ana knows Bea."),
        ("b", "Caio knows Dora."),
        ("c", "Edu knows Fe."),
    ]);
    let model = Replay::new(|passage, number| {
        if passage.contains("Ana") {
            return reply(
                r#"<think>maybe {"x":1}</think>{"entities":[{"name":"Ana"}],"relations":[]}"#,
            );
        }
        if passage.contains("Caio") {
            return Ok(ChatReply {
                is_truncated: true,
                ..ChatReply::default()
            });
        }
        if number == 1 {
            reply("<think>where to begin")
        } else {
            reply("<think>still")
        }
    });
    let report = extract(&engine, &model);
    assert_eq!((report.entities, report.failed.len()), (1, 2));
    assert_eq!(model.total(), 5, "one, and two for each of the others");
}

#[test]
fn what_is_too_long_is_cut_and_asked_for_in_pieces() {
    let engine = engine(&[(
        "a",
        "Ana knows Bea. Caio knows Dora. Edu knows Fe. Gil knows Hugo.",
    )]);
    let model = Replay::new(|passage, number| {
        if passage.len() > 40 {
            Err(ModelErrorKind::TooLong)
        } else {
            facts(passage, number)
        }
    });
    let report = extract(&engine, &model);
    assert_eq!((report.failed.len(), report.relations), (0, 4));
    let calls = model.total();
    let again = extract(&engine, &model);
    assert_eq!((again.known, again.relations, model.total()), (1, 4, calls));
}

#[test]
fn a_limit_stops_the_run_and_the_next_one_goes_on() {
    let texts: Vec<(String, String)> = (0..9)
        .map(|n| (format!("d{n}"), format!("Ana{n} knows Bea{n}.")))
        .collect();
    let texts: Vec<(&str, &str)> = texts
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let engine = engine(&texts);
    let model = Replay::new(facts);
    let limit = SpendingLimit {
        calls: Some(4),
        ..SpendingLimit::default()
    };
    let settings = ExtractionSettings::default();
    let report = extract_with(&engine, &model, &settings, limit).unwrap();
    assert!(report.budget_reached);
    assert_eq!((report.extracted, report.left, report.relations), (4, 5, 4));
    let report = extract(&engine, &model);
    assert_eq!((report.known, report.extracted, model.total()), (4, 5, 9));
}

#[test]
fn a_model_that_refuses_everything_ends_the_run() {
    let texts: Vec<(String, String)> = (0..40)
        .map(|n| (format!("d{n}"), format!("Ana{n} knows Bea{n}.")))
        .collect();
    let texts: Vec<(&str, &str)> = texts
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let engine = engine(&texts);
    let model = Replay::new(|_, _| Err(ModelErrorKind::Permanent));
    let settings = ExtractionSettings::default();
    let error = extract_with(&engine, &model, &settings, SpendingLimit::default()).unwrap_err();
    assert!(matches!(error, Error::Model(_)), "{error}");
    assert!(model.total() < 15, "{}", model.total());
}

#[test]
fn a_narrower_schema_asks_nothing_and_a_wider_one_only_where_it_matters() {
    let knows = RelationType {
        source: vec!["Person".to_owned()],
        target: vec!["Person".to_owned()],
        ..RelationType::default()
    };
    let mut settings = ExtractionSettings {
        schema: Schema {
            entity: [
                ("Person".to_owned(), EntityType::default()),
                ("Ship".to_owned(), EntityType::default()),
            ]
            .into(),
            relation: [
                ("knows".to_owned(), knows.clone()),
                ("likes".to_owned(), knows.clone()),
            ]
            .into(),
            ..Schema::default()
        },
        ..ExtractionSettings::default()
    };
    let engine = engine(&[
        ("a", "Ana knows Bea. Bea likes Ana."),
        ("b", "nothing here."),
    ]);
    let model = Replay::new(facts);
    let run = |settings: &ExtractionSettings| {
        extract_with(&engine, &model, settings, SpendingLimit::default()).unwrap()
    };
    assert_eq!(run(&settings).relations, 2);
    settings.schema.relation.remove("likes");
    assert_eq!(run(&settings).relations, 1);
    assert_eq!(model.total(), 2, "less is asked for than is known");
    settings
        .schema
        .entity
        .get_mut("Person")
        .unwrap()
        .description = "a human".to_owned();
    run(&settings);
    assert_eq!(model.total(), 2, "words about a type change no fact");
    settings.schema.relation.insert("hates".to_owned(), knows);
    run(&settings);
    assert_eq!(
        model.total(),
        3,
        "only the passage that names persons is asked about again"
    );
}

#[test]
fn a_dropped_passage_is_asked_about_no_more() {
    let engine = engine(&[("a", "Ana knows Bea.")]);
    let model = Replay::new(|_, _| reply("no"));
    extract(&engine, &model);
    let id = engine.quarantine().unwrap()[0].id;
    engine.set_dropped(id, true).unwrap();
    let calls = model.total();
    let report = extract(&engine, &model);
    assert_eq!((model.total(), report.failed.len()), (calls, 0));
    assert!(engine.quarantine().unwrap()[0].dropped);
    engine.set_dropped(id, false).unwrap();
    extract(&engine, &model);
    assert!(model.total() > calls);
    assert!(matches!(
        engine.set_dropped(99, true),
        Err(Error::NotFound { .. })
    ));
}

#[test]
fn nothing_extracted_is_no_error() {
    let engine = engine(&[("a", "ok"), ("b", "…")]);
    let model = Replay::new(|_, _| reply(r#"{"entities":[],"relations":[]}"#));
    let report = extract(&engine, &model);
    assert_eq!((report.entities, report.failed.len()), (0, 0));
    assert!(engine.verify().unwrap().violations.is_empty());
}

#[test]
fn dates_and_exclusive_relations_end_one_another() {
    let lives = RelationType {
        exclusive: true,
        ..RelationType::default()
    };
    let settings = ExtractionSettings {
        schema: Schema {
            entity: [
                ("Person".to_owned(), EntityType::default()),
                ("Place".to_owned(), EntityType::default()),
            ]
            .into(),
            relation: [("LIVES_IN".to_owned(), lives)].into(),
            ..Schema::default()
        },
        ..ExtractionSettings::default()
    };
    let engine = engine(&[(
        "a",
        "Kiran lived in Whitefield from 2019. Kiran moved to Lagoa in 2021.",
    )]);
    let model = Replay::new(|_, _| {
        let tie = |target: &str, from: &str, quote: &str| {
            json!({
                "source": "Kiran", "target": target, "type": "LIVES_IN", "valid_from": from, "quote": quote,
            })
        };
        reply(json!({
            "entities": [{"name": "Kiran", "type": "Person"}, {"name": "Whitefield", "type": "Place"}, {"name": "Lagoa", "type": "Place"}],
            "relations": [
                tie("Whitefield", "2019", "Kiran lived in Whitefield from 2019"),
                tie("Lagoa", "2021", "Kiran moved to Lagoa in 2021"),
                {"source": "Kiran", "target": "Lagoa", "type": "LIVES_IN", "valid_from": "2030", "valid_to": "2025"},
            ],
        }))
    });
    let report = extract_with(&engine, &model, &settings, SpendingLimit::default()).unwrap();
    assert_eq!(report.relations, 2);
    assert_eq!(
        ties(&engine, "Kiran"),
        ["Kiran LIVES_IN Lagoa"],
        "the first one has ended"
    );
    let aside = engine.quarantine().unwrap();
    assert!(aside[0].reason.contains("when it has ended"), "{aside:?}");
    let digest = engine.digest().unwrap();
    extract_with(&engine, &model, &settings, SpendingLimit::default()).unwrap();
    assert_eq!(engine.digest().unwrap(), digest);
}

#[test]
fn a_date_that_is_told_from_the_document_is_the_date_it_means() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("vault").join("log.md");
    std::fs::create_dir_all(note.parent().unwrap()).unwrap();
    std::fs::write(
        &note,
        "---\ndate: 2024-03-01\n---\nAna joined Orion last year.\n",
    )
    .unwrap();
    let path = folder.path().join("store.db");
    let engine = Engine::create(&path, EngineConfig::default()).unwrap();
    let source = SourceSpec {
        root: note.parent().unwrap().to_owned(),
        convention: None,
    };
    engine.index(&[source], &()).unwrap();
    let model = Replay::new(|_, _| {
        reply(json!({
            "entities": ["Ana", "Orion"],
            "relations": [{"source": "Ana", "target": "Orion", "type": "JOINED", "valid_from": "last year"}],
        }))
    });
    let report = extract(&engine, &model);
    assert_eq!(report.warnings, Vec::<String>::new());
    let rows = Engine::open_read_only(&path, EngineConfig::default())
        .unwrap()
        .sql("SELECT valid_from_written FROM relation WHERE origin = 'llm'")
        .unwrap();
    assert_eq!(json!(rows.rows), json!([["2023"]]));
}

#[test]
fn a_second_pass_adds_what_the_first_one_missed() {
    let engine = engine(&[("a", "Ana knows Bea. Caio knows Dora.")]);
    let model = Replay::new(|_, number| {
        let of = |a: &str, b: &str| {
            reply(
                json!({ "entities": [{"id": 0, "name": a}, {"id": 1, "name": b}],
                "relations": [{"source": 0, "target": 1, "type": "KNOWS"}] }),
            )
        };
        if number == 1 {
            of("Ana", "Bea")
        } else {
            of("Caio", "Dora")
        }
    });
    let settings = ExtractionSettings {
        second_pass: true,
        ..ExtractionSettings::default()
    };
    let report = extract_with(&engine, &model, &settings, SpendingLimit::default()).unwrap();
    assert_eq!(
        (report.entities, report.relations, model.total()),
        (4, 2, 2)
    );
    assert_eq!(ties(&engine, "Caio"), ["Caio KNOWS Dora"]);
}

#[test]
fn a_fact_found_wrong_goes_and_stays_away() {
    let texts = [
        ("a", "Ana knows Bea. Bea likes Caio."),
        ("b", "Ana knows Bea."),
    ];
    let engine = engine(&texts);
    let model = Replay::new(facts);
    extract(&engine, &model);
    let whole = engine.digest().unwrap();
    let sample = engine.facts_to_review(20, 1).unwrap();
    assert_eq!(sample.len(), 2);
    assert_eq!(sample, engine.facts_to_review(20, 1).unwrap());
    let knows = sample.iter().find(|fact| fact.kind == "knows").unwrap();
    assert_eq!(
        (
            knows.source.as_str(),
            knows.target.as_str(),
            knows.quote.as_str()
        ),
        ("Ana", "Bea", "Ana knows Bea.")
    );
    assert!(knows.passage[knows.quote_start..].starts_with(&knows.quote));
    let likes = sample.iter().find(|fact| fact.kind == "likes").unwrap();
    engine
        .judge_facts(&[(knows.id, false), (likes.id, true)])
        .unwrap();
    assert!(ties(&engine, "Ana").is_empty());
    assert!(
        engine.facts_to_review(20, 1).unwrap().is_empty(),
        "both are judged"
    );
    let precision = engine.precision().unwrap();
    let shares: Vec<(&str, f64)> = precision
        .iter()
        .map(|row| (row.kind.as_str(), row.precision))
        .collect();
    assert_eq!(shares, [("knows", 0.0), ("likes", 100.0), ("", 50.0)]);
    // Neither another run nor edits bring it back.
    let wrong = engine.digest().unwrap();
    extract(&engine, &model);
    engine
        .index_documents("notes", &documents(&texts[..1]), &())
        .unwrap();
    engine
        .index_documents("notes", &documents(&texts), &())
        .unwrap();
    extract(&engine, &model);
    assert_eq!(engine.digest().unwrap(), wrong);
    // It was right after all.
    engine.judge_facts(&[(knows.id, true)]).unwrap();
    assert_eq!(engine.digest().unwrap(), whole);
    assert!(matches!(
        engine.judge_facts(&[(999, true)]),
        Err(Error::NotFound { .. })
    ));
    assert!(engine.verify().unwrap().violations.is_empty());
}

#[test]
fn a_symmetric_fact_found_wrong_stays_away_whatever_its_ends_are_called() {
    let settings = ExtractionSettings {
        schema: Schema {
            entity: [("Person".to_owned(), EntityType::default())].into(),
            relation: [(
                "knows".to_owned(),
                RelationType {
                    symmetric: true,
                    ..RelationType::default()
                },
            )]
            .into(),
            ..Schema::default()
        },
        ..ExtractionSettings::default()
    };
    let model = Replay::new(|passage, number| {
        if !passage.contains("Zana") {
            return facts(passage, number);
        }
        let person = |name: &str, alias: &[&str]| json!({ "name": name, "type": "Person", "aliases": alias });
        reply(json!({
            "entities": [person("Zana Ribeiro", &["Ana"]), person("Dora", &[])],
            "relations": [{ "source": "Dora", "target": "Zana Ribeiro", "type": "knows" }],
        }))
    });
    let texts = [
        ("a", "Bea knows Ana."),
        ("b", "Dora met Zana Ribeiro, called Ana."),
    ];
    let engine = engine(&texts[..1]);
    let run = || extract_with(&engine, &model, &settings, SpendingLimit::default()).unwrap();
    run();
    let wrong = engine.facts_to_review(20, 1).unwrap()[0].id;
    engine.judge_facts(&[(wrong, false)]).unwrap();
    // Her other name comes after the other end's.
    engine
        .index_documents("notes", &documents(&texts), &())
        .unwrap();
    run();
    assert_eq!(engine.entity("Ana").unwrap()[0].name, "Zana Ribeiro");
    assert_eq!(ties(&engine, "Ana"), ["Dora knows Zana Ribeiro"]);
}

#[test]
fn what_was_corrected_or_forgotten_is_not_extracted_again() {
    let texts = [("a", "Ana knows Bea. Caio knows Dora.")];
    let engine = engine(&texts);
    let model = Replay::new(facts);
    extract(&engine, &model);
    engine
        .correct(&Correction {
            source: "Ana".to_owned(),
            relation: "knows".to_owned(),
            target: "Bea".to_owned(),
            ..Correction::default()
        })
        .unwrap();
    assert!(ties(&engine, "Ana").is_empty());
    let forgotten = ForgetRequest {
        entities: vec!["Dora".to_owned()],
        ..ForgetRequest::default()
    };
    engine.forget(&forgotten).unwrap();
    extract(&engine, &model);
    engine
        .index_documents("notes", &documents(&[("b", "Edu knows Fe.")]), &())
        .unwrap();
    engine
        .index_documents("notes", &documents(&texts), &())
        .unwrap();
    extract(&engine, &model);
    assert!(ties(&engine, "Ana").is_empty());
    assert!(ties(&engine, "Caio").is_empty());
    assert!(engine.verify().unwrap().violations.is_empty());
}
