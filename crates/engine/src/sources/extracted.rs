//! Builds the text of a document that is not itself text, with exact ranges for its parts.

use std::ops::Range;

use crate::types::{DocumentKind, Heading, LinkDraft, LinkKind, ParsedDocument, Warning};

/// A heading longer than this is a paragraph whose tag was never closed.
const MAX_HEADING: usize = 1000;

/// White space owed before the next word; the strongest asked for wins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    #[default]
    None,
    Space,
    Line,
    Paragraph,
}

/// The open code block or table, if any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Block {
    #[default]
    None,
    /// Nothing is in it yet.
    Opened,
    From(usize),
}

/// Text under construction. White space is written only between words, so that nothing has to be
/// taken back and every range stays true.
#[derive(Debug, Default)]
pub(super) struct TextBuilder {
    text: String,
    gap: Gap,
    /// Written before the next word, after the gap: a list mark or a cell border.
    mark: String,
    headings: Vec<Heading>,
    /// The open heading: its level, and where its first word started.
    heading: Option<(u8, Option<usize>)>,
    unwritten: Option<(u8, String)>,
    links: Vec<LinkDraft>,
    link: Option<LinkDraft>,
    link_started: bool,
    blocks: Vec<Range<usize>>,
    block: Block,
    /// Length of the text at the start of the table row, and the cells of it so far.
    row_start: usize,
    cells: usize,
}

impl TextBuilder {
    /// Asks for white space before the next word. A heading stays on one line.
    pub(super) fn gap(&mut self, gap: Gap) {
        let gap = if self.heading.is_some() {
            gap.min(Gap::Space)
        } else {
            gap
        };
        self.gap = self.gap.max(gap);
    }

    /// Starts a row of a table.
    pub(super) fn open_row(&mut self) {
        self.gap(Gap::Line);
        self.mark.clear();
        (self.row_start, self.cells) = (self.text.len(), 0);
    }

    /// Starts a cell; a border stands between cells, also where they are empty.
    pub(super) fn open_cell(&mut self) {
        if self.cells > 0 {
            if self.text.len() > self.row_start {
                self.gap = Gap::Space;
            }
            self.mark.push_str("| ");
        }
        self.cells += 1;
    }

    /// Sets the mark that the next word is written behind.
    pub(super) fn mark(&mut self, mark: &str) {
        mark.clone_into(&mut self.mark);
    }

    /// Adds running text; its white space is collapsed.
    pub(super) fn words(&mut self, text: &str) {
        let mut parts = text.split(char::is_whitespace).peekable();
        let mut rest = text;
        while let Some(word) = parts.next() {
            if !word.is_empty() {
                self.push(word);
            }
            rest = &rest[word.len()..];
            if parts.peek().is_some() {
                let space = rest.chars().next().expect("words are split at white space");
                rest = &rest[space.len_utf8()..];
                let next = rest.chars().next();
                let joins = space == '\n' && self.ends_in_cjk() && next.is_some_and(is_cjk);
                if !joins {
                    self.gap(Gap::Space);
                }
            }
        }
    }

    /// Adds the lines of a paragraph as they were printed: a word that was divided at the end of a
    /// line becomes one again, and Chinese or Japanese goes on without a break.
    pub(super) fn lines(&mut self, lines: &[String]) {
        let mut lines = lines.iter().peekable();
        while let Some(line) = lines.next() {
            let next = lines.peek().and_then(|next| next.chars().next());
            let divided = line
                .strip_suffix(['-', '\u{ad}'])
                .filter(|start| start.ends_with(char::is_lowercase))
                .filter(|_| next.is_some_and(char::is_lowercase));
            self.words(divided.unwrap_or(line));
            let is_joined = line.ends_with(is_cjk) && next.is_some_and(is_cjk);
            if divided.is_none() && !is_joined {
                self.gap(Gap::Line);
            }
        }
    }

