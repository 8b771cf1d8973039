//! What `CALL` can name on the store.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::kinds::NodeKind;
use super::names::{LABELS, TYPES, own_properties};
use super::store_graph::StoreGraph;
use crate::cypher::{
    Budget, CypherError, ErrorKind, LabelId, Path, Procedure, ProcedureRows, PropertyGraph,
};
use crate::cypher::{Result, Value};
use crate::graph::pagerank::{Push, WeightedGraph, personalised};
use crate::graph::{EdgeFilter, Graph, HubRule, PathSearch, Traversal};
use crate::retrieval::{NONE_STORED, Vectors};
use crate::storage::{communities_of_level, full_text, graph_property, known_languages};
use crate::text::query_terms;
use crate::types::{ChunkId, Direction};

type Run = fn(&StoreGraph<'_>, &[Value], &Budget) -> Result<ProcedureRows>;

const COMMUNITIES: &str = "graph.communities";
/// Most rows of a procedure that is asked for no number.
const ROWS: usize = 20;

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
        name: COMMUNITIES,
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
    ENTRIES[place].name == COMMUNITIES
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

fn full_text(
    graph: &StoreGraph<'_>,
    arguments: &[Value],
    budget: &Budget,
) -> Result<ProcedureRows> {
    let words = text(&arguments[0])?;
    let limit = count(arguments.get(1), ROWS)?;
    let languages = known_languages(graph.connection, graph.namespace)?;
    let terms = query_terms(words, &languages);
    let wanted = limit + graph.hidden.chunks.len();
    let hits = full_text::search(graph.connection, graph.namespace, &terms, None, wanted)?;
    budget.look()?;
    Ok(hits
        .into_iter()
        .filter_map(|(chunk, score)| {
            let chunk = graph.graph.chunks.get(chunk)?;
            let node = NodeKind::Chunk(chunk).id();
            graph
                .is_there(chunk)
                .then(|| vec![Value::Node(node), Value::Float(score)])
        })
        .take(limit)
        .collect())
}

fn vector(graph: &StoreGraph<'_>, query: &Value, limit: Option<&Value>) -> Result<ProcedureRows> {
    let limit = count(limit, ROWS)?;
    let (index, question) = match (graph.vectors)(text(query)?) {
        Vectors::Ready { index, question } => (index, question),
        Vectors::NoneStored => return Err(no_vectors(NONE_STORED.to_owned())),
        Vectors::Absent(_, reason) => return Err(no_vectors(reason)),
    };
    let place = |chunk: i64| {
        let chunk = graph.graph.chunks.get(ChunkId(chunk));
        chunk.filter(|&chunk| graph.is_there(chunk))
    };
    let hits = index
        .search(&question, limit, |chunk| place(chunk).is_some())
        .map_err(|error| no_vectors(error.to_string()))?;
    Ok(hits
        .into_iter()
        .filter_map(|hit| {
            let node = NodeKind::Chunk(place(hit.owner)?).id();
            Some(vec![Value::Node(node), Value::Float(hit.score)])
        })
        .collect())
}

fn no_vectors(reason: String) -> CypherError {
    CypherError::runtime(ErrorKind::ProcedureError, "NoVectors", reason)
}

fn neighbors(
    graph: &StoreGraph<'_>,
    arguments: &[Value],
    budget: &Budget,
) -> Result<ProcedureRows> {
    let traversal = Traversal {
        max_hops: count(arguments.get(1), 2)? as u32,
        max_nodes: count(arguments.get(2), 60)? + 1,
        ..Traversal::new(entities(graph, &arguments[0])?, graph.at)
    };
    let (nodes, _) = traversal.nodes(&graph.graph.relations);
    budget.look()?;
    Ok(nodes
        .iter()
        .filter(|reached| reached.depth > 0)
        .map(|reached| {
            let node = NodeKind::Entity(reached.entity).id();
            vec![Value::Node(node), Value::Integer(i64::from(reached.depth))]
        })
        .collect())
}

/// The relations that can be seen at a time, weighted, in both directions.
struct Weighted<'g> {
    graph: &'g Graph,
    filter: EdgeFilter,
    budget: &'g Budget,
    /// Why the walk is to end: from then on no edge leads on.
    stopped: RefCell<Option<CypherError>>,
}

impl WeightedGraph for Weighted<'_> {
    fn nodes(&self) -> usize {
        self.graph.relations.nodes()
    }

    fn degree(&self, node: u32) -> usize {
        self.graph.relations.row_length(node)
    }

    fn edges(&self, node: u32, out: &mut Vec<(u32, f64)>) {
        let relations = &self.graph.relations;
        let mut stopped = self.stopped.borrow_mut();
        if stopped.is_none() {
            *stopped = self.budget.look().err();
        }
        if stopped.is_some() {
            return;
        }
        relations.each_neighbor(node, &self.filter, |other, position| {
            let weight = f64::from(relations.weight(position));
            if weight > 0.0 {
                out.push((other, weight));
            }
        });
    }
}

