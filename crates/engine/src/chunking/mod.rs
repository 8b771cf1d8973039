//! Document -> chunks: pieces of bounded size that keep together what belongs together.
//!
//! A document that fits is one chunk; else its sections are, each cut on its own ([`sections`]), so that an
//! edit under one heading leaves the chunks of the others as they are. A section that does not fit is cut
//! from its start on at the best place near the limit ([`split`], [`breaks`]): an edit at its end leaves
//! the chunks before it as they are.
//!
//! Why not the `text-splitter` crate: on 2,088 real notes (3.9 MB, one core) its markdown splitter cuts
//! 78 MB/s, this 161; it joins small neighbouring sections, so an edit moves the chunks after it, and
//! knows nothing of links, which must not be divided.

mod breaks;
mod measure;
mod options;
mod sections;
mod split;

pub use measure::estimate_tokens;
pub use options::ChunkOptions;

pub use crate::types::ChunkUnit;

use crate::types::{ChunkDraft, Heading, ParsedDocument};

/// Cuts a document's body into chunks in the order of the text. Every character of the body that is not
/// blank is in a chunk; a chunk is never larger than the options say, starts and ends with a character
/// that is not blank, and starts and ends after the chunk before it. Consecutive chunks of one section
/// share up to `overlap` of text.
pub fn chunk(document: &ParsedDocument, options: &ChunkOptions) -> Vec<ChunkDraft> {
    let ranges = sections::pieces(document, options);
    let mut path = HeadingPath::new(&document.headings);
    let mut line = 1;
    let mut counted = 0;
    ranges
        .into_iter()
        .map(|range| {
            line += document.text[counted..range.start].matches('\n').count();
            counted = range.start;
            ChunkDraft {
                heading_path: path.at(range.start),
                tokens: estimate_tokens(&document.text[range.clone()]),
                start: range.start,
                end: range.end,
                line,
            }
        })
        .collect()
}

/// Keeps the chain of headings while going through a document.
struct HeadingPath<'a> {
    rest: &'a [Heading],
    open: Vec<&'a Heading>,
}

impl<'a> HeadingPath<'a> {
    fn new(headings: &'a [Heading]) -> Self {
        Self {
            rest: headings,
            open: Vec::new(),
        }
    }

    /// Headings above `start`, the one that starts there included. Called with increasing starts.
    fn at(&mut self, start: usize) -> Vec<String> {
        while let Some((heading, rest)) = self.rest.split_first()
            && heading.start <= start
        {
            self.open.retain(|above| above.level < heading.level);
            self.open.push(heading);
            self.rest = rest;
        }
        self.open
            .iter()
            .map(|heading| heading.text.clone())
            .collect()
    }
}

