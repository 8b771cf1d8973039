//! `#tags` in a note's body.

use std::ops::Range;

/// Adds the tags of `text[from..]` to `tags`, without `#`, each spelling once.
///
/// `covered` (sorted, disjoint) are links, code and the like, in which `#` means something else.
pub(super) fn scan(text: &str, from: usize, covered: &[Range<usize>], tags: &mut Vec<String>) {
    let mut next = 0;
    let mut at = from;
    while let Some(found) = text[at..].find('#') {
        let sign = at + found;
        at = sign + 1;
        while covered.get(next).is_some_and(|range| range.end <= sign) {
            next += 1;
        }
        if let Some(range) = covered.get(next)
            && range.start <= sign
        {
            at = range.end.max(at);
            continue;
        }
        let stands_free = text[from..sign]
            .chars()
            .next_back()
            .is_none_or(char::is_whitespace);
        if !stands_free {
            continue;
        }
        let rest = &text[at..];
        let length = rest
            .find(|letter| !is_tag_letter(letter))
            .unwrap_or(rest.len());
        add(&rest[..length], tags);
        at += length;
    }
}

/// Adds a tag unless it is there or is no tag: empty, or a number as in `#12`.
pub(super) fn add(tag: &str, tags: &mut Vec<String>) {
    let tag = tag.trim().trim_start_matches('#').trim_matches('/');
    let is_number = tag
        .chars()
        .all(|letter| letter.is_ascii_digit() || letter == '/');
    if !is_number && !tags.iter().any(|known| known == tag) {
        tags.push(tag.to_owned());
    }
}

/// Letters of every script, digits, emoji, `_`, `-` and the `/` of nested tags.
fn is_tag_letter(letter: char) -> bool {
    if letter.is_ascii() {
        return letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '/');
    }
    !letter.is_whitespace()
        && !matches!(letter,
            // General and supplemental punctuation
            '\u{2000}'..='\u{206F}' | '\u{2E00}'..='\u{2E7F}'
            // CJK and full-width punctuation
            | '\u{3000}'..='\u{3004}' | '\u{3008}'..='\u{3020}' | '\u{3030}'
            | '\u{FF00}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}'
            | '\u{FF3B}'..='\u{FF3E}' | '\u{FF5B}'..='\u{FF65}'
            | '«' | '»' | '·' | '¿' | '¡' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags() {
        let check = |text: &str, expected: &[&str]| {
            let mut tags = Vec::new();
            scan(text, 0, &[], &mut tags);
            assert_eq!(tags, expected, "{text}");
        };
        check("#a b #c-d_e", &["a", "c-d_e"]);
        check("x #projeto/ação, y", &["projeto/ação"]);
        check("#标签，还有 #甲/乙。", &["标签", "甲/乙"]);
        check("#12 #1984 #y1984 #4/5", &["y1984"]);
        check("a#b (#c) ##d # e", &[]);
        check("#a #a #A", &["a", "A"]);
        check("#🌱seed #end/", &["🌱seed", "end"]);
        check("https://a.b/#c", &[]);
        check("#", &[]);
    }

    #[test]
    fn covered_stretches_have_none() {
        let mut tags = Vec::new();
        scan("`#a #b` #c #d", 0, &[0..7, 11..13], &mut tags);
        assert_eq!(tags, ["c"]);
    }
}
