/// Names longer than this come near nothing, in letters.
const LONGEST: usize = 100;
/// Most names that are offered for one.
const MOST: usize = 3;

/// Letters to insert, drop, replace or exchange with their neighbour to get from one to the other (optimal string
/// alignment).
pub fn letters_apart(one: &[char], other: &[char]) -> usize {
    // What both begin and end with costs nothing: neighbours in a sorted list share most of it.
    let common = |pairs: &mut dyn Iterator<Item = (&char, &char)>| {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let start = common(&mut one.iter().zip(other));
    let (one, other) = (&one[start..], &other[start..]);
    let end = common(&mut one.iter().rev().zip(other.iter().rev()));
    let (one, other) = (&one[..one.len() - end], &other[..other.len() - end]);
    let width = other.len() + 1;
    let mut before = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    for (i, &a) in one.iter().enumerate() {
        let mut row = vec![i + 1; width];
        for (j, &b) in other.iter().enumerate() {
            let replaced = last[j] + usize::from(a != b);
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a == other[j - 1] && one[i - 1] == b {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[width - 1]
}

/// Up to three of the known names that differ in few letters from one that is not known, nearest first. `plain` takes
/// away what is no difference.
pub fn near_names(
    wanted: &str,
    known: impl Iterator<Item = String>,
    plain: impl Fn(&str) -> String,
) -> Vec<String> {
    let letters = |name: &str| plain(name).chars().collect::<Vec<char>>();
    let wanted = letters(wanted);
    if wanted.len() > LONGEST {
        return Vec::new();
    }
    let most = 1 + wanted.len() / 3;
    let mut near: Vec<(usize, String)> = known
        .filter_map(|name| {
            let other = letters(&name);
            let may_be = other.len().abs_diff(wanted.len()) <= most;
            let apart = may_be.then(|| letters_apart(&wanted, &other))?;
            (apart <= most && apart < wanted.len().max(other.len())).then_some((apart, name))
        })
        .collect();
    near.sort();
    near.dedup();
    near.truncate(MOST);
    near.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_pen_are_counted() {
        let check = |one: &str, other: &str, expected: usize| {
            let letters = |text: &str| text.chars().collect::<Vec<char>>();
            assert_eq!(
                letters_apart(&letters(one), &letters(other)),
                expected,
                "{one} / {other}"
            );
        };
        check("northwind", "northwind", 0);
        check("northwind", "nortwhind", 1);
        check("northwind", "northwnd", 1);
        check("", "ab", 2);
        check("kitten", "sitting", 3);
        check("aab", "aba", 1);
        check("banana", "bananana", 2);
        check("abcd", "abcd e", 2);
        check("abba", "abab", 1);
    }

    #[test]
    fn near_names_come_by_distance() {
        #[track_caller]
        fn check(wanted: &str, expected: &[&str]) {
            let known = ["Person", "Project", "Entity", "x"].map(str::to_owned);
            let near = near_names(wanted, known.into_iter(), str::to_lowercase);
            assert_eq!(near, expected, "{wanted}");
        }
        check("persn", &["Person"]);
        check("PERSON", &["Person"]);
        check("y", &[]);
        check("", &[]);
        check(&"Person".repeat(1_000), &[]);
    }
}
