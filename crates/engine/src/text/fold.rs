//! Canonical form of a text for matching: compatibility forms unified, lower case, no diacritics.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::script::{Role, role, strips_marks};
use super::words::for_each_word;

/// The canonical matching form of `text`: NFKC, lower case, diacritics of Latin, Greek and Cyrillic
/// letters stripped, invisible characters removed, every run of punctuation and spaces one space.
///
/// Signs that belong to a name stay (`c++`, `c#`); characters of scripts without spaces are not separated.
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for_each_word(text, |word| {
        if word.separated && !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word.folded);
    });
    out
}

/// [`fold`] without spaces.
pub fn squash(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for_each_word(text, |word| out.push_str(word.folded));
    out
}

/// Appends the folded form of one word's characters.
pub(super) fn push_folded(word: &str, out: &mut String) {
    let from = out.len();
    for c in word.chars() {
        if c.is_ascii() {
            out.push(c.to_ascii_lowercase());
        } else if let Some(plain) = latin(c) {
            out.push_str(plain);
        } else if matches!(c as u32, 0x3041..=0x3096 | 0x30A1..=0x30FA | 0x30FC | 0x4E00..=0x9FFF | 0xAC00..=0xD7A3)
        {
            out.push(c);
        } else if role(c) == Role::Ignorable {
        } else {
            // Something rarer: the whole word goes through Unicode's tables.
            out.truncate(from);
            return push_folded_slowly(word, out);
        }
    }
}

fn push_folded_slowly(word: &str, out: &mut String) {
    let mut stripping = false;
    let mut plain = String::with_capacity(word.len());
    for c in word.chars() {
        if stays(c) {
            plain.push(c);
            continue;
        }
        for part in c.nfkd() {
            if is_combining_mark(part) {
                // A mark needs something to stand on.
                if !stripping && !plain.is_empty() {
                    plain.push(part);
                }
                continue;
            }
            // Signs drawn alone become a space, which is dropped, and a mark.
            stripping = strips_marks(part) || !part.is_alphanumeric();
            for lower in part.to_lowercase() {
                match latin(lower) {
                    Some(letters) => plain.push_str(letters),
                    None if lower == 'ς' => plain.push('σ'),
                    None if is_combining_mark(lower) && stripping => {}
                    None if lower.is_alphanumeric() || is_combining_mark(lower) => {
                        plain.push(lower);
                    }
                    None => {}
                }
            }
        }
    }
    out.extend(plain.nfc());
}

/// Characters that NFKC would spoil: it makes `½` a `12`, and a Korean letter that stands alone a mark.
fn stays(c: char) -> bool {
    matches!(c as u32, 0xBC..=0xBE | 0x2150..=0x215F | 0x2189 | 0x3131..=0x318E | 0xFFA0..=0xFFDC)
}

/// Plain lower-case letters of a Latin letter between U+00C0 and U+017F, and of the capital sharp s.
fn latin(c: char) -> Option<&'static str> {
    Some(match c {
        'À'..='Å' | 'à'..='å' | 'Ā'..='ą' => "a",
        'Æ' | 'æ' => "ae",
        'Ç' | 'ç' | 'Ć'..='č' => "c",
        'È'..='Ë' | 'è'..='ë' | 'Ē'..='ě' => "e",
        'Ì'..='Ï' | 'ì'..='ï' | 'Ĩ'..='ı' => "i",
        'Ð' | 'ð' | 'Ď'..='đ' => "d",
        'Ñ' | 'ñ' | 'Ń'..='ŋ' => "n",
        'Ò'..='Ö' | 'Ø' | 'ò'..='ö' | 'ø' | 'Ō'..='ő' => "o",
        'Ù'..='Ü' | 'ù'..='ü' | 'Ũ'..='ų' => "u",
        'Ý' | 'ý' | 'ÿ' | 'Ŷ'..='Ÿ' => "y",
        'Þ' | 'þ' => "th",
        'ß' | 'ẞ' => "ss",
        'Ĝ'..='ģ' => "g",
        'Ĥ'..='ħ' => "h",
        'Ĳ' | 'ĳ' => "ij",
        'Ĵ' | 'ĵ' => "j",
        'Ķ'..='ĸ' => "k",
        'Ĺ'..='ł' => "l",
        'Œ' | 'œ' => "oe",
        'Ŕ'..='ř' => "r",
        'Ś'..='š' | 'ſ' => "s",
        'Ţ'..='ŧ' => "t",
        'Ŵ' | 'ŵ' => "w",
        'Ź'..='ž' => "z",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_to_the_matching_form() {
        let check = |text: &str, expected: &str| assert_eq!(fold(text), expected, "{text:?}");
        check("", "");
        check("  \t\n ", "");
        check("São João", "sao joao");
        check("Sa\u{303}o Joa\u{303}o", "sao joao");
        check("AÇÃO", "acao");
        check("Straße", "strasse");
        check("STRASSE ẞ", "strasse ss");
        check("İstanbul ISPARTA ılık", "istanbul isparta ilik");
        check("Łódź Ærø Đà Nẵng", "lodz aero da nang");
        check("Ｆｕｌｌ　Ｗｉｄｔｈ１２", "full width12");
        check("ﬁne Ⅷ", "fine viii");
        check("Ἀθῆναι ΟΔΟΣ οδος", "αθηναι οδοσ οδοσ");
        check("Йод Ёлка", "иод елка");
        check("が か\u{3099} ｶﾞ", "が が ガ");
        check("パリ", "パリ");
        check("한국 \u{1112}\u{1161}\u{11AB}", "한국 한");
        check("हिन्दी क्षि", "हिन्दी क्षि");
        check("Ro\u{200B}man\u{AD} \u{FEFF}Empire", "roman empire");
        check("“Roman  Empire”", "roman empire");
        check("ROMAN EMPIRE ", "roman empire");
        check("a--b__c//d", "a b c d");
        check("C++, C# and C; .NET", "c++ c# and c net");
        check("a+b #tag C++11", "a b tag c 11");
        check("東京タワー", "東京タワー");
        check("《三体》是小说。", "三体 是小说");
        check("東京tower", "東京tower");
        check("O'Brien", "o brien");
        check("½ cup", "½ cup");
        check("x\u{1}y\u{FFFE}z 😀 ok", "x y z ok");
    }

    #[test]
    fn squashes_spaces_away() {
        let check = |text: &str, expected: &str| assert_eq!(squash(text), expected, "{text:?}");
        check("Graph RAG", "graphrag");
        check("graph-rag", "graphrag");
        check("  ", "");
    }
}
