use super::csr::{Edge, RelationCsr};
use super::edge_filter::EdgeFilter;
use super::window::Moment;
use crate::types::{Direction, RelationTypeId};

/// A k-hop question: what can be reached from some entities, and how far away it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traversal {
    /// Entity indices.
    pub seeds: Vec<u32>,
    pub max_hops: u32,
    pub max_nodes: usize,
    /// Of the relations among the nodes.
    pub max_edges: usize,
    pub direction: Direction,
    /// Types to follow; `None` for all.
    pub relation_types: Option<Vec<RelationTypeId>>,
    pub at: Moment,
    /// Entities of a higher degree are reached but not passed through; seeds always are.
    pub hub_limit: Option<u32>,
}

/// An entity and the least number of hops from a seed to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// Entity index.
    pub entity: u32,
    pub depth: u32,
}

/// Answer of a [`Traversal`].
#[derive(Debug, Clone, PartialEq)]
pub struct Walked {
    /// By depth, then by row id (the order in which the store first saw the entities).
    pub nodes: Vec<Reached>,
    /// Relations among the nodes that pass the filter, in the order of their sources in `nodes`.
    pub edges: Vec<Edge>,
    /// True when a limit left nodes or edges out that the hops would have reached.
    pub cut: bool,
}

impl Traversal {
    /// Two hops, sixty nodes, both directions, every relation type.
    pub fn new(seeds: Vec<u32>, at: Moment) -> Self {
        Self {
            seeds,
            max_hops: 2,
            max_nodes: 60,
            max_edges: 2_000,
            direction: Direction::Both,
            relation_types: None,
            at,
            hub_limit: None,
        }
    }

    /// The nodes, and the relations among them.
    pub fn run(&self, relations: &RelationCsr) -> Walked {
        let filter = self.filter(relations);
        let mut seen = NodeSet::new(relations.nodes());
        let (nodes, mut cut) = self.walk(relations, &filter, &mut seen);
        let mut edges = Vec::new();
        for node in &nodes {
            relations.each_outgoing(node.entity, &filter, |position| {
                if seen.contains(relations.target_of(position)) {
                    if edges.len() < self.max_edges {
                        edges.push(relations.edge(position));
                    } else {
                        cut = true;
                    }
                }
            });
        }
        Walked { nodes, edges, cut }
    }

    /// The nodes alone, and whether the limit left some out.
    pub fn nodes(&self, relations: &RelationCsr) -> (Vec<Reached>, bool) {
        let filter = self.filter(relations);
        self.walk(relations, &filter, &mut NodeSet::new(relations.nodes()))
    }

    fn filter(&self, relations: &RelationCsr) -> EdgeFilter {
        let types = self.relation_types.as_deref();
        EdgeFilter::new(relations, self.direction, types, self.at)
    }

    /// Breadth first, a level at a time: a level is complete before any of it is cut, so what is left is the
    /// start of the full answer. `seen` ends up as the set of the nodes returned.
    fn walk(
        &self,
        relations: &RelationCsr,
        filter: &EdgeFilter,
        seen: &mut NodeSet,
    ) -> (Vec<Reached>, bool) {
        let mut nodes = Vec::new();
        let mut level: Vec<u32> = Vec::new();
        for &seed in &self.seeds {
            if seen.insert(seed) {
                level.push(seed);
            }
        }
        level.sort_unstable();
        for depth in 0..=self.max_hops {
            let room = self.max_nodes - nodes.len();
            let cut = level.len() > room;
            if cut {
                level.drain(room..).for_each(|dropped| seen.remove(dropped));
            }
            nodes.extend(level.iter().map(|&entity| Reached { entity, depth }));
            if cut {
                return (nodes, true);
            }
            if depth == self.max_hops || level.is_empty() {
                break;
            }
            if depth > 0 && self.hub_limit.is_some() {
                level.retain(|&node| !self.is_hub(relations, node));
            }
            level = expand(relations, filter, &level, seen);
        }
        (nodes, false)
    }

    fn is_hub(&self, relations: &RelationCsr, node: u32) -> bool {
        self.hub_limit
            .is_some_and(|limit| relations.degree(node, self.at) > limit)
    }
}

/// The neighbors of a level that were not seen before, in order.
fn expand(
    relations: &RelationCsr,
    filter: &EdgeFilter,
    level: &[u32],
    seen: &mut NodeSet,
) -> Vec<u32> {
    let edges: usize = level.iter().map(|&node| relations.row_length(node)).sum();
    if edges < seen.bits.len() {
        let mut next = Vec::new();
        for &node in level {
            relations.each_neighbor(node, filter, |other, _| {
                if seen.insert(other) {
                    next.push(other);
                }
            });
        }
        next.sort_unstable();
        return next;
    }
    // Many edges lead to few nodes: marking them without a question each, and then reading the marks off in
    // order, is faster than asking and sorting.
    let before = seen.clone();
    for &node in level {
        relations.each_neighbor(node, filter, |other, _| seen.mark(other));
    }
    seen.without(&before)
}

