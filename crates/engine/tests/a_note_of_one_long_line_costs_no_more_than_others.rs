//! Work per link must not grow with the length of its line, or one exported file stalls a run.

use std::time::Instant;

use malha_engine::graph::quote_span;
use malha_engine::sources::{Format, ReadOptions, read};

#[test]
fn a_hundred_thousand_links_in_a_line() {
    for piece in [
        "[[a]] ",
        "x]([[a]]) ",
        "(k:: [[a]]) ",
        "#t [[a|b]] `c` ",
        "[t](a.md) ",
        "![[a]]",
    ] {
        let text = piece.repeat(100_000);
        let start = Instant::now();
        let outcome = read(
            text.as_bytes(),
            "long.md",
            Format::Markdown,
            &ReadOptions::default(),
        );
        let document = &outcome.documents[0];
        assert_eq!(document.links.len(), 100_000, "{piece}");
        let quoted: usize = document
            .links
            .iter()
            .map(|link| quote_span(&document.text, link.start..link.end).len())
            .sum();
        assert!(quoted <= 100_000 * 300);
        // Linear work takes well under a second; quadratic work would take many minutes.
        assert!(
            start.elapsed().as_secs() < 60,
            "{piece}: {:?}",
            start.elapsed()
        );
    }
}
