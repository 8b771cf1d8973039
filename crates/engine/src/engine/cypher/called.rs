//! What the procedures do.

use std::cell::RefCell;
use std::sync::Arc;

use super::kinds::{LinkKind, NodeKind};
use super::store_graph::StoreGraph;
use crate::cypher::{Budget, CypherError, ErrorKind, Path, ProcedureRows, Result, Value};
use crate::graph::pagerank::{Push, WeightedGraph, personalised};
use crate::graph::{EdgeFilter, Graph, HubRule, PathSearch, Traversal};
use crate::retrieval::{NONE_STORED, Vectors};
use crate::storage::{communities_of_level, full_text, graph_property, known_languages};
use crate::text::query_terms;
use crate::types::{ChunkId, Direction};

/// Most rows of a procedure that is asked for no number.
const ROWS: usize = 20;

pub(super) fn full_text(
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

pub(super) fn vector(
    graph: &StoreGraph<'_>,
    query: &Value,
    limit: Option<&Value>,
) -> Result<ProcedureRows> {
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

pub(super) fn neighbors(
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

pub(super) fn pagerank(
    graph: &StoreGraph<'_>,
    arguments: &[Value],
    budget: &Budget,
) -> Result<ProcedureRows> {
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

pub(super) fn communities(
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

pub(super) fn shortest_path(
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
            Some(LinkKind::Relation(position).id())
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
