//! `[[target#anchor|label]]` and `![[embed]]`, found in text that a caller has cleared of code.

use std::ops::Range;

use crate::types::{LinkConvention, LinkDraft, LinkKind};

/// A stretch of text whose brackets are no links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hidden {
    pub(super) range: Range<usize>,
    /// Math hides a link that it contains, but gives way to one that starts before it:
    /// a lone `$` in a target is more likely than a formula across its end.
    pub(super) is_math: bool,
}

/// What stands between the brackets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Parts {
    pub(super) target: String,
    pub(super) anchor: Option<String>,
    pub(super) label: Option<String>,
}

/// Finds the wikilinks and embeds of `text` from byte `from` on, in order.
///
/// `hidden` is sorted by start. A link stays on one line and holds no `]`; of brackets within
/// brackets the innermost count.
pub(super) fn scan(
    text: &str,
    from: usize,
    hidden: &[Hidden],
    convention: LinkConvention,
) -> Vec<LinkDraft> {
    let bytes = text.as_bytes();
    let mut links = Vec::new();
    let mut next_hidden = 0;
    let mut at = from;
    while let Some(found) = text[at..].find("[[") {
        let mut open = at + found;
        while bytes.get(open + 2) == Some(&b'[') {
            open += 1;
        }
        at = open + 2;
        let close = match close_of(bytes, open + 2) {
            Ok(close) => close,
            Err(stopped) => {
                at = stopped.max(at);
                continue;
            }
        };
        while hidden
            .get(next_hidden)
            .is_some_and(|hidden| hidden.range.end <= open)
        {
            next_hidden += 1;
        }
        if hidden[next_hidden..]
            .iter()
            .take_while(|hidden| hidden.range.start < close)
            .any(|hidden| {
                !hidden.is_math || hidden.range.start <= open && close <= hidden.range.end
            })
        {
            continue;
        }
        let content = &text[open + 2..close - 2];
        if is_escaped(bytes, open) || content.ends_with('\\') {
            continue;
        }
        let embeds = open > from && bytes[open - 1] == b'!' && !is_escaped(bytes, open - 1);
        let kind = if embeds {
            LinkKind::Embed
        } else {
            LinkKind::Wikilink
        };
        let Some(parts) = parts(content, kind, convention) else {
            continue;
        };
        let mut link = LinkDraft {
            kind,
            start: if embeds { open - 1 } else { open },
            end: close,
            target: parts.target,
            anchor: parts.anchor,
            label: parts.label,
            relation: None,
        };
        widen(text, from, &mut link, convention);
        at = link.end;
        links.push(link);
    }
    links
}

/// Splits what stands between the brackets; `None` when it names nothing.
pub(super) fn parts(content: &str, kind: LinkKind, convention: LinkConvention) -> Option<Parts> {
    let (left, right) = match content.split_once('|') {
        // `\|` is how a link is written in a table cell.
        Some((left, right)) => (left.strip_suffix('\\').unwrap_or(left), Some(right)),
        None => (content, None),
    };
    let (address, label) = match (convention, right) {
        (LinkConvention::Dendron, Some(address)) => (address, Some(left)),
        _ => (left, right),
    };
    let (target, anchor) = match address.split_once('#') {
        Some((target, anchor)) => (target, Some(anchor.trim_start_matches('#').trim())),
        None => (address, None),
    };
    let mut target = unescape(target.trim());
    if convention == LinkConvention::Dendron
        && let Some(path) = target.strip_prefix("dendron://")
    {
        target = path
            .split_once('/')
            .map_or(path, |(_, note)| note)
            .to_owned();
    }
    let parts = Parts {
        target: without_extension(&target).to_owned(),
        anchor: anchor.filter(|anchor| !anchor.is_empty()).map(unescape),
        label: label.and_then(|label| label_of(label, kind)),
    };
    (!parts.target.is_empty() || parts.anchor.is_some()).then_some(parts)
}

