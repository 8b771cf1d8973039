use super::ReadOptions;
use crate::types::{DocumentKind, ParsedDocument, TextOrigin};

/// Parses one markdown file.
///
/// `text` is never blank. With [`TextOrigin::File`] it is the file byte for byte and may start with
/// a byte order mark (U+FEFF), which `body_start` skips; with [`TextOrigin::Extracted`] it was
/// transcoded and has none. `uri` is the file's path relative to its root, with `/`.
pub(super) fn read_markdown(
    text: String,
    origin: TextOrigin,
    uri: &str,
    _options: &ReadOptions,
) -> ParsedDocument {
    let name = uri.rsplit('/').next().unwrap_or(uri);
    ParsedDocument {
        fragment: String::new(),
        kind: DocumentKind::Markdown,
        title: name
            .rsplit_once('.')
            .map_or(name, |(stem, _)| stem)
            .to_owned(),
        body_start: if text.starts_with('\u{feff}') { 3 } else { 0 },
        text,
        origin,
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
