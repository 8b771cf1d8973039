//! What was forgotten is in no answer, in no file of the store, and does not come back by itself.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use malha_engine::language_model::{Embedder, EmbeddingSpace, ModelError, TextRole};
use malha_engine::types::{
    ConflictPolicy, ForgetRequest, GivenFact, IngestReport, Memory, Mode, PurgeState,
    RecallRequest, SearchRequest,
};
use malha_engine::{Engine, EngineConfig, Error, SourceSpec};

/// Sixteen letters that stand nowhere else; a stemmer cuts the last four.
const MARKER: &str = "zqxwvkpjmarkings";

fn open(folder: &Path) -> Engine {
    Engine::create(&folder.join("store.db"), EngineConfig::default()).unwrap()
}

fn index(engine: &Engine, vault: &Path) -> IngestReport {
    let source = SourceSpec {
        root: vault.to_owned(),
        convention: None,
    };
    engine.index(&[source], &()).unwrap()
}

fn remember(engine: &Engine, text: &str, facts: &[(&str, &str, &str)], session: &str) {
    let relations = facts.iter().map(|&(source, relation, target)| GivenFact {
        source: source.to_owned(),
        relation: relation.to_owned(),
        target: target.to_owned(),
        ..GivenFact::default()
    });
    let memory = Memory {
        text: text.to_owned(),
        session: Some(session.to_owned()),
        relations: relations.collect(),
        ..Memory::default()
    };
    let report = engine.remember(&[memory], ConflictPolicy::Close).unwrap();
    assert!(report.failed.is_empty(), "{report:?}");
}

/// No file beside the store holds the word or what the search index makes of it.
fn assert_absent(engine: &Engine, folder: &Path) {
    let absence = engine.absence(MARKER).unwrap();
    assert!(absence.searched.len() > 1, "its stem is looked for too");
    assert!(absence.found.is_empty(), "{absence:?}");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            let found = bytes
                .windows(12)
                .any(|window| window.eq_ignore_ascii_case(&MARKER.as_bytes()[..12]));
            assert!(!found, "{}", path.display());
        }
    }
    let violations = engine.verify().unwrap().violations;
    assert!(violations.is_empty(), "{violations:?}");
    let found = engine.recall(&RecallRequest::new(MARKER));
    let found = serde_json::to_string(&(found.entities, found.relations, found.evidence)).unwrap();
    assert!(!found.contains(MARKER), "{found}");
}

#[test]
fn a_forgotten_document_is_in_no_file_and_stays_away() {
    let folder = tempfile::tempdir().unwrap();
    let vault = folder.path().join("vault");
    fs::create_dir(&vault).unwrap();
    let note = format!(
        "---\ntags: [{MARKER}]\naliases: [{MARKER} hall]\n---\n# Old\nThe {MARKER} of [[other]].\n"
    );
    fs::write(vault.join("old.md"), &note).unwrap();
    fs::write(vault.join("other.md"), "See [[old]], a harbour.\n").unwrap();
    fs::write(vault.join("third.md"), "A harbour by the sea.\n").unwrap();
    let engine = open(folder.path());
    index(&engine, &vault);
    // Also in an earlier version, which history keeps.
    fs::write(vault.join("old.md"), note.replace("# Old", "# Older")).unwrap();
    index(&engine, &vault);
    let request = ForgetRequest {
        documents: vec!["vault/old.md".to_owned()],
        ..ForgetRequest::default()
    };
    let preview = engine.preview_forget(&request).unwrap();
    assert_eq!(preview.documents, ["vault/old.md"]);
    assert_eq!(preview.purge, PurgeState::Preview);
    assert!(!engine.absence(MARKER).unwrap().found.is_empty());

    let report = engine.forget(&request).unwrap();
    assert_eq!(report.purge, PurgeState::Done);
    assert_absent(&engine, folder.path());
    // Neither the same file, nor an edited one, nor one under another name comes back.
    let skipped = |report: IngestReport| {
        assert_eq!(report.added, 0, "{report:?}");
        report.skipped.len()
    };
    assert_eq!(skipped(index(&engine, &vault)), 1);
    fs::write(vault.join("old.md"), format!("{note}More.\n")).unwrap();
    index(&engine, &vault);
    assert_absent(&engine, folder.path());
    let found = engine.search(&SearchRequest::new("harbour")).unwrap();
    assert_eq!(found.results.len(), 2);
    // Asked for, it does.
    assert!(engine.allow("vault/old.md").unwrap());
    assert!(!engine.allow("vault/old.md").unwrap());
    fs::write(vault.join("old.md"), format!("{note}Once more.\n")).unwrap();
    assert_eq!(index(&engine, &vault).added, 1);
    assert!(matches!(
        engine.forget(&ForgetRequest {
            documents: vec!["no/such.md".to_owned()],
            ..ForgetRequest::default()
        }),
        Err(Error::NotFound { .. })
    ));
}

