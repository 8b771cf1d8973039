//! Messages that answer one another, and the branch of them that is shown.

use std::collections::{BTreeMap, BTreeSet};

use super::ChatTurn;

/// A message of a tree. Those without a turn hold others together: roots, tools, images.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) turn: Option<ChatTurn>,
}

/// The turns from the root to `current`, or to the end of the branch that was written last, and how many others there
/// are.
pub(super) fn shown_branch(nodes: Vec<Node>, current: Option<&str>) -> (Vec<ChatTurn>, usize) {
    let place: BTreeMap<&str, usize> = nodes
        .iter()
        .enumerate()
        .map(|(at, node)| (node.id.as_str(), at))
        .collect();
    let parents: BTreeSet<&str> = nodes
        .iter()
        .filter_map(|node| node.parent.as_deref())
        .collect();
    let time = |at: usize| {
        nodes[at]
            .turn
            .as_ref()
            .and_then(|turn| turn.time.as_deref())
    };
    let last = || {
        (0..nodes.len())
            .filter(|&at| !parents.contains(nodes[at].id.as_str()))
            .max_by_key(|&at| (time(at), at))
    };
    let mut at = current.and_then(|id| place.get(id).copied()).or_else(last);
    let mut path = Vec::new();
    let mut seen = BTreeSet::new();
    while let Some(here) = at {
        // Links of a damaged file may lead in a circle.
        if !seen.insert(here) {
            break;
        }
        path.push(here);
        at = nodes[here]
            .parent
            .as_deref()
            .and_then(|id| place.get(id).copied());
    }
    path.reverse();
    let is_said = |node: &&Node| {
        node.turn
            .as_ref()
            .is_some_and(|turn| !turn.text.trim().is_empty())
    };
    let all = nodes.iter().filter(is_said).count();
    let shown = path.iter().filter(|&&at| is_said(&&nodes[at])).count();
    let mut turns: Vec<Option<ChatTurn>> = nodes.into_iter().map(|node| node.turn).collect();
    let turns = path.into_iter().filter_map(|at| turns[at].take()).collect();
    (turns, all - shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_that_is_shown_is_the_one_that_is_kept() {
        let tree = |rows: &[(&str, Option<&str>, &str)]| -> Vec<Node> {
            rows.iter()
                .map(|(id, parent, text)| Node {
                    id: (*id).to_owned(),
                    parent: parent.map(str::to_owned),
                    turn: (!text.is_empty()).then(|| ChatTurn {
                        id: (*id).to_owned(),
                        text: (*text).to_owned(),
                        ..ChatTurn::default()
                    }),
                })
                .collect()
        };
        let check =
            |rows: &[(&str, Option<&str>, &str)], current, expected: &[&str], left: usize| {
                let (turns, left_out) = shown_branch(tree(rows), current);
                let ids: Vec<&str> = turns.iter().map(|turn| turn.id.as_str()).collect();
                assert_eq!((ids.as_slice(), left_out), (expected, left), "{current:?}");
            };
        let rows = [
            ("root", None, ""),
            ("a", Some("root"), "x"),
            ("b", Some("a"), "x"),
            ("b2", Some("a"), "x"),
            ("c", Some("b2"), "x"),
        ];
        check(&rows, Some("b"), &["a", "b"], 2);
        check(&rows, Some("c"), &["a", "b2", "c"], 1);
        check(&rows, Some("gone"), &["a", "b2", "c"], 1);
        check(&rows, None, &["a", "b2", "c"], 1);
        let circle = [("a", Some("b"), "x"), ("b", Some("a"), "x")];
        check(&circle, Some("a"), &["b", "a"], 0);
        check(&circle, None, &[], 2);
        check(&[], None, &[], 0);
    }
}
