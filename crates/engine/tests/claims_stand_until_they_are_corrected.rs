//! What is said of somebody, true, false or suspected: found by a model where the schema asks for it, or given
//! directly; dated twice, shown beside the facts, corrected, forgotten.

use std::fs;

use malha_engine::exchange::ExportFormat;
use malha_engine::extraction::{ClaimType, EntityType, ExtractionSettings, Schema};
use malha_engine::types::{
    Budget, ClaimCorrection, ClaimStatus, ConflictPolicy, ContextKind, ContextRequest,
    ForgetRequest, GivenClaim, Memory, MemoryReport, RecallRequest, SpendingLimit, Standing,
    Timeline, TimelineRequest, Times,
};
use malha_engine::{Engine, EngineConfig, Error, parse_moment};
use serde_json::json;

#[path = "support/replay.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod replay;

use replay::{Replay, documents, engine, extract_with, reply};

fn settings() -> ExtractionSettings {
    ExtractionSettings {
        schema: Schema {
            entity: [("Person".to_owned(), EntityType::default())].into(),
            claim: [("ACCUSATION".to_owned(), ClaimType::default())].into(),
            ..Schema::default()
        },
        ..ExtractionSettings::default()
    }
}

/// `Ana is said to steal.` is an accusation of Ana.
fn accusations() -> Replay {
    Replay::new(|passage, _| {
        let (mut entities, mut claims) = (Vec::new(), Vec::new());
        for sentence in passage.split('.') {
            // What a correction says is read like any text; here it says nothing new.
            let plain = Some(sentence.trim()).filter(|sentence| !sentence.contains('('));
            let Some((name, _)) = plain.and_then(|sentence| sentence.split_once(' ')) else {
                continue;
            };
            entities.push(json!({ "name": name, "type": "Person" }));
            claims.push(json!({
                "subject": name, "object": "NONE", "type": "accusation", "status": "SUSPECTED",
                "description": sentence.trim(), "quote": sentence.trim(), "valid_from": "2020",
            }));
        }
        reply(json!({ "entities": entities, "relations": [], "claims": claims }))
    })
}

fn extract(engine: &Engine, model: &Replay) -> (usize, usize, usize) {
    let report = extract_with(engine, model, &settings(), SpendingLimit::default()).unwrap();
    (report.claims, report.claims_added, report.claims_closed)
}

fn timeline(engine: &Engine, name: &str) -> Timeline {
    engine.timeline(&TimelineRequest::new(name)).unwrap()
}

fn shown(engine: &Engine, name: &str) -> Vec<String> {
    let claims = timeline(engine, name).claims;
    claims
        .iter()
        .map(|claim| format!("{} {}", claim.status.as_str(), claim.description))
        .collect()
}

fn claim(subject: &str, status: ClaimStatus, description: &str) -> GivenClaim {
    GivenClaim {
        subject: subject.to_owned(),
        kind: "accusation".to_owned(),
        status,
        description: description.to_owned(),
        ..GivenClaim::default()
    }
}

fn remember(engine: &Engine, claims: Vec<GivenClaim>) -> MemoryReport {
    let memory = Memory {
        claims,
        ..Memory::default()
    };
    engine.remember(&[memory], ConflictPolicy::Close).unwrap()
}

fn assert_sound(engine: &Engine) {
    let violations = engine.verify().unwrap().violations;
    assert!(violations.is_empty(), "{violations:?}");
}