#[test]
fn a_filter_forgets_what_it_lets_through_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let vault = folder.path().join("vault");
    fs::create_dir_all(vault.join("old")).unwrap();
    let dated = |year: u32| format!("---\ndate: {year}-05-01\n---\nThe {MARKER} of {year}.\n");
    fs::write(vault.join("old/a.md"), dated(2018)).unwrap();
    fs::write(vault.join("old/b.md"), "A harbour of 2022.\n").unwrap();
    fs::write(vault.join("c.md"), "A harbour by the sea.\n").unwrap();
    let engine = open(folder.path());
    index(&engine, &vault);
    let mut request = ForgetRequest::default();
    request.filter.under.push("vault/old".to_owned());
    assert_eq!(engine.preview_forget(&request).unwrap().documents.len(), 2);
    request.filter.until = Some("2019".to_owned());
    let preview = engine.preview_forget(&request).unwrap();
    assert_eq!(preview.documents, ["vault/old/a.md"]);
    engine.forget(&request).unwrap();
    assert_absent(&engine, folder.path());
    assert_eq!(engine.stats().unwrap().documents, 2);
    request.filter.since = Some("soon".to_owned());
    assert!(engine.preview_forget(&request).is_err());
}

/// Every passage's vector is drawn from its text.
struct Sums(EmbeddingSpace);

impl Sums {
    fn of(text: &str) -> Vec<f32> {
        (0..8_u32)
            .map(|n| {
                (0..)
                    .zip(text.bytes())
                    .map(|(at, byte)| ((u32::from(byte) * (at + n)) % 97) as f32)
                    .sum()
            })
            .collect()
    }
}

impl Embedder for Sums {
    fn space(&self) -> &EmbeddingSpace {
        &self.0
    }

    fn embed(&self, texts: &[&str], _: TextRole) -> Result<Vec<Vec<f32>>, ModelError> {
        Ok(texts.iter().map(|text| Self::of(text)).collect())
    }
}

#[test]
fn the_vector_of_what_is_forgotten_is_in_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path()).with_embedder(Box::new(|| {
        Ok(Arc::new(Sums(EmbeddingSpace {
            model: "sums".to_owned(),
            dimensions: 8,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            pooling: "mean".to_owned(),
            is_normalized: false,
        })))
    }));
    let vault = folder.path().join("vault");
    fs::create_dir(&vault).unwrap();
    fs::write(vault.join("old.md"), "What the old keeper knew.\n").unwrap();
    fs::write(vault.join("new.md"), "What the new keeper knows.\n").unwrap();
    index(&engine, &vault);
    assert_eq!(engine.embed(&()).unwrap().embedded, 2);
    let connection = rusqlite::Connection::open(folder.path().join("store.db")).unwrap();
    let vector: Vec<u8> = connection
        .query_row(
            "SELECT e.vector FROM embedding e JOIN chunk c ON c.id = e.chunk JOIN document d ON d.id = c.document
             WHERE d.uri = 'vault/old.md'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    drop(connection);
    let files_with_it = || -> Vec<String> {
        let files = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path());
        files
            .filter(|path| path.is_file())
            .filter(|path| {
                fs::read(path)
                    .unwrap()
                    .windows(vector.len())
                    .any(|bytes| bytes == vector)
            })
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect()
    };
    assert!(files_with_it().contains(&"store.1.vectors".to_owned()));
    let request = ForgetRequest {
        documents: vec!["vault/old.md".to_owned()],
        ..ForgetRequest::default()
    };
    assert_eq!(engine.forget(&request).unwrap().purge, PurgeState::Done);
    assert_eq!(files_with_it(), [""; 0]);
    let by_vector = SearchRequest {
        mode: Mode::Vector,
        ..SearchRequest::new("keeper")
    };
    assert_eq!(engine.search(&by_vector).unwrap().results.len(), 1);
    assert_eq!(files_with_it(), [""; 0]);
}

