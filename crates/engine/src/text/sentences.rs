use std::ops::Range;

/// Sentences and lines of a text, trimmed; what is longer than `longest` bytes is cut at a blank.
pub fn sentences(text: &str, longest: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = at + c.len_utf8();
        let ends = match c {
            '\n' => line_ends_sentence(text[start..at].trim_start(), &text[after..]),
            '。' | '！' | '？' | '；' => true,
            '.' if text[start..at]
                .trim()
                .bytes()
                .all(|byte| byte.is_ascii_digit()) =>
            {
                false
            }
            '.' | '!' | '?' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if ends || after - start > longest && c.is_whitespace() || after - start > longest + 80 {
            push_trimmed(text, start..after, &mut found);
            start = after;
        }
    }
    push_trimmed(text, start..text.len(), &mut found);
    found
}

/// A line break inside a paragraph is only where an editor wrapped it: the sentence goes on.
fn line_ends_sentence(line: &str, rest: &str) -> bool {
    let next = rest.split('\n').next().unwrap_or_default().trim_start();
    let starts_block = next.is_empty()
        || next.starts_with(['#', '-', '*', '+', '|', '>', '`', '~'])
        || next.starts_with(|c: char| c.is_ascii_digit());
    starts_block || line.starts_with(['#', '|', '`'])
}

fn push_trimmed(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let part = &text[range.clone()];
    let trimmed = part.trim();
    if trimmed.is_empty() {
        return;
    }
    let start = range.start + (part.len() - part.trim_start().len());
    found.push(start..start + trimmed.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: usize = 320;

    #[test]
    fn sentences_end_where_people_end_them() {
        #[track_caller]
        fn check(text: &str, expected: &[&str]) {
            let found: Vec<&str> = sentences(text, LONGEST)
                .into_iter()
                .map(|range| &text[range])
                .collect();
            assert_eq!(found, expected);
        }
        check("One. Two v1.2 is out! ", &["One.", "Two v1.2 is out!"]);
        check("# Head\n\ntext", &["# Head", "text"]);
        check("# Head\ntext", &["# Head", "text"]);
        check("a line that\ngoes on", &["a line that\ngoes on"]);
        check("- one\n- two\n3. three", &["- one", "- two", "3. three"]);
        check("| a | b |\nafter", &["| a | b |", "after"]);
        check("第一句。第二句", &["第一句。", "第二句"]);
        check("  ", &[]);
        assert!(
            sentences(&"x".repeat(2000), LONGEST)
                .iter()
                .all(|range| range.len() <= LONGEST + 81)
        );
    }
}