/// A set of entity indices, one bit each.
#[derive(Debug, Clone)]
struct NodeSet {
    bits: Vec<u64>,
}

impl NodeSet {
    fn new(nodes: usize) -> Self {
        Self {
            bits: vec![0; nodes.div_ceil(64)],
        }
    }

    /// True when it was not in the set.
    fn insert(&mut self, node: u32) -> bool {
        let word = &mut self.bits[node as usize / 64];
        let bit = 1 << (node % 64);
        let fresh = *word & bit == 0;
        *word |= bit;
        fresh
    }

    fn mark(&mut self, node: u32) {
        self.bits[node as usize / 64] |= 1 << (node % 64);
    }

    /// Members that `other` does not have, in order.
    fn without(&self, other: &Self) -> Vec<u32> {
        let words = || {
            self.bits
                .iter()
                .zip(&other.bits)
                .map(|(word, other)| word & !other)
        };
        let count: u32 = words().map(u64::count_ones).sum();
        let mut members = Vec::with_capacity(count as usize);
        for (mut word, place) in words().zip(0..) {
            while word != 0 {
                members.push(place * 64 + word.trailing_zeros());
                word &= word - 1;
            }
        }
        members
    }

    fn remove(&mut self, node: u32) {
        self.bits[node as usize / 64] &= !(1 << (node % 64));
    }

