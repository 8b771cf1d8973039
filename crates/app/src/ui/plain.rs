//! Text of documents is data: nothing in it may move the cursor, set a title or turn the line around.

use std::borrow::Cow;
use std::fmt::Write;

/// `text` with every control character made visible; line breaks and tabs stay.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    replaced(text, |c| c == '\n' || c == '\t')
}

/// `text` as one line: runs of white space become one space, control characters become visible.
pub(crate) fn plain_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&replaced(word, |_| false));
    }
    line
}

/// True for characters that act on the terminal instead of standing in it: C0, DEL, C1, line and
/// paragraph separators, and the controls of writing direction.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn replaced(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(|c| acts(c) && !keep(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            _ if !acts(c) || keep(c) => out.push(c),
            // The carriage return of a Windows line end is no news.
            '\r' if rest.peek() == Some(&'\n') => {}
            // Unicode has a picture for each C0 control and for DEL.
            '\0'..='\u{1f}' => out.push(char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}')),
            '\u{7f}' => out.push('\u{2421}'),
            _ => {
                let _ = write!(out, "<U+{:04X}>", c as u32);
            }
        }
    }
    Cow::Owned(out)
}

/// JSON as serde writes it, with the controls that JSON allows raw escaped too.
pub(super) fn plain_json(json: &str) -> Cow<'_, str> {
    let raw = |c: char| acts(c) && c != '\n';
    if !json.chars().any(raw) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if raw(c) {
            let _ = write!(out, "\\u{:04x}", c as u32);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_become_visible() {
        let check = |text, expected: &str| assert_eq!(plain(text), expected);
        check("plain ção 望潮", "plain ção 望潮");
        check("a\tb\nc", "a\tb\nc");
        check("a\r\nb", "a\nb");
        check("\u{1b}[31mred\u{1b}[0m", "␛[31mred␛[0m");
        check("\u{1b}]0;title\u{7}", "␛]0;title␇");
        check("\u{9b}2J", "<U+009B>2J");
        check("a\u{202e}b", "a<U+202E>b");
        check("\u{7f}\0", "␡␀");
    }

    #[test]
    fn lines_are_one_line() {
        let check = |text, expected: &str| assert_eq!(plain_line(text), expected);
        check("  a \n\t b\r\nc ", "a b c");
        check("a\u{1b}b", "a␛b");
        check("", "");
    }

    #[test]
    fn json_stays_json() {
        let value = "\u{1b}[2J \u{9b} \u{202e} ok";
        let json = serde_json::to_string(value).unwrap();
        let plain = plain_json(&json);
        assert!(!plain.chars().any(acts), "{plain}");
        let back: String = serde_json::from_str(&plain).unwrap();
        assert_eq!(back, value);
    }
}
