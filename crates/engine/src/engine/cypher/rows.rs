//! Queries of questions: their rows, and what the rows rest on: nodes, relations, and the passages that state them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use super::kinds::{LinkKind, NodeKind};
use super::names::plain;
use super::store_graph::StoreGraph;
use crate::cypher::{
    Budget, Flow, Limits, Parameters, Path, PropertyGraph, Query, RelationshipId, Result, Value,
};
use crate::graph::EdgeFilter;
use crate::storage;
use crate::text::fold;
use crate::types::{
    Citation, CypherRows, Direction, GraphAnswer, GraphNode, GraphQuery, GraphRelation, GraphRow,
};

/// Most rows of a question's query.
pub(super) const ROWS: usize = 50;
/// Most passages shown for one relation, for one row and for the answer.
const EVIDENCE: (usize, usize, usize) = (2, 6, 60);
/// Most nodes and relations of one row.
const PARTS: usize = 12;
/// Longest value of a row as text, in characters; most items of a list.
const LONGEST: usize = 300;
const ITEMS: usize = 20;
/// Names longer than this are no names, in bytes.
const LONGEST_NAME: usize = 200;
/// Relations between what a row names are not looked for around a node with more of them than this.
const HUB: usize = 5_000;

/// What one query of a question may use.
pub(super) fn limits() -> Limits {
    Limits {
        rows: ROWS as u64 + 1,
        time: Duration::from_secs(5),
        memory: 64 << 20,
        ..Limits::default()
    }
}

/// Runs a query and adds what it gives to `answer`; a mistake in it is noted there too. `anchors` are the entities
/// that the question names.
pub(super) fn run(
    (graph, now, budget): (&StoreGraph<'_>, i128, &Budget),
    query: &str,
    parameters: &Parameters,
    anchors: &[u32],
    answer: &mut GraphAnswer,
) -> Result<()> {
    let mut found = GraphQuery {
        query: query.to_owned(),
        parameters: parameters
            .iter()
            .map(|(name, value)| Ok((name.clone(), graph.json(value, budget)?)))
            .collect::<Result<BTreeMap<_, _>>>()?,
        ..GraphQuery::default()
    };
    match rows_of(graph, now, query, parameters, budget, &mut found) {
        Ok(rows) => {
            let types = Types::of(graph, query);
            for values in &rows {
                let columns = &found.answer.columns;
                let ground = Ground::new(graph, anchors, &types, &mut answer.evidence);
                let mut row = ground.row(columns, values)?;
                row.query = answer.queries.len() + 1;
                answer.rows.push(row);
            }
        }
        // The graph itself failed: that is no mistake of the query.
        Err(error) if error.cause.is_some() => return Err(error),
        Err(error) => {
            found.answer = CypherRows::default();
            found.error = Some(error.to_string());
        }
    }
    answer.queries.push(found);
    Ok(())
}

fn rows_of(
    graph: &StoreGraph<'_>,
    now: i128,
    query: &str,
    parameters: &Parameters,
    budget: &Budget,
    found: &mut GraphQuery,
) -> Result<Vec<Vec<Value>>> {
    let bound = Query::new(query, graph, parameters)?;
    found.answer.columns = bound.columns().iter().map(ToString::to_string).collect();
    let mut rows = Vec::new();
    bound.run(graph, now, budget, &mut |values| {
        if rows.len() == ROWS {
            found.is_cut = true;
            return Ok(Flow::Stop);
        }
        // What an aggregate gives over no rows says nothing.
        let is_nothing = values.iter().all(|value| match value {
            Value::Null | Value::Integer(0) => true,
            list => list.as_list().is_some_and(<[Value]>::is_empty),
        });
        if !is_nothing {
            let shown = values.iter().map(|value| graph.json(value, budget));
            found.answer.rows.push(shown.collect::<Result<_>>()?);
            rows.push(values.to_vec());
        }
        Ok(Flow::Continue)
    })?;
    Ok(rows)
}

/// The relation types that a query names; all where it names none.
struct Types(Option<Vec<u32>>);

impl Types {
    fn of(graph: &StoreGraph<'_>, query: &str) -> Self {
        let query = format!(" {} ", plain(query));
        let types = graph.names.relation_types.iter().zip(0..);
        let named: Vec<u32> = types
            .filter(|((_, name), _)| query.contains(&format!(" {} ", plain(name))))
            .map(|(_, place)| place)
            .collect();
        Self((!named.is_empty()).then_some(named))
    }

    fn has(&self, graph: &StoreGraph<'_>, position: usize) -> bool {
        let id = graph.graph.relations.kind(position).relation_type;
        let types = &graph.names.relation_types;
        self.0
            .as_ref()
            .is_none_or(|named| named.iter().any(|place| types[*place as usize].0 == id))
    }
}

/// Gathers what one row rests on.
struct Ground<'g> {
    graph: &'g StoreGraph<'g>,
    anchors: &'g [u32],
    types: &'g Types,
    evidence: &'g mut Vec<Citation>,
    entities: Vec<u32>,
    relations: Vec<usize>,
    passages: Vec<Citation>,
}

