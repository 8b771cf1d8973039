//! Files of a folder become documents: [`walk`] finds them, [`read`] parses one.
//!
//! Both are pure: nothing here writes a file or knows the store. A broken file or row is a
//! failure with a reason in the [`ReadOutcome`], never an error that costs the others.

mod chats;
mod csv_table;
mod document_date;
mod docx;
mod encoding;
mod epub;
mod extracted;
mod format;
mod front_matter;
mod html;
mod ignore_rules;
mod json;
mod markdown;
mod pdf;
mod plain_text;
mod relative_date;
mod relative_link;
mod row_text;
mod rows;
mod skip_rules;
mod stated_date;
mod title;
mod walk;
mod wikilink;
pub(crate) mod xml;
mod yaml;
mod zip_archive;

pub use chats::{ChatTurn, Conversation, Conversations, is_chat_file, read_conversations};
pub use format::Format;
pub use markdown::detect_convention;
pub use walk::{SourceFile, Walk, WalkOptions, walk};

use encoding::Decoded;

use crate::types::{DocumentKind, ItemFailure, LinkConvention, ParsedDocument, Skipped};

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
    /// the file's with `#fragment`). A note without text is here *and* in `documents`: it has
    /// nothing to search, but it is still a target of links and may have front matter.
    pub skipped: Vec<Skipped>,
}

/// Reads a date as people write them; `None` when it is anything else. A time without an offset is UTC.
pub fn parse_date(text: &str) -> Option<crate::types::ValidDate> {
    stated_date::parse(text, stated_date::DayOrder::Unknown)
}

/// Reads a date that is told from another, the day `anchor`: "last year", "ontem", "三天前". `None` when it is
/// anything else, or finer than what the anchor knows.
pub fn parse_relative_date(
    text: &str,
    anchor: &crate::types::ValidDate,
) -> Option<crate::types::ValidDate> {
    relative_date::parse(text, anchor)
}

/// Parses the bytes of one file. Never panics, whatever the bytes are.
///
/// `uri` is the file's path relative to its source's root, with `/`; titles and dates fall back on it.
pub fn read(bytes: &[u8], uri: &str, format: Format, options: &ReadOptions) -> ReadOutcome {
    let read = match format {
        Format::JsonLines => Ok(json::read_json_lines(bytes, uri, options)),
        Format::Pdf => pdf::read_pdf(bytes, uri).map(|document| extracted(document, uri)),
        Format::Docx => docx::read_docx(bytes, uri).map(|document| extracted(document, uri)),
        Format::Epub => epub::read_epub(bytes, uri).map(|document| extracted(document, uri)),
        _ => read_text(bytes, uri, format, options),
    };
    read.unwrap_or_else(|reason| ReadOutcome {
        failures: vec![ItemFailure {
            uri: uri.to_owned(),
            line: 0,
            reason,
        }],
        ..ReadOutcome::default()
    })
}

fn read_text(
    bytes: &[u8],
    uri: &str,
    format: Format,
    options: &ReadOptions,
) -> Result<ReadOutcome, String> {
    let declared = if format == Format::Html {
        html::declared_encoding(bytes)
    } else {
        None
    };
    let Decoded {
        text,
        origin,
        warnings,
    } = encoding::decode_as(bytes, declared)?;
    let nothing = nothing_to_read(bytes, &text);
    Ok(match format {
        Format::Markdown => {
            let mut document = markdown::read_markdown(text, origin, uri, options);
            document.warnings.splice(0..0, warnings);
            let body = &document.text[document.body_start..];
            let only_header = is_blank(body).then_some("only front matter, no text");
            one(document, uri, nothing.or(only_header))
        }
        _ if nothing.is_some() => ReadOutcome {
            skipped: nothing
                .map(|reason| skipped(uri, reason))
                .into_iter()
                .collect(),
            ..ReadOutcome::default()
        },
        Format::Csv => csv_table::read_csv(&text, uri, options, warnings),
        Format::Json => json::read_json(&text, uri, options, warnings),
        Format::Html => extracted(html::read_html(&text, uri, warnings), uri),
        _ => one(
            plain_text::read_plain_text(text, origin, uri, warnings),
            uri,
            None,
        ),
    })
}

fn extracted(document: ParsedDocument, uri: &str) -> ReadOutcome {
    let nothing = document.text.is_empty().then_some(match document.kind {
        DocumentKind::Pdf => "no text in it (only pictures, such as a scan?)",
        _ => "no text in it",
    });
    one(document, uri, nothing)
}

/// The outcome of a file that is one document. A note stays one without text; another file does not.
fn one(document: ParsedDocument, uri: &str, nothing: Option<&str>) -> ReadOutcome {
    let is_kept = nothing.is_none() || document.kind == DocumentKind::Markdown;
    ReadOutcome {
        documents: is_kept.then_some(document).into_iter().collect(),
        failures: Vec::new(),
        skipped: nothing
            .map(|reason| skipped(uri, reason))
            .into_iter()
            .collect(),
    }
}

fn skipped(uri: &str, reason: &str) -> Skipped {
    Skipped {
        uri: uri.to_owned(),
        reason: reason.to_owned(),
    }
}

fn nothing_to_read(bytes: &[u8], text: &str) -> Option<&'static str> {
    match text {
        _ if bytes.is_empty() => Some("empty (0 bytes)"),
        "" | "\u{feff}" => Some("empty (only a byte order mark)"),
        _ if is_blank(text) => Some("only white space"),
        _ => None,
    }
}

fn is_blank(text: &str) -> bool {
    let is_invisible = |c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}');
    text.chars().all(is_invisible)
}
