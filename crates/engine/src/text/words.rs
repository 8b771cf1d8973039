//! Words of a text with their places and folded forms.

use super::fold::push_folded;
use super::script::{Role, role};

/// What kind of word it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WordKind {
    /// Letters, or letters and digits.
    Word,
    /// Digits only.
    Number,
    /// One character of a script that is searched by parts of words: Han, kana, Hangul, Thai, Lao,
    /// Khmer, Burmese.
    Cjk,
}

/// A word of a text; `text[start..end]` is the word as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Bytes in the text.
    pub start: usize,
    pub end: usize,
    /// The word as [`super::fold`] writes it; never empty, without spaces.
    pub folded: Box<str>,
    pub kind: WordKind,
    /// Whether punctuation or white space stands between this word and the one before it.
    pub separated: bool,
}

/// A [`Word`] while the text is being scanned: nothing is allocated for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordRef<'a> {
    /// Bytes in the text.
    pub start: usize,
    pub end: usize,
    /// The word as [`super::fold`] writes it; never empty, without spaces.
    pub folded: &'a str,
    pub kind: WordKind,
    /// Whether punctuation or white space stands between this word and the one before it.
    pub separated: bool,
}

/// All words of a text in order. Use [`for_each_word`] on hot paths.
pub fn words(text: &str) -> Vec<Word> {
    let mut out = Vec::with_capacity(text.len() / 6);
    for_each_word(text, |word| {
        out.push(Word {
            start: word.start,
            end: word.end,
            folded: word.folded.into(),
            kind: word.kind,
            separated: word.separated,
        });
    });
    out
}

