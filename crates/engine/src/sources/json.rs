//! JSON (an array of objects, or one object) and JSONL (one object a line).

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::encoding::{decode, is_nearly_utf8};
use super::rows::Rows;
use super::{ReadOptions, ReadOutcome};
use crate::types::Warning;

/// Reads one value; the items of an array are documents of their own. When the text breaks off or
/// is wrong somewhere, the items before that place are kept.
pub(super) fn read_json(
    text: &str,
    uri: &str,
    options: &ReadOptions,
    warnings: Vec<Warning>,
) -> ReadOutcome {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (repaired, mut warnings) = with_valid_surrogates(text, 0, warnings);
    let mut rows = Rows::new(uri, options);
    let mut number = 0;
    let mut deserializer = serde_json::Deserializer::from_str(repaired.as_deref().unwrap_or(text));
    let items = Items(|item| {
        number += 1;
        rows.add(number, 0, item, std::mem::take(&mut warnings));
        !rows.is_full()
    });
    let read = items.deserialize(&mut deserializer);
    if let Err(error) = read.and_then(|()| deserializer.end())
        && !rows.is_full()
    {
        rows.fail(error.line(), broken(&error, number));
    }
    rows.finish()
}

fn broken(error: &serde_json::Error, kept: usize) -> String {
    let kept = match kept {
        0 => String::new(),
        kept => format!("; {kept} before it were read"),
    };
    format!("not valid JSON: {}{kept}", without_line(error))
}

/// What is wrong and in which column; the line stands before it, in the place of the failure.
fn without_line(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match message.strip_suffix(&place) {
        Some(what) => format!("{what} at column {}", error.column()),
        None => message,
    }
}

/// Hands the items of an array, or the one value, to a function until it returns false.
struct Items<F>(F);

impl<'de, F: FnMut(Value) -> bool> DeserializeSeed<'de> for Items<F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: FnMut(Value) -> bool> Visitor<'de> for Items<F> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array of objects or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            if !(self.0)(item) {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
        let mut fields = Map::new();
        while let Some((key, value)) = entries.next_entry::<String, Value>()? {
            fields.insert(key, value);
        }
        (self.0)(Value::Object(fields));
        Ok(())
    }

    fn visit_str<E: serde::de::Error>(mut self, text: &str) -> Result<(), E> {
        (self.0)(Value::String(text.to_owned()));
        Ok(())
    }
}

/// Reads one value a line. A broken line costs only itself; it is reported with its line and byte.
pub(super) fn read_json_lines(bytes: &[u8], uri: &str, options: &ReadOptions) -> ReadOutcome {
    // A file in another encoding is transcoded as a whole; otherwise lines are decoded one by one,
    // so that one spoilt line does not spoil the others.
    if (bytes.contains(&0) || !is_nearly_utf8(bytes))
        && let Ok(whole) = decode(bytes)
    {
        return read_lines(whole.text.as_bytes(), uri, options, whole.warnings);
    }
    read_lines(bytes, uri, options, Vec::new())
}

fn read_lines(
    bytes: &[u8],
    uri: &str,
    options: &ReadOptions,
    mut warnings: Vec<Warning>,
) -> ReadOutcome {
    let mut rows = Rows::new(uri, options);
    let (mut offset, mut number) = (0, 0);
    for (at, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let start = offset;
        offset += line.len();
        let is_last = offset == bytes.len() && !line.ends_with(b"\n");
        let line_number = at + 1;
        let place = |reason: String| format!("byte {start}: {reason}");
        let decoded = match decode(line) {
            Ok(decoded) => decoded,
            Err(reason) => {
                rows.fail(line_number, place(reason));
                continue;
            }
        };
        let text = decoded.text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            continue;
        }
        warnings.extend(decoded.warnings.into_iter().map(|warning| Warning {
            line: line_number,
            ..warning
        }));
        let found = std::mem::take(&mut warnings);
        let (repaired, found) = with_valid_surrogates(text, line_number, found);
        match serde_json::from_str(repaired.as_deref().unwrap_or(text)) {
            Ok(value) => {
                number += 1;
                rows.add(number, line_number, value, found);
            }
            Err(error) if is_last && error.is_eof() => {
                let reason = "the last line is cut off; it is read when the rest has arrived";
                rows.fail(line_number, place(reason.to_owned()));
            }
            Err(error) => {
                let reason = format!("not valid JSON: {}", without_line(&error));
                rows.fail(line_number, place(reason));
            }
        }
        if rows.is_full() {
            break;
        }
    }
    rows.finish()
}

/// Half of a surrogate pair (`\ud83d` alone) is no character; some writers cut strings there.
/// Returns the text with such escapes as U+FFFD, or `None` when there are none.
fn with_valid_surrogates(
    text: &str,
    line: usize,
    mut warnings: Vec<Warning>,
) -> (Option<String>, Vec<Warning>) {
    let Some(repaired) = replace_lone_surrogates(text) else {
        return (None, warnings);
    };
    warnings.push(Warning {
        line,
        message: "half a character (a lone surrogate escape) is shown as \u{fffd}".to_owned(),
    });
    (Some(repaired), warnings)
}