/// A target without its `.md`, which every convention lets a writer add.
pub(super) fn without_extension(target: &str) -> &str {
    let Some(cut) = target.len().checked_sub(3) else {
        return target;
    };
    if cut > 0 && target.as_bytes()[cut..].eq_ignore_ascii_case(b".md") {
        &target[..cut]
    } else {
        target
    }
}

/// The label; of an embed the size (`300`, `300x200`) is no label.
fn label_of(label: &str, kind: LinkKind) -> Option<String> {
    let mut label = label.trim();
    if kind == LinkKind::Embed {
        let (rest, last) = label.rsplit_once('|').unwrap_or(("", label));
        let is_size = last.starts_with(|first: char| first.is_ascii_digit())
            && last
                .chars()
                .all(|letter| letter.is_ascii_digit() || letter == 'x');
        if is_size {
            label = rest.trim();
        }
    }
    (!label.is_empty()).then(|| unescape(label))
}

/// Removes the backslash before punctuation; any other one is a Windows path's separator.
fn unescape(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letters.peek() {
            _ if letter != '\\' => plain.push(letter),
            Some(next) if next.is_ascii_punctuation() => {
                plain.push(*next);
                letters.next();
            }
            _ => plain.push('/'),
        }
    }
    plain
}

/// Byte after the `]]` that closes a link whose content starts at `from`; otherwise where to go on.
fn close_of(bytes: &[u8], from: usize) -> Result<usize, usize> {
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1);
        match byte {
            b']' if next == Some(&b']') => return Ok(at + 2),
            b']' | b'\n' => return Err(at),
            b'[' if next == Some(&b'[') => return Err(at),
            _ => at += 1,
        }
    }
    Err(at)
}

/// Whether an odd number of backslashes stands before `at`.
fn is_escaped(bytes: &[u8], at: usize) -> bool {
    let backslashes = bytes[..at]
        .iter()
        .rev()
        .take_while(|&&byte| byte == b'\\')
        .count();
    backslashes % 2 == 1
}

/// Logseq writes `[label]([[target]])` and `{{embed [[target]]}}`: the link is all of it.
fn widen(text: &str, from: usize, link: &mut LinkDraft, convention: LinkConvention) {
    let before = &text[from..link.start];
    let after = &text[link.end..];
    if before.ends_with("](") && after.starts_with(')') {
        let label_end = link.start - 2;
        if let Some(label_start) = label_start(text.as_bytes(), from, label_end) {
            link.start = label_start - 1;
            link.end += 1;
            let label = text[label_start..label_end].trim();
            if !label.is_empty() {
                link.label = Some(label.to_owned());
            }
        }
    } else if convention == LinkConvention::Logseq
        && let Some(opening) = before.trim_end_matches(' ').strip_suffix("{{embed")
        && let Some(end) = after.trim_start_matches(' ').strip_prefix("}}")
    {
        link.kind = LinkKind::Embed;
        link.start = from + opening.len();
        link.end = text.len() - end.len();
    }
}

