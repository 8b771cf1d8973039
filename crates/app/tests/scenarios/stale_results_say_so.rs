use crate::support::Vault;

#[test]
fn stale_results_say_so() {
    let vault = Vault::new(&[
        ("a.md", "A note about lanterns.\n"),
        ("b.md", "Another note.\n"),
    ]);
    vault.index();
    let stale = |arguments: &[&str]| vault.malha(arguments).expect(0).json()["stale"].clone();
    assert_eq!(stale(&["search", "--json", "lanterns"]), 0);

    vault.write("a.md", "A note about anchors, longer than before.\n");
    vault.write("c.md", "A new note.\n");
    std::fs::remove_file(vault.root.join("b.md")).unwrap();
    assert_eq!(stale(&["search", "--json", "lanterns"]), 3);
    let ran = vault.malha(&["search", "lanterns"]).expect(0);
    assert!(ran.stderr.contains("stale: 3"), "{}", ran.stderr);

    let fresh = vault
        .malha(&["search", "--json", "--fresh", "anchors"])
        .expect(0);
    assert_eq!(fresh.uris(), ["a.md"]);
    assert_eq!(fresh.json()["stale"], 0);
    assert!(
        vault
            .malha(&["search", "--json", "lanterns"])
            .uris()
            .is_empty()
    );
}
