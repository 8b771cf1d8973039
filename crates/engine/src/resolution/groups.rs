//! Names joined into groups, within what was decided.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::guard::differ;
use super::named::{Candidate, Decisions, FoundMerge, Named, pair};
use super::type_family::{Fit, fit};
use crate::types::{MergeRule, MergeStatus};

/// Names of one group at most: more are a mistake that feeds on itself.
const LARGEST: usize = 32;

pub(super) struct Groups<'a> {
    names: &'a [Named],
    decisions: &'a Decisions,
    by_key: BTreeMap<&'a str, usize>,
    parent: RefCell<Vec<usize>>,
    /// By root.
    members: BTreeMap<usize, Vec<usize>>,
    /// Pairs that were decided to be apart, by position.
    apart: Vec<(usize, usize)>,
    seen: BTreeSet<(usize, usize)>,
    merges: Vec<FoundMerge>,
}

impl<'a> Groups<'a> {
    pub(super) fn new(names: &'a [Named], decisions: &'a Decisions) -> Self {
        let by_key: BTreeMap<&str, usize> = names
            .iter()
            .enumerate()
            .map(|(at, name)| (name.key.as_str(), at))
            .collect();
        let apart = decisions
            .rejected()
            .filter_map(|(one, other)| Some((*by_key.get(one)?, *by_key.get(other)?)))
            .collect();
        Self {
            names,
            decisions,
            by_key,
            parent: RefCell::new((0..names.len()).collect()),
            members: BTreeMap::new(),
            apart,
            seen: BTreeSet::new(),
            merges: Vec::new(),
        }
    }

    /// The name that stands for a group while it grows.
    pub(super) fn root(&self, mut at: usize) -> usize {
        let mut parent = self.parent.borrow_mut();
        while parent[at] != at {
            parent[at] = parent[parent[at]];
            at = parent[at];
        }
        at
    }

    /// Joins a pair that was decided to be one, where both names are there.
    pub(super) fn accept(&mut self, one: &str, other: &str) {
        let (Some(&one), Some(&other)) = (self.by_key.get(one), self.by_key.get(other)) else {
            return;
        };
        let candidate =
            super::candidates::directed(self.names, one, other, MergeRule::Decided, true);
        self.add(candidate);
    }

    /// Joins or proposes a pair, or notes that it stays apart. Only the first rule that finds a pair counts.
    pub(super) fn add(&mut self, candidate: Candidate) {
        let Candidate {
            from,
            into,
            rule,
            is_sure,
        } = candidate;
        if from == into {
            return;
        }
        if !self.seen.insert((from.min(into), from.max(into))) {
            return;
        }
        let (one, other) = (&self.names[from], &self.names[into]);
        let decided = self.decisions.get(&one.key, &other.key);
        // Initials and descriptions leave out what the guard looks for.
        let is_whole = !matches!(rule, MergeRule::Acronym | MergeRule::Description);
        if decided.is_none() && is_whole && differ(&one.key, &other.key) {
            return;
        }
        let status = match decided {
            Some(false) => MergeStatus::Apart,
            Some(true) if self.join(from, into, true) => MergeStatus::Merged,
            None if is_sure && self.join(from, into, false) => MergeStatus::Merged,
            _ => MergeStatus::Proposed,
        };
        self.merges.push(FoundMerge {
            one: one.key.clone(),
            other: other.key.clone(),
            rule,
            status,
        });
    }

    /// False when the groups of both names must not become one.
    fn join(&mut self, one: usize, other: usize, is_decided: bool) -> bool {
        let (one, other) = (self.root(one), self.root(other));
        if one == other {
            return true;
        }
        let of = |root: usize| {
            self.members
                .get(&root)
                .cloned()
                .unwrap_or_else(|| vec![root])
        };
        let (ones, others) = (of(one), of(other));
        let is_apart = self.apart.iter().any(|(a, b)| {
            (ones.contains(a) && others.contains(b)) || (ones.contains(b) && others.contains(a))
        });
        if is_apart || ones.len() + others.len() > LARGEST {
            return false;
        }
        let kinds = |group: &[usize]| -> BTreeSet<String> {
            group
                .iter()
                .flat_map(|&at| self.names[at].kinds.iter().cloned())
                .collect()
        };
        if !is_decided && fit(&kinds(&ones), &kinds(&others)) == Fit::Unrelated {
            return false;
        }
        let root = one.min(other);
        self.parent.borrow_mut()[one.max(other)] = root;
        self.members.remove(&other);
        let mut all = ones;
        all.extend(others);
        self.members.remove(&one);
        self.members.insert(root, all);
        true
    }

    pub(super) fn take_merges(&mut self) -> Vec<FoundMerge> {
        let mut merges = std::mem::take(&mut self.merges);
        merges.sort_by_cached_key(|merge| pair(&merge.one, &merge.other));
        merges
    }

    /// For every joined name the one that stands for its group: one that goes into no other, of those the
    /// fullest and most frequent.
    pub(super) fn representatives(&self, merges: &[FoundMerge]) -> BTreeMap<String, String> {
        let goes: BTreeSet<&str> = merges
            .iter()
            .filter(|merge| merge.status == MergeStatus::Merged)
            .map(|merge| merge.one.as_str())
            .collect();
        let mut into = BTreeMap::new();
        for members in self.members.values() {
            let best = members.iter().max_by_key(|&&at| {
                let name = &self.names[at];
                (
                    !goes.contains(name.key.as_str()),
                    name.count,
                    name.key.len(),
                    std::cmp::Reverse(at),
                )
            });
            let best = &self.names[*best.expect("a group has members")].key;
            for &at in members {
                let key = &self.names[at].key;
                if key != best {
                    into.insert(key.clone(), best.clone());
                }
            }
        }
        into
    }
}
