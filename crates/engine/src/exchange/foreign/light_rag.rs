//! Working folders of `LightRAG` and nano-graphrag: passages in `kv_store_text_chunks.json`, the graph in
//! `graph_chunk_entity_relation.graphml`; or tables `chunks`, `entities`, `relations`.

use std::path::Path;

use serde_json::{Map, Value};

use super::table::{self, Table, split, text, texts};
use super::{ForeignCommunity, ForeignGraph, ForeignPassage, Found, Passages, UNTYPED, item};
use crate::Result;
use crate::sources::xml::{Event, events};
use crate::text::clean_name;

const GRAPH: &str = "graph_chunk_entity_relation.graphml";

pub(super) fn read(folder: &Path) -> Result<ForeignGraph> {
    let chunks = table::need(folder, &["kv_store_text_chunks", "chunks"])?;
    let (entities, relations) = match table::file_in(folder, GRAPH) {
        Some(path) => graph_tables(&String::from_utf8_lossy(&table::bytes_of(&path)?)),
        None => (
            table::need(folder, &["entities"])?,
            table::need(folder, &["relations"])?,
        ),
    };
    let mut passages = Passages::new(passages_of(&chunks));
    for table in [&chunks, &entities, &relations] {
        for (line, reason) in &table.broken {
            passages.fail(&table.file, *line, reason.clone());
        }
    }
    for (line, row) in &entities.rows {
        let Some(name) = text(row, &["entity_id", "id", "entity_name"]) else {
            passages.fail(&entities.file, *line, "an entity without a name");
            continue;
        };
        let kind = text(row, &["entity_type"]).map(|kind| unquoted(&kind));
        let kind = kind.filter(|kind| !kind.eq_ignore_ascii_case("unknown"));
        let found = passages.hand_out(
            &texts(row, &["source_id"]),
            &texts(row, &["description"]),
            Found::Entity,
            |description| {
                item(&[
                    ("name", Some(&name)),
                    ("type", kind.as_deref()),
                    ("description", description),
                ])
            },
        );
        if !found {
            passages.fail(
                &entities.file,
                *line,
                format!("{name}: none of its passages is there"),
            );
        }
    }
    for (line, row) in &relations.rows {
        let (Some(source), Some(target)) = (
            text(row, &["source", "src_id"]),
            text(row, &["target", "tgt_id"]),
        ) else {
            passages.fail(&relations.file, *line, "a relation without an end");
            continue;
        };
        let found = passages.hand_out(
            &texts(row, &["source_id"]),
            &texts(row, &["description"]),
            Found::Relation,
            |fact| {
                item(&[
                    ("source", Some(&source)),
                    ("target", Some(&target)),
                    ("type", Some(UNTYPED)),
                    ("fact", fact),
                ])
            },
        );
        if !found {
            let reason = format!("{source} – {target}: none of its passages is there");
            passages.fail(&relations.file, *line, reason);
        }
    }
    if let Some(reports) = table::find(folder, &["kv_store_community_reports"])? {
        passages.graph.communities = reports.rows.iter().map(|(_, row)| community(row)).collect();
    }
    Ok(passages.graph)
}

fn passages_of(chunks: &Table) -> Vec<ForeignPassage> {
    let mut rows: Vec<&Map<String, Value>> = chunks.rows.iter().map(|(_, row)| row).collect();
    // Objects by id come in the order of their ids: the order of the text is another one.
    let place = |row: &Map<String, Value>| {
        let order = row.get("chunk_order_index").or_else(|| row.get("order"));
        let document = text(row, &["full_doc_id"]).unwrap_or_default().into_owned();
        (document, order.and_then(Value::as_u64).unwrap_or_default())
    };
    rows.sort_by_key(|row| place(row));
    rows.into_iter()
        .map(|row| ForeignPassage {
            id: text(row, &["id"]).unwrap_or_default().into_owned(),
            title: text(row, &["file_path"])
                .filter(|path| path != "unknown_source")
                .unwrap_or_default()
                .into_owned(),
            text: text(row, &["content", "text"]).map(std::borrow::Cow::into_owned),
            ..ForeignPassage::default()
        })
        .collect()
}

fn community(row: &Map<String, Value>) -> ForeignCommunity {
    let report = row.get("report_json").and_then(Value::as_object);
    let of_report = |name: &str| {
        report
            .and_then(|report| text(report, &[name]))
            .unwrap_or_default()
            .into_owned()
    };
    ForeignCommunity {
        id: text(row, &["id"]).unwrap_or_default().into_owned(),
        level: row.get("level").and_then(Value::as_u64).unwrap_or_default() as usize,
        parent: None,
        title: of_report("title"),
        summary: of_report("summary"),
        members: texts(row, &["nodes"])
            .iter()
            .map(|name| unquoted(name))
            .collect(),
    }
}

/// nano-graphrag keeps the quotation marks of its prompt around names.
fn unquoted(name: &str) -> String {
    clean_name(name).unwrap_or_else(|_| name.to_owned())
}

/// Nodes and edges of a `GraphML` file as rows, under the names that its `<key>` elements give.
fn graph_tables(text: &str) -> (Table, Table) {
    let table = || Table {
        file: GRAPH.to_owned(),
        rows: Vec::new(),
        broken: Vec::new(),
    };
    let (mut nodes, mut edges) = (table(), table());
    let mut names: Map<String, Value> = Map::new();
    let mut row: Map<String, Value> = Map::new();
    let mut field: Option<String> = None;
    for event in events(text) {
        match event {
            Event::Start(tag) => match tag.local() {
                "key" => {
                    if let (Some(id), Some(name)) =
                        (tag.attribute("id"), tag.attribute("attr.name"))
                    {
                        names.insert(id, name.into());
                    }
                }
                "node" => {
                    row = [("id".to_owned(), tag.attribute("id").into())]
                        .into_iter()
                        .collect();
                }
                "edge" => {
                    let end = |name: &str| (name.to_owned(), tag.attribute(name).into());
                    row = [end("source"), end("target")].into_iter().collect();
                }
                "data" => {
                    let key = tag.attribute("key").unwrap_or_default();
                    field = names.get(&key).and_then(Value::as_str).map(str::to_owned);
                }
                _ => {}
            },
            Event::Text(text) => {
                if let Some(field) = &field {
                    let known = row.get(field).and_then(Value::as_str).unwrap_or_default();
                    let whole = format!("{known}{text}");
                    row.insert(field.clone(), whole.into());
                }
            }
            Event::End(name) => match name.rsplit(':').next().unwrap_or_default() {
                "data" => field = None,
                "node" => nodes
                    .rows
                    .push((nodes.rows.len() + 1, std::mem::take(&mut row))),
                "edge" => edges
                    .rows
                    .push((edges.rows.len() + 1, std::mem::take(&mut row))),
                _ => {}
            },
        }
    }
    for (_, row) in nodes.rows.iter_mut().chain(&mut edges.rows) {
        for name in ["id", "entity_id", "source", "target"] {
            if let Some(Value::String(written)) = row.get_mut(name) {
                *written = unquoted(written);
            }
        }
        for name in ["description", "source_id"] {
            if let Some(Value::String(written)) = row.get_mut(name) {
                let parts: Vec<String> = split(written).iter().map(|part| unquoted(part)).collect();
                *written = parts.join("<SEP>");
            }
        }
    }
    (nodes, edges)
}
