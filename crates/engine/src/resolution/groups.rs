//! Names joined into groups, within what was decided.

use std::cell::{Cell, RefCell};
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
    /// Pairs that were decided to be apart, by position, the smaller one first.
    apart: BTreeSet<(usize, usize)>,
    seen: BTreeSet<(usize, usize)>,
    merges: Vec<FoundMerge>,
    compared: Cell<usize>,
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
            .map(|(one, other)| (one.min(other), one.max(other)))
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
            compared: Cell::new(0),
        }
    }

    /// Notes that so many names, ties or decisions were looked at.
    pub(super) fn count(&self, looked_at: usize) {
        self.compared.set(self.compared.get() + looked_at);
    }

    /// What was looked at so far: the measure of the work, which time on a busy machine is not.
    pub(super) const fn compared(&self) -> usize {
        self.compared.get()
    }

    /// Whether a text names both, or both are tied to some third thing.
    pub(super) fn are_near(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.names[one], &self.names[other]);
        if one.shares_text(other) {
            return true;
        }
        let (fewer, more) = if one.ties.len() <= other.ties.len() {
            (one, other)
        } else {
            (other, one)
        };
        if fewer.ties.is_empty() {
            return false;
        }
        self.count(fewer.ties.len() + more.ties.len());
        let ends: BTreeSet<&str> = fewer.ties.iter().map(|(_, _, end)| end.as_str()).collect();
        more.ties
            .iter()
            .any(|(_, _, end)| ends.contains(end.as_str()) && *end != one.key && *end != other.key)
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
        self.count(1);
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
        if ones.len() + others.len() > LARGEST || self.are_apart(&ones, &others) {
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

    /// Whether some name of one group was decided to be none of the other group's. Groups are small, and
    /// decisions may be many.
    fn are_apart(&self, ones: &[usize], others: &[usize]) -> bool {
        if self.apart.is_empty() {
            return false;
        }
        self.count(ones.len() * others.len());
        ones.iter().any(|&one| {
            others
                .iter()
                .any(|&other| self.apart.contains(&(one.min(other), one.max(other))))
        })
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
