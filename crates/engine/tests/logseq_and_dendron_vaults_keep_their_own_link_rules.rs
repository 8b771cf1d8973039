//! Pages in namespaces, journals, page properties and block references of Logseq; the order of label and
//! target and the dotted names of Dendron.

use malha_engine::graph::{NoteIndex, NoteRef};
use malha_engine::sources::{Format, ReadOptions, detect_convention, read};
use malha_engine::types::{DocumentId, LinkConvention, LinkKind, ParsedDocument, Resolution};

const LOGSEQ: &[(&str, &str)] = &[
    ("logseq/config.edn", "{}"),
    (
        "pages/oficina___forno.md",
        "title:: Oficina/Forno\nalias:: o forno, Kiln\ntags:: barro, [[Projetos]]\n\n- # Forno\n  id:: 64f1b2c3-0000-4a5b-8c9d-0123456789ab\n- see ((64f1b2c3-0000-4a5b-8c9d-0123456789ab))\n",
    ),
    ("pages/Projetos.md", "- one page\n"),
    ("pages/c%2Fd.md", "- an old file name\n"),
    (
        "journals/2024_05_01.md",
        "- [the kiln]([[Oficina/Forno]]) and [[o forno]]\n- {{embed [[Projetos]]}} #barro\n- [[c/d]]\n- [[May 1st, 2024]]\n- ((00000000-0000-4a5b-8c9d-0123456789ab))\n- part-of:: [[Projetos]]\n",
    ),
];

const DENDRON: &[(&str, &str)] = &[
    ("dendron.yml", "version: 5\n"),
    (
        "root.md",
        "---\ntitle: Root\n---\n[[The kiln|lab.kiln]] [[lab.kiln.log#first]]\n![[lab.kiln]] [[dendron://notes/root]]\n",
    ),
    ("lab.kiln.md", "---\ntitle: Kiln\n---\n[[root]]\n"),
    ("lab.kiln.log.md", "# first\n"),
];

/// Every link as `target from kind`, in order.
fn links(files: &[(&str, &str)], convention: LinkConvention, note: &str) -> Vec<String> {
    let paths = files.iter().map(|(path, _)| *path);
    assert_eq!(detect_convention(paths), convention);
    let options = ReadOptions {
        convention,
        ..ReadOptions::default()
    };
    let notes: Vec<(&str, ParsedDocument)> = files
        .iter()
        .filter(|(path, _)| Format::of_path(path) == Some(Format::Markdown))
        .flat_map(|(path, text)| {
            read(text.as_bytes(), path, Format::Markdown, &options)
                .documents
                .into_iter()
                .map(move |document| (*path, document))
        })
        .collect();
    let index = NoteIndex::new(
        notes
            .iter()
            .enumerate()
            .map(|(row, (uri, document))| NoteRef {
                document: DocumentId(row as i64),
                uri,
                aliases: &document.aliases,
            }),
        [],
    );
    let (uri, document) = notes.iter().find(|(uri, _)| *uri == note).expect(note);
    document
        .links
        .iter()
        .map(|link| {
            let found = match index.resolve(uri, &link.target, link.kind, convention) {
                Resolution::Resolved { document, .. } => notes[document.0 as usize].0,
                _ => "open",
            };
            let kind = if link.kind == LinkKind::Embed {
                "!"
            } else {
                ""
            };
            let label = link.label.as_deref().unwrap_or_default();
            let relation = link.relation.as_deref().unwrap_or_default();
            format!("{kind}{found}|{label}|{relation}")
        })
        .collect()
}

#[test]
fn logseq() {
    let check = |note, expected: &[&str]| {
        assert_eq!(
            links(LOGSEQ, LinkConvention::Logseq, note),
            expected,
            "{note}"
        );
    };
    check(
        "journals/2024_05_01.md",
        &[
            "pages/oficina___forno.md|the kiln|",
            "pages/oficina___forno.md||",
            "!pages/Projetos.md||",
            "pages/c%2Fd.md||",
            "journals/2024_05_01.md||",
            "open||",
            "pages/Projetos.md||part-of",
        ],
    );
    check(
        "pages/oficina___forno.md",
        &["pages/Projetos.md||", "pages/oficina___forno.md||"],
    );
}

#[test]
fn a_logseq_page_is_described_by_its_first_lines() {
    let (uri, text) = LOGSEQ[1];
    let options = ReadOptions {
        convention: LinkConvention::Logseq,
        ..ReadOptions::default()
    };
    let outcome = read(text.as_bytes(), uri, Format::Markdown, &options);
    let page = &outcome.documents[0];
    assert_eq!(page.title, "Oficina/Forno");
    assert_eq!(page.aliases, ["o forno", "Kiln", "Oficina/Forno"]);
    assert_eq!(page.headings.len(), 1);
    assert_eq!(page.body_start, 0, "the lines stay searchable");
}

#[test]
fn dendron() {
    assert_eq!(
        links(DENDRON, LinkConvention::Dendron, "root.md"),
        [
            "lab.kiln.md|The kiln|",
            "lab.kiln.log.md||",
            "!lab.kiln.md||",
            "root.md||",
        ]
    );
}

#[test]
fn a_convention_can_be_given_against_the_markers() {
    let read_as = |convention| {
        let options = ReadOptions {
            convention,
            ..ReadOptions::default()
        };
        let outcome = read(b"[[a|b]]", "n.md", Format::Markdown, &options);
        outcome.documents[0].links[0].target.clone()
    };
    assert_eq!(read_as(LinkConvention::Obsidian), "a");
    assert_eq!(read_as(LinkConvention::Dendron), "b");
}
