use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::csr::{Edge, RelationCsr};
use super::edge_filter::EdgeFilter;
use super::route::{Route, Search};
use super::window::Moment;
use crate::types::{Direction, RelationTypeId};

/// What to do about entities that connect everything with everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HubRule {
    /// Degree does not matter.
    #[default]
    Ignore,
    /// A step into an entity costs `log2(1 + degree)` times as much.
    Damp,
    /// Entities of a higher degree are not passed through; the two ends may be such.
    Avoid(u32),
}

/// A question for the shortest simple paths between two entities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathSearch {
    /// Entity index.
    pub from: u32,
    /// Entity index.
    pub to: u32,
    pub max_hops: u32,
    /// Greatest number of paths.
    pub limit: usize,
    pub direction: Direction,
    /// Types to follow; `None` for all.
    pub relation_types: Option<Vec<RelationTypeId>>,
    pub at: Moment,
    pub hubs: HubRule,
}

/// A path that visits no entity twice.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// Entity indices from one end to the other.
    pub nodes: Vec<u32>,
    /// One relation a step: of parallel ones the heaviest. It may point against the step.
    pub edges: Vec<Edge>,
    /// Sum over the steps of 1 / weight, times the hub factor.
    pub cost: f64,
}

/// Answer of a [`PathSearch`].
#[derive(Debug, Clone, PartialEq)]
pub struct Paths {
    /// By number of hops, then by cost, then by row ids.
    pub paths: Vec<Path>,
    /// True when the search used up its work limit; there may be more or better paths.
    pub cut: bool,
}

impl PathSearch {
    /// Five paths of at most four hops, any direction and type.
    pub fn new(from: u32, to: u32, at: Moment) -> Self {
        Self {
            from,
            to,
            max_hops: 4,
            limit: 5,
            direction: Direction::Both,
            relation_types: None,
            at,
            hubs: HubRule::Ignore,
        }
    }

    /// Yen's algorithm (1971) over a breadth-first search that breaks ties by cost: each path found is left
    /// at every one of its nodes in turn, and the best continuation that no earlier path took is a candidate.
    pub fn run(&self, relations: &RelationCsr) -> Paths {
        self.run_until(relations, &|| false)
    }

