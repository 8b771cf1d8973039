use crate::support::Vault;

#[test]
fn no_command_changes_a_source() {
    let vault = Vault::new(&[
        (
            "a.md",
            "---\ntitle: A\n---\nA note about [[b]] and lanterns.\r\n",
        ),
        ("b.md", "A note.\n"),
        ("image.png", "not really"),
    ]);
    let before = vault.files();
    vault.index();
    let backup = vault.root.with_file_name("backup.db");
    for arguments in [
        &["search", "lanterns", "--fresh"][..],
        &["graph", "hubs"],
        &["graph", "unresolved"],
        &["stats"],
        &["doctor"],
        &["verify", "--digest"],
        &["export", "--format", "malha"],
        &["backup", backup.to_str().unwrap()],
        &["sql", "SELECT count(*) FROM chunk"],
        &["index", "--skipped"],
    ] {
        vault.malha(arguments).expect(0);
        assert_eq!(vault.files(), before, "{arguments:?}");
    }
}

/// Commands that only read work on a store that cannot be written to.
#[test]
fn a_backup_answers_like_the_store() {
    let vault = Vault::new(&[("a.md", "A note about lanterns.\n")]);
    vault.index();
    let copy = vault.root.with_file_name("copy.db");
    let copy = copy.to_str().unwrap();
    vault.malha(&["backup", copy]).expect(0);
    let there = vault
        .malha(&["--store", copy, "verify", "--digest"])
        .expect(0);
    assert_eq!(there.stdout, vault.digest());
    // A second backup to the same place would overwrite the first.
    let again = vault.malha(&["backup", copy]);
    assert_ne!(again.code, 0);
}
