use crate::support::Vault;

#[test]
fn an_export_comes_back_the_same() {
    let vault = Vault::with_notes(30);
    vault.index();
    let export = vault
        .malha(&["export", "--format", "malha"])
        .expect(0)
        .stdout;
    let file = vault.root.with_file_name("export.jsonl");
    std::fs::write(&file, &export).unwrap();
    let file = file.to_str().unwrap();

    let other = Vault::new(&[]);
    other
        .malha(&["import", "--format", "malha", file])
        .expect(0);
    assert_eq!(other.digest(), vault.digest());
    other.malha(&["verify"]).expect(0);
    let found = other
        .malha(&["search", "--json", "Harbour Light"])
        .expect(0);
    assert!(!found.uris().is_empty());
    let again = other
        .malha(&["import", "--format", "malha", file])
        .expect(0);
    assert!(again.stderr.contains("0 records"), "{}", again.stderr);

    // A cut file is refused whole.
    let half = vault.root.with_file_name("half.jsonl");
    std::fs::write(&half, &export[..export.len() / 2]).unwrap();
    let third = Vault::new(&[]);
    let ran = third.malha(&["import", "--format", "malha", half.to_str().unwrap()]);
    let ran = ran.expect(1);
    assert!(ran.stderr.contains("half.jsonl:"), "{}", ran.stderr);
    assert_eq!(third.malha(&["stats", "--json"]).json()["documents"], 0);
}

/// Loading the same facts again changes nothing; a bad line is named and costs no other.
#[test]
fn facts_become_a_graph_once() {
    let vault = Vault::new(&[(
        "facts.tsv",
        "Auth\tDEPENDS_ON\tPayment\nPayment\truns-on\tCluster A\nbroken line\nAuth\tDEPENDS_ON\tPayment\n",
    )]);
    let import = || vault.malha(&["import", "--format", "triples", "--json", "facts.tsv"]);
    let first = import().expect(4);
    assert!(first.stderr.contains("facts.tsv:3"), "{}", first.stderr);
    assert_eq!(first.json()["facts"], 2);
    let digest = vault.digest();
    assert_eq!(import().json()["unchanged"], true);
    assert_eq!(vault.digest(), digest);

    let found = vault
        .malha(&["graph", "neighbors", "auth", "--json"])
        .expect(0)
        .json();
    assert_eq!(found["nodes"].as_array().unwrap().len(), 3);
    let found = vault
        .malha(&[
            "graph",
            "neighbors",
            "Auth",
            "--relation",
            "depends_on",
            "--json",
        ])
        .expect(0)
        .json();
    assert_eq!(found["nodes"].as_array().unwrap().len(), 2);
    let path = vault
        .malha(&["graph", "path", "Auth", "Cluster A"])
        .expect(0);
    assert!(path.stdout.contains("—runs-on→"), "{}", path.stdout);

    // No passage speaks of it, but what is known is not hidden.
    let search = vault.malha(&["search", "What does Auth need?"]).expect(0);
    assert!(
        search
            .stderr
            .contains("`malha graph neighbors` shows the relations of Auth"),
        "{}",
        search.stderr
    );

    let many = "a line that is broken\n".repeat(50);
    vault.write("broken.tsv", many);
    let broken = vault.malha(&["import", "--format", "triples", "broken.tsv"]);
    let broken = broken.expect(4).stderr;
    assert_eq!(broken.matches("failed: ").count(), 20, "{broken}");
    assert!(
        broken.contains("30 more failed lines; -v shows them"),
        "{broken}"
    );
    assert!(broken.contains("50 lines: 0 facts"), "{broken}");

    vault.write("facts.tsv", "Auth\tDEPENDS_ON\tLedger\n");
    let changed = import().expect(0).json();
    assert_eq!(changed["relations_closed"], 2);
}
