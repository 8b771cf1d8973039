use crate::support::Vault;

/// D30.1: files with nothing in them, between good ones.
#[test]
fn a_blank_file_is_skipped_with_a_reason() {
    let vault = Vault::new(&[
        ("a good.md", "The first good note, about lanterns.\n"),
        ("b zero.md", ""),
        ("c blanks.md", "  \n\t\n   \n"),
        ("d bom.md", "\u{feff}"),
        ("e good.md", "The second good note, about anchors.\n"),
    ]);
    let ran = vault.malha(&["index", "--skipped"]).expect(0);
    let again = vault.malha(&["index", "--skipped"]).expect(0);
    assert_eq!(again.stdout, ran.stdout, "also of files that are unchanged");
    for ran in [&ran, &again] {
        // The three, and the store's own folder.
        assert!(ran.stderr.contains(" 4 skipped"), "{}", ran.stderr);
    }
    for uri in ["b zero.md", "c blanks.md", "d bom.md"] {
        let line = ran.stdout.lines().find(|line| line.starts_with(uri));
        let line = line.unwrap_or_else(|| panic!("{uri} is not listed in\n{}", ran.stdout));
        assert!(line.len() > uri.len() + 2, "no reason: {line}");
    }
    for (word, uri) in [("lanterns", "a good.md"), ("anchors", "e good.md")] {
        let found = vault.malha(&["search", "--json", word]).expect(0);
        assert_eq!(found.uris(), [uri]);
    }
}

/// A broken file is reported by name, costs no other file, and the exit code says so.
#[test]
fn a_broken_file_costs_no_other() {
    let vault = Vault::new(&[
        ("good.md", "A good note about lanterns.\n"),
        (
            "rows.jsonl",
            "{\"id\": 1, \"text\": \"a row about anchors\"}\n{broken\n{\"id\": 3, \"text\": \"a row about ropes\"}\n",
        ),
        ("broken.pdf", "%PDF-1.7 this is no PDF"),
    ]);
    let ran = vault.malha(&["index"]).expect(4);
    assert!(ran.stderr.contains("broken.pdf"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains(
            "failed: rows.jsonl:2: byte 41: not valid JSON: key must be a string at column 2\n"
        ),
        "{}",
        ran.stderr
    );
    // Nothing failed this time; what failed before is not forgotten.
    let again = vault.malha(&["index"]).expect(0);
    assert!(
        again.stderr.contains("2 failures of earlier runs"),
        "{}",
        again.stderr
    );
    let doctor = vault.malha(&["doctor"]).expect(0).stdout;
    for place in ["  broken.pdf: ", "  rows.jsonl:2: "] {
        assert!(doctor.contains(place), "{doctor}");
    }
    std::fs::remove_file(vault.root.join("broken.pdf")).unwrap();
    std::fs::remove_file(vault.root.join("rows.jsonl")).unwrap();
    let mended = vault.malha(&["index"]).expect(0);
    assert!(!mended.stderr.contains("failures"), "{}", mended.stderr);
    vault.write(
        "rows.jsonl",
        "{\"text\": \"a row about anchors\"}\n{\"text\": \"a row about ropes\"}\n",
    );
    vault.index();
    for word in ["lanterns", "anchors", "ropes"] {
        let found = vault.malha(&["search", "--json", word]).expect(0);
        assert_eq!(found.uris().len(), 1, "{word}");
    }
}