    fn contains(&self, node: u32) -> bool {
        self.bits[node as usize / 64] & (1 << (node % 64)) != 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graph::test_graphs::{NOW, from_edges, present, seed_graph};
    use crate::types::Timestamp;

    fn names(walked: &[Reached], names: &[&str]) -> Vec<String> {
        walked
            .iter()
            .map(|node| format!("{} {}", node.depth, names[node.entity as usize]))
            .collect()
    }

    #[test]
    fn the_example_of_nine_edges_is_walked_as_printed() {
        let (graph, entities, types) = seed_graph();
        let auth = entities
            .iter()
            .position(|&name| name == "ServicoAutenticacao");
        let seed = vec![auth.expect("the example has it") as u32];
        let mut traversal = Traversal::new(seed, present());

        let two = traversal.run(&graph.relations);
        assert_eq!(
            names(&two.nodes, &entities),
            [
                "0 ServicoAutenticacao",
                "1 ModuloPagamento",
                "1 StoreSessao",
                "1 TimeIAM",
                "2 ClusterDB",
                "2 ClusterK8sAlpha"
            ]
        );
        assert_eq!(two.edges.len(), 7);
        assert!(!two.cut);
        let degrees: Vec<u32> = two
            .nodes
            .iter()
            .map(|node| graph.relations.degree(node.entity, present()))
            .collect();
        assert_eq!(degrees, [4, 3, 2, 2, 2, 3]);

        traversal.max_hops = 3;
        let three = traversal.run(&graph.relations);
        assert_eq!((three.nodes.len(), three.edges.len()), (7, 9));

        traversal.max_hops = 2;
        traversal.relation_types = Some(vec![types["DEPENDE_DE"]]);
        let mut filtered = names(&traversal.run(&graph.relations).nodes, &entities);
        filtered.sort_unstable();
        assert_eq!(
            filtered,
            [
                "0 ServicoAutenticacao",
                "1 ModuloPagamento",
                "1 StoreSessao"
            ]
        );
    }

    /// 0 → 1 → 2 → 3, 4 → 1, 5 alone.
    const CHAIN: &[(u32, u32)] = &[(0, 1), (1, 2), (2, 3), (4, 1)];

    #[test]
    fn direction_hops_and_limits_hold() {
        #[track_caller]
        fn check(change: impl Fn(&mut Traversal), expected: &[(u32, u32)], cut: bool) {
            let graph = from_edges(6, CHAIN);
            let mut traversal = Traversal::new(vec![1], present());
            change(&mut traversal);
            let walked = traversal.run(&graph.relations);
            let nodes: Vec<_> = walked.nodes.iter().map(|n| (n.entity, n.depth)).collect();
            assert_eq!((nodes.as_slice(), walked.cut), (expected, cut));
            let inside = |entity| walked.nodes.iter().any(|node| node.entity == entity);
            for edge in &walked.edges {
                assert!(inside(edge.source) && inside(edge.target));
            }
        }
        check(|_| (), &[(1, 0), (0, 1), (2, 1), (4, 1), (3, 2)], false);
        check(
            |t| t.direction = Direction::Out,
            &[(1, 0), (2, 1), (3, 2)],
            false,
        );
        check(
            |t| t.direction = Direction::In,
            &[(1, 0), (0, 1), (4, 1)],
            false,
        );
        check(|t| t.max_hops = 0, &[(1, 0)], false);
        check(|t| t.max_hops = 1, &[(1, 0), (0, 1), (2, 1), (4, 1)], false);
        check(|t| t.max_nodes = 4, &[(1, 0), (0, 1), (2, 1), (4, 1)], true);
        check(|t| t.max_nodes = 2, &[(1, 0), (0, 1)], true);
        check(|t| t.max_nodes = 0, &[], true);
        check(
            |t| t.max_nodes = 5,
            &[(1, 0), (0, 1), (2, 1), (4, 1), (3, 2)],
            false,
        );
        check(|t| t.seeds = vec![], &[], false);
        check(
            |t| t.seeds = vec![5, 3, 5],
            &[(3, 0), (5, 0), (2, 1), (1, 2)],
            false,
        );
        check(|t| t.relation_types = Some(vec![]), &[(1, 0)], false);
        check(
            |t| t.relation_types = Some(vec![RelationTypeId(77)]),
            &[(1, 0)],
            false,
        );
        // The seed has three relations and is passed through all the same; 2 has two and is not.
        check(
            |t| t.hub_limit = Some(1),
            &[(1, 0), (0, 1), (2, 1), (4, 1)],
            false,
        );
        check(
            |t| t.max_edges = 2,
            &[(1, 0), (0, 1), (2, 1), (4, 1), (3, 2)],
            true,
        );
    }

    #[test]
    fn graphs_without_edges_are_walked_too() {
        for nodes in [0, 1, 3] {
            let graph = from_edges(nodes, &[]);
            let walked = Traversal::new((0..nodes).collect(), present()).run(&graph.relations);
            assert_eq!(walked.nodes.len(), nodes as usize);
            assert!(walked.edges.is_empty() && !walked.cut);
        }
        let pairs = from_edges(4, &[(0, 1), (2, 3)]);
        let (nodes, _) = Traversal::new(vec![2], present()).nodes(&pairs.relations);
        assert_eq!(nodes.len(), 2);
    }

    #[test]
    fn a_page_shows_open_relations_only_and_as_of_is_exact_at_both_bounds() {
        use crate::graph::test_graphs::dated;
        // Of one subject: 25 ended an hour ago, 3 are open, 2 start tomorrow.
        let hour = 3_600_000;
        let past = (Some(NOW - 1_000 * hour), Some(NOW - hour));
        let mut windows = vec![past; 25];
        windows.extend([(Some(NOW - hour), None); 3]);
        windows.extend([(Some(NOW + 24 * hour), None); 2]);
        let edges: Vec<_> = windows
            .iter()
            .zip(1..)
            .map(|(&window, other)| ((0, other), window))
            .collect();
        let graph = dated(31, &edges);
        let reached = |valid: i64| {
            let at = Moment::present(Timestamp(valid));
            let mut traversal = Traversal::new(vec![0], at);
            traversal.max_nodes = 4;
            let walked = traversal.run(&graph.relations);
            (walked.edges.len(), walked.cut)
        };
        assert_eq!(reached(NOW), (3, false));
        assert_eq!(
            reached(NOW - hour),
            (3, false),
            "a start counts, an end does not"
        );
        assert_eq!(
            reached(NOW - hour - 1),
            (3, true),
            "25, of which the page shows 3"
        );
        assert_eq!(reached(NOW - 1_000 * hour - 1), (0, false));
        assert_eq!(
            reached(NOW + 24 * hour),
            (3, true),
            "5, of which the page shows 3"
        );
    }

    proptest! {
        #[test]
        fn equals_a_naive_walk(
            edges in proptest::collection::vec((0_u32..24, 0_u32..24), 0..60),
            seeds in proptest::collection::vec(0_u32..24, 0..4),
            max_hops in 0_u32..5,
            max_nodes in 0_usize..30,
            direction in prop_oneof![Just(Direction::Out), Just(Direction::In), Just(Direction::Both)],
        ) {
            let graph = from_edges(24, &edges);
            let mut traversal = Traversal::new(seeds.clone(), present());
            traversal.max_hops = max_hops;
            traversal.max_nodes = max_nodes;
            traversal.direction = direction;

            let mut depth = [u32::MAX; 24];
            for &seed in &seeds {
                depth[seed as usize] = 0;
            }
            for hop in 0..max_hops {
                for &(a, b) in &edges {
                    let steps = match direction {
                        Direction::Out => vec![(a, b)],
                        Direction::In => vec![(b, a)],
                        Direction::Both => vec![(a, b), (b, a)],
                    };
                    for (from, to) in steps {
                        if depth[from as usize] == hop {
                            depth[to as usize] = depth[to as usize].min(hop + 1);
                        }
                    }
                }
            }
            let mut expected: Vec<(u32, u32)> = (0..24)
                .filter(|&node| depth[node as usize] != u32::MAX)
                .map(|node| (depth[node as usize], node))
                .collect();
            expected.sort_unstable();
            let cut = expected.len() > max_nodes;
            expected.truncate(max_nodes);

            let walked = traversal.run(&graph.relations);
            let nodes: Vec<_> = walked.nodes.iter().map(|n| (n.depth, n.entity)).collect();
            prop_assert_eq!(&nodes, &expected);
            prop_assert_eq!(walked.cut, cut);
            let inside = |node: u32| expected.iter().any(|&(_, kept)| kept == node);
            let among = edges.iter().filter(|&&(a, b)| inside(a) && inside(b)).count();
            prop_assert_eq!(walked.edges.len(), among);
        }
    }
}
