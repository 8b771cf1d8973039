//! Transcripts that grow, are cut, moved and rewritten while several hooks read them: no turn is lost, none
//! is told twice, and turns are found by the documents that they touched.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use malha_engine::{Engine, EngineConfig, Error, SourceSpec};

const TRANSCRIPT: &str = include_str!("fixtures/transcripts/claude_code.jsonl");

struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    fn engine(&self) -> Engine {
        Engine::create(
            &self.folder.path().join("malha.db"),
            EngineConfig::default(),
        )
        .unwrap()
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }
}

fn append(path: &Path, text: &str) {
    let mut file = fs::File::options().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn turn(number: usize) -> String {
    let line = |role: &str, text: &str| {
        serde_json::json!({
            "type": role, "sessionId": "s", "cwd": "/w",
            "timestamp": format!("2026-01-01T00:{:02}:{:02}Z", number / 60, number % 60),
            "message": { "role": role, "content": text },
        })
    };
    let question = line("user", &format!("question {number}"));
    let answer = line("assistant", &format!("answer {number}"));
    format!("{question}\n{answer}\n")
}

fn questions(engine: &Engine) -> Vec<String> {
    let turns = engine.turns(None, 10_000).unwrap();
    turns.into_iter().rev().map(|turn| turn.question).collect()
}

#[test]
fn a_transcript_that_grows_in_any_steps_gives_its_turns_once() {
    let home = Home::new();
    let engine = home.engine();
    let path = home.write("t.jsonl", "");
    for piece in TRANSCRIPT.as_bytes().chunks(97) {
        let mut file = fs::File::options().append(true).open(&path).unwrap();
        file.write_all(piece).unwrap();
        let report = engine.ledger_ingest(&path).unwrap();
        assert_eq!(report.broken, []);
    }
    assert_eq!(questions(&engine), ["Why is the index slow?", "E agora?"]);
    let other = Home::new();
    let whole = other.engine();
    whole
        .ledger_ingest(&other.write("t.jsonl", TRANSCRIPT))
        .unwrap();
    let strip = |engine: &Engine| {
        let turns = engine.turns(None, 10).unwrap();
        turns
            .into_iter()
            .map(|turn| malha_engine::types::TurnView {
                transcript: String::new(),
                ..turn
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(strip(&engine), strip(&whole));
    let again = whole.ledger_read(TRANSCRIPT.as_bytes()).unwrap();
    assert_eq!((again.turns_added, again.turns_updated), (0, 2));
}

#[test]
fn rotation_and_rewriting_keep_what_was() {
    let home = Home::new();
    let engine = home.engine();
    let path = home.write("t.jsonl", &(turn(1) + &turn(2)));
    engine.ledger_ingest(&path).unwrap();

    // The file goes aside, and another one takes its name.
    let rotated = home.folder.path().join("t.1.jsonl");
    fs::rename(&path, &rotated).unwrap();
    append(&rotated, &turn(3));
    home.write("t.jsonl", &(turn(4) + &turn(5)));
    let report = engine.ledger_ingest(home.folder.path()).unwrap();
    assert_eq!(report.transcripts, 2);
    let expected: Vec<String> = (1..=5).map(|number| format!("question {number}")).collect();
    assert_eq!(questions(&engine), expected);
    for turn in engine.turns(None, 10).unwrap() {
        let text = fs::read_to_string(&turn.transcript).unwrap();
        let range = turn.start.unwrap() as usize..turn.end.unwrap() as usize;
        assert!(text[range].contains(&turn.question), "{turn:?}");
    }

    // Rewritten: turn 4 is gone from the file and stays in the ledger, without a place.
    home.write("t.jsonl", &(turn(5) + &turn(6)));
    engine.ledger_ingest(&path).unwrap();
    let placeless: Vec<String> = engine
        .turns(None, 10)
        .unwrap()
        .into_iter()
        .filter(|turn| turn.start.is_none())
        .map(|turn| turn.question)
        .collect();
    assert_eq!(placeless, ["question 4"]);
    assert_eq!(questions(&engine).len(), 6);
    // Cut short.
    home.write("t.jsonl", "");
    engine.ledger_ingest(&path).unwrap();
    assert_eq!(questions(&engine).len(), 6);
}

#[test]
fn hooks_at_once_lose_nothing() {
    let home = Home::new();
    drop(home.engine());
    let path = home.write("t.jsonl", "");
    let count = 40;
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let engine = home.engine();
                let event = serde_json::json!({ "transcript_path": path }).to_string();
                for _ in 0..count {
                    engine.ledger_hook(&event).unwrap();
                }
            });
        }
        scope.spawn(|| {
            for number in 0..count {
                append(&path, &turn(number));
                std::thread::sleep(std::time::Duration::from_millis(3));
            }
        });
    });
    let engine = home.engine();
    engine.ledger_ingest(&path).unwrap();
    let expected: Vec<String> = (0..count)
        .map(|number| format!("question {number}"))
        .collect();
    assert_eq!(questions(&engine), expected);
}

