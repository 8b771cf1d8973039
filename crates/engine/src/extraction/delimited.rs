//! The formats of other tools: `("entity"<|>NAME<|>TYPE<|>…)##`, and rows of `entity<|#|>NAME<|#|>…`.

use super::raw::{RawEntity, RawRelation, RawReply};

/// Separators of fields, the longer ones first.
const FIELDS: [&str; 3] = ["<|#|>", "<|>", "{tuple_delimiter}"];
/// Marks that end a reply or a part of it.
const ENDS: [&str; 3] = ["<|COMPLETE|>", "<|complete|>", "{completion_delimiter}"];

/// How a record begins.
const RECORDS: [&str; 5] = [
    "(\"entity\"",
    "(\"relationship\"",
    "(\"content_keywords\"",
    "(entity<",
    "(relationship<",
];
/// How a record that is a line begins.
const ROWS: [&str; 3] = ["entity<|", "relation<|", "relationship<|"];

/// Whether a record in one of these formats begins in a text.
pub(super) fn has_record(text: &str) -> bool {
    RECORDS.iter().chain(&ROWS).any(|mark| text.contains(mark))
}

/// Whether a reply holds a mark that ends one in these formats.
pub(super) fn is_ended(text: &str) -> bool {
    ENDS.iter().any(|end| text.contains(end))
}

/// Reads all records, wherever they start: what ends one reply and starts the next plays no part.
pub(super) fn read(text: &str) -> RawReply {
    let mut reply = RawReply::default();
    let mut rest = text.to_owned();
    for end in ENDS {
        rest = rest.replace(end, "\n");
    }
    for record in records(&rest) {
        let separator = FIELDS
            .iter()
            .find(|field| record.contains(*field))
            .expect("records hold a separator");
        let fields: Vec<&str> = record.split(separator).map(bare).collect();
        let kind = fields[0].to_lowercase();
        match (kind.as_str(), fields.as_slice()) {
            ("entity", [_, name, rest @ ..]) if !name.is_empty() => {
                reply.entities.push(RawEntity {
                    name: (*name).to_owned(),
                    kind: some(rest.first()),
                    description: some(rest.get(1)),
                    ..RawEntity::default()
                });
            }
            ("relationship" | "relation", [_, source, target, rest @ ..])
                if !source.is_empty() && !target.is_empty() =>
            {
                // Five fields: description and strength. More: keywords before the description.
                let is_row = separator == &"<|#|>";
                let (kind, fact) = if is_row && rest.len() >= 2 {
                    (some(rest.first()), some(rest.get(1)))
                } else {
                    (None, some(rest.first()))
                };
                reply.relations.push(RawRelation {
                    source: (*source).to_owned(),
                    target: (*target).to_owned(),
                    kind: kind.unwrap_or_else(|| "RELATED_TO".to_owned()),
                    fact,
                    ..RawRelation::default()
                });
            }
            // Words about the text as a whole, which some prompts ask for.
            ("content_keywords", _) => {}
            _ => reply.unread.push(record.trim().to_owned()),
        }
    }
    reply
}

/// The records of a reply: each starts at an opening `("entity"` or `("relationship"`, or is a line.
fn records(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = RECORDS
        .iter()
        .flat_map(|mark| text.match_indices(mark).map(|(at, _)| at))
        .collect();
    starts.sort_unstable();
    let mut out: Vec<&str> = Vec::new();
    let first = starts.first().copied().unwrap_or(text.len());
    out.extend(text[..first].lines());
    for (number, start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(text.len());
        out.push(&text[*start..end]);
    }
    out.retain(|record| FIELDS.iter().any(|field| record.contains(field)));
    out
}

/// A field without brackets, record marks and the quotes around it.
fn bare(field: &str) -> &str {
    let field = field.trim().trim_end_matches("##").trim();
    let field = field.strip_prefix('(').unwrap_or(field);
    let field = match field.strip_suffix(')') {
        // `NAME (1)` keeps its bracket.
        Some(inner) if inner.matches('(').count() == inner.matches(')').count() => inner,
        _ => field,
    };
    let field = field.trim();
    field
        .strip_prefix('"')
        .and_then(|inner| inner.strip_suffix('"'))
        .unwrap_or(field)
        .trim()
}

fn some(field: Option<&&str>) -> Option<String> {
    field
        .filter(|field| !field.is_empty())
        .map(|field| (*field).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_are_read() {
        let tuples = "(\"entity\"<|>\"ANA\"<|>\"PERSON\"<|>\"A keeper (of lights).\")##\n\
                      (\"entity\"<|>PORTO<|>geo<|>A town)##\n\
                      (\"relationship\"<|>ANA<|>PORTO<|>Ana lives in Porto<|>7)<|COMPLETE|>";
        let reply = read(tuples);
        assert_eq!(reply.entities[0].name, "ANA");
        assert_eq!(
            reply.entities[0].description.as_deref(),
            Some("A keeper (of lights).")
        );
        assert_eq!(reply.entities[1].kind.as_deref(), Some("geo"));
        assert_eq!(
            reply.relations[0].fact.as_deref(),
            Some("Ana lives in Porto")
        );
        let rows = "entity<|#|>Ana<|#|>person<|#|>A keeper\nrelation<|#|>Ana<|#|>Porto<|#|>home<|#|>She lives there\n<|COMPLETE|>";
        let reply = read(rows);
        assert_eq!(reply.entities[0].name, "Ana");
        assert_eq!(
            (
                reply.relations[0].kind.as_str(),
                reply.relations[0].fact.as_deref()
            ),
            ("home", Some("She lives there"))
        );
    }

    #[test]
    fn what_stands_between_two_replies_plays_no_part() {
        let first = "(\"entity\"<|>Stairs<|>space<|>A way out)<|COMPLETE|>";
        let second = "(\"entity\"<|>Refuge Floor<|>space<|>floor for waiting during a fire)";
        for between in ["", "\n", " ", "##", "\n\n##\n"] {
            let names: Vec<String> = read(&format!("{first}{between}{second}"))
                .entities
                .into_iter()
                .map(|entity| entity.name)
                .collect();
            assert_eq!(names, ["Stairs", "Refuge Floor"], "{between:?}");
        }
    }

    #[test]
    fn a_broken_record_costs_only_itself() {
        let reply = read(
            "(\"entity\"<|>A<|>x<|>y)##(\"entity\")##(\"relationship\"<|>A)##(\"entity\"<|>B<|>x<|>y)",
        );
        assert_eq!(reply.entities.len(), 2);
        assert_eq!(reply.unread.len(), 1);
    }
}
