//! What `CALL` can name on the store.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::called::{communities, full_text, neighbors, pagerank, shortest_path, vector};
use super::names::{LABELS, TYPES, own_properties};
use super::store_graph::StoreGraph;
use crate::cypher::{Budget, LabelId, Procedure, ProcedureRows, PropertyGraph, Result, Value};
use crate::storage::graph_property;

type Run = fn(&StoreGraph<'_>, &[Value], &Budget) -> Result<ProcedureRows>;

struct Entry {
    name: &'static str,
    arguments: &'static [&'static str],
    required: usize,
    columns: &'static [&'static str],
    about: &'static str,
    run: Run,
}

const ENTRIES: &[Entry] = &[
    Entry {
        name: "db.labels",
        arguments: &[],
        required: 0,
        columns: &["label"],
        about: "labels that nodes have",
        run: |graph, _, _| {
            let labels = label_counts(graph);
            Ok(labels
                .into_iter()
                .map(|(name, _)| vec![Value::String(name)])
                .collect())
        },
    },
    Entry {
        name: "db.relationshipTypes",
        arguments: &[],
        required: 0,
        columns: &["relationshipType"],
        about: "types that relationships have",
        run: |graph, _, _| {
            let types = type_counts(graph)?;
            Ok(types
                .into_iter()
                .map(|(name, _)| vec![Value::String(name)])
                .collect())
        },
    },
    Entry {
        name: "db.propertyKeys",
        arguments: &[],
        required: 0,
        columns: &["propertyKey"],
        about: "properties that nodes and relationships may have",
        run: |graph, _, _| {
            let mut names: Vec<Arc<str>> = own_properties().map(Arc::from).collect();
            names.extend(graph.names.given.iter().cloned());
            names.sort();
            names.dedup();
            Ok(names
                .into_iter()
                .map(|name| vec![Value::String(name)])
                .collect())
        },
    },
    Entry {
        name: "db.schema.visualization",
        arguments: &[],
        required: 0,
        columns: &["nodes", "relationships"],
        about: "one row: labels and relationship types, each with its number",
        run: |graph, _, _| {
            let listed = |counts: Vec<(Arc<str>, u64)>, name: &str| {
                let entries = counts.into_iter().map(|(label, count)| {
                    Value::map(BTreeMap::from([
                        (Arc::from(name), Value::String(label)),
                        (Arc::from("count"), Value::Integer(count as i64)),
                    ]))
                });
                Value::list(entries.collect::<Result<_>>()?)
            };
            let nodes = listed(label_counts(graph), "label")?;
            Ok(vec![vec![nodes, listed(type_counts(graph)?, "type")?]])
        },
    },
    Entry {
        name: "show_tables",
        arguments: &[],
        required: 0,
        columns: &["name", "type", "count"],
        about: "labels (NODE) and relationship types (REL), each with its number",
        run: |graph, _, _| {
            let rows = |counts: Vec<(Arc<str>, u64)>, kind: &'static str| {
                counts.into_iter().map(move |(name, count)| {
                    vec![
                        Value::String(name),
                        Value::string(kind),
                        Value::Integer(count as i64),
                    ]
                })
            };
            let nodes = rows(label_counts(graph), "NODE");
            Ok(nodes.chain(rows(type_counts(graph)?, "REL")).collect())
        },
    },
    Entry {
        name: "search.fulltext",
        arguments: &["query", "limit"],
        required: 1,
        columns: &["node", "score"],
        about: "passages by words, best first",
        run: full_text,
    },
    Entry {
        name: "db.index.fulltext.queryNodes",
        arguments: &["index", "query", "limit"],
        required: 2,
        columns: &["node", "score"],
        about: "the same under the name that Neo4j has for it; there is one index",
        run: |graph, arguments, budget| full_text(graph, &arguments[1..], budget),
    },
    Entry {
        name: "search.vector",
        arguments: &["query", "limit"],
        required: 1,
        columns: &["node", "score"],
        about: "passages by likeness to a text, nearest first",
        run: |graph, arguments, _| vector(graph, &arguments[0], arguments.get(1)),
    },
    Entry {
        name: "db.index.vector.queryNodes",
        arguments: &["index", "limit", "query"],
        required: 3,
        columns: &["node", "score"],
        about: "the same under the name that Neo4j has for it; there is one index",
        run: |graph, arguments, _| vector(graph, &arguments[2], Some(&arguments[1])),
    },
    Entry {
        name: "graph.neighbors",
        arguments: &["node", "hops", "limit"],
        required: 1,
        columns: &["node", "depth"],
        about: "entities around one, nearest first",
        run: neighbors,
    },
    Entry {
        name: "graph.pagerank",
        arguments: &["node", "limit"],
        required: 1,
        columns: &["node", "score"],
        about: "where walks from an entity come to rest: personalised PageRank",
        run: pagerank,
    },
    Entry {
        name: "graph.communities",
        arguments: &["level"],
        required: 0,
        columns: &["community", "level", "title", "size"],
        about: "communities, of one level (0 is the coarsest) or of all",
        run: communities,
    },
    Entry {
        name: "graph.shortestPath",
        arguments: &["from", "to", "hops", "limit"],
        required: 2,
        columns: &["path", "cost"],
        about: "shortest paths between two entities, the strongest first",
        run: shortest_path,
    },
];

