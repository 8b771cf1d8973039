use serde_json::{Value, json};

use crate::stub::{Answer, Received, Stub};
use crate::support::Vault;

/// `A knows B.` as a model would put it; the note about Caio gets no sense the first two times.
fn answer(request: &Received) -> Answer {
    let messages = request.body["messages"].as_array().unwrap();
    let passage = messages.last().unwrap()["content"].as_str().unwrap();
    let passage = passage.split_once("Passage:\n").unwrap().1.trim();
    if passage.contains("Caio") && request.number < 4 {
        return Answer::chat("Let me analyse the text…");
    }
    let words: Vec<&str> = passage.trim_end_matches('.').split_whitespace().collect();
    let reply = json!({
        "entities": [{"name": words[0], "type": "Person"}, {"name": words[2], "type": "Person"}],
        "relations": [{"source": words[0], "target": words[2], "type": "KNOWS", "quote": passage}],
    });
    Answer::chat(&reply.to_string())
}

fn vault(stub: &Stub) -> Vault {
    let config = format!(
        "[models]\nmodel = \"small\"\nbase_url = \"{}\"\nconcurrency = 1\n",
        stub.url
    );
    Vault::new(&[
        ("a.md", "Ana knows Bea."),
        ("b.md", "Caio knows Dora."),
        ("c.md", "Edu knows Fe."),
        ("malha.toml", &config),
    ])
}

const EXTRACT: [&str; 4] = ["index", "--extract", "llm", "--json"];

