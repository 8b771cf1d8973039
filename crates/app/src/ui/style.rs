//! The few colours, and small words around numbers. Colours are removed on their way out unless
//! stdout is a terminal and `NO_COLOR` is unset.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};

/// Names and headings.
pub(crate) const STRONG: Style = Style::new().bold();
/// What matters least.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Paths and lines.
pub(crate) const PATH: Style = AnsiColor::Cyan.on_default();
/// Words of the question, relation types.
pub(crate) const ACCENT: Style = AnsiColor::Yellow.on_default().bold();

/// `text` in a style.
pub(crate) fn painted(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// `1 note`, `2 notes`, `12,000 notes`.
pub(crate) fn count(number: u64, singular: &str, plural: &str) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let noun = if number == 1 { singular } else { plural };
    if noun.is_empty() {
        grouped
    } else {
        format!("{grouped} {noun}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_read_well() {
        let check = |number, expected: &str| assert_eq!(count(number, "note", "notes"), expected);
        check(0, "0 notes");
        check(1, "1 note");
        check(999, "999 notes");
        check(1000, "1,000 notes");
        check(1_234_567, "1,234,567 notes");
    }
}
