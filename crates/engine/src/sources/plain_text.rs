use super::document_date::date_stated;
use super::title::file_stem;
use crate::types::{DocumentKind, ParsedDocument, TextOrigin, Warning};

/// Takes a text file as it is; its name is its title.
pub(super) fn read_plain_text(
    text: String,
    origin: TextOrigin,
    uri: &str,
    warnings: Vec<Warning>,
) -> ParsedDocument {
    let mark = '\u{feff}';
    let body_start = if text.starts_with(mark) {
        mark.len_utf8()
    } else {
        0
    };
    ParsedDocument {
        origin,
        body_start,
        date: date_stated(None, uri),
        warnings,
        ..ParsedDocument::extracted(DocumentKind::PlainText, file_stem(uri).to_owned(), text)
    }
}
