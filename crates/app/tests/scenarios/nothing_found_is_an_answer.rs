use crate::support::Vault;

/// D30.2: an unrelated question, on a small store and on an empty one, in every mode.
#[test]
fn nothing_found_is_an_answer() {
    let small = Vault::new(&[("a.md", "A note about lanterns.\n")]);
    let empty = Vault::new(&[]);
    small.index();
    empty.malha(&["init"]).expect(0);
    for vault in [&small, &empty] {
        for mode in ["auto", "keyword", "graph", "hybrid", "notes"] {
            let ran = vault.malha(&["search", "--json", "--mode", mode, "zeppelin Kowalski"]);
            let found = ran.expect(0).json();
            assert_eq!(
                found["results"].as_array().unwrap().len(),
                0,
                "{mode}: {found}"
            );
            assert!(found["record"].is_array());
        }
        let ran = vault.malha(&["search", "zeppelin Kowalski"]).expect(0);
        assert_eq!(ran.stdout, "");
        assert!(ran.stderr.starts_with("nothing found"), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        // An empty store, and a name of a namespace that was mistyped, say so.
        let mistyped = ["--namespace", "defualt", "search", "lanterns"];
        let mistyped = vault.malha(&mistyped).expect(0).stderr;
        assert!(mistyped.contains("namespace `defualt`"), "{mistyped}");
    }
    let empty_store = empty.malha(&["search", "lanterns"]).expect(0).stderr;
    assert!(empty_store.contains("`malha index`"), "{empty_store}");
    let unnamed = small.malha(&["search", "lanterns"]).expect(0).stderr;
    assert_eq!(
        unnamed,
        "note: the question holds no name that the notes know; ranked by its words\n"
    );
    for arguments in [
        &["graph", "hubs"][..],
        &["graph", "orphans"],
        &["stats"],
        &["verify", "--digest"],
    ] {
        empty.malha(arguments).expect(0);
    }
}
