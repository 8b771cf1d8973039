//! The best way from the start of a path to its end: breadth first, ties by cost.

use rustc_hash::FxHashSet;

use super::csr::RelationCsr;
use super::edge_filter::EdgeFilter;
use super::paths::{HubRule, Path, PathSearch};

/// Edges looked at before a search gives up.
const WORK_LIMIT: usize = 20_000_000;

/// Nodes of a path in the order of the answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Route {
    hops: usize,
    /// Bits of the cost, which is not negative, so bits compare as numbers do.
    cost: u64,
    pub(super) nodes: Vec<u32>,
}

/// Where the search stands with one node.
#[derive(Debug, Clone, Copy)]
struct Visit {
    /// Number of the search that wrote it.
    round: u32,
    depth: u32,
    cost: f64,
    parent: u32,
}

/// One search from end to end, asked again and again by [`PathSearch::run`].
pub(super) struct Search<'a> {
    question: &'a PathSearch,
    relations: &'a RelationCsr,
    filter: &'a EdgeFilter,
    visits: Vec<Visit>,
    round: u32,
    /// Hops to the far end at least.
    to_go: Vec<u32>,
    work: usize,
    stop: &'a dyn Fn() -> bool,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        question: &'a PathSearch,
        relations: &'a RelationCsr,
        filter: &'a EdgeFilter,
        stop: &'a dyn Fn() -> bool,
    ) -> Self {
        let unseen = Visit {
            round: 0,
            depth: 0,
            cost: 0.0,
            parent: 0,
        };
        Self {
            question,
            relations,
            to_go: hops_to_go(question, relations, &filter.reversed(), stop),
            filter,
            visits: vec![unseen; relations.nodes()],
            round: 0,
            work: 0,
            stop,
        }
    }

    /// Whether it looked at too much, or is to stop.
    pub(super) fn is_over(&self) -> bool {
        self.work > WORK_LIMIT || (self.stop)()
    }

    /// The best simple path that starts with `root` and does not go on to any node of `taken`.
    pub(super) fn best(&mut self, root: &[u32], taken: &FxHashSet<u32>) -> Option<Route> {
        self.round += 1;
        let (&start, before) = root.split_last().expect("a root holds the first end");
        for &node in before {
            // Reached with no hops: never reached better.
            self.visit(node, 0, 0.0, node);
        }
        self.visit(start, 0, 0.0, start);
        let goal = self.question.to;
        let mut level = vec![start];
        let mut depth = 0;
        while !level.is_empty() && start != goal {
            depth += 1;
            let mut next = Vec::new();
            for node in level {
                if self.is_over() {
                    return None;
                }
                self.expand(node, depth, before.len(), taken, &mut next);
            }
            if self.visits[goal as usize].round == self.round {
                break;
            }
            level = next;
        }
        if self.visits[goal as usize].round != self.round {
            return None;
        }
        let mut nodes = vec![goal];
        let mut node = goal;
        while node != start {
            node = self.visits[node as usize].parent;
            nodes.push(node);
        }
        nodes.extend(before.iter().rev());
        nodes.reverse();
        let cost: f64 = nodes
            .windows(2)
            .map(|step| self.step(step[0], step[1]).1)
            .sum();
        Some(Route {
            hops: nodes.len() - 1,
            cost: cost.to_bits(),
            nodes,
        })
    }

    /// Reaches the neighbours of `node` in `depth` hops from the root's last node.
    fn expand(
        &mut self,
        node: u32,
        depth: u32,
        root_hops: usize,
        taken: &FxHashSet<u32>,
        next: &mut Vec<u32>,
    ) {
        let so_far = self.visits[node as usize].cost;
        let relations = self.relations;
        let hops_left = self.question.max_hops as usize - root_hops;
        relations.each_neighbor(node, self.filter, |other, position| {
            self.work += 1;
            let in_reach = depth as usize + self.to_go[other as usize] as usize <= hops_left;
            if !in_reach || (depth == 1 && taken.contains(&other)) || self.is_closed(other) {
                return;
            }
            let cost = so_far + self.cost(other, relations.weight(position));
            let seen = self.visits[other as usize];
            if seen.round != self.round {
                next.push(other);
                self.visit(other, depth, cost, node);
            } else if seen.depth == depth && cost < seen.cost {
                self.visit(other, depth, cost, node);
            }
        });
    }

    fn visit(&mut self, node: u32, depth: u32, cost: f64, parent: u32) {
        self.visits[node as usize] = Visit {
            round: self.round,
            depth,
            cost,
            parent,
        };
    }

    /// Whether the hub rule forbids to pass through the node.
    fn is_closed(&self, node: u32) -> bool {
        match self.question.hubs {
            HubRule::Avoid(limit) if node != self.question.to => {
                self.relations.degree(node, self.question.at) > limit
            }
            _ => false,
        }
    }

    fn cost(&self, into: u32, weight: f32) -> f64 {
        let cost = 1.0 / f64::from(weight.max(f32::MIN_POSITIVE));
        match self.question.hubs {
            HubRule::Damp if into != self.question.to => {
                let degree = self.relations.degree(into, self.question.at);
                cost * libm::log2(1.0 + f64::from(degree))
            }
            _ => cost,
        }
    }

    /// The best relation of a step and its cost.
    fn step(&self, from: u32, to: u32) -> (usize, f64) {
        let mut best: Option<(usize, f64)> = None;
        self.relations
            .each_neighbor(from, self.filter, |other, position| {
                if other == to {
                    let cost = self.cost(to, self.relations.weight(position));
                    if best.is_none_or(|(_, least)| cost < least) {
                        best = Some((position, cost));
                    }
                }
            });
        best.expect("a step follows a relation")
    }

    pub(super) fn path(&self, route: Route) -> Path {
        let edges = route
            .nodes
            .windows(2)
            .map(|step| self.relations.edge(self.step(step[0], step[1]).0))
            .collect();
        Path {
            nodes: route.nodes,
            edges,
            cost: f64::from_bits(route.cost),
        }
    }
}

/// For each node the least number of hops to the far end, exact up to half of the greatest number and a
/// lower bound beyond: the search from the near end then stays within two small balls.
fn hops_to_go(
    question: &PathSearch,
    relations: &RelationCsr,
    backwards: &EdgeFilter,
    stop: &dyn Fn() -> bool,
) -> Vec<u32> {
    let half = question.max_hops.div_ceil(2);
    let mut hops = vec![half + 1; relations.nodes()];
    hops[question.to as usize] = 0;
    let mut level = vec![question.to];
    for depth in 1..=half {
        let mut next = Vec::new();
        for node in level {
            if stop() {
                return hops;
            }
            relations.each_neighbor(node, backwards, |other, _| {
                if hops[other as usize] == half + 1 {
                    hops[other as usize] = depth;
                    next.push(other);
                }
            });
        }
        level = next;
    }
    hops
}