/// Byte after the `[` that opens the label ending at `end`, on the same line and not far away.
fn label_start(bytes: &[u8], from: usize, end: usize) -> Option<usize> {
    const MAX_LABEL: usize = 1000;
    let mut depth = 0;
    for at in (from.max(end.saturating_sub(MAX_LABEL))..end).rev() {
        match bytes[at] {
            b'\n' => return None,
            b']' => depth += 1,
            b'[' if depth == 0 => return Some(at + 1),
            b'[' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, convention: LinkConvention) -> Vec<String> {
        scan(text, 0, &[], convention)
            .into_iter()
            .map(|link| {
                let kind = match link.kind {
                    LinkKind::Embed => "!",
                    _ => "",
                };
                format!(
                    "{kind}{}#{}|{} <{}>",
                    link.target,
                    link.anchor.unwrap_or_default(),
                    link.label.unwrap_or_default(),
                    &text[link.start..link.end]
                )
            })
            .collect()
    }

    #[test]
    fn obsidian_links() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(found(text, LinkConvention::Obsidian), expected, "{text}");
        };
        check("a [[B]] c", &["B#| <[[B]]>"]);
        check("[[B|c]]", &["B#|c <[[B|c]]>"]);
        check("[[B#h|c]]", &["B#h|c <[[B#h|c]]>"]);
        check("[[B#^b1]]", &["B#^b1| <[[B#^b1]]>"]);
        check("[[B#h^b1|c]]", &["B#h^b1|c <[[B#h^b1|c]]>"]);
        check("[[B#h#k]]", &["B#h#k| <[[B#h#k]]>"]);
        check("[[#h]]", &["#h| <[[#h]]>"]);
        check("[[B|c#d]]", &["B#|c#d <[[B|c#d]]>"]);
        check("[[B\\|c]]", &["B#|c <[[B\\|c]]>"]);
        check("[[ a/B.md ]]", &["a/B#| <[[ a/B.md ]]>"]);
        check("[[a\\B]]", &["a/B#| <[[a\\B]]>"]);
        check("[[a\\_b]]", &["a_b#| <[[a\\_b]]>"]);
        check("![[i.png|300x200]]", &["!i.png#| <![[i.png|300x200]]>"]);
        check("![[i.png|cap|300]]", &["!i.png#|cap <![[i.png|cap|300]]>"]);
        check("![[B#h]]", &["!B#h| <![[B#h]]>"]);
        check("\\![[B]]", &["B#| <[[B]]>"]);
        check("\\[[B]]", &[]);
        check("\\\\[[B]]", &["B#| <[[B]]>"]);
        check("[[B\\]]", &[]);
        check("\\[\\[B\\]\\]", &[]);
        check("[[[B]]]", &["B#| <[[B]]>"]);
        check("[[a [[B]]", &["B#| <[[B]]>"]);
        check("[[a]b]] [[C]]", &["C#| <[[C]]>"]);
        check("[[a\nb]]", &[]);
        check("[[]] [[ ]] [[|x]] [[#]]", &[]);
        check("[[open", &[]);
        check(
            "[[甲|乙]]、[[丙]]",
            &["甲#|乙 <[[甲|乙]]>", "丙#| <[[丙]]>"],
        );
        check("[l]([[B]])", &["B#|l <[l]([[B]])>"]);
    }

    #[test]
    fn logseq_and_dendron_links() {
        let check = |convention, text: &str, expected: &[&str]| {
            assert_eq!(found(text, convention), expected, "{text}");
        };
        let logseq = LinkConvention::Logseq;
        check(logseq, "[my l]([[a/B]])", &["a/B#|my l <[my l]([[a/B]])>"]);
        check(logseq, "{{embed [[B]]}}", &["!B#| <{{embed [[B]]}}>"]);
        let dendron = LinkConvention::Dendron;
        check(dendron, "[[x y|a.b.c]]", &["a.b.c#|x y <[[x y|a.b.c]]>"]);
        check(dendron, "[[a.b#h]]", &["a.b#h| <[[a.b#h]]>"]);
        check(
            dendron,
            "[[dendron://v/a.b]]",
            &["a.b#| <[[dendron://v/a.b]]>"],
        );
        check(
            dendron,
            "![[a.b#h,1:#*]]",
            &["!a.b#h,1:#*| <![[a.b#h,1:#*]]>"],
        );
    }

    #[test]
    fn hidden_stretches() {
        let check = |text: &str, range: Range<usize>, is_math: bool, expected: usize| {
            let hidden = [Hidden { range, is_math }];
            let links = scan(text, 0, &hidden, LinkConvention::Obsidian);
            assert_eq!(links.len(), expected, "{text}");
        };
        check("`[[A]]` [[B]]", 0..7, false, 1);
        check("$[[A]]$ [[B]]", 0..7, true, 1);
        check("[[a$b]] c$", 3..10, true, 1);
        check("[[a`b]] c`", 3..10, false, 0);
    }
}
