use std::cmp::Reverse;

use super::{Graph, Moment};

/// The entities of highest degree at `at` as (entity, degree), highest first, then by row id; entities
/// without relations are left out.
pub fn hubs(graph: &Graph, at: Moment, limit: usize) -> Vec<(u32, u32)> {
    let nodes = graph.relations.nodes() as u32;
    let mut all: Vec<(u32, u32)> = (0..nodes)
        .map(|entity| (entity, graph.relations.degree(entity, at)))
        .filter(|&(_, degree)| degree > 0)
        .collect();
    let order = |&(entity, degree): &(u32, u32)| (Reverse(degree), entity);
    if limit < all.len() {
        all.select_nth_unstable_by_key(limit, order);
        all.truncate(limit);
    }
    all.sort_unstable_by_key(order);
    all
}

/// Entities that stand for a document and have no relation at `at`, by row id.
pub fn orphans(graph: &Graph, at: Moment) -> impl Iterator<Item = u32> + '_ {
    (0..graph.relations.nodes() as u32).filter(move |&entity| {
        !graph.title_documents.row(entity).is_empty() && graph.relations.degree(entity, at) == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::test_graphs::{dated, entity_ids, from_edges, present, seed_graph};
    use crate::graph::{DocumentRow, GraphBuilder};
    use crate::types::DocumentId;

    #[test]
    fn hubs_come_by_degree_then_row_id() {
        #[track_caller]
        fn check(graph: &Graph, limit: usize, expected: &[(u32, u32)]) {
            assert_eq!(hubs(graph, present(), limit), expected);
        }
        check(&Graph::empty(0), 5, &[]);
        check(&from_edges(3, &[]), 5, &[]);
        let (seed, names, _) = seed_graph();
        let top = hubs(&seed, present(), 1);
        assert_eq!(names[top[0].0 as usize], "ServicoAutenticacao");
        let graph = from_edges(5, &[(0, 1), (3, 2), (3, 1)]);
        check(&graph, 0, &[]);
        check(&graph, 3, &[(1, 2), (3, 2), (0, 1)]);
        check(&graph, 9, &[(1, 2), (3, 2), (0, 1), (2, 1)]);
        // A relation that has ended adds nothing.
        let ended = dated(2, &[((0, 1), (None, Some(5)))]);
        check(&ended, 9, &[]);
    }

    #[test]
    fn orphans_are_documents_without_relations() {
        let ids = entity_ids(4);
        let documents = [0, 2]
            .map(|entity| DocumentRow {
                id: DocumentId(i64::from(entity)),
                title: Some(ids[entity as usize]),
            })
            .to_vec();
        let (graph, _) = GraphBuilder::new(1, ids, documents).build();
        assert_eq!(orphans(&graph, present()).collect::<Vec<_>>(), [0, 2]);
    }
}
