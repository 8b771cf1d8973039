//! Replies of models that think aloud.

use super::lenient_json::{closing_quote, ends_string, is_quote};

const TAGS: [&str; 4] = ["think", "thinking", "thought", "reasoning"];

/// The text without `<think>…</think>` and its like, and whether there were any. A block that never ends takes the rest
/// of the text. A tag inside a string of a JSON value is what the string says.
pub(crate) fn without_thoughts(text: &str) -> (String, bool) {
    if !text.contains('<') {
        return (text.to_owned(), false);
    }
    let mut out = String::new();
    let mut had_thoughts = false;
    let (mut kept_from, mut at) = (0, 0);
    let mut place = Place::default();
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let tag = if place.string.is_none() {
            tag(rest)
        } else {
            None
        };
        let Some((name, length, is_closing)) = tag else {
            at += place.step(rest, c);
            continue;
        };
        let after = at + length;
        if !is_closing {
            out.push_str(&text[kept_from..at]);
            let close = format!("</{name}>");
            let end = text[after..].find(&close);
            at = end.map_or(text.len(), |end| after + end + close.len());
        } else if text[after..].trim().is_empty() {
            // Nothing but an answer can stand before it.
            out.push_str(&text[kept_from..at]);
            at = text.len();
        } else {
            // Servers that strip the opening tag leave the closing one.
            out.clear();
            at = after;
        }
        had_thoughts = true;
        kept_from = at;
        place = Place::default();
    }
    out.push_str(&text[kept_from..]);
    (out, had_thoughts)
}

/// The tag that a text starts with: its name, its bytes, whether it ends a block.
fn tag(text: &str) -> Option<(&'static str, usize, bool)> {
    let inner = text.strip_prefix('<')?;
    let (inner, is_closing) = match inner.strip_prefix('/') {
        Some(inner) => (inner, true),
        None => (inner, false),
    };
    let name = TAGS.into_iter().find(|name| {
        let after = inner.strip_prefix(name);
        after.is_some_and(|after| after.starts_with('>'))
    })?;
    Some((name, name.len() + 2 + usize::from(is_closing), is_closing))
}

/// Where in a JSON value a text is.
#[derive(Default)]
struct Place {
    /// What ends the string that it is in.
    string: Option<char>,
    is_value: bool,
    /// The last character that is no white space.
    before: char,
}

impl Place {
    /// Takes the first character of `rest`, or an escape; returns its bytes.
    fn step(&mut self, rest: &str, c: char) -> usize {
        let mut length = c.len_utf8();
        if let Some(close) = self.string {
            if c == '\\' {
                length += rest[length..].chars().next().map_or(0, char::len_utf8);
            } else if c == close && ends_string(&rest[length..]) {
                self.string = None;
            }
        } else if self.is_value && is_quote(c) && matches!(self.before, '{' | '[' | ',' | ':') {
            self.string = Some(closing_quote(c));
        }
        self.is_value |= matches!(c, '{' | '[');
        if !c.is_whitespace() {
            self.before = c;
        }
        length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_go_and_what_an_answer_quotes_stays() {
        let check = |text: &str, expected: &str, had_thoughts: bool| {
            let (found, had) = without_thoughts(text);
            assert_eq!((found.as_str(), had), (expected, had_thoughts), "{text}");
        };
        check("plain <b>text</b>", "plain <b>text</b>", false);
        check("<think>a</think>b", "b", true);
        check("<think>a {\"x\": \"</think>b", "b", true);
        check("a</think>b", "b", true);
        check("so {it} goes</think>{}", "{}", true);
        check("{it's</think>{}", "{}", true);
        check("a<think>b", "a", true);
        check(
            "a<thinking>b</thinking>c<reasoning>d</reasoning>e",
            "ace",
            true,
        );
        check("{\"a\":1}</think>\n", "{\"a\":1}", true);
        check(
            "{\"a\":1}<think>so</think>{\"b\":2}",
            "{\"a\":1}{\"b\":2}",
            true,
        );
        for quoted in [
            r#"{"quote":"models write <think> first","b":1}"#,
            r#"{"quote":"they end with </think>","b":1}"#,
            r#"{"quote":"he said \"so\" in <think>x</think>"}"#,
            r#"{'quote': 'an unclosed <reasoning>', "b": "</think> y"}"#,
            r#"[{"a":"cut <think>"#,
        ] {
            check(quoted, quoted, false);
            check(&format!("<think>x</think>{quoted}"), quoted, true);
        }
    }
}
