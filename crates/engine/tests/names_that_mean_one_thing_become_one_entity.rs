//! Names resolved end to end: joined for a reason, kept apart by decision, the same whatever the history.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use malha_engine::extraction::ExtractionSettings;
use malha_engine::language_model::{Embedder, EmbeddingSpace, ModelError, TextRole};
use malha_engine::types::{MergeStatus, SpendingLimit};
use malha_engine::{Engine, EngineConfig};
use serde_json::{Value, json};

#[path = "support/replay.rs"]
mod replay;

use replay::{Replay, documents, engine, extract, extract_with, reply, ties};

const TEAM: &[(&str, &str)] = &[
    ("a", "João Silva leads Lagoa. J. Silva signed the plan."),
    ("b", "João Silva wrote it; Silva also leads Serra."),
];

/// Answers by what the passage holds.
fn model() -> Replay {
    Replay::new(|passage, _| reply(said_of(passage)))
}

fn said_of(passage: &str) -> Value {
    let person = |name: &str| json!({ "name": name, "type": "Person" });
    let tie = |source: &str, kind: &str, target: &str| json!({ "source": source, "type": kind, "target": target });
    if passage.contains("signed the plan") {
        return json!({
            "entities": [person("João Silva"), person("J. Silva"), { "name": "Lagoa", "type": "Project" }],
            "relations": [tie("João Silva", "LEADS", "Lagoa")],
        });
    }
    if passage.contains("also leads") {
        return json!({
            "entities": [person("João Silva"), person("Silva"), { "name": "Serra", "type": "Project" }],
            "relations": [tie("Silva", "LEADS", "Serra")],
        });
    }
    if passage.contains("Mercury") {
        let is_planet = passage.contains("Sun");
        let (kind, description, other) = if is_planet {
            ("Planet", "The innermost world, close to the Sun.", "Sun")
        } else {
            ("Metal", "A liquid in old thermometers.", "thermometers")
        };
        return json!({
            "entities": [{ "name": "Mercury", "type": kind, "description": description }],
            "relations": [tie("Mercury", "BELONGS_TO", other)],
        });
    }
    let kind = if passage.contains("hires") {
        "Organization"
    } else {
        "Company"
    };
    let other = if passage.contains("hires") {
        "Ana"
    } else {
        "Rope"
    };
    json!({
        "entities": [{ "name": "Northwind", "type": kind }],
        "relations": [tie("Northwind", "HAS", other)],
    })
}

fn pairs(engine: &Engine) -> Vec<String> {
    let shown = |status: MergeStatus| match status {
        MergeStatus::Merged => "=",
        MergeStatus::Proposed => "?",
        MergeStatus::Apart => "|",
    };
    let pairs = engine.merges().unwrap();
    pairs
        .iter()
        .map(|pair| format!("{} {} {}", pair.one, shown(pair.status), pair.other))
        .collect()
}

fn number_of(engine: &Engine, one: &str) -> i64 {
    engine
        .merges()
        .unwrap()
        .iter()
        .find(|pair| pair.one == one)
        .unwrap()
        .id
}

#[test]
fn initials_and_surname_lead_to_one_person_with_all_facts() {
    let engine = engine(TEAM);
    let report = extract(&engine, &model());
    assert_eq!(
        (report.entities, report.relations, report.merged),
        (3, 2, 2)
    );
    assert_eq!(
        pairs(&engine),
        ["J. Silva = João Silva", "Silva = João Silva"]
    );
    for name in ["João Silva", "J. Silva", "Silva"] {
        let found = &engine.entity(name).unwrap()[0];
        assert_eq!(found.name, "João Silva", "{name}");
        assert_eq!(
            ties(&engine, name),
            ["João Silva LEADS Lagoa", "João Silva LEADS Serra"]
        );
    }
    assert!(engine.verify().unwrap().violations.is_empty());
}

