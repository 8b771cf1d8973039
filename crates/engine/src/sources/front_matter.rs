//! The block of YAML between two `---` lines at the start of a note.

use serde_json::Value;

use super::yaml;
use crate::types::Warning;

/// What stands before a note's body.
#[derive(Debug, Default)]
pub(super) struct FrontMatter {
    /// A JSON object; `Null` when the note has none.
    pub(super) value: Value,
    /// Byte where the body starts: after the closing line, or after a byte order mark.
    pub(super) body_start: usize,
    /// Wikilinks inside its values.
    pub(super) links: Vec<LinkSite>,
    pub(super) warnings: Vec<Warning>,
}

/// A wikilink inside a value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LinkSite {
    /// Byte range of `[[…]]` in the note's text.
    pub(super) start: usize,
    pub(super) end: usize,
    /// The innermost key above it.
    pub(super) key: String,
}

/// Reads the front matter of `text`.
///
/// A block that is no YAML mapping, or that never closes, is body: nothing of it is lost, and a
/// warning names the line.
pub(super) fn read(text: &str) -> FrontMatter {
    let bom = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut found = FrontMatter {
        body_start: bom,
        ..FrontMatter::default()
    };
    let Some(source_start) = opening_line(&text[bom..]).map(|length| bom + length) else {
        return found;
    };
    let Some((source_end, body_start)) = closing_line(text, source_start) else {
        found.warnings.push(Warning {
            line: 1,
            message: "the front matter opened by `---` never closes; it is read as text \
                      (close it with a line `---`)"
                .to_owned(),
        });
        return found;
    };
    let source = &text[source_start..source_end];
    match yaml::parse(source) {
        Ok(yaml) => {
            found.body_start = body_start;
            found.warnings = yaml
                .repeated
                .iter()
                .map(|(line, key)| Warning {
                    // The opening line is line 1 of the file.
                    line: line + 1,
                    message: format!(
                        "front matter key `{key}` is repeated; all its values are kept"
                    ),
                })
                .collect();
            if source.contains("[[") {
                found.links = link_sites(source, source_start, &yaml.scalars);
            }
            found.value = yaml.value;
        }
        Err(error) => found.warnings.push(Warning {
            line: error.line + 1,
            message: format!(
                "the block between the first two `---` lines is no front matter ({}); \
                 it is read as text",
                error.message
            ),
        }),
    }
    found
}

/// The texts under `keys` (lower case), lists flattened.
pub(super) fn texts(front_matter: &Value, keys: &[&str]) -> Vec<String> {
    let mut all = Vec::new();
    for (_, value) in entries(front_matter, keys) {
        flatten(value, &mut all);
    }
    all
}

/// The entries whose key is one of `keys` (lower case), in the order of `keys`.
pub(super) fn entries<'a>(
    front_matter: &'a Value,
    keys: &'a [&str],
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let object = front_matter.as_object();
    keys.iter().flat_map(move |wanted| {
        object
            .into_iter()
            .flatten()
            .filter_map(move |(key, value)| {
                (key.trim().to_lowercase() == *wanted).then_some((key.as_str(), value))
            })
    })
}

/// The texts in a value, lists flattened.
pub(super) fn texts_in(value: &Value) -> Vec<String> {
    let mut all = Vec::new();
    flatten(value, &mut all);
    all
}

fn flatten(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.trim().to_owned()),
        Value::Number(number) => into.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| flatten(item, into)),
        Value::Null | Value::Bool(_) | Value::Object(_) => {}
    }
}

/// Length of the first line, break included, if it is `---`.
fn opening_line(text: &str) -> Option<usize> {
    let line = text.split_inclusive('\n').next()?;
    (line.ends_with('\n') && is_fence(line)).then_some(line.len())
}

/// Where the closing `---` line starts, and where the text goes on after it.
fn closing_line(text: &str, from: usize) -> Option<(usize, usize)> {
    let mut start = from;
    for line in text[from..].split_inclusive('\n') {
        if is_fence(line) {
            return Some((start, start + line.len()));
        }
        start += line.len();
    }
    None
}

fn is_fence(line: &str) -> bool {
    line.trim_ascii_end() == "---"
}