/// Calls `visit` with every word of `text`, in order.
pub fn for_each_word(text: &str, mut visit: impl FnMut(WordRef<'_>)) {
    let bytes = text.as_bytes();
    let mut folded = String::with_capacity(64);
    let mut separated = true;
    let mut at = 0;
    while at < bytes.len() {
        let span = if bytes[at].is_ascii() {
            if !bytes[at].is_ascii_alphanumeric() {
                separated = true;
                at += 1;
                continue;
            }
            spaced_word(text, at)
        } else {
            let c = char_at(text, at);
            match role(c) {
                Role::Separator => {
                    separated = true;
                    at += c.len_utf8();
                    continue;
                }
                Role::Ignorable | Role::Mark => {
                    at += c.len_utf8();
                    continue;
                }
                Role::Letter => spaced_word(text, at),
                Role::Unspaced => unspaced_character(text, at, c),
            }
        };
        folded.clear();
        if span.ascii {
            folded.push_str(&text[at..span.end]);
            folded.make_ascii_lowercase();
        } else {
            push_folded(&text[at..span.end], &mut folded);
        }
        if !folded.is_empty() {
            visit(WordRef {
                start: at,
                end: span.end,
                folded: &folded,
                kind: span.kind,
                separated,
            });
            separated = false;
        }
        at = span.end;
    }
}

struct Span {
    end: usize,
    ascii: bool,
    kind: WordKind,
}

fn char_at(text: &str, at: usize) -> char {
    text[at..].chars().next().expect("a character starts here")
}

/// The word of a script with spaces that starts at `start`.
fn spaced_word(text: &str, start: usize) -> Span {
    let bytes = text.as_bytes();
    let mut at = start;
    let mut end = start;
    let mut ascii = true;
    let mut digits = true;
    loop {
        while at < bytes.len() && bytes[at].is_ascii_alphanumeric() {
            digits &= bytes[at].is_ascii_digit();
            at += 1;
            end = at;
        }
        if at == bytes.len() || bytes[at].is_ascii() {
            break;
        }
        let c = char_at(text, at);
        match role(c) {
            Role::Letter => {
                digits &= c.is_numeric();
                at += c.len_utf8();
                end = at;
                ascii = false;
            }
            Role::Mark => {
                at += c.len_utf8();
                end = at;
                ascii = false;
            }
            // Taken in only when a letter follows.
            Role::Ignorable => {
                at += c.len_utf8();
                if at < bytes.len() && !continues_word(text, at) {
                    break;
                }
                ascii = false;
            }
            Role::Separator | Role::Unspaced => break,
        }
    }
    if !digits {
        end = sign_end(bytes, end);
    }
    // An invisible character that was passed over at the end is not in the slice.
    let ascii = ascii || text[start..end].is_ascii();
    let kind = if digits {
        WordKind::Number
    } else {
        WordKind::Word
    };
    Span { end, ascii, kind }
}

fn continues_word(text: &str, at: usize) -> bool {
    let c = char_at(text, at);
    c.is_ascii_alphanumeric()
        || !c.is_ascii() && matches!(role(c), Role::Letter | Role::Mark | Role::Ignorable)
}

/// End of the one or two signs of names such as `C++` and `F#` when they end the word, else `end`.
fn sign_end(bytes: &[u8], end: usize) -> usize {
    let signs = bytes[end..]
        .iter()
        .take(3)
        .take_while(|&&byte| byte == b'+' || byte == b'#')
        .count();
    let follows_word = bytes
        .get(end + signs)
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
    if !matches!(signs, 1 | 2) || follows_word || !bytes[end - 1].is_ascii_alphabetic() {
        return end;
    }
    end + signs
}

/// A character of a script without spaces, with the marks that follow it.
fn unspaced_character(text: &str, start: usize, c: char) -> Span {
    let mut end = start + c.len_utf8();
    for next in text[end..].chars() {
        if next.is_ascii() || role(next) != Role::Mark {
            break;
        }
        end += next.len_utf8();
    }
    Span {
        end,
        ascii: false,
        kind: WordKind::Cjk,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(text: &str) -> Vec<&str> {
        words(text)
            .iter()
            .map(|word| &text[word.start..word.end])
            .collect()
    }

    #[test]
    fn splits_into_words_as_written() {
        let check = |text: &str, expected: &[&str]| assert_eq!(written(text), expected, "{text:?}");
        check("", &[]);
        check("\u{FEFF}\u{200B}", &[]);
        check("Downloads/transcripts", &["Downloads", "transcripts"]);
        check("don't use agents", &["don", "t", "use", "agents"]);
        check("snake_case v1.2", &["snake", "case", "v1", "2"]);
        check("C++ C#.", &["C++", "C#"]);
        check("今天play成语", &["今", "天", "play", "成", "语"]);
        check("か\u{3099}く", &["か\u{3099}", "く"]);
        check("끝말", &["끝", "말"]);
        check("Joa\u{303}o", &["Joa\u{303}o"]);
        check("a\u{AD}b\u{200B} c", &["a\u{AD}b", "c"]);
        check("日本語は、easy。", &["日", "本", "語", "は", "easy"]);
        check("😀👩\u{200D}🔬x", &["x"]);
    }

    #[test]
    fn knows_the_kind_and_the_separation() {
        let check = |text: &str, expected: &[(WordKind, bool)]| {
            let got: Vec<_> = words(text)
                .iter()
                .map(|word| (word.kind, word.separated))
                .collect();
            assert_eq!(got, expected, "{text:?}");
        };
        check("a 1", &[(WordKind::Word, true), (WordKind::Number, true)]);
        check(
            "東京x1",
            &[
                (WordKind::Cjk, true),
                (WordKind::Cjk, false),
                (WordKind::Word, false),
            ],
        );
        check(
            "東\u{200B}京",
            &[(WordKind::Cjk, true), (WordKind::Cjk, false)],
        );
        check("１２", &[(WordKind::Number, true)]);
    }

    #[test]
    fn a_megabyte_in_one_line_is_no_problem() {
        assert_eq!(words(&"a".repeat(1 << 20)).len(), 1);
        assert_eq!(words(&"ab ".repeat(1 << 18)).len(), 1 << 18);
        assert_eq!(words(&"\u{301}".repeat(1 << 19)).len(), 0);
        assert_eq!(words(&format!("a{}", "\u{200B}".repeat(1 << 18))).len(), 1);
    }

    proptest! {
        #[test]
        fn spans_increase_on_character_boundaries(text in any::<String>()) {
            let mut last = 0;
            for word in words(&text) {
                prop_assert!(last <= word.start && word.start < word.end && word.end <= text.len());
                prop_assert!(text.is_char_boundary(word.start) && text.is_char_boundary(word.end));
                prop_assert!(!word.folded.is_empty() && !word.folded.contains(char::is_whitespace));
                last = word.end;
            }
        }

        #[test]
        fn folding_twice_changes_nothing(text in any::<String>()) {
            let once = super::super::fold(&text);
            prop_assert_eq!(super::super::fold(&once), once);
        }
    }
}
