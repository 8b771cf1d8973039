//! From a resolved link to the relation it states.

use std::ops::Range;

use crate::types::{DocumentId, LinkDraft, LinkKind, Resolution};

/// Relation type of a link that states no other.
pub const LINKS_TO: &str = "links_to";
/// Relation type of an embed.
pub const EMBEDS: &str = "embeds";
/// Longest quote, in characters.
const MAX_QUOTE: usize = 300;

/// A relation between two documents, with the place that states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRelation {
    pub source: DocumentId,
    pub target: DocumentId,
    /// As written; [`LINKS_TO`] or [`EMBEDS`] when nothing was.
    pub relation_type: String,
    /// Bytes of the quote in the source's text: the link's line, or its part around the link.
    pub quote: Range<usize>,
}

/// The relation that a link states, if it leads to another document.
pub fn link_relation(
    source: DocumentId,
    text: &str,
    link: &LinkDraft,
    resolution: &Resolution,
) -> Option<LinkRelation> {
    let &Resolution::Resolved {
        document: target, ..
    } = resolution
    else {
        return None;
    };
    (target != source).then(|| LinkRelation {
        source,
        target,
        relation_type: relation_type(link).to_owned(),
        quote: quote_span(text, link.start..link.end),
    })
}

/// The relation type of a link.
pub fn relation_type(link: &LinkDraft) -> &str {
    match (&link.relation, link.kind) {
        (Some(relation), _) => relation,
        (None, LinkKind::Embed | LinkKind::MarkdownEmbed) => EMBEDS,
        (None, _) => LINKS_TO,
    }
}

/// The line that holds `range`, without blanks at its ends; of a long line at most 300 characters
/// around the range, and never less than the range itself.
pub fn quote_span(text: &str, range: Range<usize>) -> Range<usize> {
    let line_start = text[..range.start]
        .rfind('\n')
        .map_or(0, |line_break| line_break + 1);
    let line_end = text[range.end..]
        .find('\n')
        .map_or(text.len(), |line_break| range.end + line_break);
    let before = &text[line_start..range.start];
    let after = &text[range.end..line_end];
    let room = MAX_QUOTE.saturating_sub(text[range.clone()].chars().count());
    let (left, right) = (before.chars().count(), after.chars().count());
    // Each side gets half, and what the other one does not need.
    let left = left.min((room / 2).max(room.saturating_sub(right)));
    let right = right.min(room - left);
    let start = before
        .char_indices()
        .rev()
        .take(left)
        .last()
        .map_or(range.start, |(at, _)| line_start + at);
    let end = after
        .char_indices()
        .nth(right)
        .map_or(line_end, |(at, _)| range.end + at);
    let start =
        start + (text[start..range.start].len() - text[start..range.start].trim_start().len());
    let end = range.end + text[range.end..end].trim_end().len();
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::ResolutionRule;

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

    #[test]
    fn relations() {
        let text = "- part_of [[X]]";
        let link = |kind, relation: Option<&str>| LinkDraft {
            kind,
            start: 10,
            end: 15,
            target: "X".to_owned(),
            anchor: None,
            label: None,
            relation: relation.map(str::to_owned),
        };
        let to = |row| Resolution::Resolved {
            document: DocumentId(row),
            rule: ResolutionRule::UniqueStem,
        };
        let check = |link: LinkDraft, resolution: Resolution, expected: Option<&str>| {
            let found = link_relation(DocumentId(1), text, &link, &resolution);
            assert_eq!(found.map(|found| found.relation_type).as_deref(), expected);
        };
        check(link(LinkKind::Wikilink, None), to(2), Some(LINKS_TO));
        check(link(LinkKind::Embed, None), to(2), Some(EMBEDS));
        check(link(LinkKind::FrontMatter, Some("up")), to(2), Some("up"));
        check(
            link(LinkKind::Wikilink, Some("part_of")),
            to(2),
            Some("part_of"),
        );
        check(link(LinkKind::Wikilink, None), to(1), None);
        check(link(LinkKind::Wikilink, None), Resolution::Unresolved, None);
    }
}
