//! Names that are written almost alike: proposed, never joined.

use super::candidates::directed;
use super::groups::Groups;
use super::named::{Candidate, Named};
use super::type_family::{Fit, fit};
use crate::text::letters_apart;
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
                groups.count(1);
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
    one.len().abs_diff(other.len()) <= bound && letters_apart(one, other) <= bound
}