#[test]
fn a_rejected_pair_stays_apart_and_undo_gives_it_back() {
    let first = engine(TEAM);
    let model = model();
    extract(&first, &model);
    let joined = first.digest().unwrap();
    first
        .decide_merges(&[number_of(&first, "Silva")], Some(false))
        .unwrap();
    assert_eq!(
        pairs(&first),
        ["Silva | João Silva", "J. Silva = João Silva"]
    );
    assert_eq!(ties(&first, "João Silva"), ["João Silva LEADS Lagoa"]);
    let apart = first.digest().unwrap();
    assert_ne!(apart, joined);
    // Edits and further extraction change nothing about it.
    first
        .index_documents("notes", &documents(&TEAM[..1]), &())
        .unwrap();
    first
        .index_documents("notes", &documents(TEAM), &())
        .unwrap();
    extract(&first, &model);
    assert_eq!(first.digest().unwrap(), apart);
    assert_eq!(model.total(), 2, "no text was asked about twice");
    first
        .decide_merges(&[number_of(&first, "Silva")], None)
        .unwrap();
    assert_eq!(first.digest().unwrap(), joined);
    assert!(first.verify().unwrap().violations.is_empty());
    assert!(first.decide_merges(&[999], Some(true)).is_err());
}

#[test]
fn any_order_of_edits_ends_in_the_same_names() {
    let model = model();
    let edited = engine(&[TEAM[1]]);
    extract(&edited, &model);
    assert_eq!(pairs(&edited), ["Silva = João Silva"]);
    edited
        .index_documents("notes", &documents(&[TEAM[0]]), &())
        .unwrap();
    extract(&edited, &model);
    assert_eq!(pairs(&edited), ["J. Silva = João Silva"]);
    edited
        .index_documents("notes", &documents(TEAM), &())
        .unwrap();
    extract(&edited, &model);
    let fresh = engine(TEAM);
    extract(&fresh, &model);
    assert_eq!(edited.digest().unwrap(), fresh.digest().unwrap());
}

#[test]
fn one_name_of_two_types_is_one_thing_unless_all_that_is_said_differs() {
    let engine = engine(&[
        ("c1", "Northwind hires Ana."),
        ("c2", "Northwind sells Rope."),
        ("c3", "Mercury runs close to the Sun."),
        ("c4", "Mercury is a liquid metal of thermometers."),
    ]);
    extract(&engine, &model());
    let northwind = &engine.entity("Northwind").unwrap();
    assert_eq!(northwind.len(), 1);
    assert_eq!(northwind[0].types, ["Company", "Organization"]);
    assert_eq!(
        ties(&engine, "Northwind"),
        ["Northwind HAS Ana", "Northwind HAS Rope"]
    );
    assert_eq!(pairs(&engine), ["Mercury (Metal) ? Mercury (Planet)"]);
    assert_eq!(
        ties(&engine, "Mercury (Planet)"),
        ["Mercury (Planet) BELONGS_TO Sun"]
    );
    assert_eq!(
        ties(&engine, "Mercury (Metal)"),
        ["Mercury (Metal) BELONGS_TO thermometers"]
    );
    let number = number_of(&engine, "Mercury (Metal)");
    engine.decide_merges(&[number], Some(true)).unwrap();
    assert_eq!(
        ties(&engine, "Mercury").len(),
        2,
        "somebody knew better, and no fact is gone"
    );
    engine.decide_merges(&[number], Some(false)).unwrap();
    assert_eq!(pairs(&engine), ["Mercury (Metal) | Mercury (Planet)"]);
    assert!(engine.verify().unwrap().violations.is_empty());
}

