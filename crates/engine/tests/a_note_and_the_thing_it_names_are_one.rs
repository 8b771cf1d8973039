//! Facts of models about a name that a note bears are facts about the note, for as long as it bears it.

use std::path::Path;

use malha_engine::extraction::ExtractionSettings;
use malha_engine::types::{
    ConflictPolicy, ExtractReport, ForgetRequest, GivenEntity, Memory, MergeStatus,
};
use malha_engine::{Engine, EngineConfig, ExtractionRun, SourceSpec};
use serde_json::json;

#[path = "support/replay.rs"]
#[expect(dead_code, reason = "other tests need the rest")]
mod replay;

use replay::{Replay, reply, ties};

const NOTE: &str = "people/Ana Prado.md";
const URI: &str = "vault/people/Ana Prado.md";
const VAULT: &[(&str, &str)] = &[
    (NOTE, "---\naliases: [AP]\n---\nKnows the tides.\n"),
    ("log.md", "AP leads Serra.\n\nAna Prado wrote to Lagoa.\n"),
];

fn model() -> Replay {
    Replay::new(|passage, _| {
        let (mut entities, mut relations) = (Vec::new(), Vec::new());
        for (name, kind) in [
            ("Ana Prado", "Person"),
            ("AP", "Person"),
            ("Serra", "Project"),
            ("Lagoa", "Company"),
        ] {
            if passage.contains(name) {
                entities.push(json!({ "name": name, "type": kind, "description": format!("{name} of the log.") }));
            }
        }
        for (sentence, source, kind, target) in [
            ("AP leads Serra.", "AP", "LEADS", "Serra"),
            (
                "Ana Prado wrote to Lagoa.",
                "Ana Prado",
                "WROTE_TO",
                "Lagoa",
            ),
        ] {
            if passage.contains(sentence) {
                relations.push(
                    json!({ "source": source, "type": kind, "target": target, "quote": sentence }),
                );
            }
        }
        reply(json!({ "entities": entities, "relations": relations }))
    })
}

struct Vault {
    folder: tempfile::TempDir,
    engine: Engine,
    model: Replay,
}