impl<'g> Ground<'g> {
    fn new(
        graph: &'g StoreGraph<'g>,
        anchors: &'g [u32],
        types: &'g Types,
        evidence: &'g mut Vec<Citation>,
    ) -> Self {
        Self {
            graph,
            anchors,
            types,
            evidence,
            entities: Vec::new(),
            relations: Vec::new(),
            passages: Vec::new(),
        }
    }

    fn row(mut self, columns: &[String], values: &[Value]) -> Result<GraphRow> {
        for value in values {
            self.take(value)?;
        }
        if self.relations.is_empty() {
            self.relate();
        }
        let graph = self.graph;
        for position in &self.relations {
            let relation = graph.graph.relations.edge(*position).relation;
            let stated = storage::citations_of_relation(graph.connection, relation, EVIDENCE.0)?;
            self.passages.extend(stated);
        }
        let mut evidence = Vec::new();
        for passage in self.passages.into_iter().take(EVIDENCE.1) {
            let known = self.evidence.iter().position(|known| *known == passage);
            let number = match known {
                Some(place) => place + 1,
                None if self.evidence.len() == EVIDENCE.2 => continue,
                None => {
                    self.evidence.push(passage);
                    self.evidence.len()
                }
            };
            if !evidence.contains(&number) {
                evidence.push(number);
            }
        }
        let cells = columns.iter().zip(values).filter_map(|(column, value)| {
            let text = match text(graph, value) {
                Ok(text) if text.is_empty() => return None,
                Ok(text) => text,
                Err(error) => return Some(Err(error)),
            };
            Some(Ok(format!("{}: {text}", one_line(column))))
        });
        let cells: Vec<String> = cells.collect::<Result<_>>()?;
        let node = |entity: &u32| node_of(graph, *entity);
        let relation = |position: &usize| relation_of(graph, *position);
        Ok(GraphRow {
            query: 0,
            text: cells.join(" · "),
            nodes: self.entities.iter().map(node).collect::<Result<_>>()?,
            relations: self.relations.iter().map(relation).collect::<Result<_>>()?,
            evidence,
        })
    }