#[test]
fn a_bad_reply_costs_only_its_passage() {
    let stub = Stub::start(answer);
    let vault = vault(&stub);
    let estimate = vault
        .malha(&["index", "--extract", "llm", "--estimate", "--json"])
        .expect(0)
        .json();
    assert_eq!(
        (estimate["calls"].as_u64(), stub.calls()),
        (Some(3), 0),
        "nothing is sent"
    );
    let ran = vault.malha(&EXTRACT).expect(4);
    assert!(
        ran.stderr.contains("b.md:1: there is no JSON in it"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        stub.calls(),
        4,
        "one a passage, and one more for the bad one"
    );
    let aside = vault
        .malha(&["quarantine", "list", "--json"])
        .expect(0)
        .json();
    assert_eq!(aside.as_array().map(Vec::len), Some(1), "{aside}");
    let number = aside[0]["id"].to_string();
    let shown = vault.malha(&["quarantine", "show", &number]).expect(0);
    assert!(shown.stdout.contains("Let me analyse"), "{}", shown.stdout);
    let again = vault.malha(&EXTRACT).expect(0).json();
    assert_eq!((stub.calls(), &again["extract"]["known"]), (5, &json!(2)));
    let usage = vault.malha(&["usage", "--json"]).expect(0).json();
    assert_eq!(
        (&usage["total"]["calls"], &usage["total"]["rejected"]),
        (&json!(5), &json!(2))
    );
    let runs = vault.malha(&["runs", "show", "--json"]).expect(0).json();
    assert!(
        runs.as_array()
            .unwrap()
            .iter()
            .any(|run: &Value| run["kind"] == "extract")
    );
    vault.malha(&["runs", "show"]).expect(0);
    vault.malha(&["runs", "show", "9999"]).expect(3);
    vault.malha(&["quarantine", "drop", "9999"]).expect(3);
    vault.malha(&["verify"]).expect(0);
}

#[test]
fn a_spending_limit_ends_with_its_own_code_and_the_next_run_goes_on() {
    let stub = Stub::start(answer);
    let vault = vault(&stub);
    let mut limited = EXTRACT.to_vec();
    limited.extend(["--max-calls", "1"]);
    vault.malha(&limited).expect(5);
    assert_eq!(stub.calls(), 1);
    vault
        .malha(&["index", "--extract", "llm", "--max-cost", "1"])
        .expect(78);
    for bad in ["nan", "inf", "-1", "much"] {
        let limit = format!("--max-cost={bad}");
        vault
            .malha(&["index", "--extract", "llm", &limit])
            .expect(2);
    }
    // A model that only steps in costs money too.
    let priced = "fallback = [\"openai:large\"]\n[[models.price]]\nmodel = \"small\"\n\
                  input_per_million = 1.0\noutput_per_million = 1.0\n";
    let config = std::fs::read_to_string(vault.root.join("malha.toml")).unwrap();
    vault.write("malha.toml", config + priced);
    let ran = vault
        .malha(&["index", "--extract", "llm", "--max-cost", "1"])
        .expect(78);
    assert!(ran.stderr.contains("large has no price"), "{}", ran.stderr);
    assert_eq!(stub.calls(), 1);
    vault.malha(&["index", "--estimate"]).expect(2);
}

#[test]
fn a_prompt_and_a_schema_that_cannot_be_used_are_refused_before_anything_is_sent() {
    let stub = Stub::start(answer);
    let vault = vault(&stub);
    vault.configure("[extraction]\nprompts = \"own\"\n");
    let ran = vault.malha(&EXTRACT).expect(78);
    assert!(
        ran.stderr.contains("there is no such folder of prompts"),
        "{}",
        ran.stderr
    );
    vault.write("own/passage.md", "Passage:\n{\"a\": {}}\n{{txt}}\n");
    let ran = vault.malha(&EXTRACT).expect(78);
    assert!(
        ran.stderr
            .contains("passage.md:3: unknown placeholder {{txt}}"),
        "{}",
        ran.stderr
    );
    std::fs::remove_file(vault.root.join("own/passage.md")).unwrap();
    vault.write(
        "schema.toml",
        "[entity.Person]\n[relation.KNOWS]\nsource = [\"Ghost\"]\n",
    );
    vault.malha(&["schema", "check"]).expect(1);
    let ran = vault.malha(&EXTRACT).expect(2);
    assert!(ran.stderr.contains("Ghost"), "{}", ran.stderr);
    assert_eq!(stub.calls(), 0);
}

#[test]
fn a_vaults_own_folder_of_prompts_is_notes_and_nothing_else() {
    let stub = Stub::start(answer);
    let vault = vault(&stub);
    for name in ["extract.md", "passage.md", "summary.md"] {
        vault.write(&format!("prompts/{name}"), "Template of mine, {{title}}.\n");
    }
    // As prompts they would be refused: none of them has a {{title}}.
    vault
        .malha(&["index", "--extract", "llm", "--max-calls", "1"])
        .expect(5);
    assert_eq!(stub.calls(), 1);
}

/// Buglog D10: what was not there to extract is said, and nothing that comes after it fails.
#[test]
fn an_extraction_that_finds_nothing_says_so_and_questions_have_no_evidence() {
    let stub = Stub::start(|_| Answer::chat(r#"{"entities":[],"relations":[]}"#));
    let config = format!(
        "[models]\nmodel = \"small\"\nbase_url = \"{}\"\n[extraction]\npassage_tokens = 1200\n",
        stub.url
    );
    let vault = Vault::new(&[("a.md", "ok"), ("b.md", "…"), ("malha.toml", &config)]);
    let ran = vault.malha(&["index", "--extract", "llm"]).expect(0);
    assert!(
        ran.stderr
            .contains("nothing was extracted: no passage names a thing of the schema"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("passages of more than 1,000 tokens"),
        "{}",
        ran.stderr
    );
    vault.malha(&["graph", "communities"]).expect(0);
    let answer = vault
        .malha(&["ask", "Who keeps the lighthouse?", "--no-model", "--json"])
        .expect(3)
        .json();
    assert_eq!(answer["is_refusal"], true, "{answer}");
    let calls = stub.calls();
    let answer = vault.malha(&["ask", "Who keeps the lighthouse?"]).expect(3);
    assert_eq!(
        stub.calls(),
        calls,
        "nothing to ask a model about: {}",
        answer.stdout
    );
    vault.write("malha.toml", config.replace("1200", "1000"));
    let ran = vault.malha(&["index", "--extract", "llm"]).expect(0);
    assert!(!ran.stderr.contains("1,000 tokens"), "{}", ran.stderr);
}

#[test]
fn a_provider_that_wants_to_be_left_alone_ends_the_run() {
    let stub = Stub::start(|request| {
        if request.number < 3 {
            let messages = request.body["messages"].as_array().unwrap();
            let passage = messages.last().unwrap()["content"].as_str().unwrap();
            let name = passage.split_once("Passage:\n").unwrap().1;
            let name = name.split_whitespace().next().unwrap();
            let reply = json!({"entities": [{"name": name, "type": "Person"}], "relations": []});
            return Answer::chat(&reply.to_string());
        }
        let hours = ("retry-after".to_owned(), "7200".to_owned());
        Answer::Status(429, vec![hours], "{}".to_owned())
    });
    let vault = vault(&stub);
    for number in 0..40 {
        vault.write(&format!("more/n{number}.md"), format!("Ana{number} rests."));
    }
    let ran = vault.malha(&EXTRACT).expect(4);
    assert_eq!(stub.calls(), 4, "it is not asked again");
    let report = ran.json();
    assert_eq!(report["extract"]["extracted"], 3);
    assert_eq!(report["extract"]["left"], 40);
    assert_eq!(report["extract"]["failed"], json!([]));
    assert!(
        ran.stderr.contains("nothing was asked about the rest"),
        "{}",
        ran.stderr
    );
}

#[test]
fn braces_of_a_document_and_of_a_prompt_arrive_as_they_are() {
    let stub = Stub::start(|_| Answer::chat(r#"{"entities":[],"relations":[]}"#));
    let vault = vault(&stub);
    let text =
        "Ana writes {name}, {{x}}, }} and { to %s in ${HOME}: {\"a\": [{\"b\": \"{}\"}]} \\n.";
    let sample = "Answer like {\"entities\": [{\"name\": \"{Ana}\"}], \"relations\": []} or {} %d.";
    for note in ["a.md", "b.md", "c.md"] {
        vault.write(note, text);
    }
    vault.write(
        ".own/extract.md",
        format!("Say what it says.\n{sample}\n{{{{schema}}}}\n"),
    );
    let config = format!(
        "[models]\nmodel = \"small\"\nbase_url = \"{}\"\n\n[extraction]\nprompts = \".own\"\n",
        stub.url
    );
    vault.write("malha.toml", config);
    vault.malha(&EXTRACT).expect(0);
    assert!(stub.calls() > 0);
    for request in stub.received() {
        let said = |at: usize| {
            request.body["messages"][at]["content"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        assert!(said(0).contains(sample), "{}", said(0));
        assert!(said(1).contains(text), "{}", said(1));
    }
}

#[test]
fn thoughts_without_an_answer_fail_the_passage_and_the_exit_code_says_so() {
    let stub = Stub::start(|request| {
        let messages = request.body["messages"].to_string();
        if messages.contains("Caio") {
            // All the room went into thoughts that the server keeps to itself.
            Answer::ok(json!({
                "choices": [{ "message": { "role": "assistant", "content": "" }, "finish_reason": "length" }],
                "usage": { "prompt_tokens": 11, "completion_tokens": 7 },
            }))
        } else if messages.contains("Edu") {
            Answer::chat("<think>maybe {\"x\":1}")
        } else {
            answer(request)
        }
    });
    let vault = vault(&stub);
    let ran = vault.malha(&EXTRACT).expect(4);
    for reason in ["b.md:1: it is empty", "c.md:1: it holds only thoughts"] {
        assert!(ran.stderr.contains(reason), "{}", ran.stderr);
    }
    assert_eq!(ran.json()["extract"]["extracted"], json!(1));
    // Each of them was given more room once.
    for name in ["Caio", "Edu"] {
        let rooms: Vec<u64> = stub
            .received()
            .iter()
            .filter(|request| request.body["messages"].to_string().contains(name))
            .map(|request| {
                let body = &request.body;
                let room = body
                    .get("max_tokens")
                    .or_else(|| body.get("max_completion_tokens"));
                room.and_then(Value::as_u64).unwrap()
            })
            .collect();
        assert_eq!(rooms, [rooms[0], rooms[0] * 2], "{name}");
    }
}

#[test]
fn only_a_passage_can_be_asked_about_again() {
    let stub = Stub::start(|_| Answer::chat(r#"{"entities":["Nobody"],"relations":[]}"#));
    let vault = vault(&stub);
    vault.malha(&EXTRACT).expect(0);
    let aside = vault
        .malha(&["quarantine", "list", "--json"])
        .expect(0)
        .json();
    let number = aside[0]["id"].to_string();
    let ran = vault.malha(&["quarantine", "retry", &number]).expect(2);
    assert!(ran.stderr.contains("is no passage"), "{}", ran.stderr);
}
