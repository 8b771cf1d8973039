//! Traditional Chinese characters as simplified ones.

use std::borrow::Cow;

/// A line for each traditional character, in the order of code points: the character and its simplified form,
/// three bytes each. After `TSCharacters.txt` of `OpenCC` (Apache-2.0), the first form of each.
const TABLE: &str = include_str!("simplified.txt");

/// Bytes of a character, and of a line of the table.
const CHARACTER: usize = 3;
const LINE: usize = 2 * CHARACTER + 1;

/// The text with traditional characters simplified, byte for byte as long as before: `聯合國` and `联合国` are one
/// name to whoever compares.
pub fn simplify(text: &str) -> Cow<'_, str> {
    let Some(first) = text
        .char_indices()
        .find_map(|(at, c)| simplified(c).map(|_| at))
    else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        match simplified(c) {
            Some(simple) => out.push_str(simple),
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn simplified(c: char) -> Option<&'static str> {
    // All of the table lies in these blocks.
    if !matches!(c as u32, 0x3400..=0x9FFF) {
        return None;
    }
    let mut bytes = [0; 4];
    let wanted: &str = c.encode_utf8(&mut bytes);
    let (mut low, mut high) = (0, TABLE.len() / LINE);
    while low < high {
        let middle = usize::midpoint(low, high);
        let line = &TABLE[middle * LINE..][..2 * CHARACTER];
        let (traditional, simple) = line.split_at(CHARACTER);
        match traditional.cmp(wanted) {
            std::cmp::Ordering::Equal => return Some(simple),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traditional_and_simplified_are_one_form() {
        let check = |text: &str, expected: &str| {
            assert_eq!(simplify(text), expected, "{text}");
            assert_eq!(simplify(expected), expected, "{expected}");
            assert_eq!(text.len(), expected.len(), "{text}");
        };
        check("聯合國", "联合国");
        check("臺灣大學 NTU", "台湾大学 NTU");
        check("東京タワー", "东京タワー");
        check("林砚秋", "林砚秋");
        check("plain São", "plain São");
        check("", "");
    }

    #[test]
    fn the_table_is_sorted_and_maps_to_what_stays() {
        let lines: Vec<(&str, &str)> = TABLE.lines().map(|line| line.split_at(CHARACTER)).collect();
        assert!(lines.len() > 2_900 && TABLE.len() == lines.len() * LINE);
        assert!(lines.is_sorted_by(|one, next| one.0 < next.0));
        for (traditional, simple) in lines {
            assert_eq!(simplify(traditional), simple);
            assert_eq!(simplify(simple), simple, "{traditional}");
            assert_eq!((traditional.len(), simple.len()), (CHARACTER, CHARACTER));
        }
    }
}