/// White space, and characters that nobody sees.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{FEFF}' | '\u{200B}' | '\u{2060}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{DocumentKind, TextOrigin};
    use proptest::prelude::*;

    /// A document as the markdown reader gives it, as far as chunking cares.
    fn document(text: &str) -> ParsedDocument {
        let mut headings = Vec::new();
        let mut blocks = Vec::new();
        let mut fence = None;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let marks = line.bytes().take_while(|&byte| byte == b'#').count();
            if line.starts_with("```") {
                match fence.take() {
                    None => fence = Some(at),
                    Some(start) => blocks.push(start..at + line.trim_end().len()),
                }
            } else if fence.is_none() && (1..=6).contains(&marks) && line[marks..].starts_with(' ')
            {
                headings.push(Heading {
                    level: marks as u8,
                    text: line[marks..].trim().to_owned(),
                    start: at,
                    end: at + line.trim_end().len(),
                });
            }
            at += line.len();
        }
        ParsedDocument {
            origin: TextOrigin::File,
            headings,
            blocks,
            ..ParsedDocument::extracted(DocumentKind::Markdown, String::new(), text.to_owned())
        }
    }

    fn options(size: usize, overlap: usize) -> ChunkOptions {
        ChunkOptions::new(size, overlap, ChunkUnit::Characters).unwrap()
    }

    fn texts<'a>(document: &'a ParsedDocument, options: &ChunkOptions) -> Vec<&'a str> {
        chunk(document, options)
            .iter()
            .map(|chunk| &document.text[chunk.start..chunk.end])
            .collect()
    }

    #[test]
    fn cuts_where_the_text_breaks() {
        let check = |text: &str, size, overlap, expected: &[&str]| {
            assert_eq!(
                texts(&document(text), &options(size, overlap)),
                expected,
                "{text:?}"
            );
        };
        check("", 20, 0, &[]);
        check(" \n\t\u{FEFF}\r\n ", 20, 0, &[]);
        check("  short  ", 20, 0, &["short"]);
        check(
            "one two three four five",
            16,
            0,
            &["one two three", "four five"],
        );
        check(
            "One two. Three four five.",
            16,
            0,
            &["One two.", "Three four five."],
        );
        check(
            "One two.\n\nThree. Four five.",
            20,
            0,
            &["One two.", "Three. Four five."],
        );
        check(
            "One two three.\n\nFour. Five six",
            22,
            0,
            &["One two three.", "Four. Five six"],
        );
        check(
            "one two three four five six",
            20,
            9,
            &["one two three four", "four five six"],
        );
        check(
            "One two. Three. Four five. Six.",
            20,
            9,
            &["One two. Three.", "Three. Four five.", "five. Six."],
        );
        check(
            "日本語の文章です。次の文章です。おわり。",
            16,
            0,
            &["日本語の文章です。次の文章です。", "おわり。"],
        );
        check(
            "aaaaaaaaaaaaaaaaaaaaaaaaa",
            16,
            7,
            &["aaaaaaaaaaaaaaaa", "aaaaaaaaa"],
        );
        check(&format!("a{}b", " ".repeat(100)), 16, 0, &["a", "b"]);
    }

    #[test]
    fn sections_are_cut_on_their_own() {
        let check = |text: &str, size, expected: &[&str]| {
            assert_eq!(
                texts(&document(text), &options(size, 0)),
                expected,
                "{text:?}"
            );
        };
        check("# A\none\n# B\ntwo", 50, &["# A\none\n# B\ntwo"]);
        check(
            "# A\none two\n# B\nthree",
            16,
            &["# A\none two", "# B\nthree"],
        );
        check(
            "# A\n## B\none two\n## C\nthree",
            18,
            &["# A\n## B\none two", "## C\nthree"],
        );
        check(
            "# A\nx\n## B\ny\n# C\nlonger text",
            18,
            &["# A\nx\n## B\ny", "# C\nlonger text"],
        );
        check(
            "intro words here\n\n# A\none",
            18,
            &["intro words here", "# A\none"],
        );
    }

    #[test]
    fn blocks_that_fit_stay_whole() {
        let code = "```\nlet a = 1;\n\nlet b = 2;\n```";
        let text = format!("Some words first.\n\n{code}\n\nAnd some after it.");
        assert_eq!(
            texts(&document(&text), &options(40, 0)),
            ["Some words first.", code, "And some after it."]
        );
        let text = format!("Words.\n\n```\n{}```", "let a = 1;\n".repeat(10));
        assert!(
            texts(&document(&text), &options(40, 10))
                .iter()
                .all(|text| text.len() <= 40)
        );
    }

    #[test]
    fn a_link_is_not_cut() {
        use crate::types::{LinkDraft, LinkKind};
        let mut document = document("some words [[a link of words]] more words");
        document.links.push(LinkDraft {
            kind: LinkKind::Wikilink,
            start: 11,
            end: 30,
            target: "a link of words".to_owned(),
            anchor: None,
            label: None,
            relation: None,
        });
        assert_eq!(
            texts(&document, &options(20, 0)),
            ["some words", "[[a link of words]]", "more words"]
        );
    }

    #[test]
    fn headings_and_lines_of_chunks() {
        let document =
            document("# A\nintro words\n## B\nmore words\n### C\n\nlast words\n# D\nend of it");
        let got: Vec<_> = chunk(&document, &options(20, 0))
            .into_iter()
            .map(|chunk| (chunk.line, chunk.heading_path.join("/")))
            .collect();
        let expected = [(1, "A"), (3, "A/B"), (5, "A/B/C"), (8, "D")];
        assert_eq!(got, expected.map(|(line, path)| (line, path.to_owned())));
    }

    #[test]
    fn front_matter_is_no_text() {
        let mut document = document("---\na: b\n---\nText.");
        document.body_start = 13;
        let chunks = chunk(&document, &ChunkOptions::default());
        assert_eq!((chunks.len(), chunks[0].start, chunks[0].line), (1, 13, 4));
    }

    #[test]
    fn an_edit_leaves_other_chunks_alone() {
        let section = |name: &str, word: &str| {
            format!(
                "# {name}\n\n{}\n\n",
                format!("A {word} sentence. ").repeat(60)
            )
        };
        let before = section("A", "first") + &section("B", "second") + &section("C", "third");
        let in_the_middle =
            section("A", "first") + &section("B", "changed") + &section("C", "third");
        let at_the_end = before.clone() + "\n\nOne paragraph more.";
        let options = options(300, 50);
        let (before, after) = (document(&before), document(&in_the_middle));
        let kept = |wanted: &str| {
            let all = texts(&before, &options)
                .into_iter()
                .filter(|text| text.contains(wanted))
                .collect::<Vec<_>>();
            let new = texts(&after, &options);
            all.iter().all(|text| new.contains(text))
        };
        assert!(kept("first") && kept("third") && !kept("second"));
        let after = document(&at_the_end);
        let (old, new) = (texts(&before, &options), texts(&after, &options));
        assert_eq!(old[..old.len() - 1], new[..old.len() - 1]);
    }

    #[test]
    fn endless_inputs_end() {
        let options = options(50, 24);
        let check = |text: String| {
            let document = document(&text);
            assert!(chunk(&document, &options).len() > 1, "{:?}", &text[..20]);
        };
        check("abc\n".repeat(50));
        check("x".repeat(1 << 20));
        check(format!("a{}b", " ".repeat(1 << 20)));
        check(format!("a{}", "\u{301}".repeat(1 << 19)));
        check("👩\u{200D}".repeat(1 << 16));
        check("🇧🇷".repeat(1 << 16));
        check("```\n".repeat(1 << 16));
        check("# x\n".repeat(1 << 14));
    }

    #[test]
    fn graphemes_stay_whole() {
        let document = document(&"👩\u{200D}🔬".repeat(30));
        for text in texts(&document, &options(16, 0)) {
            assert!(text.starts_with('👩') && text.ends_with('🔬'), "{text:?}");
        }
    }

    fn markdown() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => "[a-zA-Z ]{0,30}[.!?]? ",
            2 => "[あ-んー一-龠。、「」]{0,20}",
            1 => any::<String>(),
            1 => "\n#{1,6} [a-z ]{0,10}\n",
            2 => "\n\n?|\r\n| {0,40}",
            1 => "\n```\n[a-z\n ]{0,60}\n```\n",
            1 => "\n- [a-z ]{0,20}|[x]{30}",
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn chunks_cover_the_text_in_order(
            text in markdown(),
            size in 16_usize..200,
            share in 0.0..0.5,
            tokens in any::<bool>(),
            body in 0_usize..20,
        ) {
            let unit = if tokens { ChunkUnit::Tokens } else { ChunkUnit::Characters };
            let overlap = ((size as f64 * share) as usize).min(size.div_ceil(2) - 1);
            let options = ChunkOptions::new(size, overlap, unit).unwrap();
            let mut document = document(&text);
            document.body_start = text.floor_char_boundary(body);
            document.headings.retain(|heading| heading.start >= document.body_start);
            let chunks = chunk(&document, &options);
            prop_assert_eq!(&chunks, &chunk(&document, &options));
            let mut covered = document.body_start;
            let mut start = 0;
            for (index, chunk) in chunks.iter().enumerate() {
                prop_assert!(text.is_char_boundary(chunk.start) && text.is_char_boundary(chunk.end));
                prop_assert!(chunk.start < chunk.end && chunk.end > covered, "advances");
                prop_assert!(index == 0 || chunk.start > start, "starts advance");
                if chunk.start > covered {
                    prop_assert!(text[covered..chunk.start].chars().all(is_blank), "a gap");
                } else if index > 0 {
                    prop_assert!(measure::measure(&text[chunk.start..covered], unit) <= overlap, "overlap");
                }
                let piece = &text[chunk.start..chunk.end];
                prop_assert!(measure::measure(piece, unit) <= size, "size");
                prop_assert!(!piece.starts_with(is_blank) && !piece.ends_with(is_blank), "blank edges");
                prop_assert_eq!(chunk.line, 1 + text[..chunk.start].matches('\n').count());
                covered = chunk.end;
                start = chunk.start;
            }
            prop_assert!(text[covered..].chars().all(is_blank), "the end");
        }
    }
}
