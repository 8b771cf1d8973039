use std::fs;
use std::path::Path;

use malha_engine::types::{Mode, NeighborRequest};
use malha_engine::{Engine, EngineConfig, SourceSpec};
use serde_json::Value;

use crate::vault::Vault;

/// D15: running again adds nothing; a copy is a second place of the same text.
#[test]
fn the_same_files_three_times_and_once_a_copy() {
    let text = "Ana met Ana at the Blue Mill. See [[mill]] and [[mill]].\n";
    let vault = Vault::new(&[("one.md", text), ("mill.md", "The Blue Mill.\n")]);
    let counts = "SELECT (SELECT count(*) FROM document), (SELECT count(*) FROM chunk),
        (SELECT count(*) FROM entity), (SELECT count(*) FROM mention),
        (SELECT count(*) FROM relation), (SELECT sum(weight) FROM relation)";
    let first = vault.rows(counts);
    for _ in 0..2 {
        vault.index();
        assert_eq!(vault.rows(counts), first);
    }
    assert!(
        first[0].ends_with(" 1 1.0"),
        "one passage states it: {first:?}"
    );
    vault.write("two.md", text);
    vault.index();
    let mut found = vault.search(Mode::Keyword, "Ana met");
    found.sort();
    assert_eq!(found, ["v/one.md", "v/two.md"]);
    assert_eq!(vault.engine.entity("Blue Mill").unwrap().len(), 1);
    assert_eq!(
        vault.relations(),
        ["one links_to mill", "two links_to mill"]
    );
}

/// D10: nothing to link, one node, nodes without edges, pairs that do not hang together.
#[test]
fn empty_and_scattered_graphs_answer() {
    let check = |notes: &[(&str, &str)], hubs: usize, orphans: usize| {
        let vault = Vault::new(notes);
        for mode in [
            Mode::Auto,
            Mode::Keyword,
            Mode::Graph,
            Mode::Hybrid,
            Mode::Notes,
        ] {
            assert_eq!(vault.search(mode, "zeppelin"), [""; 0]);
            for (path, text) in notes.iter().filter(|note| note.1 != "…") {
                let found = vault.search(mode, text);
                assert!(found.contains(&format!("v/{path}")), "{mode:?} {text}");
            }
        }
        assert_eq!(vault.engine.hubs(9).unwrap().len(), hubs);
        assert_eq!(vault.engine.orphans().unwrap().len(), orphans);
        assert_eq!(vault.engine.verify().unwrap().violations, []);
        for (path, _) in notes {
            let name = path.trim_end_matches(".md").to_owned();
            let request = NeighborRequest::new(&name);
            assert!(!vault.engine.neighbors(&request).unwrap().nodes.is_empty());
            assert_eq!(vault.engine.paths(&name, &name, 4, 3).unwrap().len(), 1);
        }
    };
    check(&[], 0, 0);
    check(&[("one.md", "ok")], 0, 1);
    check(&[("one.md", "ok"), ("two.md", "…")], 0, 2);
    check(
        &[
            ("ana.md", "to [[bo]]"),
            ("bo.md", "b"),
            ("cy.md", "to [[di]]"),
            ("di.md", "d"),
        ],
        4,
        0,
    );
}

/// D19: control characters stay in the text, and every export is read back as the same content.
#[test]
fn control_characters_survive_the_round_trip() {
    let heading = "Bell\u{7} \u{1b}[31mred\u{c} <a> & ]]> \"q\"\ttab \u{fffe}";
    let long = "x".repeat(300);
    let vault = Vault::new(&[
        (
            "a.md",
            &format!("# {heading}\n\nSee [[{long}]] and [[b]].\n"),
        ),
        ("b.md", &format!("# {long}\n\ntext\n")),
        (
            "rows.jsonl",
            "{\"title\": \"half \\ud800 pair\", \"text\": \"one \\u0001 two\"}\n",
        ),
    ]);
    let stored = vault.rows("SELECT text FROM chunk ORDER BY id");
    assert!(stored[0].contains(heading), "{stored:?}");

    let mut export = Vec::new();
    let name = Path::new("export.jsonl");
    let format = malha_engine::exchange::ExportFormat::Malha;
    vault
        .engine
        .export_to(format, false, name, &mut export, &())
        .unwrap();
    let text = String::from_utf8(export).unwrap();
    for line in text.lines() {
        serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(!line.chars().any(char::is_control), "{line}");
    }
    let file = vault.folder.path().join("export.jsonl");
    fs::write(&file, text).unwrap();
    let copy = Engine::create(
        &vault.folder.path().join("copy.db"),
        EngineConfig::default(),
    )
    .unwrap();
    copy.import_malha(&file).unwrap();
    assert_eq!(copy.digest().unwrap(), vault.engine.digest().unwrap());
}

/// The store lies in the vault: both may be moved, and a copy of both is a vault of its own.
#[test]
fn a_vault_moves_with_the_store_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let open = |vault: &str| {
        let store = folder.path().join(vault).join(".malha/malha.db");
        Engine::create(&store, EngineConfig::default()).unwrap()
    };
    let index = |vault: &str, engine: &Engine| {
        let source = SourceSpec {
            root: folder.path().join(vault),
            convention: None,
        };
        engine.index(&[source], &()).unwrap()
    };
    fs::create_dir_all(folder.path().join("one/.malha")).unwrap();
    for name in ["Ana.md", "Bia.md"] {
        fs::write(
            folder.path().join("one").join(name),
            "See [[Ana]] and [[Bia]].",
        )
        .unwrap();
    }
    assert_eq!(index("one", &open("one")).added, 2);
    fs::rename(folder.path().join("one"), folder.path().join("two")).unwrap();
    fs::write(folder.path().join("two/New.md"), "[[Ana]]").unwrap();
    let engine = open("two");
    let report = engine.index(&[], &()).unwrap();
    assert_eq!(
        (report.added, report.removed, report.failed.len()),
        (1, 0, 0)
    );
    let report = index("two", &engine);
    assert_eq!((report.added, report.removed), (0, 0), "no second source");
    assert_eq!(engine.stats().unwrap().documents, 3);
    // A store without its vault does not take the folder around it for the vault.
    drop(engine);
    fs::create_dir_all(folder.path().join("three")).unwrap();
    fs::rename(
        folder.path().join("two/.malha"),
        folder.path().join("three/.malha"),
    )
    .unwrap();
    let engine = open("three");
    engine.index(&[], &()).unwrap();
    assert_eq!(engine.stats().unwrap().documents, 3);
}
