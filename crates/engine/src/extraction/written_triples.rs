//! Facts written as calls, one a line: `creator(Arion, Jan Duursema)`. Small models that are shown such
//! facts answer in kind.

use super::raw::{RawRelation, RawReply};

/// The facts among the lines of a text; other lines are passed over.
pub(super) fn read(text: &str) -> RawReply {
    let mut reply = RawReply::default();
    for line in text.lines() {
        let marks = |c: char| c.is_whitespace() || "-*•{[".contains(c);
        let line = line.trim_start_matches(marks);
        let line = line.trim_end_matches(|c: char| c.is_whitespace() || ".;,}]".contains(c));
        let line = match line.split_once(": ") {
            // A label in front.
            Some((label, rest)) if label.chars().all(char::is_alphanumeric) => rest,
            _ => line,
        };
        let line = match line.split_once(". ") {
            // A number in front.
            Some((number, rest)) if number.chars().all(|c| c.is_ascii_digit()) => rest,
            _ => line,
        };
        match fact(line) {
            Some(relation) => reply.relations.push(relation),
            None => reply.relations.extend(calls(line).filter_map(fact)),
        }
    }
    reply
}

/// Every `name(…)` of a line, its brackets closed.
fn calls(line: &str) -> impl Iterator<Item = &str> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let open = from + line[from..].find('(')?;
            let before = &line[from..open];
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let name = before.trim_end_matches(is_part).len();
            let mut depth = 0;
            let close = line[open..].find(|c| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                depth == 0
            });
            let start = from + name;
            match close {
                Some(length) if start < open => {
                    from = open + length + 1;
                    return Some(&line[start..from]);
                }
                // A bracket around calls, or one that is never closed.
                _ => from = open + 1,
            }
        }
    })
}

fn fact(line: &str) -> Option<RawRelation> {
    let (kind, rest) = line.split_once('(')?;
    let inner = rest.strip_suffix(')')?;
    let kind = kind.trim().trim_matches(['`', '"']);
    // Prose with a bracket is no call.
    let is_name = !kind.is_empty()
        && kind.split_whitespace().count() <= 3
        && kind
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == ' ');
    if !is_name {
        return None;
    }
    if !is_balanced(inner) {
        return None;
    }
    let (source, target) = split_arguments(inner)?;
    let bare = |text: &str| text.trim().trim_matches(['"', '\'']).trim().to_owned();
    let relation = RawRelation {
        source: bare(source),
        target: bare(target),
        kind: kind.to_owned(),
        ..RawRelation::default()
    };
    (!relation.source.is_empty() && !relation.target.is_empty()).then_some(relation)
}

/// Whether the text closes every bracket it opens and no other: the bracket after it is then its own.
fn is_balanced(inner: &str) -> bool {
    let mut depth = 0;
    let never_below = inner.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    });
    never_below && depth == 0
}

/// Both arguments, at the first comma that stands in no bracket and no quotes.
fn split_arguments(inner: &str) -> Option<(&str, &str)> {
    let (mut depth, mut quoted) = (0, false);
    for (at, c) in inner.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => return Some((&inner[..at], &inner[at + 1..])),
            _ => {}
        }
        if depth < 0 {
            break;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_facts_and_prose_is_not() {
        let check = |line: &str, expected: Option<(&str, &str, &str)>| {
            let found = read(line).relations.into_iter().next();
            let found = found
                .as_ref()
                .map(|tie| (tie.kind.as_str(), tie.source.as_str(), tie.target.as_str()));
            assert_eq!(found, expected, "{line}");
        };
        check(
            "creator(Arion (comic), Jan)",
            Some(("creator", "Arion (comic)", "Jan")),
        );
        check(
            "- city(\"Aarhus, Denmark\", 'Jutland').",
            Some(("city", "Aarhus, Denmark", "Jutland")),
        );
        check("triple: a(B, C)", Some(("a", "B", "C")));
        check("{ a(B, C), },", Some(("a", "B", "C")));
        check("2. founded by (A, B)", Some(("founded by", "A", "B")));
        check("The sentence does not (as far as I see, really)", None);
        check("so: (a(B, C), d(E, F))", Some(("a", "B", "C")));
        assert_eq!(read("a(B, C), d(E (x), F)").relations.len(), 2);
        check("creator(Arion)", None);
        check("creator(, Jan)", None);
    }
}
