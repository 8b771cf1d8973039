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
        assert!(ran.stderr.contains("nothing found"), "{}", ran.stderr);
    }
    for arguments in [
        &["graph", "hubs"][..],
        &["graph", "orphans"],
        &["stats"],
        &["verify", "--digest"],
    ] {
        empty.malha(arguments).expect(0);
    }
}