    /// The same, given up once `stop` says so, which is asked again and again.
    pub fn run_until(&self, relations: &RelationCsr, stop: &dyn Fn() -> bool) -> Paths {
        let types = self.relation_types.as_deref();
        let filter = EdgeFilter::new(relations, self.direction, types, self.at);
        let mut search = Search::new(self, relations, &filter, stop);
        let mut found: Vec<Route> = Vec::new();
        let mut candidates: BTreeSet<Route> = BTreeSet::new();
        if self.limit > 0 {
            candidates.extend(search.best(&[self.from], &FxHashSet::default()));
        }
        while let Some(route) = candidates.pop_first() {
            found.push(route.clone());
            if found.len() == self.limit {
                break;
            }
            for spur in 0..route.nodes.len() - 1 {
                if search.is_over() {
                    break;
                }
                let root = &route.nodes[..=spur];
                let taken: FxHashSet<u32> = found
                    .iter()
                    .filter(|earlier| earlier.nodes.starts_with(root))
                    .filter_map(|earlier| earlier.nodes.get(spur + 1).copied())
                    .collect();
                candidates.extend(search.best(root, &taken));
            }
        }
        let cut = search.is_over();
        let paths = found.into_iter().map(|route| search.path(route)).collect();
        Paths { paths, cut }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graph::test_graphs::{entity_ids, from_edges, present, seed_graph};
    use crate::graph::{Graph, GraphBuilder, RelationRow, Window};
    use crate::types::{EntityId, RelationId, Timestamp};

    fn weighted(nodes: u32, edges: &[(u32, u32, f32)]) -> Graph {
        let mut builder = GraphBuilder::new(1, entity_ids(nodes), Vec::new());
        for (&(source, target, weight), id) in edges.iter().zip(1..) {
            builder.relation(&RelationRow {
                id: RelationId(id),
                source: EntityId(i64::from(source) + 1),
                target: EntityId(i64::from(target) + 1),
                relation_type: RelationTypeId(1),
                weight,
                window: Window::new(None, None, Timestamp(1), None),
            });
        }
        builder.build().0
    }

    #[test]
    fn paths_come_by_hops_then_by_strength() {
        #[track_caller]
        fn check(change: impl Fn(&mut PathSearch), expected: &[&[u32]]) {
            // Two ways of two hops (by 1, weak; by 2, strong), one of three, and the direct way back.
            let graph = weighted(
                7,
                &[
                    (0, 1, 1.0),
                    (1, 3, 1.0),
                    (0, 2, 5.0),
                    (2, 3, 1.0),
                    (2, 3, 5.0),
                    (0, 4, 9.0),
                    (4, 5, 9.0),
                    (5, 3, 9.0),
                ],
            );
            let mut search = PathSearch::new(0, 3, present());
            change(&mut search);
            let paths = search.run(&graph.relations);
            let nodes: Vec<_> = paths.paths.iter().map(|path| path.nodes.clone()).collect();
            assert_eq!(nodes, expected);
            for path in &paths.paths {
                assert_eq!(path.edges.len() + 1, path.nodes.len());
            }
        }
        check(|_| (), &[&[0, 2, 3], &[0, 1, 3], &[0, 4, 5, 3]]);
        check(|s| s.limit = 1, &[&[0, 2, 3]]);
        check(|s| s.limit = 0, &[]);
        check(|s| s.max_hops = 2, &[&[0, 2, 3], &[0, 1, 3]]);
        check(|s| s.max_hops = 1, &[]);
        check(|s| s.max_hops = 0, &[]);
        check(|s| s.to = 6, &[]);
        check(|s| s.to = 0, &[&[0]]);
        check(|s| s.direction = Direction::In, &[]);
        // 2 has three relations, 1 and the inner nodes of the long way two.
        check(|s| s.hubs = HubRule::Avoid(2), &[&[0, 1, 3], &[0, 4, 5, 3]]);
        check(|s| s.relation_types = Some(vec![RelationTypeId(9)]), &[]);
        check(
            |s| (s.from, s.to, s.direction) = (3, 0, Direction::In),
            &[&[3, 2, 0], &[3, 1, 0], &[3, 5, 4, 0]],
        );
    }

    #[test]
    fn a_hub_is_damped() {
        let mut edges = vec![(0, 1, 2.0), (1, 3, 2.0), (0, 2, 1.0), (2, 3, 1.0)];
        edges.extend((4..40).map(|leaf| (1, leaf, 1.0)));
        let graph = weighted(40, &edges);
        let first = |hubs| {
            let search = PathSearch {
                hubs,
                ..PathSearch::new(0, 3, present())
            };
            search.run(&graph.relations).paths[0].nodes[1]
        };
        assert_eq!(first(HubRule::Ignore), 1);
        assert_eq!(first(HubRule::Damp), 2);
    }

    #[test]
    fn the_example_has_a_path_from_the_team_to_the_logs() {
        let (graph, names, _) = seed_graph();
        let index = |name| {
            names
                .iter()
                .position(|&other| other == name)
                .expect("listed") as u32
        };
        let search = PathSearch::new(index("TimeIAM"), index("ServicoLogs"), present());
        let paths = search.run(&graph.relations).paths;
        let shown: Vec<Vec<&str>> = paths
            .iter()
            .map(|path| {
                path.nodes
                    .iter()
                    .map(|&node| names[node as usize])
                    .collect()
            })
            .collect();
        assert_eq!(shown.len(), 3);
        for path in &shown {
            assert_eq!((path.len(), path[1]), (5, "ServicoAutenticacao"));
        }
        assert_eq!(shown[0][2..4], ["ModuloPagamento", "ClusterDB"]);
    }

    #[test]
    fn pairs_apart_have_no_path() {
        let graph = from_edges(4, &[(0, 1), (2, 3)]);
        for (from, to, expected) in [(0, 1, 1), (0, 2, 0), (3, 2, 1)] {
            let paths = PathSearch::new(from, to, present()).run(&graph.relations);
            assert_eq!(paths.paths.len(), expected);
            assert!(!paths.cut);
        }
    }

    /// Every simple path by exhaustive search, as (hops, cost).
    fn all_paths(
        edges: &[(u32, u32, f32)],
        path: &mut Vec<u32>,
        to: u32,
        left: u32,
        out: &mut Vec<(usize, f64)>,
    ) {
        let last = *path.last().expect("a path starts somewhere");
        if last == to {
            let cost = path
                .windows(2)
                .map(|step| {
                    edges
                        .iter()
                        .filter(|e| {
                            (e.0, e.1) == (step[0], step[1]) || (e.1, e.0) == (step[0], step[1])
                        })
                        .map(|e| 1.0 / f64::from(e.2))
                        .fold(f64::INFINITY, f64::min)
                })
                .sum();
            out.push((path.len() - 1, cost));
            return;
        }
        if left == 0 {
            return;
        }
        for next in 0..9 {
            let joined = edges
                .iter()
                .any(|e| (e.0, e.1) == (last, next) || (e.1, e.0) == (last, next));
            if joined && !path.contains(&next) {
                path.push(next);
                all_paths(edges, path, to, left - 1, out);
                path.pop();
            }
        }
    }

    proptest! {
        #[test]
        fn equals_an_exhaustive_search(
            edges in proptest::collection::vec((0_u32..9, 0_u32..9, 1_u8..9), 0..22),
            max_hops in 0_u32..7,
            limit in 1_usize..12,
        ) {
            let edges: Vec<(u32, u32, f32)> =
                edges.into_iter().map(|(a, b, w)| (a, b, f32::from(w))).collect();
            let graph = weighted(9, &edges);
            let search = PathSearch { max_hops, limit, ..PathSearch::new(0, 8, present()) };
            let paths = search.run(&graph.relations).paths;
            let mut expected = Vec::new();
            all_paths(&edges, &mut vec![0], 8, max_hops, &mut expected);
            expected.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            expected.truncate(limit);
            prop_assert_eq!(paths.len(), expected.len());
            for (path, (hops, cost)) in paths.iter().zip(expected) {
                prop_assert_eq!(path.nodes.len() - 1, hops);
                prop_assert!((path.cost - cost).abs() < 1e-9);
                let mut distinct = path.nodes.clone();
                distinct.sort_unstable();
                distinct.dedup();
                prop_assert_eq!(distinct.len(), path.nodes.len());
            }
        }
    }
}
