//! Names as files and models spell them, made presentable.

use super::fold;

/// Longest name, type or relation in bytes. What is longer is text, not a name.
const LONGEST: usize = 2_000;

/// Quotation marks that are no part of the name they enclose.
const QUOTES: &[(char, char)] = &[
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('“', '”'),
    ('„', '“'),
    ('‘', '’'),
    ('«', '»'),
    ('»', '«'),
    ('「', '」'),
];

/// The name without enclosing quotes, invisible characters, HTML escapes and doubled blanks.
/// The error says why it is none.
pub fn clean_name(written: &str) -> Result<String, String> {
    if written.len() > LONGEST {
        return Err(format!("longer than {LONGEST} bytes"));
    }
    let unescaped = unescape(written);
    if let Some(control) = unescaped
        .chars()
        .find(|c| c.is_control() && !c.is_whitespace())
    {
        return Err(format!("holds the control character {control:?}"));
    }
    let visible: String = unescaped.chars().filter(|&c| !is_invisible(c)).collect();
    let mut name = visible.trim();
    while let Some(inner) = QUOTES.iter().find_map(|&(open, close)| {
        let inner = name.strip_prefix(open)?.strip_suffix(close)?;
        // `"a" or "b"` is not one quoted name.
        (!inner.contains([open, close])).then_some(inner)
    }) {
        name = inner.trim();
    }
    if name.is_empty() {
        return Err("is empty".to_owned());
    }
    Ok(name.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// What names are compared by: equal names are one entity. Signs that fold to nothing keep their
/// own form.
pub fn name_key(name: &str) -> String {
    let folded = fold(name);
    if folded.is_empty() {
        name.to_lowercase()
    } else {
        folded
    }
}

/// Of several spellings the one to show, whatever order they came in: with both cases rather than
/// all in one, then the first by code point.
pub fn is_better_name(name: &str, than: &str) -> bool {
    let rank = |name: &str| {
        let mixed = name.chars().any(char::is_lowercase) && name.chars().any(char::is_uppercase);
        u8::from(!mixed)
    };
    (rank(name), name) < (rank(than), than)
}

/// Characters that show nothing and join nothing. The joiners of Persian and Indic scripts stay.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

/// Replaces the character references of HTML that occur in data by what they stand for.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let reference = rest[1..]
            .find(';')
            .filter(|&length| length <= 8)
            .and_then(|length| Some((reference(&rest[1..=length])?, length + 2)));
        if let Some((character, length)) = reference {
            out.push(character);
            rest = &rest[length..];
        } else {
            out.push('&');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

fn reference(name: &str) -> Option<char> {
    match name {
        "quot" => Some('"'),
        "amp" => Some('&'),
        "apos" => Some('\''),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "nbsp" => Some(' '),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_meet() {
        let check = |written: &str, expected: &str| {
            let name = clean_name(written).unwrap();
            assert_eq!(name, expected, "{written:?}");
            assert_eq!(name_key(&name), name_key(expected));
        };
        check("\"ROMAN EMPIRE \"", "ROMAN EMPIRE");
        check("ROMAN EMPIRE", "ROMAN EMPIRE");
        check("“Roman Empire”", "Roman Empire");
        check("Roman  Empire", "Roman Empire");
        check("&quot;Roman Empire&quot;", "Roman Empire");
        check("Ro\u{200b}man Empire", "Roman Empire");
        check("&#x22;Roman&nbsp;Empire&#34;", "Roman Empire");
        check("R&D", "R&D");
        check("AT&amp;T", "AT&T");
        check("&unknown; & more", "&unknown; & more");
        check("\"a\" or \"b\"", "\"a\" or \"b\"");
        check("two\nlines", "two lines");
        check("x` SET n.admin = true //", "x` SET n.admin = true //");
        assert_eq!(name_key("ROMAN EMPIRE"), name_key("Roman Empire"));
        assert_eq!(name_key("Billing API"), name_key("billing-api"));
    }

    #[test]
    fn what_is_no_name_says_why() {
        let check = |written: &str, expected: &str| {
            let reason = clean_name(written).unwrap_err();
            assert!(reason.contains(expected), "{written:?}: {reason}");
        };
        check("", "empty");
        check("  \u{200b} ", "empty");
        check("\"\"", "empty");
        check("a\0b", "control");
        check("a\u{1b}[31m", "control");
        check(&"x".repeat(3_000), "longer");
    }

    #[test]
    fn the_name_shown_does_not_depend_on_order() {
        assert!(is_better_name("Roman Empire", "ROMAN EMPIRE"));
        assert!(is_better_name("Roman Empire", "roman empire"));
        assert!(!is_better_name("ROMAN EMPIRE", "Roman Empire"));
        assert!(is_better_name("Ana", "Aná"));
    }
}
