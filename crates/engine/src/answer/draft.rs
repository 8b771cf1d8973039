//! What a model wrote, as sentences with the numbers they cite.

use crate::text::sentences;

/// A model that finds nothing in the evidence says so with this word.
const NO_EVIDENCE: &str = "NO_EVIDENCE";
/// A sentence longer than this many bytes is cut at a blank.
const LONGEST: usize = 2_000;
/// A full stop after one of these ends no sentence.
const ABBREVIATIONS: &[&str] = &[
    "dr", "mr", "mrs", "ms", "prof", "st", "sr", "sra", "jr", "vs", "cf", "approx", "nr", "fig",
    "e.g", "i.e", "z.b", "p.ex", "ca", "vol", "eds",
];

/// A sentence as the model put it, without its markers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Draft {
    pub text: String,
    /// Numbers as written, each once.
    pub markers: Vec<usize>,
}

/// Whether the model says that the evidence answers nothing.
pub fn is_no_evidence(reply: &str) -> bool {
    let said = reply
        .trim()
        .trim_start_matches(['"', '\'', '`', '*', '_', '[']);
    said.starts_with(NO_EVIDENCE) || said.starts_with("NO EVIDENCE")
}

/// The sentences of a reply. Markers belong to the sentence they stand in or follow.
pub fn drafts(reply: &str) -> Vec<Draft> {
    // `end.[1]` without a blank would not end a sentence.
    let spaced = spaced(reply);
    let mut found: Vec<Draft> = Vec::new();
    let mut is_open = false;
    for range in sentences(&spaced, LONGEST) {
        let piece = &spaced[range];
        let (mut text, markers, leading) = without_markers(piece);
        if let Some(last) = found.last_mut() {
            add(&mut last.markers, &markers[..leading]);
        }
        if !text.chars().any(char::is_alphanumeric) {
            if let Some(last) = found.last_mut() {
                add(&mut last.markers, &markers[leading..]);
            }
            continue;
        }
        if is_open && let Some(last) = found.pop() {
            text = format!("{} {text}", last.text);
            let mut all = last.markers;
            add(&mut all, &markers[leading..]);
            is_open = markers.len() == leading && is_abbreviated(&text);
            found.push(Draft { text, markers: all });
            continue;
        }
        is_open = markers.len() == leading && is_abbreviated(&text);
        let mut own = Vec::new();
        let rest = if found.is_empty() {
            &markers[..]
        } else {
            &markers[leading..]
        };
        add(&mut own, rest);
        found.push(Draft { text, markers: own });
    }
    found
}

/// How many of the drafts of an unfinished reply will not change any more.
pub fn settled(drafts: &[Draft]) -> usize {
    match drafts {
        [] => 0,
        // What begins with a bracket may become a marker of the sentence before it.
        [.., last] if last.text.starts_with(['[', '【']) => drafts.len().saturating_sub(2),
        _ => drafts.len() - 1,
    }
}

fn add(to: &mut Vec<usize>, markers: &[usize]) {
    for &marker in markers {
        if !to.contains(&marker) {
            to.push(marker);
        }
    }
}

fn is_abbreviated(text: &str) -> bool {
    let Some(word) = text.strip_suffix('.') else {
        return false;
    };
    let word = word.rsplit([' ', '(']).next().unwrap_or_default();
    let lower = word.to_lowercase();
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    is_initial || ABBREVIATIONS.contains(&lower.as_str())
}

/// A blank between the end of a sentence and a marker.
fn spaced(reply: &str) -> String {
    let mut out = String::with_capacity(reply.len() + 16);
    let mut before = ' ';
    for (at, c) in reply.char_indices() {
        if matches!(before, '.' | '!' | '?') && marker_at(&reply[at..]).is_some() {
            out.push(' ');
        }
        out.push(c);
        before = c;
    }
    out
}