#[test]
fn claims_of_a_model_follow_texts_and_replies() {
    let texts = [
        ("a", "Ana is said to steal. Bea is said to lie."),
        ("b", "Ana is said to steal."),
    ];
    let engine = engine(&texts);
    let model = accusations();
    assert_eq!(extract(&engine, &model), (2, 2, 0));
    assert_eq!(
        extract(&engine, &model),
        (2, 0, 0),
        "a second run changes nothing"
    );
    assert_eq!(engine.stats().unwrap().claims, 2);
    assert_sound(&engine);
    let found = timeline(&engine, "Ana").claims;
    assert_eq!(found.len(), 1, "said twice, it is one claim");
    assert_eq!(found[0].evidence.len(), 2);
    assert_eq!(found[0].evidence[0].quote, "Ana is said to steal.");
    assert_eq!(found[0].times.valid_from_written.as_deref(), Some("2020"));
    // An edit takes back what it no longer says; the rest is what a fresh run makes of it.
    let edited = [
        ("a", "Caio is said to flee."),
        ("b", "Ana is said to steal."),
    ];
    engine
        .index_documents("notes", &documents(&edited), &())
        .unwrap();
    assert_eq!(shown(&engine, "Ana"), ["suspected Ana is said to steal"]);
    extract(&engine, &model);
    assert!(matches!(
        engine.timeline(&TimelineRequest::new("Bea")),
        Err(Error::NotFound { .. })
    ));
    let fresh = replay::engine(&edited);
    extract(&fresh, &model);
    assert_eq!(engine.digest().unwrap(), fresh.digest().unwrap());
    assert_sound(&engine);
    // Nobody asks for claims that the schema does not declare, and those of before go.
    let silent = ExtractionSettings {
        schema: Schema {
            claim: [].into(),
            ..settings().schema
        },
        ..settings()
    };
    extract_with(&engine, &model, &silent, SpendingLimit::default()).unwrap();
    assert_eq!(engine.stats().unwrap().claims, 0);
    let aside = engine.quarantine().unwrap();
    assert!(
        aside
            .iter()
            .all(|item| item.reason == "the schema declares no claims")
    );
}

#[test]
fn claims_are_shown_where_their_entity_is() {
    let engine = Engine::in_memory(EngineConfig::default()).unwrap();
    let ended = GivenClaim {
        valid_from: Some("2001".to_owned()),
        valid_to: Some("2003".to_owned()),
        ..claim("Ana Prado", ClaimStatus::True, "Ana Prado ran the mill.")
    };
    let with_object = GivenClaim {
        object: Some("Orion Works".to_owned()),
        ..claim(
            "Ana Prado",
            ClaimStatus::Suspected,
            "Ana Prado sold papers of Orion Works.",
        )
    };
    let report = remember(&engine, vec![ended, with_object]);
    assert_eq!(
        (report.claims_added, report.entities_added),
        (2, 2),
        "{report:?}"
    );
    assert_sound(&engine);
    let entity = &engine.describe("Ana Prado").unwrap()[0];
    let standings: Vec<Standing> = entity.claims.iter().map(|claim| claim.standing).collect();
    assert_eq!(standings, [Standing::Current, Standing::Past]);
    assert_eq!(
        shown(&engine, "Orion Works").len(),
        1,
        "it concerns it, too"
    );
    // Recall shows what holds, and with history all of it; a budget counts claims.
    let recalled = engine.recall(&RecallRequest::new("Ana Prado"));
    assert_eq!(recalled.claims.len(), 1, "{recalled:?}");
    assert_eq!(recalled.claims[0].object.as_deref(), Some("Orion Works"));
    assert_eq!(recalled.claims[0].status, ClaimStatus::Suspected);
    assert!(recalled.claims[0].source.is_some());
    let all = engine.recall(&RecallRequest {
        prefer_present: false,
        ..RecallRequest::new("Ana Prado")
    });
    assert_eq!(all.claims.len(), 2);
    let little = engine.recall(&RecallRequest {
        budget: 8,
        ..RecallRequest::new("Ana Prado")
    });
    assert!(little.claims.is_empty() && little.cut && little.tokens <= 8);
    // As of then, the other one held.
    let then = engine.at(Times {
        as_of: Some(parse_moment("2002").unwrap()),
        known_at: None,
    });
    let held = &then.describe("Ana Prado").unwrap()[0].claims;
    assert!(held.iter().any(|claim| claim.standing == Standing::Current
        && claim.description == "Ana Prado ran the mill."));
    // What a local answer is made of holds them as well.
    let context = engine
        .context(&ContextRequest::new("Ana Prado", Budget::tokens(400)))
        .unwrap();
    let lines: Vec<&str> = context
        .items
        .iter()
        .filter(|item| item.kind == ContextKind::Claim)
        .map(|item| item.text.as_str())
        .collect();
    assert_eq!(
        lines,
        [
            "(Ana Prado), (Orion Works) [accusation, suspected]: Ana Prado sold papers of Orion Works."
        ]
    );
}

