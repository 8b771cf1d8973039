//! Any text as XML 1.0, which has no place for most control characters.
//!
//! A character that XML cannot hold is written as `_xHHHH_`, its number in hexadecimal, as office
//! documents do; a text that looks like such an escape has its underscore escaped: `_x005F_`. So the
//! text can be had back exactly: replace every `_xHHHH_` by its character.

use std::fmt::Write as _;

/// The text between tags or within `"` quotes.
pub(super) fn xml_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for (at, c) in text.char_indices() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Parsers turn these into blanks or drop them unless they are named by number.
            '\t' | '\n' | '\r' | '\u{7f}'..='\u{9f}' | '\u{2028}' => {
                write!(out, "&#{};", u32::from(c)).expect("a string takes every text");
            }
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                write!(out, "_x{:04X}_", u32::from(c)).expect("a string takes every text");
            }
            '_' if is_escape(&text[at..]) => out.push_str("_x005F_"),
            c => out.push(c),
        }
    }
    out
}

/// Whether the text begins with `_xHHHH_`.
fn is_escape(text: &str) -> bool {
    match text.as_bytes() {
        [b'_', b'x', a, b, c, d, b'_', ..] => [a, b, c, d].into_iter().all(u8::is_ascii_hexdigit),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_has_a_form() {
        let check = |text: &str, expected: &str| assert_eq!(xml_text(text), expected);
        check(
            "a < b && c > \"d\" ]]>",
            "a &lt; b &amp;&amp; c &gt; &quot;d&quot; ]]&gt;",
        );
        check(
            "\u{1}\u{1b}[31m\u{c}\0\u{fffe}",
            "_x0001__x001B_[31m_x000C__x0000__xFFFE_",
        );
        check("a\tb\nc\rd\u{85}", "a&#9;b&#10;c&#13;d&#133;");
        check("_x0001_", "_x005F_x0001_");
        check(
            "_x001_ _x00G1_ _xab12_ _x",
            "_x001_ _x00G1_ _x005F_xab12_ _x",
        );
        check("é😀", "é😀");
    }
}
