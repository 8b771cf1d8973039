//! Files of a folder become documents: [`walk`] finds them, [`read`] parses one.
//!
//! Both are pure: nothing here writes a file or knows the store. A broken file or row is a
//! failure with a reason in the [`ReadOutcome`], never an error that costs the others.

mod format;
mod ignore_rules;
mod markdown;
mod skip_rules;
mod walk;

pub use format::Format;
pub use walk::{SourceFile, Walk, WalkOptions, walk};

use crate::types::{ItemFailure, LinkConvention, ParsedDocument, Skipped};

/// How sources are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Link syntax of markdown files.
    pub convention: LinkConvention,
    /// Column or key of a row's text; otherwise `text`, `content`, `body` … or all columns.
    pub text_field: Option<String>,
    /// Column or key of a row's title; otherwise `title`, `name`, `titulo`, `标题` …
    pub title_field: Option<String>,
    /// Column or key of a row's id, which becomes the fragment of its uri; otherwise `id`.
    pub id_field: Option<String>,
}

/// What became of one file.
#[derive(Debug, Clone, Default)]
pub struct ReadOutcome {
    /// One for most formats; one a row for CSV, JSON and JSONL.
    pub documents: Vec<ParsedDocument>,
    /// The file (line 0) or the rows of it that could not be read.
    pub failures: Vec<ItemFailure>,
    /// The file or the rows of it that hold nothing to read (`uri` is the file's, or
    /// the file's with `#fragment`).
    pub skipped: Vec<Skipped>,
}

/// Parses the bytes of one file. Never panics, whatever the bytes are.
///
/// `uri` is the file's path relative to its source's root, with `/`; titles and dates fall back on it.
pub fn read(bytes: &[u8], uri: &str, format: Format, options: &ReadOptions) -> ReadOutcome {
    let mut outcome = ReadOutcome::default();
    match format {
        Format::Markdown => outcome.documents.push(markdown::read_markdown(
            String::from_utf8_lossy(bytes).into_owned(),
            crate::types::TextOrigin::File,
            uri,
            options,
        )),
        _ => outcome.skipped.push(Skipped {
            uri: uri.to_owned(),
            reason: format!("{} files are not read yet", format.name()),
        }),
    }
    outcome
}
