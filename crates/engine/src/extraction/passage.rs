//! Neighbouring chunks of a document as one passage for the model.

use std::ops::Range;

use crate::types::ChunkId;

/// A chunk as extraction sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassageChunk {
    pub id: ChunkId,
    /// Bytes in the document's text.
    pub start: usize,
    pub end: usize,
    pub text: String,
    /// As the chunker counted them.
    pub tokens: usize,
    pub heading_path: Vec<String>,
}

/// Text for one call, and where each part of it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    pub text: String,
    /// Chunks in order, each with the bytes of `text` that it adds to those before it.
    pub parts: Vec<(PassageChunk, Range<usize>)>,
}

impl Passage {
    /// The chunk that holds all of `range`, and the range in the chunk's own text. Where the range goes
    /// over the end of a chunk, the part of it in the chunk it starts in.
    pub fn locate(&self, range: &Range<usize>) -> (&PassageChunk, Range<usize>) {
        let (chunk, part) = self
            .parts
            .iter()
            .rev()
            .find(|(_, part)| part.start <= range.start)
            .unwrap_or(&self.parts[0]);
        // Overlap with the chunk before stands at the start of the chunk's own text.
        let skipped = chunk.text.len() - part.len();
        let start = range.start.saturating_sub(part.start) + skipped;
        let end = (range.end.saturating_sub(part.start) + skipped).min(chunk.text.len());
        let start = chunk.text.floor_char_boundary(start.min(end));
        (chunk, start..chunk.text.ceil_char_boundary(end))
    }

    /// Headings above its start.
    pub fn heading_path(&self) -> &[String] {
        &self.parts[0].0.heading_path
    }
}

/// Cuts the chunks of one document, in order, into passages of at most `tokens` (a single larger chunk is
/// one of its own). What two chunks share stands in a passage once.
pub fn group(chunks: Vec<PassageChunk>, tokens: usize) -> Vec<Passage> {
    let mut passages: Vec<(Passage, usize)> = Vec::new();
    for chunk in chunks {
        let end_before = passages
            .last()
            .and_then(|(passage, _)| passage.parts.last())
            .map(|(last, _)| last.end);
        if let (Some((passage, size)), Some(end_before)) = (passages.last_mut(), end_before) {
            let shared = end_before.saturating_sub(chunk.start).min(chunk.text.len());
            let shared = chunk.text.ceil_char_boundary(shared);
            let added = added_tokens(&chunk, shared);
            if *size + added <= tokens {
                if end_before < chunk.start {
                    passage.text.push_str("\n\n");
                }
                let start = passage.text.len();
                passage.text.push_str(&chunk.text[shared..]);
                passage.parts.push((chunk, start..passage.text.len()));
                *size += added;
                continue;
            }
        }
        let passage = Passage {
            text: chunk.text.clone(),
            parts: vec![(chunk.clone(), 0..chunk.text.len())],
        };
        passages.push((passage, chunk.tokens));
    }
    passages.into_iter().map(|(passage, _)| passage).collect()
}

/// Where a chunk is cut in two: after a line or a sentence.
const CUTS: [&str; 5] = ["\n", ". ", "。", "！", "？"];

/// Cuts a passage that does not fit in two: at a chunk, or a single one behind its middle, else before it, at a line or a
/// sentence, else at a word, else anywhere. `None` where there is nothing to cut.
pub fn split(passage: &Passage) -> Option<[Passage; 2]> {
    if passage.parts.len() > 1 {
        let half = passage.parts.len() / 2;
        let of = |parts: &[(PassageChunk, Range<usize>)]| {
            let chunks = parts.iter().map(|(chunk, _)| chunk.clone()).collect();
            group(chunks, usize::MAX).into_iter().next()
        };
        return Some([of(&passage.parts[..half])?, of(&passage.parts[half..])?]);
    }
    let (chunk, _) = &passage.parts[0];
    let length = chunk.text.len();
    let middle = chunk.text.floor_char_boundary(length / 2);
    // What stands before and after has to say something.
    let is_cut = |at: &usize| {
        let (before, after) = chunk.text.split_at(*at);
        !before.trim().is_empty() && !after.trim().is_empty()
    };
    let behind = |cut: &&str| {
        let at = middle + chunk.text[middle..].find(*cut)? + cut.len();
        Some(at).filter(is_cut)
    };
    let before = |cut: &&str| {
        let at = chunk.text[..middle].rfind(*cut)? + cut.len();
        Some(at).filter(is_cut)
    };
    let at = CUTS
        .iter()
        .find_map(behind)
        .or_else(|| CUTS.iter().find_map(before))
        .or_else(|| behind(&" "))
        .unwrap_or_else(|| chunk.text.ceil_char_boundary(middle.max(1)));
    if at >= length {
        return None;
    }
    let piece = |range: Range<usize>| PassageChunk {
        start: chunk.start + range.start,
        end: chunk.start + range.end,
        text: chunk.text[range.clone()].to_owned(),
        tokens: chunk.tokens * range.len() / chunk.text.len().max(1),
        ..chunk.clone()
    };
    let [first, second] = [piece(0..at), piece(at..chunk.text.len())];
    let single = |chunk: PassageChunk| Passage {
        text: chunk.text.clone(),
        parts: vec![(chunk.clone(), 0..chunk.text.len())],
    };
    Some([single(first), single(second)])
}

