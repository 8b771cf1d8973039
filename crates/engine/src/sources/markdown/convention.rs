//! Which program's link syntax a folder follows.

use serde_json::{Map, Value};

use crate::types::LinkConvention;

/// Guesses the convention from marker files among the folder's paths (relative, with `/`; attachments
/// and skipped files count): `dendron.yml` means Dendron, a folder `logseq` means Logseq, anything
/// else Obsidian. Where a folder `.obsidian` stands beside them the notes are kept in Obsidian.
pub fn detect_convention<'a>(paths: impl IntoIterator<Item = &'a str>) -> LinkConvention {
    let mut found = LinkConvention::Obsidian;
    for path in paths {
        let path = path.trim_end_matches('/');
        let first = path.split('/').next().unwrap_or(path);
        match first {
            ".obsidian" => return LinkConvention::Obsidian,
            "logseq" if found == LinkConvention::Obsidian => found = LinkConvention::Logseq,
            "dendron.yml" => found = LinkConvention::Dendron,
            _ => {}
        }
    }
    found
}

/// Logseq's page properties: `key:: value` lines that open the page, as a front matter.
pub(super) fn page_properties(body: &str) -> Map<String, Value> {
    let mut properties = Map::new();
    for line in body.lines() {
        let line = line.trim();
        let line = line.strip_prefix("- ").unwrap_or(line);
        let Some((key, value)) = line.split_once("::") else {
            break;
        };
        let is_key = !key.is_empty()
            && key
                .chars()
                .all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '/'));
        if !is_key || !value.is_empty() && !value.starts_with(' ') {
            break;
        }
        properties.insert(key.to_owned(), Value::String(value.trim().to_owned()));
    }
    properties
}

/// Length of a Logseq block's id, a UUID.
pub(super) const ID_LENGTH: usize = 36;

/// A block reference `((id))` at the start of `text`: its id.
pub(super) fn block_reference(text: &str) -> Option<&str> {
    let id = text.strip_prefix("((")?.get(..ID_LENGTH)?;
    let is_uuid = id.bytes().enumerate().all(|(place, byte)| match place {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    (is_uuid && text[2 + ID_LENGTH..].starts_with("))")).then_some(id)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn marker_files() {
        let check = |paths: &[&str], expected| {
            assert_eq!(
                detect_convention(paths.iter().copied()),
                expected,
                "{paths:?}"
            );
        };
        check(&["a.md", "b/logseq/c.md"], LinkConvention::Obsidian);
        check(&["logseq/config.edn", "pages/a.md"], LinkConvention::Logseq);
        check(&["pages/a.md", "logseq"], LinkConvention::Logseq);
        check(&["dendron.yml", "root.md"], LinkConvention::Dendron);
        check(
            &["logseq/config.edn", ".obsidian/app.json"],
            LinkConvention::Obsidian,
        );
    }

    #[test]
    fn properties() {
        let check = |body: &str, expected: Value| {
            assert_eq!(Value::Object(page_properties(body)), expected, "{body}");
        };
        check(
            "title:: A b\nalias:: x, y\n\n- c",
            json!({"title": "A b", "alias": "x, y"}),
        );
        check("- type:: note\n- text a::b", json!({"type": "note"}));
        check("std::vec\n", json!({}));
        check("some words:: x\n", json!({}));
    }

    #[test]
    fn block_references() {
        let id = "64f1b2c3-0000-4a5b-8c9d-0123456789ab";
        assert_eq!(block_reference(&format!("(({id})) x")), Some(id));
        assert_eq!(block_reference("((not a block))"), None);
        assert_eq!(block_reference("((水水水水水水水水水水水水水))"), None);
    }
}
