use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Context, Function, Gives, on_value, wrong};
use crate::cypher::bind::Takes;
use crate::cypher::error::Result;
use crate::cypher::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    on_value(
        "id",
        (1, 1),
        &[Takes::NodeOrRelationship],
        Gives::Integer,
        |_, values| match &values[0] {
            Value::Node(id) => Ok(Value::Integer(id.0 as i64)),
            Value::Relationship(id) => Ok(Value::Integer(id.0 as i64)),
            other => Err(wrong("a node or a relationship", other)),
        },
    ),
    on_value(
        "elementid",
        (1, 1),
        &[Takes::NodeOrRelationship],
        Gives::String,
        |context, values| match &values[0] {
            Value::Node(id) => Ok(Value::String(context.graph.node_name(*id)?)),
            Value::Relationship(id) => Ok(Value::String(context.graph.relationship_name(*id)?)),
            other => Err(wrong("a node or a relationship", other)),
        },
    ),
    on_value(
        "labels",
        (1, 1),
        &[Takes::Node],
        Gives::Strings,
        |context, values| match &values[0] {
            Value::Node(id) => {
                let labels = context.graph.labels(*id)?;
                Value::list(labels.into_iter().map(Value::String).collect())
            }
            other => Err(wrong("a node", other)),
        },
    ),
    on_value(
        "type",
        (1, 1),
        &[Takes::Relationship],
        Gives::String,
        |context, values| match &values[0] {
            Value::Relationship(id) => Ok(Value::String(context.graph.type_name(*id)?)),
            other => Err(wrong("a relationship", other)),
        },
    ),
    on_value(
        "startnode",
        (1, 1),
        &[Takes::Relationship],
        Gives::Node,
        |context, values| match &values[0] {
            Value::Relationship(id) => Ok(Value::Node(context.graph.ends(*id).0)),
            other => Err(wrong("a relationship", other)),
        },
    ),
    on_value(
        "endnode",
        (1, 1),
        &[Takes::Relationship],
        Gives::Node,
        |context, values| match &values[0] {
            Value::Relationship(id) => Ok(Value::Node(context.graph.ends(*id).1)),
            other => Err(wrong("a relationship", other)),
        },
    ),
    on_value(
        "properties",
        (1, 1),
        &[Takes::HasProperties],
        Gives::Map,
        |context, values| Value::map(properties(context, &values[0])?),
    ),
    on_value(
        "keys",
        (1, 1),
        &[Takes::HasProperties],
        Gives::Strings,
        |context, values| {
            let keys = properties(context, &values[0])?.into_keys();
            Value::list(keys.map(Value::String).collect())
        },
    ),
    on_value(
        "nodes",
        (1, 1),
        &[Takes::Path],
        Gives::Nodes,
        |_, values| match &values[0] {
            Value::Path(path) => {
                Value::list(path.nodes.iter().map(|id| Value::Node(*id)).collect())
            }
            other => Err(wrong("a path", other)),
        },
    ),
    on_value(
        "relationships",
        (1, 1),
        &[Takes::Path],
        Gives::Relationships,
        relationships,
    ),
    on_value(
        "rels",
        (1, 1),
        &[Takes::Path],
        Gives::Relationships,
        relationships,
    ),
];

fn relationships(_: &Context<'_>, values: &[Value]) -> Result<Value> {
    match &values[0] {
        Value::Path(path) => {
            let ids = path.relationships.iter();
            Value::list(ids.map(|id| Value::Relationship(*id)).collect())
        }
        other => Err(wrong("a path", other)),
    }
}

/// Properties of a node or relationship, entries of a map.
pub(in crate::cypher) fn properties(
    context: &Context<'_>,
    value: &Value,
) -> Result<BTreeMap<Arc<str>, Value>> {
    Ok(match value {
        Value::Node(id) => context.graph.node_properties(*id)?.into_iter().collect(),
        Value::Relationship(id) => {
            let properties = context.graph.relationship_properties(*id)?;
            properties.into_iter().collect()
        }
        Value::Map(_) => value.as_map().cloned().unwrap_or_default(),
        other => return Err(wrong("a node, a relationship or a map", other)),
    })
}