#[test]
fn a_turn_is_found_by_its_words_and_by_what_it_touched() {
    let home = Home::new();
    let engine = home.engine();
    home.write(
        "vault/Rivers/Tejo.md",
        "# Tejo\n\nIt meets the sea near [[Lisboa]].\n",
    );
    home.write("vault/Lisboa.md", "# Lisboa\n\nA city.\n");
    let root = home.folder.path().join("vault");
    let source = SourceSpec {
        root: root.clone(),
        convention: None,
    };
    engine.index(&[source], &()).unwrap();
    let text = TRANSCRIPT.replace("/vault", root.to_str().unwrap());
    engine.ledger_ingest(&home.write("t.jsonl", &text)).unwrap();

    let found = |query: &str| -> Vec<(String, Vec<String>)> {
        let turns = engine.search_turns(query, 10).unwrap();
        turns
            .into_iter()
            .map(|turn| (turn.question, turn.found_by))
            .collect()
    };
    let why = "Why is the index slow?".to_owned();
    assert_eq!(
        found("cargo bench"),
        [(why.clone(), vec!["its words".to_owned()])]
    );
    let by_graph = found("lisboa");
    assert_eq!(by_graph.len(), 1, "{by_graph:?}");
    assert_eq!(by_graph[0].0, why);
    assert!(by_graph[0].1[0].contains("Tejo.md"), "{by_graph:?}");
    assert_eq!(found("agora \"índice OR* ").len(), 1);
    assert_eq!(found("nothing of this"), []);
    assert_eq!(found("\" ' ( ;"), []);
    let stats = engine.ledger_stats().unwrap();
    assert_eq!((stats.turns, stats.sessions, stats.documents), (2, 1, 1));
    assert_eq!(stats.tools[0], ("Bash".to_owned(), 1));
}

#[test]
fn what_is_wrong_is_said_and_logged() {
    let home = Home::new();
    let engine = home.engine();
    let path = home.write("t.jsonl", &format!("{}{{broken\n{}", turn(1), turn(2)));
    let report = engine.ledger_ingest(&path).unwrap();
    assert_eq!((report.turns_added, report.broken.len()), (2, 1));
    assert_eq!(report.broken[0].offset as usize, turn(1).len());
    assert!(matches!(engine.ledger_hook("{}"), Err(Error::Usage(_))));
    assert!(matches!(engine.ledger_hook("no"), Err(Error::Usage(_))));
    let gone = engine.ledger_hook("{\"transcript_path\": \"/no/such/file.jsonl\"}");
    assert!(matches!(gone, Err(Error::Io { .. })), "{gone:?}");
    engine.ledger_log("first").unwrap();
    engine.ledger_log("second").unwrap();
    let stats = engine.ledger_stats().unwrap();
    assert_eq!(
        (stats.failures, stats.last_failures[0].as_str()),
        (2, "second")
    );
    assert!(matches!(engine.turn(999), Err(Error::NotFound { .. })));
}
