//! Links to headings and blocks are links to the page, and to the heading where it exists (bug log D28).

use malha_engine::graph::{NoteIndex, NoteRef, find_heading};
use malha_engine::sources::{Format, ReadOptions, read};
use malha_engine::types::{DocumentId, LinkConvention, ParsedDocument, Resolution};

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
