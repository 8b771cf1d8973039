//! Names that are written almost alike: proposed, never joined.

use super::candidates::directed;
use super::groups::Groups;
use super::named::{Candidate, Named};
use super::type_family::{Fit, fit};
use crate::types::MergeRule;

/// Letters of a name in which one may be wrong, and in which two may be.
const ONE_WRONG: usize = 6;
const TWO_WRONG: usize = 12;
/// Neighbours in a sorted list that are compared.
const WINDOW: usize = 6;

/// Pairs of one or two letters' difference, among neighbours in the list sorted from the front and in the one
/// sorted from the back: a slip leaves one of the two ends as it was.
pub(super) fn similar(names: &[Named], groups: &Groups<'_>) -> Vec<Candidate> {
    let letters: Vec<Vec<char>> = names
        .iter()
        .map(|name| name.key.chars().collect())
        .collect();
    let mut forward: Vec<usize> = (0..names.len())
        .filter(|&at| letters[at].len() >= ONE_WRONG)
        .collect();
    let mut backward = forward.clone();
    forward.sort_by(|&one, &other| letters[one].cmp(&letters[other]));
    backward.sort_by(|&one, &other| letters[one].iter().rev().cmp(letters[other].iter().rev()));
    let mut found = Vec::new();
    for sorted in [forward, backward] {
        for (at, &one) in sorted.iter().enumerate() {
            for &other in sorted[at + 1..].iter().take(WINDOW) {
                if is_close(&letters[one], &letters[other])
                    && groups.root(one) != groups.root(other)
                    && fit(&names[one].kinds, &names[other].kinds) != Fit::Unrelated
                {
                    found.push(directed(names, one, other, MergeRule::Similar, false));
                }
            }
        }
    }
    found.sort_unstable_by_key(|candidate| (candidate.from, candidate.into));
    found.dedup();
    found
}

fn is_close(one: &[char], other: &[char]) -> bool {
    let longest = one.len().max(other.len());
    let bound = if longest >= TWO_WRONG { 2 } else { 1 };
    one.len().abs_diff(other.len()) <= bound && distance(one, other) <= bound
}

/// Letters to insert, drop, replace or exchange with their neighbour (optimal string alignment).
fn distance(one: &[char], other: &[char]) -> usize {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_pen_are_counted() {
        let check = |one: &str, other: &str, expected: usize| {
            let letters = |text: &str| text.chars().collect::<Vec<char>>();
            assert_eq!(
                distance(&letters(one), &letters(other)),
                expected,
                "{one} / {other}"
            );
        };
        check("northwind", "northwind", 0);
        check("northwind", "nortwhind", 1);
        check("northwind", "northwnd", 1);
        check("", "ab", 2);
        check("kitten", "sitting", 3);
    }
}
