use std::collections::{BTreeMap, BTreeSet};

use crate::text::Language;
use crate::types::{MergeRule, MergeStatus};

/// A name as texts use it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Named {
    /// [`crate::text::name_key`] of its spellings.
    pub key: String,
    pub spellings: BTreeSet<String>,
    /// What texts call the thing besides.
    pub aliases: BTreeSet<String>,
    /// Its types; none where no text gives one.
    pub kinds: BTreeSet<String>,
    /// The documents that name it, by any number of the caller's.
    pub documents: BTreeSet<i64>,
    pub languages: BTreeSet<Language>,
    /// How often it is named.
    pub count: usize,
    /// Its relations: type, whether they lead away from it, and the key at the other end.
    pub ties: BTreeSet<(String, bool, String)>,
    pub description: Option<String>,
    /// Keys of names whose vectors are near, where there are vectors.
    pub near: BTreeSet<String>,
    /// The name that it shares with other things, where [`super::senses`] told them apart.
    pub shared: Option<String>,
}

/// What was decided about pairs of names, by their keys in any order.
#[derive(Debug, Clone, Default)]
pub struct Decisions(BTreeMap<(String, String), bool>);

impl Decisions {
    /// Notes that a pair is one thing, or is not.
    pub fn insert(&mut self, one: &str, other: &str, is_same: bool) {
        self.0.insert(pair(one, other), is_same);
    }

    /// What was decided about a pair.
    pub fn get(&self, one: &str, other: &str) -> Option<bool> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&pair(one, other)).copied()
    }

    pub(super) fn accepted(&self) -> impl Iterator<Item = (&str, &str)> {
        let same = self.0.iter().filter(|(_, is_same)| **is_same);
        same.map(|((one, other), _)| (one.as_str(), other.as_str()))
    }

    pub(super) fn rejected(&self) -> impl Iterator<Item = (&str, &str)> {
        let apart = self.0.iter().filter(|(_, is_same)| !**is_same);
        apart.map(|((one, other), _)| (one.as_str(), other.as_str()))
    }
}

/// A pair of names with what speaks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundMerge {
    /// The name that goes into the other one.
    pub one: String,
    pub other: String,
    pub rule: MergeRule,
    pub status: MergeStatus,
}

/// A pair of positions that a rule found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The shorter or rarer name.
    pub from: usize,
    pub into: usize,
    pub rule: MergeRule,
    /// Settled, if nothing speaks against it.
    pub is_sure: bool,
}

pub(super) fn pair(one: &str, other: &str) -> (String, String) {
    if one <= other {
        (one.to_owned(), other.to_owned())
    } else {
        (other.to_owned(), one.to_owned())
    }
}

impl Named {
    /// Whether a text names both.
    pub(super) fn shares_text(&self, other: &Self) -> bool {
        !self.documents.is_disjoint(&other.documents)
    }

    /// Words of the key.
    pub(super) fn words(&self) -> Vec<&str> {
        self.key.split(' ').collect()
    }
}