/// Procedures that list or count communities.
const READERS_OF_COMMUNITIES: &[&str] = &[
    "graph.communities",
    "show_tables",
    "db.labels",
    "db.relationshipTypes",
    "db.schema.visualization",
];

/// The procedures as the binder sees them.
pub(super) fn table() -> Vec<Procedure> {
    ENTRIES
        .iter()
        .map(|entry| Procedure {
            name: entry.name.to_owned(),
            arguments: entry.arguments.to_vec(),
            required: entry.required,
            columns: entry.columns.to_vec(),
            about: entry.about,
        })
        .collect()
}

/// Rows of the procedure at a place of the table.
pub(super) fn call(
    graph: &StoreGraph<'_>,
    place: usize,
    arguments: &[Value],
    budget: &Budget,
) -> Result<ProcedureRows> {
    (ENTRIES[place].run)(graph, arguments, budget)
}

/// Whether the procedure at a place of the table reads communities.
pub(super) fn lists_communities(place: usize) -> bool {
    READERS_OF_COMMUNITIES.contains(&ENTRIES[place].name)
}

/// Labels with their numbers of nodes, those of every store first; those of none are left out.
pub(super) fn label_counts(graph: &StoreGraph<'_>) -> Vec<(Arc<str>, u64)> {
    let own = LABELS.iter().zip(0..).map(|((name, _), own)| {
        let count = match own {
            3 => graph_property::community_ids(graph.connection, graph.namespace)
                .map_or(0, |ids| ids.len() as u64),
            _ => graph.count_nodes(Some(LabelId(own))),
        };
        (Arc::from(*name), count)
    });
    let types = graph.names.entity_types.iter();
    let types = types.map(|(name, entities)| (Arc::clone(name), entities.len() as u64));
    own.chain(types).filter(|(_, count)| *count > 0).collect()
}

/// Relationship types with their numbers of relationships at the asked time; those of none are left out.
pub(super) fn type_counts(graph: &StoreGraph<'_>) -> Result<Vec<(Arc<str>, u64)>> {
    let of = graph.graph;
    let mut counts = vec![
        of.mentions.len() as u64,
        of.chunks.len() as u64,
        (of.chunks.len()
            - (0..of.documents.len() as u32)
                .filter(|&document| !of.document_chunks.row(document).is_empty())
                .count()) as u64,
        graph.members()?.by_entity.len() as u64,
    ];
    counts.resize(TYPES.len() + graph.names.relation_types.len(), 0);
    for position in 0..of.relations.len() {
        if of.relations.is_visible(position, graph.at) {
            let id = of.relations.kind(position).relation_type;
            let place = graph
                .names
                .relation_types
                .binary_search_by_key(&id, |(id, _)| *id);
            if let Ok(place) = place {
                counts[TYPES.len() + place] += 1;
            }
        }
    }
    let counts = counts.into_iter().zip(0..).filter(|(count, _)| *count > 0);
    Ok(counts
        .map(|(count, number)| (graph.names.type_name(number), count))
        .collect())
}
