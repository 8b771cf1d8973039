use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::ops::Range;
use std::path::Path;

use malha_engine::sources::{Format, ReadOptions, WalkOptions, read, walk};
use malha_engine::types::{
    LinkConvention, LinkDraft, Mode, ParsedDocument, SearchRequest, TextOrigin,
};
use malha_engine::{Engine, EngineConfig, SourceSpec};

use crate::comparison::ModeRun;
use crate::dataset::Question;
use crate::rng::Rng;
use crate::runner::rank_documents;
use crate::{Error, Result};

/// Fewer letters than this around a link are no question.
const SHORTEST_QUESTION: usize = 40;

/// Questions made of a vault's own links.
#[derive(Debug, Default)]
pub struct HeldOut {
    /// The paragraph without its link, and the note the link led to.
    pub questions: Vec<Question>,
    /// The note each question was taken from; it is no answer to it.
    pub sources: Vec<String>,
    /// Notes in the vault.
    pub notes: usize,
    /// Pairs of notes whose link could have been held out.
    pub candidates: usize,
}

/// A link that could be held out: note `source` links to `target` in a paragraph that says something without it.
struct Candidate {
    source: usize,
    target: usize,
    /// Bytes of the paragraph in the source's text.
    paragraph: Range<usize>,
}

/// Copies the notes of `vault` into the empty folder `copy` without up to `sample` of their links, at most one target
/// a note, and makes a question of each: "which note does this paragraph lead to?" All links of the source to that
/// target are taken out, so that the copy does not give the answer away. Only links to the one note of that name are
/// used. Deterministic for a seed.
pub fn hold_out(vault: &Path, copy: &Path, sample: usize, seed: u64) -> Result<HeldOut> {
    let notes = read_notes(vault, copy)?;
    let by_stem = by_stem(&notes);
    let mut candidates = Vec::new();
    for (source, (uri, document)) in notes.iter().enumerate() {
        candidates.extend(candidates_of(source, uri, document, &notes, &by_stem));
    }
    let mut held_out = HeldOut {
        notes: notes.len(),
        candidates: candidates.len(),
        ..HeldOut::default()
    };
    Rng::new(seed).shuffle(&mut candidates);
    let mut used = HashSet::new();
    candidates.retain(|candidate| used.insert(candidate.source));
    candidates.truncate(sample);
    candidates.sort_by_key(|candidate| candidate.source);
    let mut without: HashMap<usize, Vec<Range<usize>>> = HashMap::new();
    for candidate in &candidates {
        let (uri, document) = &notes[candidate.source];
        let cut: Vec<Range<usize>> = links_to(document, candidate.target, &by_stem);
        held_out.questions.push(Question {
            qid: format!("{uri}#{}", candidate.paragraph.start),
            text: question_text(document, &candidate.paragraph, &cut),
            gold: vec![notes[candidate.target].0.clone()],
            groups: Vec::new(),
            scope: None,
            part: None,
        });
        held_out.sources.push(uri.clone());
        without.insert(candidate.source, cut);
    }
    for (n, (uri, document)) in notes.iter().enumerate() {
        let text = match without.get(&n) {
            Some(cut) => replaced(&document.text, 0..document.text.len(), cut, |_| ""),
            None => document.text.clone(),
        };
        write(&copy.join(uri), text.as_bytes())?;
    }
    Ok(held_out)
}