fn added_tokens(chunk: &PassageChunk, shared: usize) -> usize {
    let length = chunk.text.len().max(1);
    chunk.tokens * (length - shared) / length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(id: i64, start: usize, text: &str) -> PassageChunk {
        PassageChunk {
            id: ChunkId(id),
            start,
            end: start + text.len(),
            text: text.to_owned(),
            tokens: text.len(),
            heading_path: Vec::new(),
        }
    }

    #[test]
    fn overlap_stands_once_and_places_are_found() {
        let document = "Ana met Bea. Çelik saw them.  New part.";
        let chunks = vec![
            chunk(1, 0, &document[0..20]),
            chunk(2, 8, &document[8..29]),
            chunk(3, 31, &document[31..]),
        ];
        let passages = group(chunks, 1000);
        assert_eq!(passages.len(), 1);
        let passage = &passages[0];
        assert_eq!(passage.text, "Ana met Bea. Çelik saw them.\n\nNew part.");
        let check = |word: &str, id: i64| {
            let at = passage.text.find(word).unwrap();
            let (chunk, range) = passage.locate(&(at..at + word.len()));
            assert_eq!((chunk.id.0, &chunk.text[range]), (id, word), "{word}");
        };
        check("Ana", 1);
        check("Çelik", 1);
        check("them", 2);
        check("New part", 3);
    }

    #[test]
    fn a_passage_stays_within_its_size() {
        let chunks = (0..5)
            .map(|n| chunk(n, n as usize * 12, "0123456789"))
            .collect();
        let passages = group(chunks, 25);
        let sizes: Vec<usize> = passages.iter().map(|p| p.parts.len()).collect();
        assert_eq!(sizes, [2, 2, 1]);
        let single = group(vec![chunk(1, 0, &"x".repeat(99))], 25);
        assert_eq!(single.len(), 1);
    }

    #[test]
    fn what_does_not_fit_is_split() {
        let two = &group(vec![chunk(1, 0, "one. "), chunk(2, 5, "two.")], 99)[0];
        let [first, second] = split(two).unwrap();
        assert_eq!(
            (first.text.as_str(), second.text.as_str()),
            ("one. ", "two.")
        );
        let one = &group(vec![chunk(1, 3, "First sentence. Second one.")], 99)[0];
        let [first, second] = split(one).unwrap();
        assert_eq!(first.text + &second.text, "First sentence. Second one.");
        assert_eq!(second.parts[0].0.id, ChunkId(1));
    }

    #[test]
    fn every_script_has_places_to_cut() {
        let check = |text: &str, expected: Option<&str>| {
            let halves = split(&group(vec![chunk(1, 0, text)], 999)[0]);
            if let Some([first, second]) = &halves {
                assert_eq!(format!("{}{}", first.text, second.text), text);
                assert_eq!(second.parts[0].0.start, first.text.len(), "{text}");
            }
            let second = halves.map(|[_, second]| second.text);
            assert_eq!(second.as_deref(), expected, "{text}");
        };
        check("林砚秋住在港口。她认识安娜。安娜走了。", Some("安娜走了。"));
        check("港口在哪里？她认识安娜！安娜走了", Some("安娜走了"));
        // The last line break is the end of it.
        check(
            "One went. Two came back then. Three stayed.\n",
            Some("Three stayed.\n"),
        );
        check(
            "One went. Two came back and stayed",
            Some("Two came back and stayed"),
        );
        check("no sentence in this one\n", Some("this one\n"));
        check("林砚秋住在港口", Some("住在港口"));
        check("indivisible", Some("isible"));
        check("é", None);
        check("x", None);
    }
}