fn pagerank(graph: &StoreGraph<'_>, arguments: &[Value], budget: &Budget) -> Result<ProcedureRows> {
    let starts = entities(graph, &arguments[0])?;
    let limit = count(arguments.get(1), ROWS)?;
    let relations = &graph.graph.relations;
    let weighted = Weighted {
        graph: graph.graph,
        filter: EdgeFilter::new(relations, Direction::Both, None, graph.at),
        budget,
        stopped: RefCell::default(),
    };
    let mass = 1.0 / starts.len().max(1) as f64;
    let reset: Vec<(u32, f64)> = starts.into_iter().map(|start| (start, mass)).collect();
    let push = Push {
        damping: 0.85,
        threshold: 1e-7,
    };
    let mut ranked = personalised(&weighted, &reset, push);
    if let Some(error) = weighted.stopped.take() {
        return Err(error);
    }
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    Ok(ranked
        .into_iter()
        .take(limit)
        .map(|(entity, score)| {
            vec![
                Value::Node(NodeKind::Entity(entity).id()),
                Value::Float(score),
            ]
        })
        .collect())
}

fn communities(
    graph: &StoreGraph<'_>,
    arguments: &[Value],
    budget: &Budget,
) -> Result<ProcedureRows> {
    let level = match arguments.first() {
        None | Some(Value::Null) => None,
        level => Some(count(level, 0)?),
    };
    let (connection, namespace) = (graph.connection, graph.namespace);
    // One that is not split stands at several levels.
    let ids: Vec<i64> = match level {
        Some(level) => communities_of_level(connection, namespace, level)?
            .into_iter()
            .map(|(id, _)| id)
            .collect(),
        None => graph_property::community_ids(connection, namespace)?,
    };
    let row = |id: i64| {
        budget.look()?;
        let node = NodeKind::Community(id as u32).id();
        let properties = graph.properties_of_node(node)?;
        let property = |name: &str| {
            let found = properties.iter().find(|(known, _)| **known == *name);
            found.map_or(Value::Null, |(_, value)| value.clone())
        };
        let level = match level {
            Some(level) => Value::Integer(level as i64),
            None => property("level"),
        };
        Ok(vec![
            Value::Node(node),
            level,
            property("title"),
            property("size"),
        ])
    };
    ids.into_iter().map(row).collect()
}

fn shortest_path(
    graph: &StoreGraph<'_>,
    arguments: &[Value],
    budget: &Budget,
) -> Result<ProcedureRows> {
    let stop = budget.stop();
    let (starts, ends) = (
        entities(graph, &arguments[0])?,
        entities(graph, &arguments[1])?,
    );
    let limit = count(arguments.get(3), 1)?;
    let mut found = Vec::new();
    for &from in &starts {
        for &to in &ends {
            let search = PathSearch {
                max_hops: count(arguments.get(2), 6)? as u32,
                limit,
                hubs: HubRule::Ignore,
                ..PathSearch::new(from, to, graph.at)
            };
            let paths = search.run_until(&graph.graph.relations, &stop);
            budget.look()?;
            found.extend(paths.paths);
        }
    }
    found.sort_by(|a, b| {
        let by_hops = a.edges.len().cmp(&b.edges.len());
        by_hops
            .then(a.cost.total_cmp(&b.cost))
            .then_with(|| a.nodes.cmp(&b.nodes))
    });
    found.truncate(limit);
    let mut rows = Vec::new();
    for path in found {
        let relations = &graph.graph.relations;
        let relationships = path.edges.iter().filter_map(|edge| {
            let position = relations
                .outgoing(edge.source)
                .find(|&position| relations.edge(position).relation == edge.relation)?;
            Some(super::kinds::LinkKind::Relation(position).id())
        });
        let shown = Path {
            nodes: path
                .nodes
                .iter()
                .map(|&node| NodeKind::Entity(node).id())
                .collect(),
            relationships: relationships.collect(),
        };
        rows.push(vec![Value::Path(Arc::new(shown)), Value::Float(path.cost)]);
    }
    Ok(rows)
}

/// Entities that an argument is or names: a node, a name or a public id.
fn entities(graph: &StoreGraph<'_>, value: &Value) -> Result<Vec<u32>> {
    let found: Vec<u32> = match value {
        Value::Node(node) => match NodeKind::of(*node) {
            NodeKind::Entity(entity) => vec![entity],
            _ => Vec::new(),
        },
        Value::String(name) => {
            let mut nodes = graph.nodes_with("id", name)?;
            if nodes.is_empty() {
                nodes = graph.nodes_with("name", name)?;
            }
            nodes
                .into_iter()
                .filter_map(|node| match NodeKind::of(node) {
                    NodeKind::Entity(entity) => Some(entity),
                    _ => None,
                })
                .collect()
        }
        other => return Err(wrong("an entity or its name", other)),
    };
    Ok(found)
}

fn text(value: &Value) -> Result<&str> {
    value.as_text().ok_or_else(|| wrong("a string", value))
}

fn count(value: Option<&Value>, default: usize) -> Result<usize> {
    match value {
        None | Some(Value::Null) => Ok(default),
        Some(Value::Integer(count)) if (0..=100_000).contains(count) => Ok(*count as usize),
        Some(Value::Integer(count)) => Err(CypherError::argument(format!(
            "this takes a number from 0 to 100000, not {count}"
        ))),
        Some(other) => Err(wrong("a number from 0 to 100000", other)),
    }
}

fn wrong(what: &str, value: &Value) -> CypherError {
    CypherError::runtime(
        ErrorKind::TypeError,
        "InvalidArgumentValue",
        format!("this takes {what}, not {}", value.type_name()),
    )
}
