use crate::support::Vault;

fn vault() -> Vault {
    let vault = Vault::new(&[
        (
            "Lighthouse.md",
            "---\naliases: [The Beacon]\n---\nThe lens was ground by [[Ida Moss]].\n",
        ),
        ("Ida Moss.md", "Learned her trade on [[Glass Island]].\n"),
        ("Glass Island.md", "An island of sand.\n"),
        ("Alone.md", "Linked by nothing.\n"),
        ("Wishes.md", "Links to [[Nowhere]] and to [[twin]].\n"),
        ("a/twin.md", "One twin.\n"),
        ("b/twin.md", "Another twin.\n"),
    ]);
    vault.index();
    vault
}

#[test]
fn a_name_leads_to_its_neighbours() {
    let vault = vault();
    let names = |arguments: &[&str]| -> Vec<String> {
        let found = vault.malha(arguments).expect(0).json();
        let nodes = found["nodes"].as_array().unwrap().iter();
        nodes
            .map(|node| node["entity"]["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let one = names(&["graph", "neighbors", "lighthouse", "--hops", "1", "--json"]);
    assert_eq!(one, ["Lighthouse", "Ida Moss"]);
    // An alias is as good as the title.
    let two = names(&["graph", "neighbors", "the beacon", "--json"]);
    assert_eq!(two, ["Lighthouse", "Ida Moss", "Glass Island"]);

    let text = vault
        .malha(&["graph", "neighbors", "Lighthouse", "--evidence"])
        .expect(0);
    assert!(text.stdout.contains("Lighthouse.md:4"), "{}", text.stdout);
    assert!(
        text.stdout.contains("ground by [[Ida Moss]]"),
        "{}",
        text.stdout
    );
}

#[test]
fn two_names_are_connected_by_a_path_with_its_evidence() {
    let ran = vault()
        .malha(&["graph", "path", "Lighthouse", "Glass Island"])
        .expect(0);
    for part in ["Ida Moss", "Lighthouse.md:4", "Ida Moss.md:1"] {
        assert!(
            ran.stdout.contains(part),
            "{part} is missing in\n{}",
            ran.stdout
        );
    }
}

#[test]
fn a_name_and_itself_need_no_path() {
    let vault = vault();
    let ran = vault.malha(&["graph", "path", "Lighthouse", "The Beacon"]);
    let ran = ran.expect(0);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("the same entity"), "{}", ran.stderr);
    let ran = vault.malha(&["graph", "path", "Lighthouse", "Alone", "--hops", "1"]);
    assert_eq!(ran.expect(0).stderr, "no path of at most 1 relation\n");
}

#[test]
fn what_hangs_loose_is_listed() {
    let vault = vault();
    vault.write("table.csv", "name,city\nRow One,Porto\nRow Two,Braga\n");
    vault.index();
    let orphans = vault.malha(&["graph", "orphans"]).expect(0).stdout;
    assert!(!orphans.contains("Row"), "rows are no notes: {orphans}");
    assert!(orphans.contains("Alone"), "{orphans}");
    assert!(!orphans.contains("Lighthouse"), "{orphans}");

    let open = vault
        .malha(&["graph", "unresolved", "--json"])
        .expect(0)
        .json();
    let open = open.as_array().unwrap();
    assert_eq!(open.len(), 2, "{open:?}");
    assert_eq!(open[0]["target"], "Nowhere");
    assert_eq!(open[0]["status"], "unresolved");
    assert_eq!(open[1]["target"], "twin");
    assert_eq!(open[1]["status"], "ambiguous");
    assert_eq!(open[1]["candidates"].as_array().unwrap().len(), 2);

    let hubs = vault.malha(&["graph", "hubs", "--json"]).expect(0).json();
    assert_eq!(hubs[0]["name"], "Ida Moss");
    assert_eq!(hubs[0]["degree"], 2);
}

#[test]
fn an_entity_is_shown_with_its_other_names() {
    let vault = vault();
    let ran = vault
        .malha(&["graph", "entity", "The Beacon", "--json"])
        .expect(0)
        .json();
    assert_eq!(ran[0]["name"], "Lighthouse");
    assert_eq!(ran[0]["uri"], "Lighthouse.md");
    let text = vault
        .malha(&["graph", "entity", "THE BEACON"])
        .expect(0)
        .stdout;
    assert!(text.starts_with("Lighthouse  "), "{text}");
    assert!(text.contains("The Beacon"), "{text}");
}
