//! Whatever a file holds, the reader returns a document whose ranges slice its text.

use malha_engine::graph::{find_heading, quote_span};
use malha_engine::sources::{Format, ReadOptions, read};
use malha_engine::types::{LinkConvention, LinkKind, ParsedDocument};
use proptest::prelude::*;

/// Pieces that mean something to the reader, so that random texts reach its corners.
const PIECES: &[&str] = &[
    "---\n",
    "---",
    "\n",
    "\r\n",
    "\u{feff}",
    " ",
    "\t",
    "    ",
    "[[",
    "]]",
    "[",
    "]",
    "(",
    ")",
    "|",
    "#",
    "# ",
    "## ",
    "^",
    "!",
    "\\",
    "`",
    "``",
    "```\n",
    "~~~",
    "$",
    "$$",
    "<!--",
    "-->",
    "<code>",
    "</code>",
    "<pre>",
    "<",
    ">",
    "> ",
    "- ",
    "1. ",
    "::",
    "a:: ",
    "key: ",
    "aliases: ",
    "tags: ",
    "\"",
    "'",
    "*",
    "&x ",
    "*x",
    "{",
    "{{date}}",
    "}",
    ",",
    "a",
    "Água",
    "水",
    "é\u{301}",
    "🌱",
    "\u{a0}",
    "2024-05-01",
    "x.md",
    "http://a.b",
    "%20",
    "%",
    "===",
    "| a | b |\n|---|---|\n",
    "[a]: b.md\n",
    "[^1]",
    "((64f1b2c3-0000-4a5b-8c9d-0123456789ab))",
    "{{embed [[a]]}}",
    "\u{1}",
    "?",
    "...\n",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::collection::vec(prop::sample::select(PIECES), 0..60)
            .prop_map(|pieces| pieces.concat()),
        1 => prop::collection::vec(prop::sample::select(PIECES), 0..40)
            .prop_map(|pieces| format!("---\n{}\n---\n[[x]]", pieces.concat())),
        1 => any::<String>(),
    ]
    // A NUL may make a file look like UTF-16, which is another test's matter.
    .prop_map(|text| text.replace('\0', ""))
}

fn check(document: &ParsedDocument) {
    let text = &document.text;
    assert!(text.is_char_boundary(document.body_start));
    for heading in &document.headings {
        assert!(text.get(heading.start..heading.end).is_some());
        assert!((1..=6).contains(&heading.level));
        find_heading(&document.headings, &heading.text);
    }
    assert!(document.headings.is_sorted_by_key(|heading| heading.start));
    for block in &document.blocks {
        assert!(text.get(block.clone()).is_some());
    }
    assert!(
        document
            .links
            .is_sorted_by_key(|link| (link.start, link.end))
    );
    for link in &document.links {
        let shown = text.get(link.start..link.end).expect("a valid range");
        let starts = match link.kind {
            LinkKind::Embed => shown.starts_with("![") || shown.starts_with("{{embed"),
            LinkKind::MarkdownEmbed => shown.starts_with("!["),
            LinkKind::Wikilink | LinkKind::FrontMatter | LinkKind::Markdown => {
                shown.starts_with('[') || shown.starts_with("((")
            }
        };
        assert!(starts, "{:?}: {shown:?}", link.kind);
        let in_front = link.end <= document.body_start;
        assert_eq!(in_front, link.kind == LinkKind::FrontMatter, "{shown:?}");
        let quote = quote_span(text, link.start..link.end);
        assert!(quote.start <= link.start && link.end <= quote.end);
        assert!(text.get(quote).is_some());
        assert!(
            !link.target.is_empty() || link.anchor.is_some(),
            "{shown:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text(text in text()) {
        for convention in [LinkConvention::Obsidian, LinkConvention::Logseq, LinkConvention::Dendron] {
            let options = ReadOptions { convention, ..ReadOptions::default() };
            let outcome = read(text.as_bytes(), "a/b.md", Format::Markdown, &options);
            for document in &outcome.documents {
                prop_assert_eq!(&document.text, &text);
                check(document);
            }
        }
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let outcome = read(&bytes, "a/b.md", Format::Markdown, &ReadOptions::default());
        outcome.documents.iter().for_each(check);
    }
}
