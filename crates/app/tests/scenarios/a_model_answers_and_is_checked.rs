use serde_json::{Value, json};

use crate::stub::{Answer, Received, Stub};
use crate::support::Vault;

/// Cites the line of the evidence that tells who built it.
fn answer(request: &Received) -> Answer {
    let messages = request.body["messages"].as_array().unwrap();
    let asked = messages.last().unwrap()["content"].as_str().unwrap();
    let line = asked.lines().find(|line| line.contains("was built by"));
    let number = line.unwrap().split('|').next().unwrap();
    Answer::chat(&format!(
        "Ana Prado built the red kiln in 1911 [{number}]. It was sold to a king \u{1b}[31m[{number}]."
    ))
}

fn vault(stub: &Stub) -> Vault {
    let config = format!(
        "[models]\nmodel = \"small\"\nbase_url = \"{}\"\nretries = 0\n",
        stub.url
    );
    let vault = Vault::new(&[
        ("kiln.md", "The red kiln was built by Ana Prado in 1911."),
        ("mill.md", "The old mill stands by the river."),
        ("malha.toml", &config),
    ]);
    vault.index();
    vault
}

const QUESTION: &str = "Who built the red kiln?";

#[test]
fn a_model_answers_and_is_checked() {
    let stub = Stub::start(answer);
    let vault = vault(&stub);
    let ran = vault.malha(&["ask", QUESTION]).expect(0);
    assert!(
        ran.stdout.starts_with(
            "Ana Prado built the red kiln in 1911. [1]\nIt was sold to a king ␛[31m. [1] (not supported)\n\n\
             [1] kiln.md:1  bytes 0–44\n"
        ),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stderr.contains("1 sentence not supported"),
        "{}",
        ran.stderr
    );
    let found = vault.malha(&["ask", QUESTION, "--json"]).expect(0).json();
    assert_eq!(found["model"], "small");
    assert_eq!(found["spent"]["cache_hits"], 1, "{found}");
    assert_eq!(found["sentences"][1]["is_supported"], false);
    assert_eq!(stub.calls(), 1, "the reply was stored");
    let plain = vault.malha(&["ask", QUESTION, "--no-model"]).expect(0);
    assert!(
        plain.stdout.starts_with("The red kiln was built by"),
        "{}",
        plain.stdout
    );
    vault
        .malha(&["ask", "Which spacecraft landed on Titan?"])
        .expect(3);
    assert_eq!(stub.calls(), 1, "no evidence, no call");
    let usage = vault.malha(&["usage", "--json"]).expect(0).json();
    assert_eq!(usage["lines"][0]["name"], json!("answer"));
}

#[test]
fn without_its_model_an_answer_has_the_words_of_the_documents() {
    let stub = Stub::start(|_| Answer::error(401, "wrong key"));
    let vault = vault(&stub);
    let ran = vault.malha(&["ask", QUESTION]).expect(4);
    assert!(
        ran.stdout.starts_with("The red kiln was built by"),
        "{}",
        ran.stdout
    );
    assert!(ran.stderr.contains("wrong key"), "{}", ran.stderr);
    vault
        .malha(&["ask", QUESTION, "--max-calls", "0"])
        .expect(5);
    vault
        .malha(&["ask", QUESTION, "--max-cost", "1"])
        .expect(78);
    vault.configure("[answers]\nprompts = \"own\"\n");
    vault.write("own/answer.md", "Answer in\n{{langage}}.\n");
    let ran = vault.malha(&["ask", QUESTION]).expect(78);
    assert!(
        ran.stderr
            .contains("answer.md:2: unknown placeholder {{langage}}"),
        "{}",
        ran.stderr
    );
}

/// Writes a report about whatever it is shown, but for what `broken` names; cites the first line otherwise.
fn reporter(request: &Received, broken: &str) -> Answer {
    let text = |at: usize| {
        request.body["messages"][at]["content"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    if !text(0).starts_with("You write a report") {
        return Answer::chat("The notes tell of a kiln [1].");
    }
    if text(1).contains(broken) {
        return Answer::chat("{\"broken\": [1, 2");
    }
    let report = json!({
        "title": "A title of its own", "summary": "What it is about.", "rating": 5, "rating_reason": "Because.",
        "findings": [{"text": "The kiln is red.", "evidence": [1]}],
    });
    Answer::chat(&report.to_string())
}

#[test]
fn reports_are_written_once_and_a_broken_one_is_retried_alone() {
    let broken = std::sync::Arc::new(std::sync::Mutex::new("Mill".to_owned()));
    let of_stub = std::sync::Arc::clone(&broken);
    let stub = Stub::start(move |request| reporter(request, &of_stub.lock().unwrap()));
    let config = format!(
        "[models]\nmodel = \"small\"\nbase_url = \"{}\"\nretries = 0\n",
        stub.url
    );
    let vault = Vault::new(&[
        (
            "Kiln.md",
            "The red kiln was built by [[Ana Prado]] in 1911.",
        ),
        (
            "Ana Prado.md",
            "Ana Prado sold the [[Kiln]] to the village council.",
        ),
        (
            "Mill.md",
            "The old mill stands by the river. [[Bento Reis]] runs it.",
        ),
        (
            "Bento Reis.md",
            "Bento Reis runs the [[Mill]] with two apprentices.",
        ),
        ("malha.toml", &config),
    ]);
    vault.index();
    let write = ["graph", "communities", "--reports", "--json"];
    let first = vault.malha(&write).expect(4);
    assert!(first.stderr.contains("no report of"), "{}", first.stderr);
    let first: Value = first.json();
    assert_eq!(
        first["missing"].as_array().map(Vec::len),
        Some(1),
        "{first}"
    );
    let ask = [
        "ask",
        "--mode",
        "global",
        "What are the main themes of these notes?",
    ];
    let answered = vault.malha(&ask).expect(0);
    assert!(
        answered.stderr.contains("is missing"),
        "{}",
        answered.stderr
    );
    let calls = stub.calls();
    "nothing like it".clone_into(&mut broken.lock().unwrap());
    let second = vault.malha(&write).expect(0).json();
    assert_eq!(
        (&second["written"], stub.calls()),
        (&json!(1), calls + 1),
        "{second}"
    );
    let listed = vault.malha(&["graph", "communities"]).expect(0);
    assert!(
        listed.stdout.contains("A title of its own"),
        "{}",
        listed.stdout
    );
    vault
        .malha(&["graph", "communities", "--max-calls", "1"])
        .expect(2);
    let third = vault.malha(&write).expect(0).json();
    assert_eq!(
        (&third["written"], &third["spent"]["calls"]),
        (&json!(0), &json!(0))
    );
}
