//! One file or handed-over document, read, cut and tokenised: everything that needs no store.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::names::distinct_names;
use crate::chunking::{ChunkOptions, chunk};
use crate::sources::{Format, ReadOptions, read};
use crate::text::{Language, detect_language, index_terms};
use crate::types::{
    ChunkDraft, DateSource, DocumentKind, ItemFailure, ParsedDocument, Skipped, Timestamp,
    ValidDate,
};

/// A file that may have changed.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub source: i64,
    /// Path in its source.
    pub path: String,
    pub uri: String,
    pub size: u64,
    pub mtime_ns: i64,
    pub content: Content,
    /// Whether the store knew no file at this path.
    pub is_new: bool,
    /// Hash of the content at the last run; empty to read it in any case.
    pub known_hash: Vec<u8>,
}

/// Where a candidate's content is.
#[derive(Debug, Clone)]
pub(super) enum Content {
    File {
        path: PathBuf,
        format: Format,
    },
    Given {
        title: String,
        text: String,
        kind: DocumentKind,
        date: Option<ValidDate>,
    },
}

/// A candidate after reading.
#[derive(Debug)]
pub(super) struct Prepared {
    pub source: i64,
    pub path: String,
    pub size: u64,
    pub mtime_ns: i64,
    pub hash: Vec<u8>,
    pub outcome: Outcome,
}

/// What reading gave.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Touched, but with the content it had.
    Unchanged,
    Read {
        documents: Vec<PreparedDocument>,
        failures: Vec<ItemFailure>,
        skipped: Vec<Skipped>,
    },
}

/// A document with its chunks, ready to be stored.
#[derive(Debug)]
pub(super) struct PreparedDocument {
    pub parsed: ParsedDocument,
    pub uri: String,
    pub language: Language,
    pub hash: Vec<u8>,
    pub title_terms: String,
    pub chunks: Vec<PreparedChunk>,
    /// Lines of the links, in their order.
    pub link_lines: Vec<usize>,
}

/// A chunk with its search terms.
#[derive(Debug)]
pub(super) struct PreparedChunk {
    pub draft: ChunkDraft,
    pub hash: Vec<u8>,
    pub heading_terms: String,
    pub body_terms: String,
    /// The names it proposes, each once, folded and as first written.
    pub names: Vec<(String, String)>,
}

/// Reads a candidate and prepares its documents. Never fails: what cannot be read is in the outcome.
pub(super) fn prepare(
    candidate: &Candidate,
    chunking: &ChunkOptions,
    reading: &ReadOptions,
) -> Prepared {
    let (hash, outcome) = match &candidate.content {
        Content::File { path, format } => match std::fs::read(path) {
            Ok(bytes) => {
                let hash = Sha256::digest(&bytes).to_vec();
                if hash == candidate.known_hash {
                    (hash, Outcome::Unchanged)
                } else {
                    let outcome = read(&bytes, &candidate.uri, *format, reading);
                    let documents = outcome
                        .documents
                        .into_iter()
                        .map(|parsed| prepare_document(parsed, &candidate.uri, chunking))
                        .collect();
                    let outcome = Outcome::Read {
                        documents,
                        failures: outcome.failures,
                        skipped: outcome.skipped,
                    };
                    (hash, outcome)
                }
            }
            Err(error) => (
                Vec::new(),
                failed(candidate, format!("cannot be read: {error}")),
            ),
        },
        Content::Given {
            title,
            text,
            kind,
            date,
        } => {
            let hash = hash_parts(&[title.as_bytes(), text.as_bytes()]);
            if hash == candidate.known_hash {
                (hash, Outcome::Unchanged)
            } else {
                let document = prepare_document(
                    ParsedDocument {
                        date: date.clone().map(|date| (date, DateSource::FrontMatter)),
                        ..ParsedDocument::extracted(*kind, title.clone(), text.clone())
                    },
                    &candidate.uri,
                    chunking,
                );
                let outcome = Outcome::Read {
                    documents: vec![document],
                    failures: Vec::new(),
                    skipped: Vec::new(),
                };
                (hash, outcome)
            }
        }
    };
    Prepared {
        source: candidate.source,
        path: candidate.path.clone(),
        size: candidate.size,
        mtime_ns: candidate.mtime_ns,
        hash,
        outcome,
    }
}

fn failed(candidate: &Candidate, reason: String) -> Outcome {
    Outcome::Read {
        documents: Vec::new(),
        failures: vec![ItemFailure {
            uri: candidate.uri.clone(),
            line: 0,
            reason,
        }],
        skipped: Vec::new(),
    }
}

fn prepare_document(
    parsed: ParsedDocument,
    file_uri: &str,
    chunking: &ChunkOptions,
) -> PreparedDocument {
    let uri = if parsed.fragment.is_empty() {
        file_uri.to_owned()
    } else {
        format!("{file_uri}#{}", parsed.fragment)
    };
    let body = &parsed.text[parsed.body_start..];
    let language = if body.trim().len() < 40 {
        detect_language(&format!("{}\n{body}", parsed.title))
    } else {
        detect_language(body)
    };
    let mut title_terms = String::new();
    index_terms(&parsed.title, language, &mut title_terms);
    for alias in &parsed.aliases {
        title_terms.push(' ');
        index_terms(alias, language, &mut title_terms);
    }
    let drafts = chunk(&parsed, chunking);
    let chunks = drafts
        .into_iter()
        .map(|draft| {
            let text = &parsed.text[draft.start..draft.end];
            let headings = draft.heading_path.join("\n");
            let mut heading_terms = String::new();
            index_terms(&headings, language, &mut heading_terms);
            let mut body_terms = String::new();
            index_terms(text, language, &mut body_terms);
            let hash = hash_parts(&[
                title_terms.as_bytes(),
                headings.as_bytes(),
                language.as_str().as_bytes(),
                text.as_bytes(),
            ]);
            PreparedChunk {
                draft,
                hash,
                heading_terms,
                body_terms,
                names: distinct_names(text, language),
            }
        })
        .collect();
    let link_lines = lines_of(&parsed.text, parsed.links.iter().map(|link| link.start));
    let hash = Sha256::digest(parsed.text.as_bytes()).to_vec();
    PreparedDocument {
        parsed,
        uri,
        language,
        hash,
        title_terms,
        chunks,
        link_lines,
    }
}

/// Line (from 1) of each of these ascending or unordered byte positions.
fn lines_of(text: &str, positions: impl Iterator<Item = usize>) -> Vec<usize> {
    let (mut line, mut at) = (1, 0);
    positions
        .map(|position| {
            if position < at {
                (line, at) = (1, 0);
            }
            line += text[at..position].matches('\n').count();
            at = position;
            line
        })
        .collect()
}

pub(super) fn hash_parts(parts: &[&[u8]]) -> Vec<u8> {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().to_vec()
}

/// Modification time of a file as the time its statements were last seen fresh.
pub(super) fn observed_at(mtime_ns: i64) -> Timestamp {
    Timestamp(mtime_ns / 1_000_000)
}