    /// What a value is, holds or names.
    fn take(&mut self, value: &Value) -> Result<()> {
        match value {
            Value::Node(node) => match NodeKind::of(*node) {
                NodeKind::Entity(entity) => self.entity(entity),
                NodeKind::Chunk(chunk) => {
                    let id = self.graph.chunk_id(chunk);
                    let passage = storage::citation_of_chunk(self.graph.connection, id)?;
                    self.passages.push(passage);
                }
                NodeKind::Document(_) | NodeKind::Community(_) => {}
            },
            Value::Relationship(id) => self.relationship(*id),
            Value::Path(path) => {
                for node in &path.nodes {
                    self.take(&Value::Node(*node))?;
                }
                for id in &path.relationships {
                    self.relationship(*id);
                }
            }
            Value::List(_) => {
                for item in value.as_list().unwrap_or_default().iter().take(ITEMS) {
                    self.take(item)?;
                }
            }
            Value::String(name) if name.len() <= LONGEST_NAME => {
                let (connection, namespace) = (self.graph.connection, self.graph.namespace);
                for id in storage::entities_of_form(connection, namespace, &fold(name))? {
                    if let Some(entity) = self.graph.graph.entities.get(id)
                        && *self.graph.names.entity_name(self.graph, entity)? == **name
                    {
                        self.entity(entity);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn entity(&mut self, entity: u32) {
        if self.entities.len() < PARTS && !self.entities.contains(&entity) {
            self.entities.push(entity);
        }
    }

    fn relationship(&mut self, id: RelationshipId) {
        if let LinkKind::Relation(position) = LinkKind::of(id)
            && self.relations.len() < PARTS
            && !self.relations.contains(&position)
        {
            self.relations.push(position);
            self.entity(self.graph.graph.relations.source_of(position));
            self.entity(self.graph.graph.relations.target_of(position));
        }
    }

    /// Relations between the entities of the row, and between them and what the question names: a query that returns
    /// names alone rests on them.
    fn relate(&mut self) {
        let relations = &self.graph.graph.relations;
        let filter = EdgeFilter::new(relations, Direction::Both, None, self.graph.at);
        for (number, &entity) in self.entities.iter().enumerate() {
            if relations.row_length(entity) > HUB {
                continue;
            }
            relations.each_neighbor(entity, &filter, |other, position| {
                let is_met =
                    self.anchors.contains(&other) || self.entities[number + 1..].contains(&other);
                if is_met
                    && self.relations.len() < PARTS
                    && !self.relations.contains(&position)
                    && self.types.has(self.graph, position)
                {
                    self.relations.push(position);
                }
            });
        }
    }
}

fn node_of(graph: &StoreGraph<'_>, entity: u32) -> Result<GraphNode> {
    let id = graph.node_name(NodeKind::Entity(entity).id())?;
    Ok(GraphNode {
        public_id: crate::types::PublicId(id.to_string()),
        name: graph.names.entity_name(graph, entity)?.to_string(),
    })
}

fn relation_of(graph: &StoreGraph<'_>, position: usize) -> Result<GraphRelation> {
    let relations = &graph.graph.relations;
    let name = |entity| graph.names.entity_name(graph, entity);
    let kind = graph.type_name(LinkKind::Relation(position).id())?;
    Ok(GraphRelation {
        source: name(relations.source_of(position))?.to_string(),
        relation: kind.to_string(),
        target: name(relations.target_of(position))?.to_string(),
    })
}

/// A value in one line, for people and models.
pub(super) fn text(graph: &StoreGraph<'_>, value: &Value) -> Result<String> {
    Ok(match value {
        Value::Null => String::new(),
        Value::String(text) => one_line(text),
        Value::Node(node) => node_text(graph, *node)?,
        Value::Relationship(id) => {
            let (source, target) = graph.ends(*id);
            let mut shown = format!(
                "{} -[{}]-> {}",
                node_text(graph, source)?,
                one_line(&graph.type_name(*id)?),
                node_text(graph, target)?
            );
            for time in ["valid_from", "valid_to"] {
                let value = graph.property_of_relationship(*id, time)?;
                if !value.is_null() {
                    let _ = write!(shown, " ({time} {value})");
                }
            }
            shown
        }
        Value::Path(path) => path_text(graph, path)?,
        Value::List(_) => {
            let items = value.as_list().unwrap_or_default();
            let mut shown: Vec<String> = items
                .iter()
                .take(ITEMS)
                .map(|item| text(graph, item))
                .collect::<Result<_>>()?;
            if items.len() > ITEMS {
                shown.push(format!("… {} more", items.len() - ITEMS));
            }
            shown.join(", ")
        }
        other => one_line(&graph.json(other, &Budget::new(limits()))?.to_string()),
    })
}

fn path_text(graph: &StoreGraph<'_>, path: &Path) -> Result<String> {
    let mut shown = String::new();
    for (place, node) in path.nodes.iter().enumerate() {
        if let Some(before) = place.checked_sub(1) {
            let id = path.relationships[before];
            let kind = one_line(&graph.type_name(id)?);
            let arrow = if graph.ends(id).1 == *node {
                format!(" -[{kind}]-> ")
            } else {
                format!(" <-[{kind}]- ")
            };
            shown.push_str(&arrow);
        }
        shown.push_str(&node_text(graph, *node)?);
    }
    Ok(shown)
}

/// What people call a node: name or title, else the beginning of its text.
fn node_text(graph: &StoreGraph<'_>, node: crate::cypher::NodeId) -> Result<String> {
    let wanted = match NodeKind::of(node) {
        NodeKind::Chunk(_) => "text",
        _ => "name",
    };
    match graph.property_of_node(node, wanted)? {
        Value::String(name) => Ok(one_line(&name)),
        _ => Ok(one_line(&graph.node_name(node)?)),
    }
}

/// Without line breaks, control characters and what is past the longest.
fn one_line(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    let mut words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = words.char_indices().nth(LONGEST) {
        words.truncate(cut);
        words.push('…');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_line() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            assert_eq!(one_line(text), expected);
        }
        check(" a\n\u{1b}[31m b\u{0} ", "a [31m b");
        check("", "");
        assert_eq!(one_line(&"é".repeat(400)).chars().count(), LONGEST + 1);
    }
}
