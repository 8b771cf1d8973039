//! Links to headings and blocks are links to the page, and to the heading where it exists (bug log D28).

use malha_engine::graph::{NoteIndex, NoteRef, find_heading};
use malha_engine::sources::{Format, ReadOptions, read};
use malha_engine::types::{
    DocumentId, LinkConvention, NeighborRequest, ParsedDocument, Resolution,
};
use malha_engine::{Engine, EngineConfig, SourceSpec};

const FROM: &str = "# Costs

See [[#Costs]], [[Budget#Q3|third quarter]], [[Budget#^b1]], ![[Budget#Q3]],
[[Budget#Missing]], [[Budget#Q2#Costs]], [[Budget#Q3#Costs]], [[Budget#C# tools]].
";
const BUDGET: &str = "# Budget

## Q2

### Costs

Two. ^b1

## Q3

### Costs

Three.

## C# tools
";

fn parse(uri: &str, text: &str) -> ParsedDocument {
    let outcome = read(
        text.as_bytes(),
        uri,
        Format::Markdown,
        &ReadOptions::default(),
    );
    outcome.documents.into_iter().next().expect("one document")
}

#[test]
fn page_edges_for_all_and_the_heading_where_there_is_one() {
    let documents = [parse("From.md", FROM), parse("Budget.md", BUDGET)];
    let index = NoteIndex::new(
        ["From.md", "Budget.md"]
            .into_iter()
            .enumerate()
            .map(|(row, uri)| NoteRef {
                document: DocumentId(row as i64),
                uri,
                aliases: &[],
            }),
        [],
    );
    // Label, page, line of the heading.
    let expected: [(Option<&str>, usize, Option<&str>); 8] = [
        (None, 0, Some("# Costs")),
        (Some("third quarter"), 1, Some("## Q3")),
        (None, 1, None),
        (None, 1, Some("## Q3")),
        (None, 1, None),
        (None, 1, Some("### Costs")),
        (None, 1, Some("### Costs")),
        (None, 1, Some("## C# tools")),
    ];
    let links = &documents[0].links;
    assert_eq!(links.len(), expected.len());
    let mut starts = Vec::new();
    for (link, (label, page, heading)) in links.iter().zip(expected) {
        let shown = &FROM[link.start..link.end];
        assert_eq!(link.label.as_deref(), label, "{shown}");
        assert!(!link.target.contains(['#', '|', '^']), "{shown}");
        let found = index.resolve("From.md", &link.target, link.kind, LinkConvention::Obsidian);
        let Resolution::Resolved { document, .. } = found else {
            panic!("{shown}: {found:?}");
        };
        assert_eq!(document, DocumentId(page as i64), "{shown}");
        let target = &documents[page];
        let anchor = link.anchor.as_deref().expect(shown);
        let found = find_heading(&target.headings, anchor).map(|place| &target.headings[place]);
        let line = found.map(|heading| &target.text[heading.start..heading.end]);
        assert_eq!(line, heading, "{shown}");
        starts.push(found.map(|heading| heading.start));
    }
    // The two headings `Costs` are told apart by the one above them.
    assert!(starts[5] < starts[6]);
}

#[test]
fn the_evidence_of_a_link_shows_the_heading_it_leads_to() {
    let folder = tempfile::tempdir().unwrap();
    let vault = folder.path().join("vault");
    std::fs::create_dir(&vault).unwrap();
    let budget = format!("---\ntags: [money]\n---\n\n{BUDGET}");
    let from = "# Costs\n\nSee [[Budget#Q2#Costs]].\n\nAnd [[Budget#Missing]].\n\nAlso [[Budget]].\n\n![[Budget#^b1]]\n";
    std::fs::write(vault.join("Budget.md"), budget).unwrap();
    std::fs::write(vault.join("From.md"), from).unwrap();
    let engine = Engine::create(&folder.path().join("malha.db"), EngineConfig::default()).unwrap();
    let source = SourceSpec {
        root: vault,
        convention: None,
    };
    engine.index(&[source], &()).unwrap();
    let request = NeighborRequest::new("From");
    let found = engine.neighbors(&request).unwrap();
    let mut shown: Vec<(usize, Option<(usize, String)>)> = found
        .relations
        .iter()
        .flat_map(|relation| &relation.evidence)
        .map(|evidence| {
            let heading = evidence.heading.as_ref();
            assert!(heading.is_none_or(|heading| heading.uri.ends_with("Budget.md")));
            (
                evidence.line,
                heading.map(|heading| (heading.line, heading.text.clone())),
            )
        })
        .collect();
    shown.sort();
    let costs = Some((9, "Costs".to_owned()));
    assert_eq!(shown, [(3, costs), (5, None), (7, None), (9, None)]);
}