#[test]
fn what_nothing_settles_is_for_a_model_to_judge_once() {
    // No text has both names.
    let texts = [
        ("a", "João Silva leads Lagoa."),
        ("b", "J. Silva leads Serra."),
    ];
    let model = Replay::new(|passage, _| {
        if passage.starts_with("1. ") {
            assert_eq!(
                passage,
                "1. \"J. Silva\" (Person; leads → serra) | \"João Silva\" (Person; leads → lagoa)\n"
            );
            return reply(json!({ "pairs": [{ "number": 1, "same": "yes" }] }));
        }
        let (name, project) = if passage.contains("João") {
            ("João Silva", "Lagoa")
        } else {
            ("J. Silva", "Serra")
        };
        reply(json!({
            "entities": [{ "name": name, "type": "Person" }],
            "relations": [{ "source": name, "type": "LEADS", "target": project }],
        }))
    });
    let plain = engine(&texts);
    extract(&plain, &model);
    assert_eq!(pairs(&plain), ["J. Silva ? João Silva"]);
    let settings = ExtractionSettings {
        judge: true,
        ..ExtractionSettings::default()
    };
    let run = |engine: &Engine| {
        extract_with(engine, &model, &settings, SpendingLimit::default()).unwrap()
    };
    let report = run(&plain);
    assert_eq!(
        (report.spent.calls, report.merged, report.proposed),
        (1, 1, 0)
    );
    assert_eq!(pairs(&plain), ["J. Silva = João Silva"]);
    assert_eq!(
        run(&plain).spent.calls,
        0,
        "what was judged is not asked again"
    );
    // A person has the last word.
    plain
        .decide_merges(&[number_of(&plain, "J. Silva")], Some(false))
        .unwrap();
    run(&plain);
    assert_eq!(pairs(&plain), ["J. Silva | João Silva"]);
}

#[test]
fn what_was_forgotten_comes_back_under_none_of_its_names() {
    let engine = engine(TEAM);
    let model = model();
    extract(&engine, &model);
    let request = malha_engine::types::ForgetRequest {
        entities: vec!["João Silva".to_owned()],
        ..Default::default()
    };
    engine.forget(&request).unwrap();
    engine
        .index_documents("notes", &documents(TEAM), &())
        .unwrap();
    extract(&engine, &model);
    for name in ["João Silva", "J. Silva"] {
        let is_fact = engine
            .entity(name)
            .unwrap()
            .iter()
            .any(|entity| !entity.types.is_empty());
        assert!(!is_fact, "{name}");
    }
    assert!(pairs(&engine).is_empty());
}

#[test]
fn a_description_is_summarised_only_past_its_limit() {
    let long = "is the keeper of a great many ropes of every length and colour that anybody could wish for in a \
                harbour of this size, as all who live there agree when they are asked about it on market days";
    let texts: Vec<(String, String)> = (0..5)
        .map(|n| (format!("d{n}"), format!("Northwind number{n} {long}.")))
        .collect();
    let texts: Vec<(&str, &str)> = texts
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let model = Replay::new(|passage, _| {
        if passage.starts_with("- ") {
            return reply("Northwind keeps ropes.");
        }
        let description = passage.trim_start_matches("Northwind ");
        reply(
            json!({ "entities": [{ "name": "Northwind", "type": "Company", "description": description }] }),
        )
    });
    let settings = ExtractionSettings {
        summarize: true,
        ..ExtractionSettings::default()
    };
    let run = |texts: &[(&str, &str)]| {
        let engine = engine(texts);
        let report = extract_with(&engine, &model, &settings, SpendingLimit::default()).unwrap();
        let entity = engine.entity("Northwind").unwrap().remove(0);
        (report.spent.calls, entity.description.unwrap())
    };
    let (calls, description) = run(&texts[..1]);
    assert_eq!((calls, description.starts_with("number0")), (1, true));
    assert_eq!(run(&texts), (6, "Northwind keeps ropes.".to_owned()));
}

#[test]
fn an_exact_name_is_always_the_same_thing_however_often_it_comes() {
    let texts: Vec<(String, String)> = (0..4)
        .map(|n| (format!("d{n}"), format!("The DGIA signed paper{n}.")))
        .collect();
    let texts: Vec<(&str, &str)> = texts
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let model = Replay::new(|_, _| {
        reply(json!({ "entities": [{ "name": "DGIA", "type": "Organization" }] }))
    });
    let engine = engine(&texts[..1]);
    for upto in 1..=4 {
        engine
            .index_documents("notes", &documents(&texts[..upto]), &())
            .unwrap();
        let report = extract(&engine, &model);
        assert_eq!((report.entities, report.failed.len()), (1, 0));
    }
    assert_eq!(engine.entity("DGIA").unwrap().len(), 1);
}

