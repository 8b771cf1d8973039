#![cfg(unix)]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::stub::{Answer, Stub};
use crate::support::Vault;

/// Texts of a call.
const BATCH: u64 = 64;

/// How many calls are answered; the others wait, so that no test depends on who is faster.
#[derive(Default)]
struct Gate {
    answered: Mutex<usize>,
    changed: Condvar,
}

impl Gate {
    fn wait_for(&self, number: usize) {
        let answered = self.answered.lock().unwrap();
        drop(
            self.changed
                .wait_while(answered, |answered| *answered <= number)
                .unwrap(),
        );
    }
}

struct Embedder {
    stub: Stub,
    gate: Arc<Gate>,
    /// Every text that a vector was sent back for, as often as it was.
    made: Arc<Mutex<Vec<String>>>,
}

impl Embedder {
    fn start() -> Self {
        Self::refusing(0)
    }

    /// Refuses the first so many calls.
    fn refusing(refused: usize) -> Self {
        let gate = Arc::new(Gate::default());
        let made = Arc::new(Mutex::new(Vec::new()));
        let (held, texts) = (Arc::clone(&gate), Arc::clone(&made));
        let stub = Stub::start(move |request| {
            held.wait_for(request.number);
            if request.number < refused {
                return Answer::error(401, "not yet");
            }
            let input = request.body["input"].as_array().unwrap();
            let data: Vec<Value> = (0..)
                .zip(input)
                .map(|(index, text)| {
                    let length = text.as_str().unwrap().len() as f32;
                    json!({"index": index, "embedding": [1.0, length / 100.0, 0.5, 0.25]})
                })
                .collect();
            let mut made = texts.lock().unwrap();
            made.extend(input.iter().map(|text| text.as_str().unwrap().to_owned()));
            Answer::ok(json!({"data": data, "model": "stub"}))
        });
        Self { stub, gate, made }
    }

    /// From now on the first so many calls are answered.
    fn answer(&self, calls: usize) {
        *self.gate.answered.lock().unwrap() = calls;
        self.gate.changed.notify_all();
    }

    fn answer_all(&self) {
        self.answer(usize::MAX);
    }

    /// Waits until more than so many calls have come: all before the last have been answered, and what they brought
    /// is stored.
    #[track_caller]
    fn wait_for_more_than(&self, calls: usize) {
        wait_for(|| self.stub.calls() > calls);
    }
}

fn vault(embedder: &Embedder, notes: usize) -> Vault {
    let config = format!(
        "[embedding]\nprovider = \"openai\"\nmodel = \"stub\"\nbase_url = \"{}\"\ndimensions = 4\n\
         timeout_ms = 300000\n",
        embedder.stub.url
    );
    let vault = Vault::with_notes(notes);
    vault.write("malha.toml", config);
    vault
}

/// Passages with and without a vector.
fn vectors(vault: &Vault) -> (u64, u64) {
    let count = |sql: &str| {
        let rows = vault.malha(&["sql", "--json", sql]).expect(0).json();
        rows[0]["n"].as_u64().unwrap()
    };
    (
        count("SELECT count(*) AS n FROM embedding"),
        count(
            "SELECT count(*) AS n FROM chunk WHERE retracted_at IS NULL AND id NOT IN (SELECT chunk FROM embedding)",
        ),
    )
}

#[track_caller]
fn wait_for(mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(
            started.elapsed() < Duration::from_mins(4),
            "waited too long"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn send_interrupt(child: &Child) {
    let process = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &process]).status();
    assert!(sent.unwrap().success());
}

/// Interrupts a run and answers its calls one by one until it has noticed.
fn stop(child: &mut Child, embedder: &Embedder) -> ExitStatus {
    send_interrupt(child);
    loop {
        std::thread::sleep(Duration::from_millis(200));
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        embedder.answer(embedder.stub.calls());
    }
}

