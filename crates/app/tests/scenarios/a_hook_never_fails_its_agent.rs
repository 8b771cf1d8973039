use std::io::Write;
use std::process::Stdio;

use serde_json::json;

use crate::support::Vault;

fn line(role: &str, text: &str) -> String {
    let line = json!({
        "type": role, "sessionId": "s", "cwd": "/w", "timestamp": "2026-01-01T00:00:00Z",
        "message": { "role": role, "content": text },
    });
    format!("{line}\n")
}

/// The hook's exit code and what it prints.
fn hook(vault: &Vault, arguments: &[&str], event: &[u8]) -> (Option<i32>, String) {
    let mut child = vault
        .command(&[&["ledger", "hook"][..], arguments].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A hook that does not want its input closes it.
    let _ = child.stdin.take().unwrap().write_all(event);
    let output = child.wait_with_output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
    )
}

#[test]
fn a_hook_never_fails_its_agent() {
    let vault = Vault::new(&[("a.md", "A note about lanterns.\n")]);
    let silent = (Some(0), String::new());
    // Before there is a store, too.
    assert_eq!(hook(&vault, &[], b"{}"), silent);
    vault.index();
    let transcript = vault.root.join("session.txt");
    std::fs::write(&transcript, line("user", "Where are the lanterns?")).unwrap();
    let event = json!({ "transcript_path": transcript, "hook_event_name": "Stop" }).to_string();
    assert_eq!(hook(&vault, &[], event.as_bytes()), silent);
    let shown = vault.malha(&["ledger", "show", "--json"]).expect(0).json();
    assert_eq!(shown[0]["question"], "Where are the lanterns?");

    for (arguments, event) in [
        (&[][..], &b""[..]),
        (&[], b"\xff\xfe"),
        (&[], b"{\"transcript_path\": \"/no/such/file\"}"),
        (&["--bogus", "x"], b"[]"),
    ] {
        assert_eq!(hook(&vault, arguments, event), silent, "{event:?}");
    }
    let stats = vault.malha(&["ledger", "stats", "--json"]).expect(0).json();
    assert_eq!(
        (&stats["turns"], &stats["failures"]),
        (&json!(1), &json!(4))
    );
    // A bad configuration is the user's matter, not the agent's.
    vault.write("malha.toml", "no = such = thing");
    assert_eq!(hook(&vault, &[], event.as_bytes()), silent);
}

#[test]
fn a_transcript_is_read_from_a_file_or_from_stdin() {
    let vault = Vault::new(&[]);
    vault.malha(&["init", "."]).expect(0);
    let text = line("user", "One?") + "broken\n" + &line("assistant", "We decided on two.");
    vault.write("t.jsonl", &text);
    let ran = vault.malha(&["ledger", "ingest", "t.jsonl"]).expect(4);
    assert!(ran.stderr.contains("byte"), "{}", ran.stderr);
    let mut child = vault
        .command(&["ledger", "ingest", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let text = line("user", "One?") + &line("assistant", "Two.");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["turns_added"], &report["turns_updated"]),
        (&json!(0), &json!(1))
    );
    let found = vault.malha(&["ledger", "search", "two"]).expect(0);
    assert!(found.stdout.contains("One?"), "{}", found.stdout);
    vault.malha(&["ledger", "show", "1"]).expect(0);
    vault.malha(&["ledger", "show", "77"]).expect(3);
    vault.malha(&["ledger", "ingest", "no.jsonl"]).expect(3);
}

#[test]
fn an_export_of_many_files_asks_where() {
    let vault = Vault::new(&[("a.md", "See [[b]].\n"), ("b.md", "B.\n")]);
    vault.index();
    let refused = vault.malha(&["export", "--format", "parquet"]).expect(2);
    assert!(refused.stderr.contains("--out"), "{}", refused.stderr);
    let report = vault
        .malha(&["export", "--format", "obsidian", "--out", "out", "--json"])
        .expect(0)
        .json();
    assert_eq!(report["rows"]["Document"], 2);
    vault
        .malha(&["export", "--format", "obsidian", "--out", "out"])
        .expect(0);
    vault.write("out/mine.md", "mine");
    vault
        .malha(&["export", "--format", "obsidian", "--out", "out"])
        .expect(2);
    let script = vault.malha(&["export", "--format", "cypher"]).expect(0);
    assert!(
        script.stdout.contains("MERGE (n:Entity"),
        "{}",
        script.stdout
    );
}
