//! Personalised `PageRank` by forward push (Andersen, Chung and Lang, 2006): the work depends on the wanted
//! accuracy and not on the size of the graph.

use std::cell::RefCell;
use std::collections::VecDeque;

/// A graph with weighted edges, as far as a walk asks for it.
pub trait WeightedGraph {
    /// Nodes are `0..nodes`.
    fn nodes(&self) -> usize;

    /// Number of edges that leave `node`.
    fn degree(&self, node: u32) -> usize;

    /// Appends the edges that leave `node` as (target, weight), weights above 0, always in the same order.
    fn edges(&self, node: u32, out: &mut Vec<(u32, f64)>);
}

/// How far mass is pushed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Push {
    /// Probability that a walk goes on at a node, below 1.
    pub damping: f64,
    /// A node passes its waiting mass on when that exceeds this much for each of its edges. A push looks at
    /// no more than `1 / ((1 - damping) * threshold)` edges for a start of mass 1, and hubs pass on only a lot.
    pub threshold: f64,
}

/// Mass by node while pushing; all zero between runs, so that a run costs what it touches.
#[derive(Default)]
struct Scratch {
    waiting: Vec<f64>,
    settled: Vec<f64>,
    /// Nodes that got mass, in order, some more than once.
    touched: Vec<u32>,
    /// Nodes over their limit, in the order in which they passed it.
    queue: VecDeque<u32>,
    edges: Vec<(u32, f64)>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Where random walks that start by `reset`, (node, mass), come to rest: the mass of every node reached, in
/// order of the node. Mass that was still waiting when the push ended counts where it waits; mass at a node
/// without edges rests there. The same input gives the same result to the bit.
pub fn personalised(
    graph: &impl WeightedGraph,
    reset: &[(u32, f64)],
    push: Push,
) -> Vec<(u32, f64)> {
    SCRATCH.with_borrow_mut(|scratch| {
        if scratch.waiting.len() < graph.nodes() {
            scratch.waiting.resize(graph.nodes(), 0.0);
            scratch.settled.resize(graph.nodes(), 0.0);
        }
        scratch.run(graph, reset, push);
        scratch.take_result()
    })
}

impl Scratch {
    fn run(&mut self, graph: &impl WeightedGraph, reset: &[(u32, f64)], push: Push) {
        for &(node, mass) in reset {
            self.give(graph, push, node, mass);
        }
        let mut edges = std::mem::take(&mut self.edges);
        while let Some(node) = self.queue.pop_front() {
            edges.clear();
            graph.edges(node, &mut edges);
            let total: f64 = edges.iter().map(|edge| edge.1).sum();
            let mass = std::mem::take(&mut self.waiting[node as usize]);
            if edges.is_empty() {
                self.settled[node as usize] += mass;
                continue;
            }
            self.settled[node as usize] += (1.0 - push.damping) * mass;
            let per_weight = push.damping * mass / total;
            for &(target, weight) in &edges {
                self.give(graph, push, target, per_weight * weight);
            }
        }
        self.edges = edges;
    }

    fn give(&mut self, graph: &impl WeightedGraph, push: Push, node: u32, mass: f64) {
        let waiting = &mut self.waiting[node as usize];
        let before = *waiting;
        *waiting += mass;
        let after = *waiting;
        if before == 0.0 {
            self.touched.push(node);
        }
        // Most nodes are far from their limit: their degree need not be known.
        if after > push.threshold {
            let limit = push.threshold * graph.degree(node) as f64;
            if before <= limit && after > limit {
                self.queue.push_back(node);
            }
        }
    }

