//! Where running text may be cut, and how well.

use unicode_normalization::char::is_combining_mark;

use super::is_blank;

/// How much a place is a break, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Break {
    /// Between words, or between characters of a script without spaces.
    Word,
    /// Between lines.
    Line,
    /// Between sentences or list items.
    Sentence,
    /// Between paragraphs.
    Paragraph,
}

/// What kind of break is before the character at `at`, if any. Looks back no further than `from`.
pub(super) fn break_at(text: &str, from: usize, at: usize) -> Option<Break> {
    let next = text[at..].chars().next()?;
    if is_blank(next) || is_combining_mark(next) || next == '\u{200D}' {
        return None;
    }
    let before = text[from..at].trim_end_matches(is_blank);
    let blanks = &text[from + before.len()..at];
    let last = before.chars().next_back()?;
    if blanks.is_empty() {
        return between_characters(before, last, next);
    }
    if !blanks.contains(|c: char| c.is_whitespace() || c == '\u{200B}') {
        return None;
    }
    let lines = blanks.bytes().filter(|&byte| byte == b'\n').take(2).count();
    Some(if lines == 2 || blanks.contains(['\u{C}', '\u{2029}']) {
        Break::Paragraph
    } else if ends_sentence(before) && !next.is_lowercase()
        || lines == 1 && starts_item(&text[at..])
    {
        Break::Sentence
    } else if lines == 1 {
        Break::Line
    } else {
        Break::Word
    })
}

/// A break without white space: only in scripts that have none.
fn between_characters(before: &str, last: char, next: char) -> Option<Break> {
    if last.is_ascii() && next.is_ascii() || clings(next) {
        return None;
    }
    if before
        .trim_end_matches(closes)
        .ends_with(['。', '！', '？', '｡', '…'])
        && !closes(next)
    {
        return Some(Break::Sentence);
    }
    let wide = |c: char| matches!(c as u32, 0xE00..=0xEFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x2E80..=0xD7FF | 0xF900..=0xFAFF | 0xFF00..=0xFFEF | 0x20000..=0x3FFFF);
    let opens = matches!(
        last,
        '（' | '「' | '『' | '《' | '〈' | '【' | '“' | '‘' | '[' | '('
    );
    (wide(last) && wide(next) && !opens).then_some(Break::Word)
}

/// Characters that never start a line: closing marks, and what belongs to the character before.
fn clings(c: char) -> bool {
    closes(c)
        || matches!(
            c,
            '。' | '，'
                | '、'
                | '；'
                | '：'
                | '！'
                | '？'
                | '｡'
                | '､'
                | '…'
                | '—'
                | '～'
                | 'ー'
                | '々'
                | '・'
                | 'ゝ'
                | 'っ'
                | 'ゃ'
                | 'ゅ'
                | 'ょ'
                | 'ッ'
                | 'ャ'
                | 'ュ'
                | 'ョ'
                | 'ﾞ'
                | 'ﾟ'
        )
}

/// Closing quotes and brackets, which belong to the sentence before them.
fn closes(c: char) -> bool {
    matches!(
        c,
        ')' | ']'
            | '"'
            | '\''
            | '*'
            | '_'
            | '”'
            | '’'
            | '»'
            | '）'
            | '」'
            | '』'
            | '》'
            | '〉'
            | '】'
            | '｣'
    )
}

/// Whether a text that is followed by white space ends with a sentence.
fn ends_sentence(before: &str) -> bool {
    let sentence = before.trim_end_matches(closes);
    match sentence.chars().next_back() {
        Some('!' | '?' | '…' | '。' | '！' | '？' | '｡' | '।' | '؟' | '۔') => true,
        Some('.') => !ends_with_abbreviation(&sentence[..sentence.len() - 1]),
        _ => false,
    }
}

/// Whether the last word before a full stop is an initial, a list number or a common abbreviation.
fn ends_with_abbreviation(before: &str) -> bool {
    let start = before
        .rfind(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '“' | '«'))
        .map_or(0, |at| {
            at + before[at..].chars().next().map_or(0, char::len_utf8)
        });
    let word = &before[start..];
    let mut characters = word.chars();
    match (characters.next(), characters.next()) {
        (Some(initial), None) => initial.is_alphanumeric(),
        _ => matches!(
            word,
            "Mr" | "Mrs"
                | "Ms"
                | "Dr"
                | "Prof"
                | "St"
                | "Sr"
                | "Sra"
                | "Dra"
                | "Jr"
                | "vs"
                | "etc"
                | "cf"
                | "No"
                | "vol"
                | "Fig"
                | "fig"
                | "p"
                | "pp"
                | "pág"
                | "ex"
                | "Nr"
                | "bzw"
                | "ca"
                | "usw"
                | "z.B"
                | "d.h"
                | "e.g"
                | "i.e"
                | "p.ex"
        ),
    }
}

/// Whether a line starts a list item, a table row or a quotation.
fn starts_item(line: &str) -> bool {
    let mut characters = line.chars();
    match characters.next() {
        Some('-' | '*' | '+' | '•') => characters.next().is_some_and(char::is_whitespace),
        Some('|' | '>') => true,
        Some('0'..='9') => {
            let rest = characters
                .as_str()
                .trim_start_matches(|c: char| c.is_ascii_digit());
            rest.starts_with(". ") || rest.starts_with(") ")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_breaks() {
        // `¦` marks the place.
        let check = |marked: &str, expected| {
            let at = marked.find('¦').expect("a mark");
            let text = marked.replace('¦', "");
            assert_eq!(break_at(&text, 0, at), expected, "{marked:?}");
        };
        check("One.\n\n¦Two", Some(Break::Paragraph));
        check("One.\r\n \r\n¦Two", Some(Break::Paragraph));
        check("One. ¦Two", Some(Break::Sentence));
        check("One.” ¦Two", Some(Break::Sentence));
        check("One?\n¦Two", Some(Break::Sentence));
        check("one\n¦- two", Some(Break::Sentence));
        check("one\n¦2. two", Some(Break::Sentence));
        check("one\n¦2 two", Some(Break::Line));
        check("one\n¦two", Some(Break::Line));
        check("one ¦two", Some(Break::Word));
        check("e.g. ¦two", Some(Break::Word));
        check("J. ¦Smith", Some(Break::Word));
        check("Dr. ¦Smith", Some(Break::Word));
        check("approx. ¦two", Some(Break::Word));
        check("on¦e", None);
        check("one¦ two", None);
        check("one ¦ two", None);
        check("¦one", None);
        check("一。¦二", Some(Break::Sentence));
        check("「一。」¦二", Some(Break::Sentence));
        check("一。¦」二", None);
        check("一¦二", Some(Break::Word));
        check("一¦，二", None);
        check("一¦a", None);
        check("ã¦o", None);
        check("《¦三体", None);
    }
}
