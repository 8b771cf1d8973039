use serde::{Deserialize, Serialize};

use super::{LinkDraft, ValidDate};

/// What kind of source a document came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    Markdown,
    PlainText,
    Html,
    Pdf,
    Docx,
    Epub,
    /// One document a row (CSV) or value (JSON, JSONL).
    Row,
    /// Something that was said to be remembered: a turn of a conversation, a fact.
    Episode,
}

/// Whether the document's text is the file itself or was extracted from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextOrigin {
    /// Byte ranges point into the file on disk.
    File,
    /// Byte ranges point into the extracted text, which the store keeps.
    Extracted,
}

/// Link syntax of a vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkConvention {
    #[default]
    Obsidian,
    Logseq,
    Dendron,
}

/// A heading of a document. `path` of a place in the text is the chain of headings above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// The heading's text without its marks.
    pub text: String,
    /// Byte where the heading's line starts in [`ParsedDocument::text`].
    pub start: usize,
    /// Byte after the heading's line (its line break excluded).
    pub end: usize,
}

/// Something odd in a source that did not stop it from being read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Line in the file, from 1; 0 when the whole file is meant.
    pub line: usize,
    pub message: String,
}

/// A file or row that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skipped {
    /// Path relative to the source's root, with `/`.
    pub uri: String,
    pub reason: String,
}

/// Where a document's own date was found, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateSource {
    FrontMatter,
    FileName,
    ModificationTime,
}

/// What a reader makes of one file, or of one row of a file.
#[derive(Debug, Clone)]
pub struct ParsedDocument {
    /// Empty for a file that is one document; otherwise the row's part of the uri (`row-17`, an id).
    pub fragment: String,
    pub kind: DocumentKind,
    /// Front-matter title, HTML title, first heading if it is of level 1, or file stem, in that order.
    pub title: String,
    /// The text that chunks are cut from. For [`TextOrigin::File`] it is the file's bytes, byte for byte.
    pub text: String,
    pub origin: TextOrigin,
    /// Byte where the body starts (after front matter and BOM); chunks are cut from here on.
    pub body_start: usize,
    pub headings: Vec<Heading>,
    /// Code fences and tables as byte ranges of `text`: chunks do not cut them when they fit.
    pub blocks: Vec<std::ops::Range<usize>>,
    /// Front matter as a JSON object; `Null` when there is none.
    pub front_matter: serde_json::Value,
    /// Other names of the document from its front matter.
    pub aliases: Vec<String>,
    pub tags: Vec<String>,
    pub links: Vec<LinkDraft>,
    /// The document's own date, from its front matter or file name (never from mtime).
    pub date: Option<(ValidDate, DateSource)>,
    pub warnings: Vec<Warning>,
}

impl ParsedDocument {
    /// Text taken out of something, and nothing else known of it.
    pub fn extracted(kind: DocumentKind, title: String, text: String) -> Self {
        Self {
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
}

text_names!(DocumentKind { Markdown => "markdown", PlainText => "plain_text", Html => "html", Pdf => "pdf", Docx => "docx", Epub => "epub", Row => "row", Episode => "episode" });

text_names!(LinkConvention { Obsidian => "obsidian", Logseq => "logseq", Dendron => "dendron" });