/// Indexes the copy that [`hold_out`] made and ranks its notes for every question under every mode; the note that a
/// question comes from is passed over.
pub fn rank_held_out(
    held_out: &HeldOut,
    copy: &Path,
    convention: Option<LinkConvention>,
    modes: &[Mode],
    depth: usize,
    config: &EngineConfig,
) -> Result<Vec<ModeRun>> {
    let engine = Engine::in_memory(config.clone())?;
    let source = SourceSpec {
        root: copy.to_owned(),
        convention,
    };
    engine.index(&[source], &())?;
    // Uris of a source may carry its label before the path.
    let paths: BTreeSet<&str> = held_out
        .questions
        .iter()
        .flat_map(|question| &question.gold)
        .chain(&held_out.sources)
        .map(String::as_str)
        .collect();
    let path_of = |uri: String| {
        let unlabelled = uri.split_once('/').map(|(_, path)| path);
        match unlabelled {
            Some(path) if !paths.contains(uri.as_str()) && paths.contains(path) => path.to_owned(),
            _ => uri,
        }
    };
    let mut runs = Vec::new();
    for mode in modes {
        let mut ranked = Vec::new();
        for (question, source) in held_out.questions.iter().zip(&held_out.sources) {
            let request = SearchRequest {
                mode: *mode,
                ..SearchRequest::new(&question.text)
            };
            let found = rank_documents(&engine, &request, depth + 1)?;
            ranked.push(
                found
                    .into_iter()
                    .map(path_of)
                    .filter(|path| path != source)
                    .take(depth)
                    .collect(),
            );
        }
        runs.push(ModeRun {
            mode: mode.as_str().to_owned(),
            ranked,
        });
    }
    Ok(runs)
}

/// The markdown notes of a vault by uri; every other readable file is copied as it is.
fn read_notes(vault: &Path, copy: &Path) -> Result<Vec<(String, ParsedDocument)>> {
    let mut notes = Vec::new();
    for file in walk(vault, &WalkOptions::default())?.files {
        let Some(format) = file.format else { continue };
        let bytes = fs::read(&file.path).map_err(Error::io(&file.path))?;
        let document = if format == Format::Markdown {
            read(&bytes, &file.uri, format, &ReadOptions::default())
                .documents
                .into_iter()
                .find(|document| document.origin == TextOrigin::File)
        } else {
            None
        };
        match document {
            Some(document) => notes.push((file.uri, document)),
            None => write(&copy.join(&file.uri), &bytes)?,
        }
    }
    Ok(notes)
}

/// Notes by the folded last part of their path, without extension.
fn by_stem(notes: &[(String, ParsedDocument)]) -> HashMap<String, Vec<usize>> {
    let mut by_stem: HashMap<String, Vec<usize>> = HashMap::new();
    for (n, (uri, _)) in notes.iter().enumerate() {
        by_stem.entry(stem(uri)).or_default().push(n);
    }
    by_stem
}

fn stem(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".md").unwrap_or(name).to_lowercase()
}

/// The one note a link leads to; `None` when there is none or when several bear its name.
fn target(link: &LinkDraft, by_stem: &HashMap<String, Vec<usize>>) -> Option<usize> {
    match by_stem.get(&stem(&link.target))?.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

fn candidates_of(
    source: usize,
    uri: &str,
    document: &ParsedDocument,
    notes: &[(String, ParsedDocument)],
    by_stem: &HashMap<String, Vec<usize>>,
) -> Vec<Candidate> {
    let mut first: BTreeMap<usize, Range<usize>> = BTreeMap::new();
    for link in &document.links {
        let Some(target) = target(link, by_stem) else {
            continue;
        };
        if notes[target].0 != uri && link.start >= document.body_start {
            first.entry(target).or_insert_with(|| {
                let lines = paragraph(&document.text, link.start);
                lines.start.max(document.body_start)..lines.end
            });
        }
    }
    first
        .into_iter()
        .filter(|(target, paragraph)| {
            let cut = links_to(document, *target, by_stem);
            let text = question_text(document, paragraph, &cut);
            text.chars().filter(|c| c.is_alphanumeric()).count() >= SHORTEST_QUESTION
        })
        .map(|(target, paragraph)| Candidate {
            source,
            target,
            paragraph,
        })
        .collect()
}

/// Byte ranges of all links of a document that lead to `to`, in order.
fn links_to(
    document: &ParsedDocument,
    to: usize,
    by_stem: &HashMap<String, Vec<usize>>,
) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = document
        .links
        .iter()
        .filter(|link| target(link, by_stem) == Some(to))
        .map(|link| link.start..link.end)
        .collect();
    ranges.sort_by_key(|range| range.start);
    ranges
}