/// Finds `[[…]]` inside the scalars, and around one that is a whole unquoted link (`up: [[Home]]`).
fn link_sites(source: &str, offset: usize, scalars: &[yaml::Scalar]) -> Vec<LinkSite> {
    let mut sites = Vec::new();
    for scalar in scalars {
        let text = &source[scalar.range.clone()];
        let mut add = |start: usize, end: usize| {
            sites.push(LinkSite {
                start: offset + start,
                end: offset + end,
                key: scalar.key.clone(),
            });
        };
        let before = source[..scalar.range.start].trim_end_matches(' ');
        let after = source[scalar.range.end..].trim_start_matches(' ');
        if before.ends_with("[[") && after.starts_with("]]") && !text.contains("[[") {
            add(before.len() - 2, source.len() - after.len() + 2);
            continue;
        }
        let mut at = 0;
        while let Some(open) = text[at..].find("[[").map(|found| at + found) {
            let Some(close) = text[open..].find("]]").map(|found| open + found) else {
                break;
            };
            if !text[open..close].contains('\n') {
                add(scalar.range.start + open, scalar.range.start + close + 2);
            }
            at = close + 2;
        }
    }
    sites
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_body_starts_after_the_block() {
        let check = |text: &str, value: Value, body: &str| {
            let found = read(text);
            assert_eq!(found.value, value, "{text:?}");
            assert_eq!(&text[found.body_start..], body, "{text:?}");
            assert!(found.warnings.is_empty(), "{text:?}: {:?}", found.warnings);
        };
        check("no block", Value::Null, "no block");
        check("---\na: 1\n---\nbody", json!({"a": 1}), "body");
        check("---  \r\na: 1\r\n---\r\nbody", json!({"a": 1}), "body");
        check("\u{feff}---\na: 1\n---\nbody", json!({"a": 1}), "body");
        check("\u{feff}body", Value::Null, "body");
        check("---\n---\nbody", json!({}), "body");
        check("---\na: 1\n---", json!({"a": 1}), "");
        check("----\na: 1\n----\n", Value::Null, "----\na: 1\n----\n");
        check(" ---\na: 1\n---\n", Value::Null, " ---\na: 1\n---\n");
        check("---", Value::Null, "---");
    }

    #[test]
    fn a_bad_block_is_text_and_a_warning() {
        let check = |text: &str, line: usize| {
            let found = read(text);
            assert_eq!(found.value, Value::Null, "{text:?}");
            assert_eq!(found.body_start, 0, "{text:?}");
            assert_eq!(found.warnings.len(), 1, "{text:?}");
            assert_eq!(found.warnings[0].line, line, "{text:?}");
        };
        check("---\n**ACME**\nRua\n---\ntext", 2);
        check("---\nnever closed\n", 1);
        check("---\na: 1\n\tb: 2\n---\n", 3);
    }

    #[test]
    fn repeated_keys_keep_all_values() {
        let found = read("---\na: x\nb: 1\na: y\n---\n");
        assert_eq!(found.value, json!({"a": ["x", "y"], "b": 1}));
        assert_eq!(found.warnings[0].line, 4);
    }

    #[test]
    fn links_with_their_keys() {
        let check = |text: &str, expected: &[(&str, &str)]| {
            let found = read(text);
            let sites: Vec<_> = found
                .links
                .iter()
                .map(|site| (site.key.as_str(), &text[site.start..site.end]))
                .collect();
            assert_eq!(sites, expected, "{text:?}: {:?}", found.warnings);
        };
        check(
            "---\nauthor: \"[[Ana|A.]]\"\ntopics:\n  - '[[Água]] e [[B]]'\n---\n",
            &[
                ("author", "[[Ana|A.]]"),
                ("topics", "[[Água]]"),
                ("topics", "[[B]]"),
            ],
        );
        check("---\nup: [[Home]]\n---\n", &[("up", "[[Home]]")]);
        check(
            "---\nup: [ [[A]], [[B]] ]\n---\n",
            &[("up", "[[A]]"), ("up", "[[B]]")],
        );
        check("---\nx: [[1, 2]]\n---\n", &[]);
        check("---\nx: 1 # [[no]]\n---\n", &[]);
        check("---\nnote: |\n  see [[X]]\n---\n", &[("note", "[[X]]")]);
    }
}