/// Stopped with Ctrl-C and with `kill -9` again and again, it ends with a vector for every passage; of those that
/// were stored none is made twice.
#[test]
fn a_stopped_run_goes_on_where_it_was() {
    let embedder = Embedder::start();
    let vault = vault(&embedder, 800);
    embedder.answer(1);
    let mut child = vault.start(&["index", "--embed"]);
    // Everything can be searched by its words while vectors are being made.
    embedder.wait_for_more_than(1);
    let found = vault.malha(&["search", "--json", "--mode", "keyword", "Lane 7"]);
    assert!(!found.expect(0).uris().is_empty());
    assert_eq!(stop(&mut child, &embedder).code(), Some(130));
    let (after_interrupt, missing) = vectors(&vault);
    assert!(
        after_interrupt >= BATCH && missing > 0,
        "{after_interrupt} and {missing}"
    );
    let made = embedder.made.lock().unwrap().len() as u64;
    assert_eq!(made, after_interrupt, "what came back is stored");

    let mut lost = 0;
    for answered in 0..3 {
        let calls = embedder.stub.calls();
        let (before, _) = vectors(&vault);
        embedder.answer(calls + answered);
        let mut child = vault.start(&["embed"]);
        embedder.wait_for_more_than(calls + answered);
        child.kill().unwrap();
        child.wait().unwrap();
        // What was on its way is asked for again; nothing else is.
        lost += BATCH;
        let (now, _) = vectors(&vault);
        assert_eq!(now, before + BATCH * answered as u64);
        vault.malha(&["verify"]).expect(0);
    }
    embedder.answer_all();
    vault.malha(&["embed"]).expect(0);
    let (all, missing) = vectors(&vault);
    assert_eq!(missing, 0);
    let made = embedder.made.lock().unwrap();
    assert_eq!(made.iter().collect::<BTreeSet<_>>().len() as u64, all);
    assert!(made.len() as u64 <= all + lost, "{} for {all}", made.len());
    let calls = embedder.stub.calls();
    vault.malha(&["embed"]).expect(0);
    assert_eq!(embedder.stub.calls(), calls, "nothing is left to do");
}

/// Two embedders at once may do the same work, and nothing else happens.
#[test]
fn two_embedders_at_once_do_no_harm() {
    let embedder = Embedder::start();
    let vault = vault(&embedder, 100);
    vault.index();
    let mut children = [vault.start(&["embed"]), vault.start(&["embed"])];
    // Both are at it before either has stored anything.
    embedder.wait_for_more_than(1);
    embedder.answer_all();
    for child in &mut children {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    let (all, missing) = vectors(&vault);
    assert!(all > 0 && missing == 0, "{all} and {missing}");
    vault.malha(&["verify"]).expect(0);
}

/// Changes are indexed while vectors are being made, and get theirs.
#[test]
fn a_watching_run_embeds_beside_indexing() {
    let embedder = Embedder::start();
    let vault = vault(&embedder, 400);
    vault.index();
    embedder.answer(1);
    let mut child = vault.start(&["index", "--watch", "--embed"]);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("watching for changes")));
    // Keep reading, so that the program never waits for us.
    let reader = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>());
    embedder.wait_for_more_than(1);
    vault.write("new.md", "A new note about anchors.\n");
    wait_for(|| {
        let found = vault.malha(&["search", "--json", "--mode", "keyword", "anchors"]);
        !found.uris().is_empty()
    });
    assert!(vectors(&vault).1 > 0, "the second call is still waiting");
    embedder.answer_all();
    wait_for(|| vectors(&vault).1 == 0);
    let made = embedder.made.lock().unwrap().clone();
    assert!(made.iter().any(|text| text.contains("anchors")));
    send_interrupt(&child);
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{:?}", reader.join().unwrap());
}

/// A model that failed is asked again, though no file changes.
#[test]
fn a_watching_run_asks_a_model_that_failed_again() {
    // The batch, then its first and its last text alone.
    let embedder = Embedder::refusing(3);
    let vault = vault(&embedder, 20);
    vault.index();
    embedder.answer_all();
    let child = vault.start(&["index", "--watch", "--embed"]);
    wait_for(|| {
        let (made, missing) = vectors(&vault);
        made > 0 && missing == 0
    });
    send_interrupt(&child);
    let said = child.wait_with_output().unwrap();
    assert_eq!(said.status.code(), Some(130));
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert_eq!(said.matches("it is tried again").count(), 1, "{said}");
}
