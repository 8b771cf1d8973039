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
    let documents = |namespace| at(namespace, &["stats", "--json"]).json()["documents"].clone();
    assert_eq!(documents("my-group"), 2);
    assert_eq!(documents("équipe"), 2);
}
