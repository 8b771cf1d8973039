//! Sections under headings.

use std::ops::Range;

use super::measure::reach;
use super::split::Splitter;
use super::{ChunkOptions, is_blank};
use crate::types::{Heading, ParsedDocument};

/// Byte ranges of a document's chunks.
pub(super) fn pieces(document: &ParsedDocument, options: &ChunkOptions) -> Vec<Range<usize>> {
    let text = document.text.as_str();
    let mut headings: Vec<&Heading> = document
        .headings
        .iter()
        .filter(|heading| heading.start >= document.body_start)
        .filter(|heading| !trim(text, heading.start..heading.end).is_empty())
        .collect();
    headings.sort_by_key(|heading| heading.start);
    headings.dedup_by(|next, heading| next.start < heading.end);
    let mut sections = Sections {
        text,
        options,
        splitter: Splitter::new(document, options),
        pieces: Vec::new(),
    };
    sections.cut(document.body_start..text.len(), &headings);
    sections.pieces
}

struct Sections<'a> {
    text: &'a str,
    options: &'a ChunkOptions,
    splitter: Splitter<'a>,
    pieces: Vec<Range<usize>>,
}

impl Sections<'_> {
    /// Cuts a section: whole when it fits, else at the highest headings in it, else as running text.
    fn cut(&mut self, range: Range<usize>, headings: &[&Heading]) {
        let range = trim(self.text, range);
        if range.is_empty() {
            return;
        }
        if reach(
            self.text,
            range.start,
            range.end,
            self.options.size(),
            self.options.unit(),
        ) == range.end
        {
            self.pieces.push(range);
            return;
        }
        // A heading with nothing but blanks and headings before it goes with what is before it.
        let inner: &[&Heading] = &headings[self.leading(range.start, headings)..];
        let Some(highest) = inner.iter().map(|heading| heading.level).min() else {
            self.splitter.cut(range, &mut self.pieces);
            return;
        };
        let mut start = range.start;
        let mut rest = headings;
        for (index, heading) in inner.iter().enumerate() {
            if heading.level == highest {
                let offset = headings.len() - inner.len() + index;
                let before = offset - (headings.len() - rest.len());
                self.cut(start..heading.start, &rest[..before]);
                start = heading.start;
                rest = &headings[offset..];
            }
        }
        self.cut(start..range.end, rest);
    }

    /// How many of the headings stand at the start of a section, with only blanks between them.
    fn leading(&self, start: usize, headings: &[&Heading]) -> usize {
        let mut at = start;
        headings
            .iter()
            .take_while(|heading| {
                let leads = self.text[at..heading.start].chars().all(is_blank);
                at = heading.end;
                leads
            })
            .count()
    }
}

/// The range without the blanks at its ends.
pub(super) fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let within = &text[range.clone()];
    let end = range.start + within.trim_end_matches(is_blank).len();
    let start = range.end - within.trim_start_matches(is_blank).len();
    start..end.max(start)
}
