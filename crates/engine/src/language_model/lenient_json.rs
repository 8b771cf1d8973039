//! JSON as models write it: with trailing commas, single quotes, comments, bare words, Python's constants,
//! line breaks in strings, and cut off in the middle.

use serde_json::{Map, Number, Value};

/// Values nested deeper than this are not read: nothing we ask for is.
const DEEPEST: usize = 64;

/// What was read, and how far it was from JSON.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lenient {
    pub value: Value,
    /// The text ended before the value did.
    pub is_cut: bool,
    /// Bytes of the text that belong to it.
    pub length: usize,
}

/// Reads the value that starts at the first byte of `text`.
pub(crate) fn parse(text: &str) -> Option<Lenient> {
    // The strict reader is several times faster, and most replies are sound.
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    if let Some(Ok(value)) = stream.next() {
        return Some(Lenient {
            value,
            is_cut: false,
            length: stream.byte_offset(),
        });
    }
    let mut reader = Reader {
        text,
        at: 0,
        is_cut: false,
    };
    let value = reader.value(0)?;
    Some(Lenient {
        value,
        is_cut: reader.is_cut,
        length: reader.at,
    })
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    is_cut: bool,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            let rest = self.rest();
            let comment_end = if rest.starts_with("//") || rest.starts_with("# ") {
                Some(rest.find('\n').unwrap_or(rest.len()))
            } else if rest.starts_with("/*") {
                Some(rest.find("*/").map_or(rest.len(), |at| at + 2))
            } else {
                None
            };
            match comment_end {
                Some(length) => self.at += length,
                None => return,
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        self.skip();
        if depth > DEEPEST {
            return None;
        }
        match self.peek() {
            None => {
                self.is_cut = true;
                None
            }
            Some('{') => Some(self.object(depth)),
            Some('[') => Some(self.array(depth)),
            Some(quote) if is_quote(quote) => Some(Value::String(self.string(quote))),
            Some(_) => self.bare(),
        }
    }

    fn object(&mut self, depth: usize) -> Value {
        let mut map = Map::new();
        self.at += 1;
        // A `]` closes what holds it: the model left this one open.
        while self.has_item('}', &[',', ';'], Some(']')) {
            let before = self.at;
            let key = match self.peek() {
                Some(quote) if is_quote(quote) => self.string(quote),
                _ => self.word(&[':', '=', ',', '}', '\n']).trim().to_owned(),
            };
            self.skip();
            if matches!(self.peek(), Some(':' | '=')) {
                self.at += 1;
                if self.rest().starts_with('>') {
                    self.at += 1;
                }
                match self.value(depth + 1) {
                    // A key whose value never came says nothing.
                    None if self.is_cut => break,
                    None => {}
                    Some(value) => {
                        map.insert(key, value);
                    }
                }
            }
            self.move_on(before);
        }
        Value::Object(map)
    }

    fn array(&mut self, depth: usize) -> Value {
        let mut items = Vec::new();
        self.at += 1;
        let outer = (depth > 0).then_some('}');
        while self.has_item(']', &[',', ';', '}', ':'], outer) {
            let before = self.at;
            let is_cut_before = self.is_cut;
            match self.value(depth + 1) {
                Some(value) => {
                    // The last item of a text that was cut is kept only if it holds something.
                    let is_half = self.is_cut && !is_cut_before && is_empty(&value);
                    if !is_half {
                        items.push(value);
                    }
                }
                None => self.move_on(before),
            }
        }
        Value::Array(items)
    }

    /// Goes to the next item of an object or array. False at its end, which is read when it is `close`, left to be
    /// read again when it is `outer`, or the end of the text.
    fn has_item(&mut self, close: char, separators: &[char], outer: Option<char>) -> bool {
        loop {
            self.skip();
            match self.peek() {
                None => {
                    self.is_cut = true;
                    return false;
                }
                Some(c) if c == close => {
                    self.at += 1;
                    return false;
                }
                Some(c) if Some(c) == outer => return false,
                Some(c) if separators.contains(&c) => self.at += 1,
                Some(_) => return true,
            }
        }
    }

    /// Past a character that belongs to nothing, where nothing was read.
    fn move_on(&mut self, before: usize) {
        if self.at == before {
            self.at += self.peek().map_or(1, char::len_utf8);
        }
        self.at = self.at.min(self.text.len());
    }

    /// A string in any kind of quotes. A quote of the same kind inside ends it only where something follows
    /// that can follow a string.
    fn string(&mut self, open: char) -> String {
        let close = closing_quote(open);
        self.at += open.len_utf8();
        let mut out = String::new();
        let mut characters = self.text[self.at..].char_indices();
        while let Some((offset, c)) = characters.next() {
            if c == '\\' {
                match characters.next() {
                    Some((_, 'n')) => out.push('\n'),
                    Some((_, 't')) => out.push('\t'),
                    Some((_, 'r')) => out.push('\r'),
                    Some((_, 'b' | 'f')) => out.push(' '),
                    Some((at, 'u')) => {
                        let start = self.at + at + 1;
                        let (decoded, digits) = unicode_escape(&self.text[start..]);
                        out.push(decoded);
                        for _ in 0..digits {
                            characters.next();
                        }
                    }
                    Some((_, other)) => out.push(other),
                    None => break,
                }
                continue;
            }
            if c == close {
                let after = &self.text[self.at + offset + c.len_utf8()..];
                if ends_string(after) {
                    self.at += offset + c.len_utf8();
                    return out;
                }
            }
            out.push(c);
        }
        self.at = self.text.len();
        self.is_cut = true;
        out
    }

    /// Text up to one of `ends`.
    fn word(&mut self, ends: &[char]) -> String {
        let rest = self.rest();
        let length = rest.find(ends).unwrap_or(rest.len());
        let word = rest[..length].to_owned();
        self.at += length;
        word
    }

    fn bare(&mut self) -> Option<Value> {
        let start = self.at;
        let word = self.word(&[',', '}', ']', '\n']);
        // A comment after it is no part of it.
        let length = [" //", "/*"]
            .iter()
            .filter_map(|mark| word.find(mark))
            .min()
            .unwrap_or(word.len());
        self.at = start + length;
        let word = word[..length].trim();
        Some(match word {
            "" => return None,
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            "null" | "None" | "NULL" | "undefined" | "NaN" | "nil" => Value::Null,
            _ => match word.parse::<Number>() {
                Ok(number) => Value::Number(number),
                Err(_) => Value::String(word.to_owned()),
            },
        })
    }
}

