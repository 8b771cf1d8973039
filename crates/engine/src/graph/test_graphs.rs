//! Small graphs for the tests of this folder.

use std::collections::BTreeMap;

use super::*;
use crate::types::{RelationId, RelationTypeId, Timestamp};

/// The moment that tests call now.
pub(super) const NOW: i64 = 1_700_000_000_000;

pub(super) fn present() -> Moment {
    Moment::present(Timestamp(NOW))
}

/// Entities `0..nodes` (row ids from 1), one relation type, relations that always hold.
pub(super) fn from_edges(nodes: u32, edges: &[(u32, u32)]) -> Graph {
    let dated_edges: Vec<_> = edges.iter().map(|&edge| (edge, (None, None))).collect();
    dated(nodes, &dated_edges)
}

/// Source and target, and the start and end of the valid time.
pub(super) type DatedEdge = ((u32, u32), (Option<i64>, Option<i64>));

/// The same with valid times.
pub(super) fn dated(nodes: u32, edges: &[DatedEdge]) -> Graph {
    let mut builder = GraphBuilder::new(1, entity_ids(nodes), Vec::new());
    for (&((source, target), (from, to)), id) in edges.iter().zip(1..) {
        builder.relation(&RelationRow {
            id: RelationId(id),
            source: EntityId(i64::from(source) + 1),
            target: EntityId(i64::from(target) + 1),
            relation_type: RelationTypeId(1),
            weight: 1.0,
            window: Window::new(from.map(Timestamp), to.map(Timestamp), Timestamp(1), None),
        });
    }
    builder.build().0
}

pub(super) fn entity_ids(nodes: u32) -> Vec<EntityId> {
    (1..=i64::from(nodes)).map(EntityId).collect()
}

/// The seed article's example: its graph, its entities by index (sorted by name), its relation types.
pub(super) fn seed_graph() -> (
    Graph,
    Vec<&'static str>,
    BTreeMap<&'static str, RelationTypeId>,
) {
    const EDGES: [(&str, &str, &str); 9] = [
        ("ServicoAutenticacao", "DEPENDE_DE", "ModuloPagamento"),
        ("ServicoAutenticacao", "DEPENDE_DE", "StoreSessao"),
        ("ServicoAutenticacao", "DELEGADO_A", "TimeIAM"),
        ("TimeIAM", "ADMINISTRA", "ServicoAutenticacao"),
        ("ModuloPagamento", "EXECUTA_EM", "ClusterDB"),
        ("ModuloPagamento", "EXECUTA_EM", "ClusterK8sAlpha"),
        ("StoreSessao", "EXECUTA_EM", "ClusterK8sAlpha"),
        ("ServicoLogs", "EXECUTA_EM", "ClusterDB"),
        ("ServicoLogs", "EXECUTA_EM", "ClusterK8sAlpha"),
    ];
    let mut names: Vec<&str> = EDGES.iter().flat_map(|edge| [edge.0, edge.2]).collect();
    names.sort_unstable();
    names.dedup();
    let mut kinds: Vec<&str> = EDGES.iter().map(|edge| edge.1).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let types: BTreeMap<_, _> = kinds.into_iter().zip((1..).map(RelationTypeId)).collect();
    let entity = |name| {
        let rank = names.binary_search(&name).expect("every name is listed");
        EntityId(rank as i64 + 1)
    };
    let mut builder = GraphBuilder::new(1, entity_ids(names.len() as u32), Vec::new());
    for ((source, kind, target), id) in EDGES.into_iter().zip(1..) {
        builder.relation(&RelationRow {
            id: RelationId(id),
            source: entity(source),
            target: entity(target),
            relation_type: types[kind],
            weight: 1.0,
            window: Window::new(None, None, Timestamp(1), None),
        });
    }
    (builder.build().0, names, types)
}
