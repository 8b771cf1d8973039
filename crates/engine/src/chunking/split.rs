//! Running text into pieces of bounded size, from its start on.

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

use super::breaks::{Break, break_at};
use super::measure::{measure, reach};
use super::sections::trim;
use super::{ChunkOptions, is_blank};
use crate::types::ParsedDocument;

/// Cuts texts at the best place in the last two thirds of what a chunk may hold.
pub(super) struct Splitter<'a> {
    text: &'a str,
    options: &'a ChunkOptions,
    /// Ranges that are not cut: blocks that fit into a chunk, and links. In order, disjoint.
    whole: Vec<Range<usize>>,
}

/// Links longer than this, in bytes, may be cut.
const LONGEST_LINK: usize = 300;

impl<'a> Splitter<'a> {
    pub(super) fn new(document: &'a ParsedDocument, options: &'a ChunkOptions) -> Self {
        let text = document.text.as_str();
        let fits = |range: &Range<usize>| {
            range.len() <= options.size()
                || measure(&text[trim(text, range.clone())], options.unit()) <= options.size()
        };
        let links = document
            .links
            .iter()
            .map(|link| link.start..link.end)
            .filter(|link| link.len() <= LONGEST_LINK.min(options.size()));
        let blocks = document.blocks.iter().filter(|block| fits(block)).cloned();
        let mut all: Vec<Range<usize>> = blocks
            .chain(links)
            .filter(|range| !range.is_empty())
            .collect();
        all.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        let mut whole: Vec<Range<usize>> = Vec::with_capacity(all.len());
        for range in all {
            if whole.last().is_none_or(|last| last.end <= range.start) {
                whole.push(range);
            }
        }
        Self {
            text,
            options,
            whole,
        }
    }

    /// Appends the pieces of a trimmed range.
    pub(super) fn cut(&self, range: Range<usize>, pieces: &mut Vec<Range<usize>>) {
        let (size, unit) = (self.options.size(), self.options.unit());
        let mut start = range.start;
        // Where the text begins that no piece has yet.
        let mut new = range.start;
        while new < range.end {
            let limit = reach(self.text, start, range.end, size, unit);
            if limit == range.end {
                pieces.push(start..limit);
                return;
            }
            let Some(cut) = self.best_break(start, new, limit, range.end) else {
                if start < new {
                    // The overlap leaves no room for what comes next and must stay whole.
                    start = new;
                    continue;
                }
                let cut = self.forced_break(start, limit);
                pieces.push(trim(self.text, start..cut));
                start = self.skip_blanks(cut, range.end);
                new = start;
                continue;
            };
            let piece = trim(self.text, start..cut);
            new = cut;
            start = self.overlap_start(&piece).unwrap_or(new);
            pieces.push(piece);
        }
    }

    /// The last of the best breaks after `new` such that the text before it ends within `limit`; one that
    /// leaves the piece less than half full only when there is no other.
    fn best_break(&self, start: usize, new: usize, limit: usize, end: usize) -> Option<usize> {
        let enough = start + (limit - start) / 2;
        let mut best: Option<(Break, usize)> = None;
        // White space at the limit: the break is where the next word starts.
        let mut at = self.skip_blanks(limit, end);
        while at > new {
            if at < enough && best.is_some() {
                break;
            }
            if let Some(kind) = self.break_at(start, at)
                && best.is_none_or(|(known, _)| known < kind)
            {
                best = Some((kind, at));
                if kind == Break::Paragraph {
                    break;
                }
            }
            at = self.previous_candidate(new, at.min(limit + 1));
        }
        best.map(|(_, at)| at)
    }

    /// The place before `at`, not before `new`, where a break is possible at all.
    fn previous_candidate(&self, new: usize, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        (new + 1..at)
            .rev()
            .find(|&at| {
                let (before, next) = (bytes[at - 1], bytes[at]);
                (before.is_ascii_whitespace() || before >= 0x80 || next >= 0x80)
                    && self.text.is_char_boundary(at)
            })
            .unwrap_or(new)
    }

    fn break_at(&self, from: usize, at: usize) -> Option<Break> {
        break_at(self.text, from, at).filter(|_| self.uncut(at).is_none())
    }

    /// The range that must stay whole and that a cut at `at` would divide.
    fn uncut(&self, at: usize) -> Option<&Range<usize>> {
        let index = self.whole.partition_point(|range| range.start < at);
        self.whole[..index].last().filter(|range| at < range.end)
    }

    /// A cut where there is no break: before a range that must stay whole, else between what readers see
    /// as characters.
    fn forced_break(&self, start: usize, limit: usize) -> usize {
        if let Some(range) = self.uncut(limit)
            && range.start > start
        {
            return range.start;
        }
        // A little more than the piece: whether its end is a boundary depends on what follows.
        let piece = &self.text[start..self.text.ceil_char_boundary(limit + 64)];
        let mut cursor = GraphemeCursor::new(limit - start, piece.len(), true);
        if cursor.is_boundary(piece, 0) == Ok(true) {
            return limit;
        }
        match cursor.prev_boundary(piece, 0) {
            Ok(Some(boundary)) if boundary > 0 => start + boundary,
            _ => limit,
        }
    }

    /// Where the piece after this one starts when it repeats the end of this one: at the first sentence
    /// within the overlap, else at the first word.
    fn overlap_start(&self, piece: &Range<usize>) -> Option<usize> {
        let (overlap, unit) = (self.options.overlap(), self.options.unit());
        let skipped = measure(&self.text[piece.clone()], unit).checked_sub(overlap)?;
        let mut at = reach(self.text, piece.start, piece.end, skipped, unit).max(piece.start + 1);
        let mut word = None;
        while at < piece.end {
            if self.text.is_char_boundary(at) {
                match self.break_at(piece.start, at) {
                    Some(Break::Sentence | Break::Paragraph) => return Some(at),
                    Some(Break::Word | Break::Line) => word = word.or(Some(at)),
                    None => {}
                }
            }
            at += 1;
        }
        word
    }

    fn skip_blanks(&self, at: usize, end: usize) -> usize {
        end - self.text[at..end].trim_start_matches(is_blank).len()
    }
}
