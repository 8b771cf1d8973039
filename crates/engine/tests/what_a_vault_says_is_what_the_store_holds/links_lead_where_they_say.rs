use std::fmt::Write as _;
use std::fs;

use malha_engine::SourceSpec;
use malha_engine::types::{LinkConvention, NeighborRequest};

use crate::vault::Vault;

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
