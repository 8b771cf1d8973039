use crate::support::Vault;

#[test]
fn exit_codes_tell_what_happened() {
    let vault = Vault::new(&[("a.md", "A note about lanterns.\n")]);
    vault.malha(&["search", "lanterns"]).expect(1);
    vault.index();
    let check = |arguments: &[&str], code| vault.malha(arguments).expect(code);
    check(&["search", "lanterns"], 0);
    check(&["search", "zeppelin"], 0);
    check(&["stats"], 0);
    check(&["doctor"], 0);
    check(&["verify"], 0);
    check(&["--help"], 0);
    check(&["--version"], 0);
    check(&["completions", "bash"], 0);
    // usage
    check(&[], 2);
    check(&["serch"], 2);
    check(&["search"], 2);
    check(&["search", "x", "--limit", "0"], 2);
    check(&["search", "x", "--mode", "telepathy"], 2);
    check(&["--namespace", "", "search", "x"], 2);
    check(&["graph", "neighbors"], 2);
    check(&["graph", "neighbors", "a", "--nodes", "0"], 2);
    check(&["graph", "hubs", "-n", "0"], 2);
    check(&["-q", "-v", "stats"], 2);
    check(&["sql", "SELECT * FROM no_such_table"], 2);
    check(&["sql", "DELETE FROM chunk"], 2);
    // a named thing not found
    check(&["graph", "entity", "Nobody"], 3);
    check(&["graph", "neighbors", "Nobody"], 3);
    check(&["graph", "path", "a", "Nobody"], 3);
    check(&["index", "missing-folder"], 3);
    check(&["import", "--format", "triples", "missing.tsv"], 3);
    let missing = [
        "--corpus",
        "x.jsonl",
        "--queries",
        "y.jsonl",
        "--mode",
        "auto",
    ];
    check(&[&["eval", "retrieval"][..], &missing].concat(), 3);
    // configuration
    check(&["--config", "missing.toml", "stats"], 78);
}

#[test]
fn every_error_says_what_and_a_hint() {
    let vault = Vault::new(&[("a.md", "A note about lanterns.\n")]);
    let ran = vault.malha(&["search", "lanterns"]).expect(1);
    assert!(
        ran.stderr.starts_with("error: no store at "),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("\nhint: run `malha index`"),
        "{}",
        ran.stderr
    );
    vault.index();
    let ran = vault.malha(&["graph", "entity", "Nobody"]).expect(3);
    assert!(
        ran.stderr
            .starts_with("error: entity not found: Nobody\nhint: "),
        "{}",
        ran.stderr
    );
    let ran = vault.malha(&["graph", "neighbors", "a", "--relation", "eats"]);
    let hint = ran.expect(3).stderr;
    assert!(hint.contains("relation_type"), "{hint}");
    vault.malha(&["backup", "copy.db"]).expect(0);
    let taken = vault.malha(&["backup", "copy.db"]).expect(1).stderr;
    assert_eq!(
        taken,
        "error: copy.db: there is a file already; choose another name for the backup\n"
    );
}

#[cfg(unix)]
#[test]
fn interrupting_a_run_is_130_and_harmless() {
    let vault = Vault::with_notes(3000);
    let child = vault.start(&["index"]);
    while vault.writer().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let status = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    vault.malha(&["index", "."]).expect(0);
    assert_eq!(vault.digest(), vault.fresh_digest());
}
