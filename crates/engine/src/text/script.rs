//! What a character is to the word scanner.

use unicode_normalization::char::is_combining_mark;

/// Role of a non-ASCII character in finding words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// White space, punctuation, symbols, controls.
    Separator,
    /// Invisible: neither ends a word nor belongs to it.
    Ignorable,
    /// Belongs to the character before it.
    Mark,
    /// Letter or digit of a script that separates words.
    Letter,
    /// Character of a script written without spaces, or with spaces that do not delimit what people
    /// search for (Korean particles): one word each.
    Unspaced,
}

pub(super) fn role(c: char) -> Role {
    match c as u32 {
        0x3041..=0x3096
        | 0x30A1..=0x30FA
        | 0x30FC..=0x30FE
        | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF
        | 0xAC00..=0xD7A3 => Role::Unspaced,
        0xC0..=0xD6 | 0xD8..=0xF6 | 0xF8..=0x2AF => Role::Letter,
        0xAD
        | 0x61C
        | 0x180B..=0x180F
        | 0x200B..=0x200F
        | 0x202A..=0x202E
        | 0x2060..=0x206F
        | 0xFE00..=0xFE0F
        | 0xFEFF
        | 0xE0000..=0xE0FFF => Role::Ignorable,
        // Half-width voicing marks and the vowels and finals of decomposed Hangul.
        0xFF9E | 0xFF9F | 0x1160..=0x11FF | 0xD7B0..=0xD7FB => Role::Mark,
        _ if is_combining_mark(c) => Role::Mark,
        _ if !c.is_alphanumeric() => Role::Separator,
        0x0E00..=0x0EFF // Thai, Lao
        | 0x1000..=0x109F // Myanmar
        | 0x1100..=0x115F // Hangul initials
        | 0x1780..=0x17FF // Khmer
        | 0x2E80..=0x2FDF // radicals
        | 0x3005..=0x318F
        | 0x31A0..=0x31FF
        | 0xA960..=0xA97C
        | 0xF900..=0xFAFF
        | 0xFF66..=0xFFDC
        | 0x16FE0..=0x18DFF
        | 0x1AFF0..=0x1B16F
        | 0x20000..=0x3FFFF => Role::Unspaced,
        _ => Role::Letter,
    }
}

/// Marks over letters of these scripts are spelling variants and are stripped when folding.
/// Takes decomposed characters.
pub(super) fn strips_marks(base: char) -> bool {
    matches!(base as u32,
        0x30..=0x39
        | 0x41..=0x5A
        | 0x61..=0x7A
        | 0xC0..=0x2AF
        | 0x370..=0x52F
        | 0x1C80..=0x1C8F
        | 0x1E00..=0x1FFF
        | 0x2C60..=0x2C7F
        | 0xA640..=0xA69F
        | 0xA720..=0xA7FF
        | 0xAB30..=0xAB6F)
}

pub(super) fn is_han(c: char) -> bool {
    matches!(c as u32, 0x3005..=0x3007 | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

pub(super) fn is_kana(c: char) -> bool {
    matches!(c as u32, 0x3041..=0x3096 | 0x30A1..=0x30FA | 0x30FC..=0x30FF | 0xFF66..=0xFF9F)
}

pub(super) fn is_hangul(c: char) -> bool {
    matches!(c as u32, 0x1100..=0x11FF | 0x3130..=0x318F | 0xAC00..=0xD7A3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_of_characters() {
        let check = |c: char, expected| assert_eq!(role(c), expected, "{c:?}");
        for c in ['é', 'ß', 'я', 'Ω', 'ع', 'ก'] {
            assert_ne!(role(c), Role::Separator, "{c:?}");
        }
        for c in ['語', 'の', 'カ', 'ー', '々', '끝', '𠀀', 'ｶ', 'ก'] {
            check(c, Role::Unspaced);
        }
        for c in ['\u{200B}', '\u{FEFF}', '\u{AD}', '\u{2060}'] {
            check(c, Role::Ignorable);
        }
        for c in ['\u{301}', '\u{3099}', 'ﾞ', '\u{94D}'] {
            check(c, Role::Mark);
        }
        for c in [
            '。', '、', '「', '\u{3000}', '\u{A0}', '😀', '\u{FFFE}', '×', '—', '·', '・',
        ] {
            check(c, Role::Separator);
        }
    }
}