    fn take_result(&mut self) -> Vec<(u32, f64)> {
        self.touched.sort_unstable();
        self.touched.dedup();
        self.touched
            .drain(..)
            .map(|node| {
                let waiting = std::mem::take(&mut self.waiting[node as usize]);
                let settled = std::mem::take(&mut self.settled[node as usize]);
                (node, waiting + settled)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug)]
    struct Rows(Vec<Vec<(u32, f64)>>);

    impl WeightedGraph for Rows {
        fn nodes(&self) -> usize {
            self.0.len()
        }
        fn degree(&self, node: u32) -> usize {
            self.0[node as usize].len()
        }
        fn edges(&self, node: u32, out: &mut Vec<(u32, f64)>) {
            out.extend_from_slice(&self.0[node as usize]);
        }
    }

    /// Power iteration over all nodes.
    fn dense(graph: &Rows, reset: &[(u32, f64)], damping: f64) -> Vec<f64> {
        let mut moving = vec![0.0; graph.nodes()];
        for &(node, mass) in reset {
            moving[node as usize] += mass;
        }
        let mut settled = vec![0.0; graph.nodes()];
        for _ in 0..400 {
            let mut next = vec![0.0; graph.nodes()];
            for (node, row) in graph.0.iter().enumerate() {
                let total: f64 = row.iter().map(|edge| edge.1).sum();
                let stay = if row.is_empty() { 1.0 } else { 1.0 - damping };
                settled[node] += stay * moving[node];
                for &(target, weight) in row {
                    next[target as usize] += damping * moving[node] * weight / total;
                }
            }
            moving = next;
        }
        settled
    }

    fn some_graph() -> impl Strategy<Value = Rows> {
        prop::collection::vec((0..12_u32, 0..12_u32, 1..5_u32), 0..40).prop_map(|edges| {
            let mut rows = vec![Vec::new(); 12];
            for (from, to, weight) in edges {
                rows[from as usize].push((to, f64::from(weight)));
                rows[to as usize].push((from, f64::from(weight)));
            }
            Rows(rows)
        })
    }

    #[test]
    fn mass_stays_where_no_edge_leads_on() {
        let graph = Rows(vec![vec![], vec![(0, 1.0)], vec![]]);
        let push = Push {
            damping: 0.5,
            threshold: 1e-9,
        };
        assert_eq!(
            personalised(&graph, &[(1, 1.0)], push),
            [(0, 0.5), (1, 0.5)]
        );
        assert_eq!(personalised(&graph, &[], push), []);
    }

    #[test]
    fn a_hub_does_not_pass_on_a_little_mass() {
        let mut rows = vec![vec![(0, 1.0)]; 1001];
        rows[0] = (1..1001).map(|node| (node, 1.0)).collect();
        let push = Push {
            damping: 0.9,
            threshold: 1e-3,
        };
        let reached = personalised(&Rows(rows), &[(7, 1.0)], push);
        assert_eq!(reached.len(), 2);
    }

    proptest! {
        #[test]
        fn a_fine_push_agrees_with_power_iteration(
            graph in some_graph(),
            start in prop::collection::vec((0..12_u32, 1..5_u32), 1..4),
        ) {
            let start: Vec<(u32, f64)> = start
                .into_iter()
                .map(|(node, mass)| (node, f64::from(mass) / 20.0))
                .collect();
            let push = Push { damping: 0.85, threshold: 1e-12 };
            let mut sparse = [0.0; 12];
            for (node, mass) in personalised(&graph, &start, push) {
                sparse[node as usize] = mass;
            }
            for (a, b) in sparse.iter().zip(dense(&graph, &start, 0.85)) {
                prop_assert!((a - b).abs() < 1e-8, "{a} {b}");
            }
        }

        #[test]
        fn no_mass_is_lost_and_every_run_is_the_same(graph in some_graph(), threshold in 1e-6..0.5_f64) {
            let push = Push { damping: 0.8, threshold };
            let first = personalised(&graph, &[(3, 0.5), (5, 0.5)], push);
            let total: f64 = first.iter().map(|node| node.1).sum();
            prop_assert!((total - 1.0).abs() < 1e-9);
            prop_assert_eq!(personalised(&graph, &[(3, 0.5), (5, 0.5)], push), first);
        }
    }
}