#[test]
fn the_same_text_three_times_and_once_a_copy_weighs_two() {
    let text = "Acme owns Rope. Acme owns Rope.";
    let model = Replay::new(|_, _| {
        let tie = json!({ "source": "Acme", "type": "OWNS", "target": "Rope" });
        reply(
            json!({ "entities": [{ "name": "Acme" }, { "name": "Acme" }, { "name": "Rope" }], "relations": [tie, tie] }),
        )
    });
    let engine = engine(&[("a", text)]);
    for _ in 0..3 {
        engine
            .index_documents("notes", &documents(&[("a", text)]), &())
            .unwrap();
        let report = extract(&engine, &model);
        assert_eq!((report.entities, report.relations), (2, 1));
    }
    let evidence = |engine: &Engine| {
        let request = malha_engine::types::NeighborRequest {
            max_hops: 1,
            ..malha_engine::types::NeighborRequest::new("Acme")
        };
        let found = engine.neighbors(&request).unwrap();
        (found.relations.len(), found.relations[0].evidence.len())
    };
    assert_eq!(evidence(&engine), (1, 1));
    engine
        .index_documents("notes", &documents(&[("a", text), ("b", text)]), &())
        .unwrap();
    extract(&engine, &model);
    assert_eq!(
        evidence(&engine),
        (1, 2),
        "the copy is a second source of the same fact"
    );
    assert_eq!(model.total(), 1, "and costs nothing");
}

/// Puts names of books into one direction, all others each into its own.
struct ByTopic {
    space: EmbeddingSpace,
    texts: AtomicUsize,
}

impl Embedder for ByTopic {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    fn embed(&self, texts: &[&str], _: TextRole) -> Result<Vec<Vec<f32>>, ModelError> {
        let vector = |text: &&str| {
            let number = self.texts.fetch_add(1, Ordering::Relaxed);
            let is_book = ["Tide Register", "Livro das Marés"].contains(text);
            let mut vector = vec![0.0; 64];
            vector[if is_book { 0 } else { 1 + number % 63 }] = 1.0;
            vector
        };
        Ok(texts.iter().map(vector).collect())
    }
}

#[test]
fn names_whose_vectors_are_near_are_proposed_and_never_joined() {
    let texts = [
        ("a", "The Tide Register lies in the harbour."),
        ("b", "Livro das Marés, copied twice, and the Almanac."),
    ];
    let model = Replay::new(|passage, _| {
        let names: &[&str] = if passage.contains("Register") {
            &["Tide Register"]
        } else {
            &["Livro das Marés", "Almanac"]
        };
        let books = names
            .iter()
            .map(|name| json!({ "name": name, "type": "Book" }));
        reply(json!({ "entities": books.collect::<Vec<Value>>() }))
    });
    let topic = Arc::new(ByTopic {
        space: EmbeddingSpace {
            model: "topic".to_owned(),
            dimensions: 64,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            pooling: "mean".to_owned(),
            is_normalized: true,
        },
        texts: AtomicUsize::new(0),
    });
    let config = EngineConfig {
        use_synonyms: true,
        ..EngineConfig::default()
    };
    let engine = Engine::in_memory(config)
        .unwrap()
        .with_embedder(Box::new(move || Ok(topic.clone())));
    engine
        .index_documents("notes", &documents(&texts), &())
        .unwrap();
    let report = extract(&engine, &model);
    assert_eq!((report.entities, report.merged, report.proposed), (3, 0, 0));
    engine.embed(&()).unwrap();
    let report = extract(&engine, &model);
    assert_eq!((report.entities, report.merged, report.proposed), (3, 0, 1));
    assert_eq!(pairs(&engine), ["Tide Register ? Livro das Marés"]);
    let number = number_of(&engine, "Tide Register");
    engine.decide_merges(&[number], Some(true)).unwrap();
    assert_eq!(pairs(&engine), ["Tide Register = Livro das Marés"]);
    engine.decide_merges(&[number], Some(false)).unwrap();
    extract(&engine, &model);
    assert_eq!(pairs(&engine), ["Tide Register | Livro das Marés"]);
}
