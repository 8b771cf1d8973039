//! Start graphs: a small reader of `CREATE`, whose other clauses our own reader runs on the graph so far.

use std::collections::BTreeMap;
use std::sync::Arc;

use malha_engine::cypher::{Budget, Flow, Limits, MemoryGraph, NodeId, Parameters, Query, Value};
use open_cypher::ast::{
    Clause, ClauseKind, ExprKind, LabelExpression, LabelExpressionKind, NodePattern,
    PathFactorKind, Pattern, QueryKind, RelationshipDirection, RelationshipPattern, StatementKind,
};

type Names = BTreeMap<String, Value>;

/// Adds to a graph what a script creates.
pub(crate) fn create(graph: &mut MemoryGraph, script: &str) -> Result<(), String> {
    let parsed = open_cypher::parse(script).map_err(|errors| errors.to_string())?;
    let Some(StatementKind::Query(statement)) = parsed
        .program
        .statements
        .first()
        .map(|statement| &statement.kind)
    else {
        return Ok(());
    };
    let QueryKind::Regular(query) = &statement.query.kind else {
        return Err("no regular query".to_owned());
    };
    let mut rows = vec![Names::new()];
    for clause in &query.head.kind.clauses {
        match &clause.kind {
            ClauseKind::Create(created) => {
                for row in &mut rows {
                    create_pattern(graph, script, &created.pattern, row)?;
                }
            }
            ClauseKind::Match(_) | ClauseKind::Unwind(_) | ClauseKind::With(_) => {
                rows = read(graph, script, clause, rows)?;
            }
            ClauseKind::Delete(deleted) => {
                let names = deleted
                    .expressions
                    .iter()
                    .filter_map(|expr| match &expr.kind {
                        ExprKind::Variable(name) => Some(name.kind.text.as_str()),
                        _ => None,
                    });
                let gone: Vec<Value> = names
                    .flat_map(|name| rows.iter().filter_map(|row| row.get(name).cloned()))
                    .collect();
                *graph = without(graph, &gone);
            }
            _ => {
                let text = clause.span.text(script).unwrap_or_default();
                return Err(format!("a start graph with {text}"));
            }
        }
    }
    Ok(())
}

/// A graph without some of its relationships.
fn without(graph: &MemoryGraph, gone: &[Value]) -> MemoryGraph {
    let parameters = Parameters::new();
    let mut copy = MemoryGraph::default();
    let nodes = run(
        graph,
        "MATCH (n) RETURN labels(n), properties(n)",
        &parameters,
    );
    for row in nodes.expect("every graph has these").1 {
        let labels: Vec<String> = row[0]
            .as_list()
            .unwrap_or_default()
            .iter()
            .filter_map(|label| Some(label.as_text()?.to_owned()))
            .collect();
        let map = row[1].as_map().cloned().unwrap_or_default();
        let pairs = map.iter().map(|(key, value)| (&**key, value.clone()));
        copy.add_node(labels.iter().map(String::as_str), pairs);
    }
    let query = "MATCH (a)-[r]->(b) RETURN r, a, b, type(r), properties(r)";
    for row in run(graph, query, &parameters)
        .expect("every graph has these")
        .1
    {
        let (Value::Node(source), Value::Node(target)) = (&row[1], &row[2]) else {
            continue;
        };
        if !gone.contains(&row[0]) {
            let map = row[4].as_map().cloned().unwrap_or_default();
            let pairs = map.iter().map(|(key, value)| (&**key, value.clone()));
            copy.add_relationship(
                *source,
                *target,
                row[3].as_text().unwrap_or_default(),
                pairs,
            );
        }
    }
    copy
}

/// Runs a reading clause for rows that are there.
fn read(
    graph: &MemoryGraph,
    script: &str,
    clause: &Clause,
    rows: Vec<Names>,
) -> Result<Vec<Names>, String> {
    let text = clause.span.text(script).unwrap_or_default();
    let names: Vec<&String> = rows
        .first()
        .map(|row| row.keys().collect())
        .unwrap_or_default();
    let carried: Vec<String> = names
        .iter()
        .map(|name| format!("row__.{name} AS {name}"))
        .collect();
    let carried = if carried.is_empty() {
        "row__".to_owned()
    } else {
        carried.join(", ")
    };
    let rows = rows.into_iter().map(value_of).collect();
    let query = format!("UNWIND $rows AS row__ WITH {carried} {text} RETURN *");
    let parameters = Parameters::from([("rows".to_owned(), Value::list(rows).unwrap())]);
    run(graph, &query, &parameters).map(|(columns, rows)| {
        rows.into_iter()
            .map(|values| {
                columns
                    .iter()
                    .cloned()
                    .zip(values)
                    .filter(|(name, _)| name != "row__")
                    .collect()
            })
            .collect()
    })
}

