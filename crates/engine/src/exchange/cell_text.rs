//! Cells as text, in ways that several formats share.

use std::fmt::Write as _;

use crate::storage::graph_table::Cell;

/// Milliseconds since 1970 as `2024-05-01T00:00:00Z`. None outside of the years 1 to 9999, which other
/// programs do not read; stated dates keep their text in a column beside.
pub(super) fn iso_time(ms: i64) -> Option<String> {
    let time = jiff::Timestamp::from_millisecond(ms).ok()?;
    let text = time.to_string();
    (!text.starts_with(['-', '+']) && !text.starts_with("0000")).then_some(text)
}

/// JSON in which no character of a text is a control character, breaks a line anywhere, or is a
/// non-character: those are escaped.
pub(super) fn json_text(value: &serde_json::Value) -> String {
    let json = value.to_string();
    if !json.contains(needs_escape) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if needs_escape(c) {
            // All of them are in the first plane.
            write!(out, "\\u{:04x}", u32::from(c)).expect("a string takes every text");
        } else {
            out.push(c);
        }
    }
    out
}

/// Characters that are invisible and that some reader takes for something else.
pub(super) fn needs_escape(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
}

/// The cell as text for formats that know only text, None when it is empty: lists as JSON, times as
/// ISO 8601.
pub(super) fn plain_text(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Null => None,
        Cell::Text(text) | Cell::Json(text) => Some(text.clone()),
        Cell::Texts(texts) => Some(json_text(&texts.as_slice().into())),
        Cell::Floats(numbers) => Some(json_text(&numbers.as_slice().into())),
        Cell::Integer(number) => Some(number.to_string()),
        Cell::Real(number) => Some(real_text(*number)),
        Cell::Boolean(truth) => Some(truth.to_string()),
        Cell::Time(ms) => iso_time(*ms),
    }
}

/// The shortest decimal that is read as the same number, with a point.
pub(super) fn real_text(number: f64) -> String {
    format!("{number:?}")
}

/// The text of a cell of kind text or JSON; empty when there is none.
pub(super) fn text(cell: &Cell) -> &str {
    match cell {
        Cell::Text(text) | Cell::Json(text) => text,
        _ => "",
    }
}

/// The texts of a cell of kind texts.
pub(super) fn texts(cell: &Cell) -> &[String] {
    match cell {
        Cell::Texts(texts) => texts,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let check = |ms, expected: Option<&str>| assert_eq!(iso_time(ms).as_deref(), expected);
        check(0, Some("1970-01-01T00:00:00Z"));
        check(1_714_521_600_123, Some("2024-05-01T00:00:00.123Z"));
        check(-62_135_596_800_000, Some("0001-01-01T00:00:00Z"));
        check(-62_135_596_800_001, None);
        check(i64::MAX, None);
    }

    #[test]
    fn json_has_nothing_invisible() {
        let text = "a\"\u{1}\u{7f}\u{9b}\u{2028}\u{fffe}é😀";
        let json = json_text(&text.into());
        assert_eq!(json, "\"a\\\"\\u0001\\u007f\\u009b\\u2028\\ufffeé😀\"");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