#[test]
fn a_corrected_claim_stays_corrected_and_can_be_undone() {
    let engine = engine(&[("a", "Ana is said to steal.")]);
    let model = accusations();
    extract(&engine, &model);
    let id = timeline(&engine, "Ana").claims[0].id.0.clone();
    let report = engine
        .correct_claim(&ClaimCorrection {
            id: id.clone(),
            status: Some(ClaimStatus::False),
            description: None,
        })
        .unwrap();
    assert_eq!((report.claims_added, report.claims_retracted), (1, 1));
    let refuted = ["false Ana is said to steal"];
    assert_eq!(shown(&engine, "Ana"), refuted);
    assert_sound(&engine);
    // The same reply says the old thing again, and so does somebody else.
    extract(&engine, &model);
    assert_eq!(shown(&engine, "Ana"), refuted);
    let mut again = claim("ANA", ClaimStatus::Suspected, "ana is said to  steal");
    again.valid_from = Some("2020".to_owned());
    again.kind = "Accusation".to_owned();
    let suppressed = remember(&engine, vec![again]);
    assert_eq!(suppressed.suppressed.len(), 1, "{suppressed:?}");
    assert_eq!(shown(&engine, "Ana"), refuted);
    // What was known before stays known.
    let all = engine
        .timeline(&TimelineRequest {
            history: true,
            ..TimelineRequest::new("Ana")
        })
        .unwrap();
    assert_eq!(all.claims.len(), 2);
    assert!(
        all.claims
            .iter()
            .any(|claim| claim.standing == Standing::Retracted)
    );
    engine.undo(report.operation.unwrap()).unwrap();
    assert_eq!(shown(&engine, "Ana"), ["suspected Ana is said to steal"]);
    assert_sound(&engine);
    extract(&engine, &model);
    assert_eq!(shown(&engine, "Ana"), ["suspected Ana is said to steal"]);
    let gone = engine.correct_claim(&ClaimCorrection {
        id: "0".repeat(32),
        ..ClaimCorrection::default()
    });
    assert!(matches!(gone, Err(Error::NotFound { kind: "claim", .. })));
    // Taken back without a word.
    engine
        .correct_claim(&ClaimCorrection {
            id,
            ..ClaimCorrection::default()
        })
        .unwrap();
    extract(&engine, &model);
    assert!(shown(&engine, "Ana").is_empty());
    assert_sound(&engine);
}

#[test]
fn a_claim_said_again_gains_evidence_and_undo_leaves_what_others_say() {
    let engine = Engine::in_memory(EngineConfig::default()).unwrap();
    let said = || vec![claim("Ana", ClaimStatus::Suspected, "Ana lies.")];
    remember(&engine, said());
    let again = remember(&engine, said());
    assert_eq!((again.claims_added, again.claims_repeated), (0, 1));
    assert_eq!(timeline(&engine, "Ana").claims[0].evidence.len(), 2);
    engine.undo(again.operation.unwrap()).unwrap();
    assert_eq!(shown(&engine, "Ana"), ["suspected Ana lies."]);
    assert_sound(&engine);
    // What is wrong with one costs none of the others.
    let bad = remember(
        &engine,
        vec![
            claim("", ClaimStatus::True, "x"),
            claim("Bea", ClaimStatus::True, "  "),
            GivenClaim {
                object: Some("bea".to_owned()),
                ..claim("Bea", ClaimStatus::True, "x")
            },
            GivenClaim {
                valid_from: Some("2005".to_owned()),
                valid_to: Some("2001".to_owned()),
                ..claim("Bea", ClaimStatus::True, "x")
            },
            GivenClaim {
                valid_from: Some("soon".to_owned()),
                ..claim("Bea", ClaimStatus::True, "x")
            },
            claim("Bea", ClaimStatus::True, "Bea sings."),
        ],
    );
    assert_eq!((bad.failed.len(), bad.claims_added), (5, 1), "{bad:?}");
    assert_sound(&engine);
}

