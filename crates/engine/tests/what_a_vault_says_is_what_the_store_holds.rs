//! Entries of the bug log about vaults, each through the whole engine: files in, the store's answers out.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use malha_engine::types::{IngestReport, LinkConvention, Mode, NeighborRequest, SearchRequest};
use malha_engine::{Engine, EngineConfig, SourceSpec};
use serde_json::Value;

/// A folder of notes with its store.
struct Vault {
    folder: tempfile::TempDir,
    engine: Engine,
}

impl Vault {
    fn new(notes: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("v")).unwrap();
        let engine =
            Engine::create(&folder.path().join("malha.db"), EngineConfig::default()).unwrap();
        let vault = Self { folder, engine };
        for (path, text) in notes {
            vault.write(path, text);
        }
        vault.index();
        vault
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("v")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn index(&self) -> IngestReport {
        let source = SourceSpec {
            root: self.root(),
            convention: None,
        };
        let report = self.engine.index(&[source], &()).unwrap();
        assert!(report.failed.is_empty(), "{:?}", report.failed);
        report
    }

    fn rename(&self, from: &str, to: &str) {
        let (from, to) = (self.root().join(from), self.root().join(to));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(from, to).unwrap();
    }

    /// Rows of a query, their cells joined by blanks.
    fn rows(&self, sql: &str) -> Vec<String> {
        let store = self.folder.path().join("malha.db");
        let reader = Engine::open_read_only(&store, EngineConfig::default()).unwrap();
        let line = |row: &Vec<Value>| {
            let cells = row.iter().map(|cell| match cell {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            cells.collect::<Vec<_>>().join(" ")
        };
        reader.sql(sql).unwrap().rows.iter().map(line).collect()
    }

    /// `source type target` of every current relation.
    fn relations(&self) -> Vec<String> {
        self.rows(
            "SELECT s.name, y.name, t.name FROM relation r JOIN entity s ON s.id = r.source
             JOIN entity t ON t.id = r.target JOIN relation_type y ON y.id = r.type
             WHERE r.retracted_at IS NULL ORDER BY s.name, y.name, t.name",
        )
    }

    fn search(&self, mode: Mode, query: &str) -> Vec<String> {
        let request = SearchRequest {
            mode,
            ..SearchRequest::new(query)
        };
        let found = self.engine.search(&request).unwrap();
        found.results.into_iter().map(|found| found.uri).collect()
    }
}

/// D26: a link that is only quoted keeps no hub alive.
#[test]
fn deleting_the_one_link_in_prose_closes_the_edge() {
    let quoted = "`[[Hub]]` and ``[[Hub]]`` and \\[[Hub]] <!-- [[Hub]] -->\n\n```\n[[Hub]]\n```\n";
    let vault = Vault::new(&[("Hub.md", "Retired.\n"), ("Note.md", quoted)]);
    assert_eq!(vault.relations(), [""; 0]);
    vault.write("Note.md", &format!("{quoted}\nIn prose: [[Hub]].\n"));
    vault.index();
    assert_eq!(vault.relations(), ["Note links_to Hub"]);
    vault.write("Note.md", quoted);
    vault.index();
    assert_eq!(vault.relations(), [""; 0]);
    let closed = "SELECT count(*), sum(retracted_at IS NOT NULL) FROM relation";
    assert_eq!(vault.rows(closed), ["1 1"], "closed, not erased");
    assert_eq!(vault.engine.entity("Hub").unwrap()[0].degree, 0);
}

/// D28: page edges for all, no edge and no note for what does not exist, no label in a target.
#[test]
fn anchors_make_page_edges_and_no_ghosts() {
    let vault = Vault::new(&[
        (
            "From.md",
            "# Costs\n\n[[#Costs]] [[Budget#Q3|third quarter]] [[Budget#^b1]] ![[Budget#Q3]] \
             [[Budget#Missing]] [[Budget#C# tools]]\n",
        ),
        ("Budget.md", "## Q3\n\nThree. ^b1\n\n## Q3\n\n## C# tools\n"),
    ]);
    assert_eq!(
        vault.relations(),
        ["Costs embeds Budget", "Costs links_to Budget"]
    );
    assert_eq!(vault.engine.open_links().unwrap(), []);
    for ghost in ["Missing", "third quarter", "b1", "^b1"] {
        let names = format!("SELECT count(*) FROM entity WHERE name = '{ghost}'");
        assert_eq!(vault.rows(&names), ["0"], "{ghost}");
    }
}

/// D12: quotation marks, blanks, HTML escapes and zero-width spaces are no part of a name.
#[test]
fn spellings_of_a_name_in_text_are_one_entity() {
    let vault = Vault::new(&[
        ("a.md", "They said \"ROMAN EMPIRE \" fell.\n"),
        ("b.md", "Then the ROMAN EMPIRE fell.\n"),
        ("c.md", "Then the “Roman Empire” fell.\n"),
        ("d.md", "Then the Roman  Empire fell.\n"),
        ("e.md", "Then the &quot;Roman Empire&quot; fell.\n"),
        ("f.md", "Then the Roman\u{200b} Empire fell.\n"),
    ]);
    for name in ["roman empire", "“ROMAN EMPIRE”", " Roman\u{200b}  Empire "] {
        let found = vault.engine.entity(name).unwrap();
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        assert_eq!(found[0].name, "Roman Empire");
        assert_eq!(found[0].mentions, 6);
    }
    // Front matter: the same spellings are other names of the note, and lead to it.
    let vault = Vault::new(&[(
        "rome.md",
        "---\ntitle: Roman Empire\naliases: [\"ROMAN EMPIRE \", \"“Roman Empire”\", \"Imperium\"]\n---\nText.\n",
    )]);
    for name in ["roman empire", "Imperium", "rome"] {
        assert_eq!(vault.engine.entity(name).unwrap().len(), 1, "{name}");
    }
}

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

/// D21 and D22: a relation type is stored as it was spelled and can be asked for, also one that looks
/// like a statement; it is never more than a name.
#[test]
fn relation_types_keep_their_spelling() {
    let long = "r".repeat(200);
    let types = [
        "non-compliant",
        "co-worker",
        "definiert_icp-kriterien_für",
        "2nd_of",
        "has space",
        &long,
    ];
    let mut note = String::from("---\n\"x` SET n.admin = true //\": \"[[B]]\"\n---\n");
    for name in types {
        writeln!(note, "- {name}:: [[B]]").unwrap();
    }
    note.push_str(":: [[B]]\n");
    let vault = Vault::new(&[("A.md", &note), ("B.md", "b\n")]);
    let mut expected: Vec<String> = types.iter().map(|name| format!("A {name} B")).collect();
    expected.push("A links_to B".to_owned());
    expected.push("A x` SET n.admin = true // B".to_owned());
    expected.sort();
    assert_eq!(vault.relations(), expected);
    for name in types.into_iter().chain(["x` SET n.admin = true //"]) {
        let request = NeighborRequest {
            relation_types: vec![name.to_uppercase()],
            ..NeighborRequest::new("A")
        };
        let found = vault.engine.neighbors(&request).unwrap();
        let spelled: Vec<&str> = found
            .relations
            .iter()
            .map(|relation| relation.relation_type.as_str())
            .collect();
        assert_eq!(spelled, [name]);
    }
    assert_eq!(vault.rows("SELECT count(*) FROM document"), ["2"]);
}

/// Of ways of equal length the one over what connects few things says more than the one over a hub.
#[test]
fn a_path_over_a_hub_comes_after_one_over_a_rare_note() {
    let mut notes = vec![
        ("a hub.md".to_owned(), "to [[zoe]]".to_owned()),
        ("ana.md".to_owned(), "to [[a hub]] and [[rare]]".to_owned()),
        ("rare.md".to_owned(), "to [[zoe]]".to_owned()),
        ("zoe.md".to_owned(), "the end".to_owned()),
    ];
    notes.extend((0..20).map(|n| (format!("n{n}.md"), "to [[a hub]]".to_owned())));
    let notes: Vec<(&str, &str)> = notes
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let vault = Vault::new(&notes);
    let paths = vault.engine.paths("ana", "zoe", 4, 2).unwrap();
    let over: Vec<&str> = paths
        .iter()
        .map(|path| path.nodes[1].name.as_str())
        .collect();
    assert_eq!(over, ["rare", "a hub"]);
}

/// Renamed notes keep their identity and their open relations, in a small run and in a large one, which
/// derives everything anew.
#[test]
fn a_renamed_note_stays_who_it_is() {
    const IDENTITY: &str =
        "SELECT d.public_id, e.public_id FROM document d JOIN entity e ON e.id = d.entity
         WHERE d.retracted_at IS NULL ORDER BY d.public_id";
    const WINDOWS: &str =
        "SELECT s.public_id, t.public_id, r.version, r.recorded_at, r.retracted_at FROM relation r
         JOIN entity s ON s.id = r.source JOIN entity t ON t.id = r.target ORDER BY s.public_id";
    let vault = Vault::new(&[
        ("Old.md", "This one leads to [[B]].\n"),
        ("B.md", "b\n"),
        ("C.md", "From here to [[Old]].\n"),
    ]);
    let id = vault.engine.entity("Old").unwrap()[0].public_id.clone();
    let before = vault.rows(IDENTITY);
    // Into a folder, under its own name: every link still leads there.
    let windows = vault.rows(WINDOWS);
    vault.rename("Old.md", "sub/Old.md");
    assert_eq!(vault.index().renamed, 1);
    assert_eq!(vault.rows(IDENTITY), before);
    assert_eq!(vault.rows(WINDOWS), windows, "neither closed nor opened");
    // Under another name: what it says stays, what called it by name is open.
    vault.rename("sub/Old.md", "sub/New.md");
    assert_eq!(vault.index().renamed, 1);
    assert_eq!(vault.engine.entity("New").unwrap()[0].public_id, id);
    assert_eq!(vault.rows(IDENTITY), before);
    assert_eq!(vault.relations(), ["New links_to B"]);
    assert_eq!(vault.engine.open_links().unwrap()[0].target, "Old");

    let many: Vec<(String, String)> = (0..100)
        .map(|n| (format!("n{n}.md"), format!("Note {n} leads to [[hub]].\n")))
        .collect();
    let mut notes: Vec<(&str, &str)> = many
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    notes.push(("hub.md", "all\n"));
    let vault = Vault::new(&notes);
    let (before, windows) = (vault.rows(IDENTITY), vault.rows(WINDOWS));
    for n in 0..60 {
        vault.rename(&format!("n{n}.md"), &format!("moved/m{n}.md"));
    }
    assert_eq!(vault.index().renamed, 60);
    assert_eq!(vault.rows(IDENTITY), before);
    assert_eq!(vault.rows(WINDOWS), windows);
}

/// The link syntax is seen from marker files; one that is given wins, and every note is read anew by it.
#[test]
fn each_convention_reaches_the_store() {
    let logseq = Vault::new(&[
        ("logseq/config.edn", "{}\n"),
        ("pages/a___b.md", "- a page below another\n"),
        (
            "pages/start.md",
            "- to [[a/b]] and [the day]([[2024-05-01]])\n",
        ),
        ("journals/2024_05_01.md", "- a day\n"),
    ]);
    let targets =
        "SELECT d.uri, coalesce(t.uri, l.status) FROM link l JOIN document d ON d.id = l.document
         LEFT JOIN document t ON t.id = l.resolved ORDER BY l.id";
    assert_eq!(
        logseq.rows(targets),
        [
            "v/pages/start.md v/pages/a___b.md",
            "v/pages/start.md v/journals/2024_05_01.md"
        ]
    );

    let dendron = Vault::new(&[
        ("dendron.yml", "version: 5\n"),
        ("proj.alpha.md", "to [[The home page|home]]\n"),
        ("home.md", "to [[proj.alpha]]\n"),
    ]);
    assert_eq!(
        dendron.rows(targets),
        ["v/home.md v/proj.alpha.md", "v/proj.alpha.md v/home.md"]
    );
    let source = SourceSpec {
        root: dendron.root(),
        convention: Some(LinkConvention::Obsidian),
    };
    dendron.engine.index(&[source], &()).unwrap();
    assert_eq!(
        dendron.rows(targets),
        ["v/home.md v/proj.alpha.md", "v/proj.alpha.md unresolved"],
        "in Obsidian the target stands before the bar"
    );
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

/// A link to a table or to a file without text leads to a file that is there.
#[test]
fn links_to_files_that_are_no_notes_are_not_open() {
    let vault = Vault::new(&[
        ("rows.csv", "name,city\nAna,Porto\n"),
        ("blank.html", "<html></html>"),
        (
            "From.md",
            "[[rows.csv]] ![[blank.html]] [data](rows.csv) [[later.html]] [[nowhere]]",
        ),
    ]);
    let open = |vault: &Vault| -> Vec<String> {
        let links = vault.engine.open_links().unwrap();
        links.into_iter().map(|link| link.target).collect()
    };
    assert_eq!(open(&vault), ["later.html", "nowhere"]);
    vault.write("later.html", "<html></html>");
    vault.index();
    assert_eq!(open(&vault), ["nowhere"]);
    for gone in ["later.html", "rows.csv"] {
        fs::remove_file(vault.root().join(gone)).unwrap();
    }
    vault.index();
    assert_eq!(
        open(&vault),
        ["rows.csv", "rows.csv", "later.html", "nowhere"]
    );
}