/// The lines around a byte up to blank ones; in a list, the item's own line.
fn paragraph(text: &str, at: usize) -> Range<usize> {
    let line_of = |at: usize| {
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let end = text[at..]
            .find('\n')
            .map_or(text.len(), |length| at + length);
        start..end
    };
    let mut range = line_of(at);
    if is_item(&text[range.clone()]) {
        return range;
    }
    let stops = |line: &str| line.trim().is_empty() || is_item(line) || line.starts_with('#');
    while range.start > 0 {
        let above = line_of(range.start - 1);
        if stops(&text[above.clone()]) {
            break;
        }
        range.start = above.start;
    }
    while range.end < text.len() {
        let below = line_of(range.end + 1);
        if stops(&text[below.clone()]) {
            break;
        }
        range.end = below.end;
    }
    range
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
        || (numbered.len() < line.len() && numbered.starts_with(". "))
}

/// The paragraph as a reader sees it, without the links in `cut`: other links are read as their label or target.
fn question_text(
    document: &ParsedDocument,
    paragraph: &Range<usize>,
    cut: &[Range<usize>],
) -> String {
    let mut marks: Vec<(Range<usize>, &str)> = document
        .links
        .iter()
        .filter(|link| link.start >= paragraph.start && link.end <= paragraph.end)
        .map(|link| {
            let shown = link.label.as_deref().unwrap_or(&link.target);
            let taken_out = cut.contains(&(link.start..link.end));
            (link.start..link.end, if taken_out { "" } else { shown })
        })
        .collect();
    marks.sort_by_key(|(range, _)| range.start);
    let ranges: Vec<Range<usize>> = marks.iter().map(|(range, _)| range.clone()).collect();
    let text = replaced(&document.text, paragraph.clone(), &ranges, |n| marks[n].1);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A part of the text in which the n-th of `ranges` is replaced by `with(n)`. Ranges are sorted; one that starts
/// inside its predecessor is left out.
fn replaced<'a>(
    text: &str,
    part: Range<usize>,
    ranges: &[Range<usize>],
    with: impl Fn(usize) -> &'a str,
) -> String {
    let mut out = String::with_capacity(part.len());
    let mut at = part.start;
    for (n, range) in ranges.iter().enumerate() {
        if range.start >= at {
            out.push_str(&text[at..range.start]);
            out.push_str(with(n));
            at = range.end;
        }
    }
    out.push_str(&text[at..part.end]);
    out
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
    }
    fs::write(path, bytes).map_err(Error::io(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_ends_at_blank_lines_and_a_list_item_is_one() {
        let text =
            "# Head\nfirst line\nsecond X line\n\nother\n- item one\n- item Y two\n1. Z third\n";
        let check = |at: &str, expected: &str| {
            let range = paragraph(text, text.find(at).unwrap());
            assert_eq!(&text[range], expected);
        };
        check("X", "first line\nsecond X line");
        check("Y", "- item Y two");
        check("Z", "1. Z third");
        check("other", "other");
    }

    #[test]
    fn parts_of_a_text_are_replaced() {
        let check = |ranges: &[(usize, usize)], expected: &str| {
            let ranges: Vec<_> = ranges.iter().map(|&(start, end)| start..end).collect();
            assert_eq!(replaced("0123456789", 1..9, &ranges, |_| "-"), expected);
        };
        check(&[], "12345678");
        check(&[(2, 4)], "1-45678");
        check(&[(1, 2), (8, 9)], "-234567-");
        check(&[(2, 5), (3, 4), (5, 6)], "1--678");
    }
}