#[test]
fn a_forgotten_claim_is_in_no_file() {
    const MARKER: &str = "zqxwvkpjmarkings";
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::create(&folder.path().join("store.db"), EngineConfig::default()).unwrap();
    let check = |request: ForgetRequest| {
        remember(
            &engine,
            vec![claim(
                "Dora",
                ClaimStatus::Suspected,
                &format!("Dora hid the {MARKER}."),
            )],
        );
        engine.forget(&request).unwrap();
        let absence = engine.absence(MARKER).unwrap();
        assert!(absence.found.is_empty(), "{absence:?}");
        for entry in fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            let is_there = bytes
                .windows(12)
                .any(|window| window == &MARKER.as_bytes()[..12]);
            assert!(!is_there, "{}", path.display());
        }
        assert_eq!(engine.stats().unwrap().claims, 0);
        assert_sound(&engine);
    };
    check(ForgetRequest {
        sessions: vec!["default".to_owned()],
        ..ForgetRequest::default()
    });
    check(ForgetRequest {
        texts: vec![MARKER.to_owned()],
        ..ForgetRequest::default()
    });
    // Forgetting whom it is about leaves the text; forgetting both leaves nothing.
    check(ForgetRequest {
        entities: vec!["Dora".to_owned()],
        texts: vec![MARKER.to_owned()],
        ..ForgetRequest::default()
    });
    let again = remember(
        &engine,
        vec![claim("Dora", ClaimStatus::True, "Dora is back.")],
    );
    assert!(
        again.failed[0].reason.contains("was forgotten"),
        "{again:?}"
    );
}

#[test]
fn claims_travel_with_an_export_and_stay_in_their_namespace() {
    let engine = Engine::in_memory(EngineConfig::default()).unwrap();
    remember(&engine, vec![claim("Ana", ClaimStatus::False, "Ana lies.")]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.jsonl");
    engine
        .export(ExportFormat::Malha, false, &file, &())
        .unwrap();
    let other = Engine::in_memory(EngineConfig::default()).unwrap();
    other.import_malha(&file).unwrap();
    assert_eq!(shown(&other, "Ana"), ["false Ana lies."]);
    assert_eq!(other.digest().unwrap(), engine.digest().unwrap());
    assert_sound(&other);
    let store = folder.path().join("store.db");
    let of = |namespace: &str| {
        let config = EngineConfig {
            namespace: namespace.to_owned(),
            ..EngineConfig::default()
        };
        Engine::create(&store, config).unwrap()
    };
    remember(
        &of("a"),
        vec![claim("Ana", ClaimStatus::True, "Ana is a spy.")],
    );
    let b = of("b");
    remember(&b, vec![claim("Ana", ClaimStatus::True, "Ana is a cook.")]);
    assert_eq!(shown(&b, "Ana"), ["true Ana is a cook."]);
    let recalled = serde_json::to_string(&b.recall(&RecallRequest::new("Ana spy"))).unwrap();
    assert!(!recalled.contains("is a spy"), "{recalled}");
    let foreign = timeline(&of("a"), "Ana").claims[0].id.0.clone();
    let correction = ClaimCorrection {
        id: foreign,
        ..ClaimCorrection::default()
    };
    assert!(b.correct_claim(&correction).is_err());
    assert_eq!(shown(&of("a"), "Ana"), ["true Ana is a spy."]);
}
