#![cfg(unix)]

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::stub::{Answer, Stub};
use crate::support::Vault;

/// How long the stub takes for a batch: long enough to be stopped in the middle.
const CALL: Duration = Duration::from_millis(100);

struct Embedder {
    stub: Stub,
    /// Every text that a vector was sent back for, as often as it was.
    made: Arc<Mutex<Vec<String>>>,
}

fn embedder() -> Embedder {
    let made = Arc::new(Mutex::new(Vec::new()));
    let texts = Arc::clone(&made);
    let stub = Stub::start(move |request| {
        std::thread::sleep(CALL);
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
    Embedder { stub, made }
}

fn vault(embedder: &Embedder, notes: usize) -> Vault {
    let config = format!(
        "[embedding]\nprovider = \"openai\"\nmodel = \"stub\"\nbase_url = \"{}\"\ndimensions = 4\n",
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
            started.elapsed() < Duration::from_mins(1),
            "waited too long"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Stopped with Ctrl-C and with `kill -9` again and again, it ends with a vector for every passage; of those that
/// were stored none is made twice.
#[test]
fn a_stopped_run_goes_on_where_it_was() {
    let embedder = embedder();
    let vault = vault(&embedder, 400);
    let mut child = vault.start(&["index", "--embed"]);
    // Everything can be searched by its words as soon as the first vectors are asked for.
    wait_for(|| embedder.stub.calls() > 1);
    let found = vault
        .malha(&["search", "--json", "--mode", "keyword", "Lane 7"])
        .expect(0);
    assert!(!found.uris().is_empty());
    interrupt(child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let (after_interrupt, missing) = vectors(&vault);
    assert!(
        after_interrupt > 0 && missing > 0,
        "{after_interrupt} and {missing}"
    );
    let made = embedder.made.lock().unwrap().len() as u64;
    assert_eq!(made, after_interrupt, "what came back is stored");

    let mut lost = 0;
    for _ in 0..3 {
        let calls = embedder.stub.calls();
        let (stored, missing) = vectors(&vault);
        let mut child = vault.start(&["embed"]);
        wait_for(|| embedder.stub.calls() > calls);
        child.kill().unwrap();
        child.wait().unwrap();
        // What was on its way is asked for again; nothing else is.
        lost += 2 * 64;
        let (now, _) = vectors(&vault);
        assert!(now >= stored, "{now} after {stored}, {missing} missing");
        vault.malha(&["verify"]).expect(0);
    }
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
    let embedder = embedder();
    let vault = vault(&embedder, 100);
    vault.index();
    let mut children = [vault.start(&["embed"]), vault.start(&["embed"])];
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
    let embedder = embedder();
    let vault = vault(&embedder, 400);
    vault.index();
    let mut child = vault.start(&["index", "--watch", "--embed"]);
    let errors = child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || std::io::read_to_string(errors).unwrap());
    wait_for(|| embedder.stub.calls() > 1);
    vault.write("new.md", "A new note about anchors.\n");
    wait_for(|| {
        let found = vault.malha(&["search", "--json", "--mode", "keyword", "anchors"]);
        !found.uris().is_empty()
    });
    let (_, missing) = vectors(&vault);
    assert!(
        missing > 0,
        "the note was found before all vectors were made"
    );
    wait_for(|| vectors(&vault).1 == 0);
    let made = embedder.made.lock().unwrap().clone();
    assert!(made.iter().any(|text| text.contains("anchors")));
    interrupt(child.id());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{}", reader.join().unwrap());
}

fn interrupt(process: u32) {
    let process = process.to_string();
    let sent = Command::new("kill").args(["-INT", &process]).status();
    assert!(sent.unwrap().success());
}
