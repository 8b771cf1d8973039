use crate::support::Vault;

fn passages(vault: &Vault) -> u64 {
    let stats = vault.malha(&["stats", "--json"]).expect(0).json();
    stats["chunks"].as_u64().unwrap()
}

#[test]
fn passages_keep_the_size_they_were_cut_with() {
    let text = "A sentence about the old harbour and its lanterns. ".repeat(40);
    let vault = Vault::new(&[("a.md", &text)]);
    vault.index();
    let large = passages(&vault);
    vault
        .malha(&["index", "--chunk-size", "300", "--chunk-overlap", "0"])
        .expect(0);
    let small = passages(&vault);
    assert!(small > large, "{small} {large}");

    // Neither a run that is told nothing nor a new note undoes it.
    vault.index();
    assert_eq!(passages(&vault), small);
    vault.write("b.md", &text);
    vault.malha(&["search", "--fresh", "lanterns"]).expect(0);
    assert_eq!(passages(&vault), 2 * small);

    // What the configuration states wins.
    vault.write("malha.toml", "[chunk]\nsize = 1200\n");
    vault.index();
    assert_eq!(passages(&vault), 2 * large);
}

#[test]
fn the_link_syntax_is_kept_until_another_one_is_named() {
    let vault = Vault::new(&[
        ("Target.md", "# Target\n"),
        ("Note.md", "See [[label|Target]].\n"),
    ]);
    let open = || {
        let ran = vault.malha(&["graph", "unresolved", "--json"]);
        ran.json().as_array().map_or(0, Vec::len)
    };
    vault.index();
    assert_eq!(open(), 1, "of Obsidian, where the target comes first");
    vault.malha(&["index", "--convention", "dendron"]).expect(0);
    assert_eq!(open(), 0);
    vault.index();
    vault.write("More.md", "See [[label|Target]].\n");
    vault.index();
    assert_eq!(open(), 0, "a run that is told nothing keeps it");
    vault.malha(&["index", "--convention", "auto"]).expect(0);
    assert_eq!(open(), 2, "detected again");
}
