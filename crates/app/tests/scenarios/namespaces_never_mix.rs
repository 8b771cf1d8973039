use crate::support::Vault;

/// D30.6 and D20: what one namespace holds is never found from another, in any mode.
#[test]
fn namespaces_never_mix() {
    let vault = Vault::new(&[
        (
            "a/note.md",
            "The word of the first is zirconium. See [[Common]].\n",
        ),
        (
            "b/note.md",
            "The word of the second is palladium. See [[Common]].\n",
        ),
        ("a/Common.md", "Common ground, with zirconium.\n"),
        ("b/Common.md", "Common ground, with palladium.\n"),
    ]);
    let store = vault.root.with_file_name("both.db");
    let store = store.to_str().unwrap();
    let at = |namespace: &str, arguments: &[&str]| {
        let mut all = vec!["--store", store, "--namespace", namespace];
        all.extend(arguments);
        vault.malha(&all).expect(0)
    };
    at("my-group", &["index", "a"]);
    at("équipe", &["index", "b"]);
    for mode in ["auto", "keyword", "graph", "hybrid", "notes"] {
        for (namespace, own, foreign) in [
            ("my-group", "zirconium", "palladium"),
            ("équipe", "palladium", "zirconium"),
        ] {
            let own = at(namespace, &["search", "--json", "--mode", mode, own]);
            assert!(!own.uris().is_empty(), "{namespace} {mode}");
            let foreign = at(namespace, &["search", "--json", "--mode", mode, foreign]);
            assert!(
                !foreign.stdout.contains("ground, with"),
                "{namespace} {mode}: {}",
                foreign.stdout
            );
        }
    }
    for (namespace, own) in [("my-group", 1), ("équipe", 2)] {
        let runs = at(namespace, &["runs", "show", "--json"]).json();
        let ids: Vec<_> = runs
            .as_array()
            .unwrap()
            .iter()
            .map(|run| &run["id"])
            .collect();
        assert_eq!(ids, [own], "{namespace}");
    }
    let documents = |namespace| at(namespace, &["stats", "--json"]).json()["documents"].clone();
    assert_eq!(documents("my-group"), 2);
    assert_eq!(documents("équipe"), 2);
}

/// D20: whatever name is accepted works for writing, searching, deleting and exporting; what is not
/// accepted is refused at the first call, before anything is made.
#[test]
fn an_accepted_name_works_everywhere() {
    let vault = Vault::new(&[]);
    let store = vault.root.with_file_name("names.db");
    let store = store.to_str().unwrap();
    let copy = vault.root.with_file_name("copy.db");
    let copy = copy.to_str().unwrap();
    let names = [
        "my-group",
        "main",
        "550e8400-e29b-41d4-a716-446655440000",
        "a:b",
        "_",
        "équipe",
        "AND",
    ];
    let at = |store: &str, namespace: &str, arguments: &[&str]| {
        let mut all = vec!["--store", store, "--namespace", namespace];
        all.extend(arguments);
        vault.malha(&all)
    };
    for (place, name) in names.iter().enumerate() {
        let folder = format!("n{place}");
        vault.write(
            &format!("{folder}/keep.md"),
            "Keep the zirconium. [[gone]]\n",
        );
        vault.write(&format!("{folder}/gone.md"), "Drop the palladium.\n");
        at(store, name, &["index", &folder]).expect(0);
        let found = at(store, name, &["search", "--json", "palladium"]).expect(0);
        assert_eq!(found.uris(), [format!("{folder}/gone.md")], "{name}");
        std::fs::remove_file(vault.root.join(&folder).join("gone.md")).unwrap();
        at(store, name, &["index"]).expect(0);
        let found = at(store, name, &["search", "--json", "palladium"]).expect(0);
        assert!(found.uris().is_empty(), "{name}");
        at(store, name, &["graph", "neighbors", "keep"]).expect(0);

        let export = at(store, name, &["export"]).expect(0).stdout;
        vault.write("export.jsonl", &export);
        at(copy, name, &["import", "--format", "malha", "export.jsonl"]).expect(0);
        let digest = |store| at(store, name, &["verify", "--digest"]).expect(0).stdout;
        assert_eq!(digest(copy), digest(store), "{name}");
    }
    let new = vault.root.with_file_name("new.db");
    for name in ["\"x\"", "", " ", "a b", "../x", "a\nb", &"n".repeat(200)] {
        for arguments in [&["index", "n0"][..], &["search", "zirconium"], &["export"]] {
            let ran = at(new.to_str().unwrap(), name, arguments).expect(2);
            assert!(ran.stderr.starts_with("error: namespace"), "{}", ran.stderr);
        }
    }
    assert!(!new.exists());
}
