use crate::support::Vault;

#[test]
fn a_search_is_logged_after_it_is_shown() {
    let vault = Vault::new(&[
        ("Harbour.md", "The harbour at dusk. See [[Keeper]].\n"),
        ("Keeper.md", "Someone who wakes at four.\n"),
    ]);
    vault.index();
    let report = |arguments: &[&str]| vault.malha(arguments).expect(0);
    let empty = report(&["ab"]);
    assert!(empty.stdout.is_empty());
    assert!(
        empty.stderr.contains("no question was compared"),
        "{}",
        empty.stderr
    );
    let found = vault
        .malha(&["search", "--json", "--mode", "notes", "dusk at the harbour"])
        .expect(0)
        .json();
    assert_eq!(found["gate"]["open"], true);
    let found = vault
        .malha(&["search", "--json", "--mode", "notes", "Harbour"])
        .expect(0)
        .json();
    assert_eq!(found["gate"]["rule"], "proper_name");
    let rows = report(&["ab", "--json"]).json()["rows"].clone();
    assert_eq!(rows.as_array().unwrap().len(), 2, "{rows}");
    assert_eq!(rows[0]["class"], "name");
    assert_eq!(rows[0]["by_graph"], 1);
    assert_eq!(rows[1]["gate"], "open");
    let shown = report(&["ab"]).stdout;
    assert!(
        shown.contains("proper_name") && shown.contains("SELECT"),
        "{shown}"
    );

    // Who does not want it has none.
    vault.write("malha.toml", "[ab]\nlog = false\n[gate]\nrules = []\n");
    let found = vault
        .malha(&["search", "--json", "--mode", "notes", "Harbour"])
        .expect(0)
        .json();
    assert_eq!(found["gate"]["open"], true);
    let after = report(&["ab", "--json"]).json()["rows"].clone();
    assert_eq!(after, rows);
}