#[test]
fn a_forgotten_session_takes_its_facts_along_and_leaves_those_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    let secret = [
        ("Ana Prado", MARKER, "Blue Door"),
        ("Ana Prado", "knows", "Rui Sá"),
    ];
    remember(&engine, &format!("Ana said {MARKER}"), &secret, MARKER);
    remember(
        &engine,
        "Ana knows Rui",
        &[("Ana Prado", "knows", "Rui Sá")],
        "open",
    );
    let report = engine
        .forget(&ForgetRequest {
            sessions: vec![MARKER.to_owned()],
            ..ForgetRequest::default()
        })
        .unwrap();
    assert_eq!(report.documents.len(), 1);
    assert_absent(&engine, folder.path());
    let ana = engine.describe("Ana Prado").unwrap();
    assert_eq!(ana[0].relations.len(), 1);
    assert_eq!(ana[0].relations[0].weight.to_bits(), 1.0_f64.to_bits());
    assert!(engine.entity("Blue Door").unwrap().is_empty());
    // A new session starts from nothing and is not kept away.
    remember(&engine, "Good morning", &[], "fresh");
}

#[test]
fn a_forgotten_entity_is_nobody_and_is_not_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    remember(&engine, "", &[(MARKER, "knows", "Rui Sá")], "a");
    remember(
        &engine,
        "Rui sings in the hall",
        &[("Rui Sá", "sings in", "Great Hall")],
        "a",
    );
    let request = ForgetRequest {
        entities: vec![MARKER.to_owned()],
        ..ForgetRequest::default()
    };
    let preview = engine.preview_forget(&request).unwrap();
    assert_eq!((preview.entities.len(), preview.relations), (1, 1));
    assert_eq!(preview.still_named_in, ["memory/a/000001"]);
    engine
        .forget(&ForgetRequest {
            texts: vec![MARKER.to_owned()],
            ..request
        })
        .unwrap();
    assert_absent(&engine, folder.path());
    let memory = Memory {
        relations: vec![GivenFact {
            source: MARKER.to_owned(),
            relation: "knows".to_owned(),
            target: "Rui Sá".to_owned(),
            ..GivenFact::default()
        }],
        ..Memory::default()
    };
    let report = engine.remember(&[memory], ConflictPolicy::Close).unwrap();
    assert!(report.failed[0].reason.contains("forgotten"), "{report:?}");
    assert!(engine.entity(MARKER).unwrap().is_empty());
    assert_eq!(engine.describe("Rui Sá").unwrap()[0].relations.len(), 1);
}

#[test]
fn while_a_reader_holds_the_log_the_purge_is_pending() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    remember(&engine, MARKER, &[], "a");
    // A reader in the middle of a transaction of its own.
    let reader = rusqlite::Connection::open(folder.path().join("store.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM meta;").unwrap();
    let request = ForgetRequest {
        everything: true,
        ..ForgetRequest::default()
    };
    let started = std::time::Instant::now();
    assert_eq!(engine.forget(&request).unwrap().purge, PurgeState::Pending);
    assert!(started.elapsed().as_secs() < 60);
    assert!(
        engine
            .recall(&RecallRequest::new(MARKER))
            .evidence
            .is_empty()
    );
    reader.execute_batch("COMMIT").unwrap();
    drop(reader);
    let nothing = ForgetRequest::default();
    assert_eq!(engine.forget(&nothing).unwrap().purge, PurgeState::Done);
    assert_absent(&engine, folder.path());
}