/// The text without its markers, the markers, and how many of them stand before the text.
fn without_markers(piece: &str) -> (String, Vec<usize>, usize) {
    let mut text = String::with_capacity(piece.len());
    let mut markers = Vec::new();
    let mut leading = 0;
    let mut at = 0;
    while at < piece.len() {
        if let Some((numbers, length)) = marker_at(&piece[at..]) {
            markers.extend(numbers);
            if text.trim().is_empty() {
                leading = markers.len();
            }
            at += length;
            continue;
        }
        let c = piece[at..]
            .chars()
            .next()
            .expect("`at` is a boundary inside");
        text.push(c);
        at += c.len_utf8();
    }
    let mut clean = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for mark in [" .", " ,", " ;", " !", " ?", " 。", " ，"] {
        clean = clean.replace(mark, mark.trim_start());
    }
    (clean, markers, leading)
}

/// The numbers of the marker that a text begins with, and its length: `[3]`, `[1, 4]`, `[^2]`, `[[2]]`, `【5】`.
fn marker_at(text: &str) -> Option<(Vec<usize>, usize)> {
    let opened = text.trim_start_matches(['[', '【']);
    if opened.len() == text.len() {
        return None;
    }
    let end = opened.find([']', '】'])?;
    let numbers = opened[..end]
        .split([',', ';', '，', '、', ' '])
        .map(|part| part.trim().trim_start_matches('^'))
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().ok())
        .collect::<Option<Vec<usize>>>()?;
    if numbers.is_empty() {
        return None;
    }
    let closed = opened[end..].trim_start_matches([']', '】']);
    Some((numbers, text.len() - closed.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(reply: &str) -> Vec<(String, Vec<usize>)> {
        drafts(reply)
            .into_iter()
            .map(|draft| (draft.text, draft.markers))
            .collect()
    }

    #[test]
    fn markers_belong_to_the_sentence_before_them() {
        let check = |reply: &str, expected: &[(&str, &[usize])]| {
            let expected: Vec<_> = expected
                .iter()
                .map(|(text, markers)| ((*text).to_owned(), markers.to_vec()))
                .collect();
            assert_eq!(written(reply), expected, "{reply}");
        };
        check("", &[]);
        check(
            "Ana built it [1]. It burns wood. [2][3]",
            &[("Ana built it.", &[1]), ("It burns wood.", &[2, 3])],
        );
        check(
            "Ana built it.[1] It burns wood.[1, 2]",
            &[("Ana built it.", &[1]), ("It burns wood.", &[1, 2])],
        );
        check(
            "安娜建造了它。[1]它烧木头。【2】",
            &[("安娜建造了它。", &[1]), ("它烧木头。", &[2])],
        );
        check(
            "- One [^1]\n- Two [[2]]\n",
            &[("- One", &[1]), ("- Two", &[2])],
        );
        check(
            "Dr. Silva met J. Reis. [4]",
            &[("Dr. Silva met J. Reis.", &[4])],
        );
        check(
            "See [[Ana Prado]] and [a, b] there [1]",
            &[("See [[Ana Prado]] and [a, b] there", &[1])],
        );
        check("No marker here.", &[("No marker here.", &[])]);
    }

    #[test]
    fn what_is_settled_never_changes() {
        let whole = "Ana [1] built it. [2] Dr. Silva came.[3] [[Kiln]] burns. Then it ended, they say [1, 2]. \
                     第一句。[1]第二句。";
        let last = drafts(whole);
        for at in 0..=whole.len() {
            if whole.is_char_boundary(at) {
                let found = drafts(&whole[..at]);
                let settled = settled(&found);
                assert_eq!(found[..settled], last[..settled], "{}", &whole[..at]);
            }
        }
    }

    #[test]
    fn a_model_may_say_that_it_found_nothing() {
        for reply in [
            "NO_EVIDENCE",
            " `NO_EVIDENCE`",
            "**NO EVIDENCE**",
            "NO_EVIDENCE.",
        ] {
            assert!(is_no_evidence(reply), "{reply}");
        }
        assert!(!is_no_evidence("There is NO_EVIDENCE"));
    }
}
