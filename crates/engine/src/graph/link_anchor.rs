//! From a link's anchor to the heading it means.

use super::link_key::fold;
use crate::types::Heading;

/// The heading that `anchor` (what stands after the first `#`) means, as its place in `headings`.
///
/// Compared without case, punctuation and markup, as Obsidian does: `[[C#notes]]` finds the heading
/// `Notes`, `#C basics` finds `C# basics`. Of headings with one text the first counts; a chain
/// `Q3#Costs` names the one below another. Web style slugs (`my-heading`, `costs-1` for the second)
/// count too. `None` for a block (`^id`) and for a heading that is not there.
pub fn find_heading(headings: &[Heading], anchor: &str) -> Option<usize> {
    let anchor = anchor.trim();
    if anchor.is_empty() || anchor.starts_with('^') {
        return None;
    }
    let plain: Vec<String> = headings
        .iter()
        .map(|heading| plain_text(&heading.text))
        .collect();
    let wanted = plain_text(anchor);
    whole(&plain, &wanted)
        .or_else(|| chain(headings, &plain, anchor))
        .or_else(|| slug(headings, anchor))
        .or_else(|| {
            // `Heading^block`: the block is not looked up, its heading is.
            let (heading, _) = anchor.rsplit_once('^')?;
            find_heading(headings, heading.trim_end_matches('#'))
        })
}

fn whole(plain: &[String], wanted: &str) -> Option<usize> {
    (!wanted.is_empty())
        .then(|| plain.iter().position(|text| text == wanted))
        .flatten()
}

/// Each part below the one before it; a part that names a level in between may be left out.
fn chain(headings: &[Heading], plain: &[String], anchor: &str) -> Option<usize> {
    let parts: Vec<String> = anchor
        .split('#')
        .map(plain_text)
        .filter(|part| !part.is_empty())
        .collect();
    if parts.len() < 2 {
        return None;
    }
    find_below(headings, plain, &parts, 0, 0)
}

fn find_below(
    headings: &[Heading],
    plain: &[String],
    parts: &[String],
    from: usize,
    above: u8,
) -> Option<usize> {
    let (first, rest) = parts.split_first()?;
    for at in from..headings.len() {
        if headings[at].level <= above {
            return None;
        }
        if plain[at] != *first {
            continue;
        }
        if rest.is_empty() {
            return Some(at);
        }
        if let Some(found) = find_below(headings, plain, rest, at + 1, headings[at].level) {
            return Some(found);
        }
    }
    None
}

fn slug(headings: &[Heading], anchor: &str) -> Option<usize> {
    let wanted = fold(anchor);
    let slugs: Vec<String> = headings
        .iter()
        .map(|heading| slug_of(&heading.text))
        .collect();
    if let Some(found) = slugs
        .iter()
        .position(|slug| *slug == wanted && !slug.is_empty())
    {
        return Some(found);
    }
    let (base, number) = wanted.rsplit_once('-')?;
    let number: usize = number.parse().ok()?;
    slugs
        .iter()
        .enumerate()
        .filter(|(_, slug)| *slug == base)
        .nth(number)
        .map(|(found, _)| found)
}

fn slug_of(heading: &str) -> String {
    fold(heading)
        .chars()
        .filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            letter if letter.is_alphanumeric() => Some(letter),
            _ => None,
        })
        .collect()
}

/// Folded, with ASCII punctuation as blanks and blanks run together.
fn plain_text(text: &str) -> String {
    let spaced: String = fold(text)
        .chars()
        .map(|letter| match letter {
            '-' | '_' | '\'' => letter,
            letter if letter.is_ascii_punctuation() => ' ',
            letter => letter,
        })
        .collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors() {
        let headings: Vec<Heading> = [
            (1, "Budget"),
            (2, "Q2"),
            (3, "Costs"),
            (2, "Q3"),
            (3, "Costs"),
            (2, "C# basics"),
            (2, "**Ação** & `code`"),
            (2, "第三 季度"),
        ]
        .into_iter()
        .map(|(level, text)| Heading {
            level,
            text: text.to_owned(),
            start: 0,
            end: 0,
        })
        .collect();
        let check = |anchor: &str, expected: Option<usize>| {
            assert_eq!(find_heading(&headings, anchor), expected, "{anchor}");
        };
        check("Budget", Some(0));
        check("budget", Some(0));
        check("Costs", Some(2));
        check("Q3#Costs", Some(4));
        check("Budget#Q3#Costs", Some(4));
        check("Budget#Costs", Some(2));
        check("Q2#Q3", None);
        check("C# basics", Some(5));
        check("C basics", Some(5));
        check("Ação code", Some(6));
        check("Ac\u{327}a\u{303}o & code", Some(6));
        check("第三 季度", Some(7));
        check("c-basics", Some(5));
        check("costs-1", Some(4));
        check("costs-2", None);
        check("Q3^b1", Some(3));
        check("^b1", None);
        check("Missing", None);
        check("", None);
        check("***", None);
    }
}