pub(super) fn replace_lone_surrogates(text: &str) -> Option<String> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return None;
    }
    let unit = |at: usize| -> Option<u16> {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut repaired = String::with_capacity(text.len());
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = text[at..].find('\\') {
        at += found;
        match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => {
                repaired.push_str(&text[copied..at]);
                repaired.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            // An escaped backslash must not be taken for the start of the next escape.
            _ => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    if copied == 0 {
        return None;
    }
    repaired.push_str(&text[copied..]);
    Some(repaired)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(outcome: &ReadOutcome) -> Vec<&str> {
        outcome
            .documents
            .iter()
            .map(|document| document.title.as_str())
            .collect()
    }

    fn failures(outcome: &ReadOutcome) -> Vec<(usize, &str)> {
        outcome
            .failures
            .iter()
            .map(|f| (f.line, f.reason.as_str()))
            .collect()
    }

    #[test]
    fn json() {
        let check = |text: &str, expected: &[&str], failed: &[(usize, &str)]| {
            let outcome = read_json(text, "d.json", &ReadOptions::default(), Vec::new());
            assert_eq!(titles(&outcome), expected, "{text}");
            assert_eq!(failures(&outcome), failed, "{text}");
        };
        check(
            r#"[{"title":"A","text":"x"},{"title":"B","text":"y"}]"#,
            &["A", "B"],
            &[],
        );
        check(r#"{"title":"A","text":"x"}"#, &["A"], &[]);
        check("\u{feff}[{\"title\":\"A\",\"text\":\"x\"}]", &["A"], &[]);
        check(r#"["one", 2]"#, &["d 1", "d 2"], &[]);
        check(
            "[\n{\"title\":\"A\",\"text\":\"x\"},\n{\"title\":",
            &["A"],
            &[(
                3,
                "not valid JSON: EOF while parsing a value at column 9; 1 before it were read",
            )],
        );
        check(
            "{\"a\":1} trailing",
            &["d 1"],
            &[(
                1,
                "not valid JSON: trailing characters at column 9; 1 before it were read",
            )],
        );
        check(
            "[",
            &[],
            &[(1, "not valid JSON: EOF while parsing a list at column 1")],
        );
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep = "[".repeat(100_000);
        let outcome = read_json(&deep, "d.json", &ReadOptions::default(), Vec::new());
        assert!(outcome.failures[0].reason.contains("recursion limit"));
    }

    #[test]
    fn broken_lines_cost_only_themselves() {
        let text = b"{\"id\":1,\"text\":\"a\"}\n{\"id\":2,\n\n\xff\x00\n{\"id\":3,\"text\":\"\xe7\xe3o\"}\n{\"id\":4,\"te";
        let outcome = read_json_lines(text, "d.jsonl", &ReadOptions::default());
        assert_eq!(titles(&outcome), ["1", "3"]);
        assert_eq!(outcome.documents[1].text, "ção");
        assert_eq!(outcome.documents[1].warnings[0].line, 5);
        assert_eq!(
            failures(&outcome),
            [
                (
                    2,
                    "byte 20: not valid JSON: EOF while parsing a value at column 8"
                ),
                (4, "byte 30: binary data, not text (it contains NUL bytes)"),
                (
                    6,
                    "byte 55: the last line is cut off; it is read when the rest has arrived"
                ),
            ]
        );
    }

    #[test]
    fn utf16_lines() {
        let text =
            "\u{feff}{\"title\":\"ação\",\"text\":\"x\"}\n{\"title\":\"B\",\"text\":\"y\"}\n";
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let outcome = read_json_lines(&bytes, "d.jsonl", &ReadOptions::default());
        assert_eq!(titles(&outcome), ["ação", "B"]);
    }

    #[test]
    fn lone_surrogates() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(replace_lone_surrogates(text).as_deref(), expected);
        };
        check(r#""\ud83d\ude00 ok""#, None);
        check(r#""\ud83d cut""#, Some(r#""\ufffd cut""#));
        check(
            r#""\udE00\ud83d\ud83d\ude00""#,
            Some(r#""\ufffd\ufffd\ud83d\ude00""#),
        );
        check(r#""\\ud83d is text""#, None);
        check(r#""\ud83d"#, Some(r#""\ufffd"#));
        check("\\ud83é\\", None);
        let line = br#"{"title":"half \ud83d","text":"x"}"#;
        let outcome = read_json_lines(line, "d.jsonl", &ReadOptions::default());
        assert_eq!(titles(&outcome), ["half \u{fffd}"]);
        assert!(
            outcome.documents[0].warnings[0]
                .message
                .contains("lone surrogate")
        );
    }
}