pub(super) const fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '“' | '„' | '‘' | '`')
}

/// The quote that ends a string which this one begins.
pub(super) const fn closing_quote(open: char) -> char {
    match open {
        '“' | '„' => '”',
        '‘' => '’',
        other => other,
    }
}

/// Whether a string may end before this text.
pub(super) fn ends_string(after: &str) -> bool {
    let spaced = after.trim_start();
    let breaks = after[..after.len() - spaced.len()].contains('\n');
    let after = spaced;
    // A comment, or the next key where the comma was forgotten.
    if after.starts_with("//") || after.starts_with("/*") || (breaks && after.starts_with('"')) {
        return true;
    }
    match after.chars().next() {
        None | Some('}' | ']' | ':') => true,
        // A key of a Ruby hash.
        Some('=') => after.starts_with("=>"),
        // `"a" or "b"` goes on; `"a", "b"` and `"a",\n}` do not.
        Some(',') => {
            let next = after[1..].trim_start();
            next.is_empty()
                || next
                    .starts_with(|c: char| is_quote(c) || "{}[]-".contains(c) || c.is_ascii_digit())
                || ["true", "false", "null", "None", "True", "False"]
                    .iter()
                    .any(|word| next.starts_with(word))
                || next
                    .find(':')
                    .is_some_and(|at| next[..at].chars().all(|c| c.is_alphanumeric() || c == '_'))
        }
        Some(_) => false,
    }
}

/// A `\u` escape and, where it is half of a pair, its other half: the character, and how many characters
/// of the text it takes. A half without its other half is a replacement character.
fn unicode_escape(text: &str) -> (char, usize) {
    let unit = |text: &str| u32::from_str_radix(text.get(..4)?, 16).ok();
    let Some(first) = unit(text) else {
        return ('\u{fffd}', 0);
    };
    if (0xd800..0xdc00).contains(&first)
        && let Some(second) = text.get(4..).and_then(|rest| rest.strip_prefix("\\u"))
        && let Some(second) = unit(second).filter(|unit| (0xdc00..0xe000).contains(unit))
    {
        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (char::from_u32(code).unwrap_or('\u{fffd}'), 10);
    }
    (char::from_u32(first).unwrap_or('\u{fffd}'), 4)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_models_write_is_read() {
        let check = |text: &str, expected: Value| {
            let found = parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(found.value, expected, "{text}");
        };
        check(r#"{"a": 1}"#, json!({"a": 1}));
        check(r#"{"a": [1, 2,], }"#, json!({"a": [1, 2]}));
        check(
            "{'a': 'it''s', 'b': None, c: True}",
            json!({"a": "it''s", "b": null, "c": true}),
        );
        check(
            r#"{"a": "x" // why
            , "b": 2 /* or */ }"#,
            json!({"a": "x", "b": 2}),
        );
        check("{“a”: “x”}", json!({"a": "x"}));
        check(
            r#"{"a": "he said "no" twice", "b": 1}"#,
            json!({"a": "he said \"no\" twice", "b": 1}),
        );
        check(
            "{'name': 'Ana Prado', 'note': 'said \"yes\"'}",
            json!({"name": "Ana Prado", "note": "said \"yes\""}),
        );
        check("{\"a\": \"two\nlines\"}", json!({"a": "two\nlines"}));
        check(
            r#"{"a": "\u00e9\ud83d\ude00\ud800"}"#,
            json!({"a": "é😀\u{fffd}"}),
        );
        check(
            r#"{"a": unquoted words, "b": -1.5}"#,
            json!({"a": "unquoted words", "b": -1.5}),
        );
        check(r#"[{"a": 1} {"a": 2}]"#, json!([{"a": 1}, {"a": 2}]));
        check(r#"{"a" => 1}"#, json!({"a": 1}));
    }

    #[test]
    fn a_cut_text_keeps_what_came() {
        let check = |text: &str, expected: Value| {
            let found = parse(text).unwrap();
            assert_eq!(found.value, expected, "{text}");
            assert!(found.is_cut, "{text}");
        };
        check(
            r#"{"e": [{"n": "A"}, {"n": "B"#,
            json!({"e": [{"n": "A"}, {"n": "B"}]}),
        );
        check(r#"{"e": [{"n": "A"}, {"n":"#, json!({"e": [{"n": "A"}]}));
        check(r#"{"e": [{"n": "A"}, {"#, json!({"e": [{"n": "A"}]}));
        check(r#"{"e": "#, json!({}));
    }

    #[test]
    fn nothing_hangs_or_overflows() {
        let deep = "[".repeat(100_000);
        let _ = parse(&deep);
        let deep = "{\"a\":".repeat(100_000);
        let _ = parse(&deep);
        for text in [
            "", "}", "]", ":", "{:}", "{,}", "[,,]", "\\", "{\"", "'", "{]", "[}", "{{{{", "{\"\\u",
        ] {
            let _ = parse(text);
        }
    }
}
