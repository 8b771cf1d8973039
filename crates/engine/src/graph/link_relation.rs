//! What a link states when it names no relation, and the quote that shows it.

use std::ops::Range;

/// Relation type of a link that states no other.
pub const LINKS_TO: &str = "links_to";
/// Relation type of an embed.
pub const EMBEDS: &str = "embeds";
/// Longest quote, in characters.
const MAX_QUOTE: usize = 300;

/// The line that holds `range`, without blanks at its ends; of a long line at most 300 characters
/// around the range, and never less than the range itself.
pub fn quote_span(text: &str, range: Range<usize>) -> Range<usize> {
    let room = MAX_QUOTE.saturating_sub(text[range.clone()].chars().count());
    // No further than the quote may reach, so that a file of one long line costs no more than others.
    let is_in_line = |letter: &char| *letter != '\n';
    let before = text[..range.start].chars().rev();
    let left = before.clone().take_while(is_in_line).take(room).count();
    let after = text[range.end..].chars();
    let right = after.clone().take_while(is_in_line).take(room).count();
    // Each side gets half, and what the other one does not need.
    let left = left.min((room / 2).max(room - right));
    let right = right.min(room - left);
    let start = range.start - before.take(left).map(char::len_utf8).sum::<usize>();
    let end = range.end + after.take(right).map(char::len_utf8).sum::<usize>();
    let blanks = text[start..range.start].len() - text[start..range.start].trim_start().len();
    start + blanks..range.end + text[range.end..end].trim_end().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes() {
        let check = |text: &str, expected: &str| {
            let start = text.find("[[").expect("a link");
            let end = text.find("]]").expect("a link") + 2;
            assert_eq!(&text[quote_span(text, start..end)], expected, "{text}");
        };
        check("one\n  see [[X]] here \r\ntwo", "see [[X]] here");
        check("[[X]]", "[[X]]");
        check("água [[X]] é", "água [[X]] é");
        let long = format!("{} [[X]] {}", "á".repeat(400), "ç".repeat(400));
        let quote = quote_span(&long, 801..806);
        assert_eq!(long[quote.clone()].chars().count(), MAX_QUOTE);
        assert!(long[quote].contains("[[X]]"));
        let late = format!("{} [[X]]", "a".repeat(400));
        assert_eq!(quote_span(&late, 401..406), 106..406);
    }
}
