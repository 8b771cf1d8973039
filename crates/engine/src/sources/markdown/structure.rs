//! Headings, blocks, code and markdown links of a note, by a `CommonMark` parser.

use std::ops::Range;

use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

use super::super::relative_link::percent_decode;
use super::super::wikilink::{Hidden, without_extension};
use crate::types::{Heading, LinkConvention, LinkDraft, LinkKind, scheme};

/// What the parser says about a note's body.
#[derive(Debug, Default)]
pub(super) struct Structure {
    pub(super) headings: Vec<Heading>,
    /// Code blocks and tables.
    pub(super) blocks: Vec<Range<usize>>,
    /// Code, math, comments and HTML, sorted by start: no link or tag starts there.
    pub(super) hidden: Vec<Hidden>,
    /// `[text](target)` and `![text](target)`, reference links included.
    pub(super) links: Vec<LinkDraft>,
}

/// Reads the structure of `text[body_start..]`; all ranges are bytes of `text`.
pub(super) fn read(text: &str, body_start: usize, convention: LinkConvention) -> Structure {
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_MATH;
    let parser = Parser::new_ext(&text[body_start..], options).into_offset_iter();
    let mut walk = Walk {
        text,
        convention,
        found: Structure::default(),
        depth: 0,
        open_links: Vec::new(),
        open_code: None,
    };
    for (event, range) in parser {
        walk.take(event, body_start + range.start..body_start + range.end);
    }
    let mut found = walk.found;
    found
        .hidden
        .sort_by_key(|hidden| (hidden.range.start, std::cmp::Reverse(hidden.range.end)));
    found.links.sort_by_key(|link| link.start);
    found
}

struct Walk<'a> {
    text: &'a str,
    convention: LinkConvention,
    found: Structure,
    /// Quotes and list items around the present place.
    depth: usize,
    /// Links whose label is being read: place in `found.links`, label so far.
    open_links: Vec<(Option<usize>, String)>,
    /// Where an inline `<code>` or `<pre>` started.
    open_code: Option<usize>,
}