impl Vault {
    fn new(files: &[(&str, &str)]) -> Self {
        let vault = Self {
            folder: tempfile::tempdir().unwrap(),
            engine: Engine::in_memory(EngineConfig::default()).unwrap(),
            model: model(),
        };
        for (path, text) in files {
            vault.write(path, text);
        }
        vault.run();
        vault
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join("vault").join(Path::new(name))
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn run(&self) -> ExtractReport {
        let settings = ExtractionSettings::default();
        let run = ExtractionRun::new(&self.model, &settings);
        let source = SourceSpec {
            root: self.folder.path().join("vault"),
            convention: None,
        };
        let (_, report) = self.engine.index_and_extract(&[source], &run, &()).unwrap();
        assert!(self.engine.verify().unwrap().violations.is_empty());
        report
    }

    fn digest(&self) -> String {
        self.engine.digest().unwrap()
    }

    /// Where the things of a name are: uris of notes, nothing for others.
    fn uris(&self, name: &str) -> Vec<Option<String>> {
        let found = self.engine.entity(name).unwrap();
        found.into_iter().map(|entity| entity.uri).collect()
    }

    fn remember(&self, entity: GivenEntity) {
        let memory = Memory {
            entities: vec![entity],
            ..Memory::default()
        };
        self.engine
            .remember(&[memory], ConflictPolicy::Close)
            .unwrap();
    }

    fn decide(&self, one: &str, is_same: Option<bool>) {
        let pairs = self.engine.merges().unwrap();
        let pair = pairs
            .iter()
            .find(|pair| pair.one == one && pair.other.starts_with("[["));
        self.engine
            .decide_merges(&[pair.unwrap().id], is_same)
            .unwrap();
    }
}

#[test]
fn what_is_said_of_its_name_or_alias_is_said_of_the_note() {
    let vault = Vault::new(VAULT);
    for name in ["Ana Prado", "AP"] {
        assert_eq!(vault.uris(name), [Some(URI.to_owned())], "{name}");
    }
    let entity = &vault.engine.entity("AP").unwrap()[0];
    assert_eq!(entity.name, "Ana Prado");
    assert_eq!(entity.types, ["Person"]);
    assert_eq!(
        entity.description.as_deref(),
        Some("Ana Prado of the log. AP of the log.")
    );
    assert_eq!(
        ties(&vault.engine, "Ana Prado"),
        ["Ana Prado LEADS Serra", "Ana Prado WROTE_TO Lagoa"]
    );
    let pairs: Vec<String> = vault
        .engine
        .merges()
        .unwrap()
        .iter()
        .map(|pair| format!("{} = {}", pair.one, pair.other))
        .collect();
    assert_eq!(
        pairs,
        [
            "AP = [[vault/people/Ana Prado.md]]",
            "Ana Prado = [[vault/people/Ana Prado.md]]"
        ]
    );
}

#[test]
fn facts_leave_a_note_that_goes_and_come_to_one_that_comes() {
    let vault = Vault::new(&VAULT[1..]);
    let bare = vault.digest();
    assert_eq!(vault.uris("Ana Prado"), [None]);
    vault.write(NOTE, VAULT[0].1);
    vault.run();
    let noted = vault.digest();
    assert_eq!(noted, Vault::new(VAULT).digest());
    assert_eq!(vault.uris("Ana Prado"), [Some(URI.to_owned())]);
    // Another note of the name: which one is meant, nobody says.
    vault.write("old/Ana Prado.md", "Nothing.\n");
    vault.run();
    assert_eq!(vault.uris("Ana Prado").len(), 3);
    assert!(ties(&vault.engine, "AP").contains(&"Ana Prado LEADS Serra".to_owned()));
    std::fs::remove_file(vault.path("old/Ana Prado.md")).unwrap();
    vault.run();
    assert_eq!(vault.digest(), noted);
    std::fs::remove_file(vault.path(NOTE)).unwrap();
    vault.run();
    assert_eq!(vault.digest(), bare);
    assert_eq!(
        ties(&vault.engine, "Ana Prado"),
        ["Ana Prado WROTE_TO Lagoa"]
    );
    assert_eq!(vault.model.total(), 3, "nothing is asked about twice");
}

#[test]
fn a_pair_can_be_taken_apart_and_stays_so() {
    let vault = Vault::new(VAULT);
    let joined = vault.digest();
    vault.decide("Ana Prado", Some(false));
    let apart = vault.digest();
    assert_ne!(apart, joined);
    assert_eq!(ties(&vault.engine, URI), ["Ana Prado LEADS Serra"]);
    vault.write("log.md", "Nothing.\n");
    vault.run();
    vault.write("log.md", VAULT[1].1);
    vault.run();
    assert_eq!(vault.digest(), apart);
    let pairs = vault.engine.merges().unwrap();
    let pair = pairs.iter().find(|pair| pair.one == "Ana Prado").unwrap();
    assert_eq!(pair.status, MergeStatus::Apart);
    vault.decide("Ana Prado", None);
    assert_eq!(vault.digest(), joined);
}

#[test]
fn a_fact_found_wrong_stays_away_whichever_name_it_was_said_of() {
    let vault = Vault::new(VAULT);
    let facts = vault.engine.facts_to_review(20, 1).unwrap();
    let leads = facts.iter().find(|fact| fact.kind == "LEADS").unwrap();
    vault.engine.judge_facts(&[(leads.id, false)]).unwrap();
    vault.run();
    assert_eq!(ties(&vault.engine, URI), ["Ana Prado WROTE_TO Lagoa"]);
    // It was said of the alias: the note's name is what it was known by.
    std::fs::remove_file(vault.path("log.md")).unwrap();
    vault.run();
    vault.write("log.md", VAULT[1].1);
    vault.run();
    assert_eq!(ties(&vault.engine, URI), ["Ana Prado WROTE_TO Lagoa"]);
}

#[test]
fn types_that_have_nothing_in_common_only_propose_it() {
    let vault = Vault::new(VAULT);
    let place = GivenEntity {
        name: "Ana Prado".to_owned(),
        kind: Some("Place".to_owned()),
        ..GivenEntity::default()
    };
    vault.remember(place);
    vault.run();
    let pairs = vault.engine.merges().unwrap();
    let pair = pairs.iter().find(|pair| pair.one == "Ana Prado").unwrap();
    assert_eq!(pair.status, MergeStatus::Proposed);
    vault.decide("Ana Prado", Some(true));
    assert!(ties(&vault.engine, URI).contains(&"Ana Prado WROTE_TO Lagoa".to_owned()));
}

#[test]
fn an_alias_that_was_given_directly_outlives_edits_of_the_note() {
    let vault = Vault::new(VAULT);
    let called = GivenEntity {
        name: "Ana Prado".to_owned(),
        aliases: vec!["the harbour pilot".to_owned()],
        ..GivenEntity::default()
    };
    vault.remember(called);
    assert_eq!(vault.uris("the harbour pilot"), [Some(URI.to_owned())]);
    vault.write(NOTE, "Knows other things now.\n");
    vault.run();
    assert_eq!(vault.uris("the harbour pilot"), [Some(URI.to_owned())]);
}

#[test]
fn a_forgotten_note_leaves_what_others_say() {
    let vault = Vault::new(VAULT);
    let note = ForgetRequest {
        documents: vec![URI.to_owned()],
        ..ForgetRequest::default()
    };
    vault.engine.forget(&note).unwrap();
    assert!(vault.engine.verify().unwrap().violations.is_empty());
    assert_eq!(
        ties(&vault.engine, "Ana Prado"),
        ["Ana Prado WROTE_TO Lagoa"]
    );
    std::fs::remove_file(vault.path(NOTE)).unwrap();
    vault.run();
    assert_eq!(vault.uris("Ana Prado"), [None]);

    let vault = Vault::new(VAULT);
    let thing = ForgetRequest {
        entities: vec!["Ana Prado".to_owned()],
        ..ForgetRequest::default()
    };
    vault.engine.forget(&thing).unwrap();
    vault.run();
    assert!(vault.engine.verify().unwrap().violations.is_empty());
    assert!(ties(&vault.engine, "Serra").is_empty());
    assert!(ties(&vault.engine, "Lagoa").is_empty());
}
