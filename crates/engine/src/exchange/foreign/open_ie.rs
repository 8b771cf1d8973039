//! Entities and triples by passage: `HippoRAG`'s `openie_results_*.json`, and JSON lines of the same.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::table::{self, text};
use super::{ForeignGraph, ForeignPassage, item};
use crate::Result;
use crate::types::ItemFailure;

pub(super) fn read(path: &Path) -> Result<ForeignGraph> {
    let table = table::read(path)?;
    let mut graph = ForeignGraph::default();
    let mut fail = |line: usize, reason: String| {
        graph.failures.push(ItemFailure {
            uri: table.file.clone(),
            line,
            reason,
        });
    };
    for (line, reason) in table.broken {
        fail(line, reason);
    }
    for (line, row) in table.rows {
        let Some(id) = text(&row, &["idx", "id"]) else {
            fail(line, "it has neither `idx` nor `id`".to_owned());
            continue;
        };
        let mut passage = ForeignPassage {
            id: id.into_owned(),
            title: text(&row, &["title"]).unwrap_or_default().into_owned(),
            text: text(&row, &["passage", "text"]).map(std::borrow::Cow::into_owned),
            ..ForeignPassage::default()
        };
        for name in list(&row, &["extracted_entities", "entities"]) {
            match name {
                Value::String(name) => passage.entities.push(item(&[("name", Some(name))])),
                other => fail(line, format!("no entity: {other}")),
            }
        }
        for triple in list(&row, &["extracted_triples", "triples"]) {
            let parts: Option<Vec<&str>> = triple
                .as_array()
                .map(|parts| parts.iter().filter_map(Value::as_str).collect());
            match parts.as_deref() {
                Some([source, kind, target]) => passage.relations.push(json!({
                    "source": source, "type": kind, "target": target,
                    "fact": format!("{source} {kind} {target}"),
                })),
                _ => fail(line, format!("no triple of three texts: {triple}")),
            }
        }
        graph.passages.push(passage);
    }
    Ok(graph)
}

fn list<'a>(row: &'a Map<String, Value>, names: &[&str]) -> &'a [Value] {
    let found = names.iter().find_map(|name| row.get(*name)?.as_array());
    found.map_or(&[], Vec::as_slice)
}