impl Walk<'_> {
    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(TagEnd::Item | TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition) => {
                self.depth = self.depth.saturating_sub(1);
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                if let Some((Some(place), label)) = self.open_links.pop() {
                    let label = label.trim();
                    self.found.links[place].label = (!label.is_empty()).then(|| label.to_owned());
                }
            }
            Event::Text(piece) => self.label(&piece),
            Event::Code(piece) => {
                self.label(&piece);
                self.hide(range, false);
            }
            Event::InlineMath(piece) | Event::DisplayMath(piece) => {
                self.label(&piece);
                self.hide(range, true);
            }
            Event::SoftBreak | Event::HardBreak => self.label(" "),
            Event::InlineHtml(tag) => {
                self.inline_code(&tag, &range);
                self.hide(range, false);
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Item | Tag::BlockQuote(_) | Tag::FootnoteDefinition(_) => self.depth += 1,
            // Logseq writes every block as a list item, headings too.
            Tag::Heading { level, .. }
                if self.depth == 0 || self.convention == LinkConvention::Logseq =>
            {
                self.heading(level as u8, range);
            }
            Tag::CodeBlock(_) => {
                self.hide(range.clone(), false);
                self.found.blocks.push(trimmed(self.text, range));
            }
            Tag::Table(_) => self.found.blocks.push(trimmed(self.text, range)),
            Tag::HtmlBlock => self.html_block(range),
            Tag::Link {
                link_type,
                dest_url,
                ..
            } => self.link(LinkKind::Markdown, link_type, &dest_url, range),
            Tag::Image {
                link_type,
                dest_url,
                ..
            } => self.link(LinkKind::MarkdownEmbed, link_type, &dest_url, range),
            _ => {}
        }
    }

    fn hide(&mut self, range: Range<usize>, is_math: bool) {
        self.found.hidden.push(Hidden { range, is_math });
    }

    fn label(&mut self, piece: &str) {
        for (_, label) in &mut self.open_links {
            label.push_str(piece);
        }
    }

    fn heading(&mut self, level: u8, range: Range<usize>) {
        let range = trimmed(self.text, range);
        let start = self.text[..range.start]
            .rfind('\n')
            .map_or(0, |line_break| line_break + 1);
        // A byte order mark before the first line is no part of it.
        let start = if self.text[start..].starts_with('\u{feff}') {
            start + 3
        } else {
            start
        };
        self.found.headings.push(Heading {
            level,
            text: heading_text(&self.text[range.clone()]),
            start,
            end: range.end,
        });
    }

    /// HTML comments hide their text, as do `<pre>` and `<code>`; tags hide their attributes.
    fn html_block(&mut self, range: Range<usize>) {
        let html = &self.text[range.clone()];
        let mut at = 0;
        while let Some(open) = html[at..].find('<').map(|found| at + found) {
            let rest = &html[open..];
            let end_after = |mark: &str| rest.find(mark).map_or(rest.len(), |at| at + mark.len());
            let length = if rest.starts_with("<!--") {
                end_after("-->")
            } else if is_tag(rest, "pre") {
                end_after("</pre>")
            } else if is_tag(rest, "code") {
                end_after("</code>")
            } else if is_tag(rest, "script") {
                end_after("</script>")
            } else if is_tag(rest, "style") {
                end_after("</style>")
            } else if rest[1..].starts_with(|next: char| next.is_ascii_alphabetic() || next == '/')
            {
                end_after(">")
            } else {
                1
            };
            if length > 1 {
                self.hide(range.start + open..range.start + open + length, false);
            }
            at = open + length;
        }
    }

    fn inline_code(&mut self, tag: &CowStr<'_>, range: &Range<usize>) {
        if is_tag(tag, "code") || is_tag(tag, "pre") {
            self.open_code.get_or_insert(range.start);
        } else if (is_tag(tag, "/code") || is_tag(tag, "/pre"))
            && let Some(start) = self.open_code.take()
        {
            self.hide(start..range.end, false);
        }
    }

    fn link(&mut self, kind: LinkKind, link_type: LinkType, address: &str, range: Range<usize>) {
        let is_written_as_link = matches!(
            link_type,
            LinkType::Inline | LinkType::Reference | LinkType::Collapsed | LinkType::Shortcut
        );
        // `[label]([[target]])` is a wikilink with a label; `[label](#)` leads nowhere.
        let (target, anchor) = split_address(address);
        let is_empty = target.is_empty() && anchor.is_none();
        if !is_written_as_link || address.starts_with("[[") || is_empty {
            self.open_links.push((None, String::new()));
            return;
        }
        self.open_links
            .push((Some(self.found.links.len()), String::new()));
        self.found.links.push(LinkDraft {
            kind,
            start: range.start,
            end: range.end,
            target,
            anchor,
            label: None,
            relation: None,
        });
    }
}

/// Whether `text` starts with the HTML tag of this name.
fn is_tag(text: &str, name: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first() == Some(&b'<')
        && bytes
            .get(1..=name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
        && bytes
            .get(name.len() + 1)
            .is_none_or(|next| !next.is_ascii_alphanumeric())
}

/// A block's range without the line breaks and blank space at its end.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    range.start..range.start + text[range].trim_end().len()
}