    /// Adds text whose white space counts, such as code.
    pub(super) fn verbatim(&mut self, text: &str) {
        if !text.is_empty() {
            self.push(text);
        }
    }

    fn ends_in_cjk(&self) -> bool {
        self.gap == Gap::None && self.text.chars().next_back().is_some_and(is_cjk)
    }

    fn push(&mut self, word: &str) {
        if !self.text.is_empty() {
            self.text.push_str(match self.gap {
                Gap::None => "",
                Gap::Space => " ",
                Gap::Line => "\n",
                Gap::Paragraph => "\n\n",
            });
        }
        self.gap = Gap::None;
        if let Some((level, text)) = self.unwritten.take() {
            let start = self.text.len();
            self.headings.push(Heading {
                level,
                text,
                start,
                end: start,
            });
        }
        if self.block == Block::Opened {
            self.block = Block::From(self.text.len());
        }
        if let Some((_, heading @ None)) = &mut self.heading {
            *heading = Some(self.text.len());
        }
        self.text.push_str(&self.mark);
        self.mark.clear();
        if let Some(link) = &mut self.link
            && !self.link_started
        {
            link.start = self.text.len();
            self.link_started = true;
        }
        self.text.push_str(word);
        if let Some((_, Some(start))) = self.heading
            && self.text.len() - start > MAX_HEADING
        {
            self.heading = None;
        }
    }

    /// Opens a heading of this level; one that is still open is closed.
    pub(super) fn open_heading(&mut self, level: u8) {
        self.close_heading();
        self.gap(Gap::Paragraph);
        self.heading = Some((level.clamp(1, 6), None));
    }

    pub(super) fn close_heading(&mut self) {
        if let Some((level, Some(start))) = self.heading.take() {
            self.headings.push(Heading {
                level,
                text: self.text[start..].to_owned(),
                start,
                end: self.text.len(),
            });
        }
        self.gap(Gap::Paragraph);
    }

    /// A heading that is not part of the text, such as a page number, before the next word.
    pub(super) fn unwritten_heading(&mut self, level: u8, text: String) {
        self.gap(Gap::Paragraph);
        self.unwritten = Some((level, text));
    }

    /// Opens a link to `target`; one that is still open is closed.
    pub(super) fn open_link(&mut self, target: String, anchor: Option<String>) {
        self.close_link();
        self.link_started = false;
        self.link = Some(LinkDraft {
            kind: LinkKind::Markdown,
            start: 0,
            end: 0,
            target,
            anchor,
            label: None,
            relation: None,
        });
    }

    /// A link without any text is dropped: nobody can read it.
    pub(super) fn close_link(&mut self) {
        if let Some(mut link) = self.link.take()
            && self.link_started
        {
            link.end = self.text.len();
            link.label = Some(self.text[link.start..].to_owned());
            self.links.push(link);
        }
    }

    /// Opens a code block or a table, which chunks should not cut; blocks do not nest.
    pub(super) fn open_block(&mut self) {
        if self.block == Block::None {
            self.block = Block::Opened;
        }
    }

