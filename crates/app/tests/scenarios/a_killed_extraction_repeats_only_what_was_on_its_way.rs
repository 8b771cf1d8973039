use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::stub::{Answer, Received, Stub};
use crate::support::Vault;

const NOTES: usize = 24;
const AT_ONCE: usize = 4;
const EXTRACT: [&str; 3] = ["index", "--extract", "llm"];

fn passage(request: &Received) -> String {
    let messages = request.body["messages"].as_array().unwrap();
    let text = messages.last().unwrap()["content"].as_str().unwrap();
    text.split_once("Passage:\n").unwrap().1.trim().to_owned()
}

/// `A knows B.` as a model would put it.
fn answer(request: &Received) -> Answer {
    let passage = passage(request);
    let words: Vec<&str> = passage.trim_end_matches('.').split_whitespace().collect();
    let reply = json!({
        "entities": [{"name": words[0], "type": "Person"}, {"name": words[2], "type": "Person"}],
        "relations": [{"source": words[0], "target": words[2], "type": "KNOWS", "quote": passage}],
    });
    Answer::chat(&reply.to_string())
}

fn vault(url: &str) -> Vault {
    let vault = Vault::new(&[]);
    for number in 0..NOTES {
        let text = format!("Ana{number} knows Bea{}.", number % 7);
        vault.write(&format!("n{number:02}.md"), text);
    }
    let config =
        format!("[models]\nmodel = \"small\"\nbase_url = \"{url}\"\nconcurrency = {AT_ONCE}\n");
    vault.write("malha.toml", config);
    vault
}

/// Digest, and the facts with their evidence as rows.
fn content(vault: &Vault) -> (String, String) {
    const ROWS: &str = "SELECT a.key, t.key, b.key, v.quote, d.uri FROM relation r \
         JOIN entity a ON a.id = r.source JOIN entity b ON b.id = r.target \
         JOIN relation_type t ON t.id = r.type \
         JOIN evidence v ON v.relation = r.id AND v.retracted_at IS NULL \
         JOIN document d ON d.id = v.document \
         WHERE r.origin = 'llm' AND r.retracted_at IS NULL ORDER BY 1, 2, 3, 4, 5";
    let rows = vault.malha(&["sql", "--json", ROWS]).expect(0).stdout;
    assert_eq!(rows.matches(" knows ").count(), NOTES, "{rows}");
    (vault.digest(), rows)
}

fn undisturbed() -> (String, String) {
    let stub = Stub::start(answer);
    let vault = vault(&stub.url);
    vault.malha(&EXTRACT).expect(0);
    assert_eq!(stub.calls(), NOTES);
    content(&vault)
}

#[test]
fn a_killed_extraction_repeats_only_what_was_on_its_way() {
    const ANSWERED: usize = 9;
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let door = Arc::clone(&gate);
    let stub = Stub::start(move |request| {
        let (is_open, bell) = &*door;
        let mut guard = is_open.lock().unwrap();
        while request.number >= ANSWERED && !*guard {
            guard = bell.wait(guard).unwrap();
        }
        drop(guard);
        answer(request)
    });
    let vault = vault(&stub.url);
    let mut run = vault.start(&EXTRACT);
    // All that were answered are stored when as many more as there may be wait for their answers.
    let deadline = Instant::now() + Duration::from_mins(2);
    while stub.calls() < ANSWERED + AT_ONCE {
        assert!(Instant::now() < deadline, "{} calls", stub.calls());
        std::thread::sleep(Duration::from_millis(2));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let (is_open, bell) = &*gate;
    *is_open.lock().unwrap() = true;
    bell.notify_all();
    let runs = vault.malha(&["runs", "show", "--json"]).expect(0).json();
    assert_eq!(runs[0]["kind"], "extract");
    assert!(runs[0]["finished_at"].is_null(), "{runs}");

    vault.malha(&EXTRACT).expect(0);
    let received = stub.received();
    assert_eq!(
        received.len(),
        NOTES + AT_ONCE,
        "once, and what was on its way again"
    );
    let stored: BTreeSet<String> = received[..ANSWERED].iter().map(passage).collect();
    let after = &received[ANSWERED + AT_ONCE..];
    assert!(
        after
            .iter()
            .all(|request| !stored.contains(&passage(request)))
    );
    assert_eq!(content(&vault), undisturbed());
    vault.malha(&["verify"]).expect(0);
}

#[test]
fn two_processes_make_no_call_twice_and_store_no_row_twice() {
    let stub = Stub::start(answer);
    let vault = vault(&stub.url);
    vault.index();
    let mut runs = [vault.start(&EXTRACT), vault.start(&EXTRACT)];
    for run in &mut runs {
        assert_eq!(run.wait().unwrap().code(), Some(0));
    }
    let mut asked: Vec<String> = stub.received().iter().map(passage).collect();
    asked.sort();
    let all = asked.len();
    asked.dedup();
    assert_eq!((all, asked.len()), (NOTES, NOTES));
    assert_eq!(content(&vault), undisturbed());
}