/// A heading's text: without `#`s, the underline, and line breaks.
fn heading_text(source: &str) -> String {
    let marks = source.bytes().take_while(|&byte| byte == b'#').count();
    let text = if (1..=6).contains(&marks) {
        let text = source[marks..].trim();
        let without = text.trim_end_matches('#');
        // `# C#` keeps its sign: closing marks need a blank before them.
        if without.is_empty() || without.ends_with([' ', '\t']) {
            without
        } else {
            text
        }
    } else {
        source.rsplit_once('\n').map_or(source, |(text, _)| text)
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Splits a markdown link's address into target and anchor, percent-decoded.
/// A web address stays whole.
fn split_address(address: &str) -> (String, Option<String>) {
    if address.starts_with("//") || scheme(address).is_some() {
        return (address.to_owned(), None);
    }
    let (path, anchor) = match address.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (address, None),
    };
    let path = percent_decode(path);
    (
        without_extension(path.trim()).to_owned(),
        anchor
            .map(|anchor| percent_decode(anchor).trim().to_owned())
            .filter(|anchor| !anchor.is_empty()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings() {
        let check = |text: &str, expected: &[(u8, &str, &str)]| {
            let found = read(text, 0, LinkConvention::Obsidian);
            let headings: Vec<_> = found
                .headings
                .iter()
                .map(|heading| {
                    (
                        heading.level,
                        heading.text.as_str(),
                        &text[heading.start..heading.end],
                    )
                })
                .collect();
            assert_eq!(headings, expected, "{text}");
        };
        check(
            "# A\n\ntext\n\n### B c ##\n",
            &[(1, "A", "# A"), (3, "B c", "### B c ##")],
        );
        check("  ## C#\r\n", &[(2, "C#", "  ## C#")]);
        check("A\nb\n===\n", &[(1, "A b", "A\nb\n===")]);
        check("B\n---\n", &[(2, "B", "B\n---")]);
        check("#no\n\n####### no\n", &[]);
        check("```\n# no\n```\n", &[]);
        check("> # quoted\n\n- # listed\n", &[]);
        check("#\n", &[(1, "", "#")]);
    }

    #[test]
    fn blocks_and_hidden() {
        let check = |text: &str, blocks: &[&str], hidden: &[&str]| {
            let found = read(text, 0, LinkConvention::Obsidian);
            let slices: Vec<_> = found
                .blocks
                .iter()
                .map(|block| &text[block.clone()])
                .collect();
            assert_eq!(slices, blocks, "{text}");
            let slices: Vec<_> = found
                .hidden
                .iter()
                .map(|hidden| text[hidden.range.clone()].trim_end())
                .collect();
            assert_eq!(slices, hidden, "{text}");
        };
        check(
            "a\n\n```rs\nx\n```\n\nb",
            &["```rs\nx\n```"],
            &["```rs\nx\n```"],
        );
        check("|a|b|\n|-|-|\n|1|2|\n\nc", &["|a|b|\n|-|-|\n|1|2|"], &[]);
        check("a `b` ``c ` d`` e", &[], &["`b`", "``c ` d``"]);
        check("a <!-- b --> c", &[], &["<!-- b -->"]);
        check("<!-- b\n\nb -->\n\nc", &[], &["<!-- b\n\nb -->"]);
        check("a $x$ b $5 c $6", &[], &["$x$"]);
        check(
            "<code>a</code> b",
            &[],
            &["<code>a</code>", "<code>", "</code>"],
        );
        check(
            "<div class=\"x\">a</div>",
            &[],
            &["<div class=\"x\">", "</div>"],
        );
        check("<pre>\na\n</pre>", &[], &["<pre>\na\n</pre>"]);
    }

    #[test]
    fn markdown_links() {
        let check = |text: &str, expected: &[(&str, Option<&str>, Option<&str>)]| {
            let found = read(text, 0, LinkConvention::Obsidian);
            let links: Vec<_> = found
                .links
                .iter()
                .map(|link| {
                    (
                        link.target.as_str(),
                        link.anchor.as_deref(),
                        link.label.as_deref(),
                    )
                })
                .collect();
            assert_eq!(links, expected, "{text}");
        };
        check("[t](a/b.md#c%20d)", &[("a/b", Some("c d"), Some("t"))]);
        check("[t](<my note.md>)", &[("my note", None, Some("t"))]);
        check("[t](my%20note.md)", &[("my note", None, Some("t"))]);
        check("[t](my note.md)", &[]);
        check("[t](#h)", &[("", Some("h"), Some("t"))]);
        check(
            "[*t* `u`][r]\n\n[r]: ../x.md \"title\"\n",
            &[("../x", None, Some("t u"))],
        );
        check("![alt](i.png)", &[("i.png", None, Some("alt"))]);
        check(
            "[t](https://a.b/c.md#d)",
            &[("https://a.b/c.md#d", None, Some("t"))],
        );
        check("<https://a.b>", &[]);
        check("`[t](a.md)`", &[]);
        check(
            "[t](%E6%B0%B4.md) [u](%ff.md)",
            &[("水", None, Some("t")), ("%ff", None, Some("u"))],
        );
        check(
            "[![a](i.png)](b.md)",
            &[("b", None, Some("a")), ("i.png", None, Some("a"))],
        );
    }
}
