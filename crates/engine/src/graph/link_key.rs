//! Under which key a link and the notes it may mean find each other.

use unicode_normalization::UnicodeNormalization;

use super::link_path::without_extension;

/// The folded last segment of a target, uri or alias.
///
/// Every note, alias and attachment that a link can resolve to has the link's own key among its
/// keys; so when one appears or vanishes, only links with one of its keys need a new look.
pub fn link_key(target: &str) -> String {
    let folded = fold(target.trim().trim_end_matches('/'));
    let name = without_extension(name_of(&folded));
    // Logseq's file names of pages in namespaces.
    let name = name.rsplit("___").next().unwrap_or(name);
    let name = name.rsplit("%2f").next().unwrap_or(name);
    journal_name(name).unwrap_or_else(|| name.to_owned())
}

/// Case and Unicode normal form aside; no-break blanks are blanks.
pub(super) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfc()
        .flat_map(char::to_lowercase)
        .map(|letter| match letter {
            '\u{a0}' | '\u{202f}' => ' ',
            'ς' => 'σ',
            other => other,
        })
        .collect()
}

/// The last segment of a path.
pub(super) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The file name of a Logseq journal: `2024_05_01` for `may 1st, 2024` (its default page title),
/// `2024-05-01` and itself; `None` for other names. `name` is folded.
pub(super) fn journal_name(name: &str) -> Option<String> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let two = |digits: &str| digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let four = |digits: &str| digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if let [year, month, day] = name.split(['-', '_']).collect::<Vec<_>>()[..]
        && four(year)
        && two(month)
        && two(day)
    {
        return Some(format!("{year}_{month}_{day}"));
    }
    let [month, day, year] = name.split(' ').collect::<Vec<_>>()[..] else {
        return None;
    };
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let day: u8 = day
        .strip_suffix(',')?
        .strip_suffix(['t', 'd', 'h'])?
        .strip_suffix(['s', 'n', 'r', 't'])?
        .parse()
        .ok()?;
    four(year).then(|| format!("{year}_{month:02}_{day:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        let check =
            |target: &str, expected: &str| assert_eq!(link_key(target), expected, "{target}");
        check("Projects/Alpha/Plan", "plan");
        check("../Plan.md", "plan");
        check("Água", "água");
        check("A\u{301}gua", "água");
        check("pic.PNG", "pic.png");
        check("a/", "a");
        check("", "");
        check("AC/DC", "dc");
        check("a___b", "b");
        check("2024-05-01", "2024_05_01");
        check("May 1st, 2024", "2024_05_01");
        check("maya 1st, 2024", "maya 1st, 2024");
        check("ΟΔΟΣ", "οδοσ");
        check("οδος", "οδοσ");
    }
}