fn value_of(names: Names) -> Value {
    let entries = names
        .into_iter()
        .map(|(name, value)| (Arc::from(name), value));
    Value::map(entries.collect()).unwrap()
}

/// Columns and rows of a query.
pub(crate) fn run(
    graph: &MemoryGraph,
    query: &str,
    parameters: &Parameters,
) -> Result<(Vec<String>, Vec<Vec<Value>>), String> {
    let query =
        Query::new(query, graph, parameters).map_err(|error| format!("{query}: {error}"))?;
    let mut rows = Vec::new();
    query
        .run(graph, 0, &Budget::new(Limits::default()), &mut |row| {
            rows.push(row.to_vec());
            Ok(Flow::Continue)
        })
        .map_err(|error| error.to_string())?;
    Ok((
        query.columns().iter().map(ToString::to_string).collect(),
        rows,
    ))
}

fn create_pattern(
    graph: &mut MemoryGraph,
    script: &str,
    pattern: &Pattern,
    row: &mut Names,
) -> Result<(), String> {
    for part in &pattern.parts {
        let mut last: Option<NodeId> = None;
        let mut waiting: Option<&RelationshipPattern> = None;
        for factor in &part.kind.path.kind.factors {
            match &factor.kind {
                PathFactorKind::Node(node) => {
                    let id = create_node(graph, script, node, row)?;
                    if let (Some(left), Some(relationship)) = (last, waiting.take()) {
                        create_relationship(graph, script, relationship, (left, id), row)?;
                    }
                    last = Some(id);
                }
                PathFactorKind::Relationship(relationship) => waiting = Some(relationship),
                _ => return Err("an unusual pattern in CREATE".to_owned()),
            }
        }
    }
    Ok(())
}

fn create_node(
    graph: &mut MemoryGraph,
    script: &str,
    node: &NodePattern,
    row: &mut Names,
) -> Result<NodeId, String> {
    let name = node.variable.as_ref().map(|name| name.kind.text.clone());
    if let Some(Value::Node(id)) = name.as_ref().and_then(|name| row.get(name)) {
        return Ok(*id);
    }
    let properties = properties(graph, script, node.properties.as_deref(), row)?;
    let mut labels = Vec::new();
    node.labels
        .iter()
        .for_each(|part| labels_of(part, &mut labels));
    let pairs = properties
        .iter()
        .map(|(key, value)| (&**key, value.clone()));
    let id = graph.add_node(labels, pairs);
    if let Some(name) = name {
        row.insert(name, Value::Node(id));
    }
    Ok(id)
}

fn create_relationship(
    graph: &mut MemoryGraph,
    script: &str,
    relationship: &RelationshipPattern,
    (left, right): (NodeId, NodeId),
    row: &mut Names,
) -> Result<(), String> {
    let properties = properties(graph, script, relationship.properties.as_deref(), row)?;
    let mut types = Vec::new();
    relationship
        .labels
        .iter()
        .for_each(|part| labels_of(part, &mut types));
    let (source, target) = match relationship.direction.kind {
        RelationshipDirection::Left => (right, left),
        _ => (left, right),
    };
    let pairs = properties
        .iter()
        .map(|(key, value)| (&**key, value.clone()));
    let kind = types.first().copied().unwrap_or_default();
    let id = graph.add_relationship(source, target, kind, pairs);
    if let Some(name) = &relationship.variable {
        row.insert(name.kind.text.clone(), Value::Relationship(id));
    }
    Ok(())
}

fn labels_of<'l>(labels: &'l LabelExpression, out: &mut Vec<&'l str>) {
    match &labels.kind {
        LabelExpressionKind::Name(name) => out.push(&name.kind.text),
        LabelExpressionKind::And(parts) => parts.iter().for_each(|part| labels_of(part, out)),
        _ => {}
    }
}

fn properties(
    graph: &MemoryGraph,
    script: &str,
    properties: Option<&open_cypher::ast::Expr>,
    row: &Names,
) -> Result<Vec<(Arc<str>, Value)>, String> {
    let Some(properties) = properties else {
        return Ok(Vec::new());
    };
    if !matches!(properties.kind, ExprKind::Map(_)) {
        return Err("properties that are no map".to_owned());
    }
    let text = properties.span.text(script).unwrap_or_default();
    let carried: Vec<String> = row
        .keys()
        .map(|name| format!("$row.{name} AS {name}"))
        .collect();
    let with = if carried.is_empty() {
        String::new()
    } else {
        format!("WITH {} ", carried.join(", "))
    };
    let parameters = Parameters::from([("row".to_owned(), value_of(row.clone()))]);
    let (_, rows) = run(graph, &format!("{with}RETURN {text} AS map"), &parameters)?;
    let map = rows[0][0].as_map().cloned().unwrap_or_default();
    Ok(map.into_iter().collect())
}
