//! Scripts rely on the shape of `malha eval retrieval --json`; the corpus is a small one of our own.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

const CORPUS: &str = r#"{"id": "mill", "title": "Tarrow Mill", "text": "Tarrow Mill stands on the river Ossel. It was built by Edda Brask in 1781."}
{"id": "brask", "title": "Edda Brask", "text": "Edda Brask was an engineer. She was born in the harbour town of Velm."}
{"id": "velm", "title": "Velm", "text": "Velm is a harbour town in the north. Its lighthouse is made of green stone."}
{"id": "bread", "title": "Rye bread", "text": "Rye bread keeps for a week. It is baked slowly in a cooling oven."}
{"id": "heron", "title": "Grey heron", "text": "The grey heron fishes in shallow water and nests in tall trees."}
{"id": "clock", "title": "Tower clock", "text": "The tower clock was repaired after the storm and has kept time since."}
"#;

const QUESTIONS: &str = r#"{"qid": "1", "question": "Who built Tarrow Mill?", "gold": ["mill"], "kind": "one"}
{"qid": "2", "question": "In which town was the builder of Tarrow Mill born?", "gold": ["mill", "brask"], "kind": "two"}
{"qid": "3", "question": "How long does rye bread keep?", "gold": ["bread"], "kind": "one"}
{"qid": "4", "question": "Nobody knows", "gold": [], "kind": "one"}
"#;

fn eval(folder: &Path, more: &[&str]) -> std::process::Output {
    fs::write(folder.join("corpus.jsonl"), CORPUS).unwrap();
    fs::write(folder.join("queries.jsonl"), QUESTIONS).unwrap();
    Command::cargo_bin("malha")
        .unwrap()
        .current_dir(folder)
        .args([
            "eval",
            "retrieval",
            "--corpus",
            "corpus.jsonl",
            "--queries",
            "queries.jsonl",
        ])
        .args(more)
        .output()
        .unwrap()
}

#[test]
fn json_holds_percentages_by_mode() {
    let folder = tempfile::tempdir().unwrap();
    let more = [
        "--mode",
        "keyword,graph",
        "--k",
        "2,5",
        "--by",
        "kind",
        "--out",
        "pred.jsonl",
        "--json",
    ];
    let output = eval(folder.path(), &more);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["n"], 3);
    assert_eq!(object["no_gold"], 1);
    for mode in ["keyword", "graph"] {
        let figures = &object["modes"][mode];
        assert_eq!(figures["recall@5"], 100.0, "{figures}");
        assert_eq!(figures["mrr@10"], 100.0, "{figures}");
        assert_eq!(
            object["intervals"][mode]["recall@5"],
            serde_json::json!([100.0, 100.0])
        );
    }
    // The second hop is only reached over the graph.
    assert_eq!(object["by"]["kind=two"]["modes"]["graph"]["all@2"], 100.0);
    assert!(object["differences"]["graph"]["recall@5"]["interval"].is_array());
    assert_eq!(
        object["halves"]["first"]["n"].as_u64().unwrap()
            + object["halves"]["second"]["n"].as_u64().unwrap(),
        3
    );
    let predictions = fs::read_to_string(folder.path().join("pred.jsonl")).unwrap();
    assert_eq!(predictions.lines().count(), 3);
    assert!(
        predictions.starts_with(r#"{"qid":"1","ranked":["mill""#),
        "{predictions}"
    );
    assert!(folder.path().join("pred.graph.jsonl").is_file());

    let again = eval(folder.path(), &more);
    assert_eq!(output.stdout, again.stdout, "the same figures on every run");
}

#[test]
fn a_broken_row_is_named_and_costs_no_other() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("broken.jsonl"), "{\"qid\": \"1\", \"question\": \"Who built Tarrow Mill?\", \"gold\": [\"mill\"]}\n{\"qid\": \n").unwrap();
    let output = eval(
        folder.path(),
        &["--queries", "broken.jsonl", "--mode", "keyword", "--json"],
    );
    assert_eq!(output.status.code(), Some(2), "an option given twice");
    fs::rename(
        folder.path().join("broken.jsonl"),
        folder.path().join("queries.jsonl"),
    )
    .unwrap();
    let output = Command::cargo_bin("malha")
        .unwrap()
        .current_dir(folder.path())
        .args([
            "eval",
            "retrieval",
            "--corpus",
            "corpus.jsonl",
            "--queries",
            "queries.jsonl",
        ])
        .args(["--mode", "keyword", "--json"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stderr).contains("queries.jsonl:2"));
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["modes"]["keyword"]["recall@5"], 100.0);
}

#[test]
fn nothing_to_score_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let output = eval(
        folder.path(),
        &["--mode", "keyword", "--gold-field", "answers"],
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no question to score"));
}