    pub(super) fn close_block(&mut self) {
        self.mark.clear();
        if let Block::From(start) = std::mem::take(&mut self.block) {
            let end = self.text.trim_end().len().max(start);
            self.blocks.push(start..end);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Adds the text of another builder as a paragraph of its own.
    pub(super) fn append(&mut self, other: Self) {
        if other.text.is_empty() {
            return;
        }
        self.gap(Gap::Paragraph);
        self.push("");
        let offset = self.text.len();
        self.text.push_str(&other.text);
        self.headings
            .extend(other.headings.into_iter().map(|heading| Heading {
                start: heading.start + offset,
                end: heading.end + offset,
                ..heading
            }));
        self.links
            .extend(other.links.into_iter().map(|link| LinkDraft {
                start: link.start + offset,
                end: link.end + offset,
                ..link
            }));
        let blocks = other.blocks.into_iter();
        self.blocks
            .extend(blocks.map(|block| block.start + offset..block.end + offset));
    }

    pub(super) fn first_heading(&self) -> Option<&str> {
        self.headings.first().map(|heading| heading.text.as_str())
    }

    /// The finished document.
    pub(super) fn document(
        mut self,
        kind: DocumentKind,
        title: String,
        warnings: Vec<Warning>,
    ) -> ParsedDocument {
        self.close_link();
        self.close_heading();
        self.close_block();
        ParsedDocument {
            headings: self.headings,
            blocks: self.blocks,
            links: self.links,
            warnings,
            ..ParsedDocument::extracted(kind, title, self.text)
        }
    }
}

fn is_cjk(character: char) -> bool {
    matches!(character, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    impl TextBuilder {
        fn heading(&mut self, level: u8, text: &str) {
            self.open_heading(level);
            self.words(text);
            self.close_heading();
        }
    }

    #[test]
    fn ranges_are_exact() {
        let mut builder = TextBuilder::default();
        builder.heading(1, "  The \n title ");
        builder.words("One two\nthree");
        builder.gap(Gap::Line);
        builder.mark("- ");
        builder.open_link("a/b.html".to_owned(), None);
        builder.words("a link");
        builder.close_link();
        builder.words(".");
        builder.gap(Gap::Paragraph);
        builder.open_block();
        builder.verbatim("let  x;\n  y\n");
        builder.close_block();
        builder.open_link("nowhere".to_owned(), None);
        builder.close_link();
        let document = builder.document(DocumentKind::Html, "t".to_owned(), Vec::new());
        assert_eq!(
            document.text,
            "The title\n\nOne two three\n- a link.\n\nlet  x;\n  y\n"
        );
        let cut = |start: usize, end: usize| &document.text[start..end];
        assert_eq!(document.headings[0].text, "The title");
        assert_eq!(
            cut(document.headings[0].start, document.headings[0].end),
            "The title"
        );
        assert_eq!(document.links.len(), 1);
        assert_eq!(
            cut(document.links[0].start, document.links[0].end),
            "a link"
        );
        assert_eq!(&document.text[document.blocks[0].clone()], "let  x;\n  y");
    }

    #[test]
    fn line_breaks_between_chinese_characters_are_no_spaces() {
        let check = |text: &str, expected: &str| {
            let mut builder = TextBuilder::default();
            builder.words(text);
            assert_eq!(builder.text, expected);
        };
        check("知识\n图谱", "知识图谱");
        check("知识 图谱", "知识 图谱");
        check("知识\ngraph", "知识 graph");
        check("a \n b", "a b");
        check("ação\u{a0}boa", "ação boa");
        check(" \n ", "");
    }

    #[test]
    fn appended_ranges_move_along() {
        let mut chapter = TextBuilder::default();
        chapter.heading(1, "Two");
        chapter.open_link("x".to_owned(), None);
        chapter.words("here");
        chapter.close_link();
        chapter.open_block();
        chapter.verbatim("code");
        chapter.close_block();
        let mut book = TextBuilder::default();
        book.words("One");
        book.append(chapter);
        book.append(TextBuilder::default());
        let document = book.document(DocumentKind::Epub, String::new(), Vec::new());
        assert_eq!(document.text, "One\n\nTwo\n\nherecode");
        let heading = &document.headings[0];
        assert_eq!(&document.text[heading.start..heading.end], "Two");
        let link = &document.links[0];
        assert_eq!(&document.text[link.start..link.end], "here");
        assert_eq!(&document.text[document.blocks[0].clone()], "code");
    }

    #[test]
    fn an_endless_heading_is_text() {
        let mut builder = TextBuilder::default();
        builder.open_heading(2);
        for _ in 0..300 {
            builder.words("word ");
        }
        let document = builder.document(DocumentKind::Html, String::new(), Vec::new());
        assert_eq!(document.headings, []);
        assert_eq!(document.text.len(), 300 * 5 - 1);
    }
}
