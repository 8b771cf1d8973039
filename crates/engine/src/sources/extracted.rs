//! Builds the text of a document that is not itself text, with exact ranges for its parts.

use std::ops::Range;

use crate::types::{
    DocumentKind, Heading, LinkDraft, LinkKind, ParsedDocument, TextOrigin, Warning,
};

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
    links: Vec<LinkDraft>,
    link: Option<LinkDraft>,
    link_started: bool,
    blocks: Vec<Range<usize>>,
    block: Option<Option<usize>>,
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

    /// Sets the white space before the next word, whatever was asked for before.
    pub(super) fn replace_gap(&mut self, gap: Gap) {
        self.gap = gap;
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
        if let Some(block @ None) = &mut self.block {
            *block = Some(self.text.len());
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

    /// Adds a whole heading.
    pub(super) fn heading(&mut self, level: u8, text: &str) {
        self.open_heading(level);
        self.words(text);
        self.close_heading();
    }

    /// A heading that is not part of the text, such as a page number, at the next word.
    pub(super) fn unwritten_heading(&mut self, level: u8, text: String) {
        self.gap(Gap::Paragraph);
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.gap = Gap::None;
        let start = self.text.len();
        self.headings.push(Heading {
            level,
            text,
            start,
            end: start,
        });
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
        if self.block.is_none() {
            self.block = Some(None);
        }
    }

    pub(super) fn close_block(&mut self) {
        if let Some(Some(start)) = self.block.take() {
            let end = self.text.trim_end().len().max(start);
            self.blocks.push(start..end);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Nothing was added or asked for yet.
    pub(super) fn is_untouched(&self) -> bool {
        self.text.is_empty() && self.headings.is_empty() && self.gap == Gap::None
    }

    /// Bytes so far.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn heading_count(&self) -> usize {
        self.headings.len()
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
            ..plain_document(kind, title, self.text)
        }
    }
}

fn is_cjk(character: char) -> bool {
    matches!(character, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

/// A document of extracted text and nothing else.
pub(super) fn plain_document(kind: DocumentKind, title: String, text: String) -> ParsedDocument {
    ParsedDocument {
        fragment: String::new(),
        kind,
        title,
        text,
        origin: TextOrigin::Extracted,
        body_start: 0,
        headings: Vec::new(),
        blocks: Vec::new(),
        front_matter: serde_json::Value::Null,
        aliases: Vec::new(),
        tags: Vec::new(),
        links: Vec::new(),
        date: None,
        warnings: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
