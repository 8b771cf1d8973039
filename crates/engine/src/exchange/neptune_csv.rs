//! CSV files in the Gremlin load format of Amazon Neptune: vertices and edges with typed headers.

use super::cell_text::{json_text, plain_text, text, texts};
use super::csv_row::{Field, write_row};
use super::output::Folder;
use crate::Result;
use crate::storage::graph_table::{
    Cell, ColumnKind, EDGES, ENTITY, GraphReader, GraphTable, NODES, RELATION, TableKind,
};

pub(super) fn write(reader: &GraphReader<'_>, folder: &mut Folder) -> Result<()> {
    for table in NODES.iter().chain(&[&RELATION]).chain(EDGES) {
        let kind = match table.kind {
            TableKind::Node => "vertices",
            _ => "edges",
        };
        let name = format!("{kind}/{}.csv", table.name.to_lowercase());
        write_table(reader, table, folder, &name)?;
    }
    Ok(())
}

fn write_table(
    reader: &GraphReader<'_>,
    table: &GraphTable,
    folder: &mut Folder,
    name: &str,
) -> Result<()> {
    let mut out = folder.file(name)?;
    let is_node = table.kind == TableKind::Node;
    // What identifies a row comes first; the rest are its properties.
    let first = if is_node { 1 } else { 2 };
    let own: &[&str] = if is_node {
        &["~id", "~label"]
    } else {
        &["~id", "~from", "~to", "~label"]
    };
    let names: Vec<String> = table.columns[first..]
        .iter()
        .map(|column| property(column.name, column.kind, is_node))
        .collect();
    let header = own.iter().copied().chain(names.iter().map(String::as_str));
    write_row(&mut out, header.map(Field::Bare))?;
    let mut number = 0;
    reader.rows(table, |row| {
        number += 1;
        let own = if is_node {
            vec![text(&row[0]).to_owned(), label(table, row)]
        } else {
            let (source, target) = (text(&row[0]), text(&row[1]));
            let id = if table.name == RELATION.name {
                text(RELATION.cell(row, "id")).to_owned()
            } else {
                format!("{}:{number}:{source}:{target}", table.name)
            };
            vec![id, source.to_owned(), target.to_owned(), label(table, row)]
        };
        let values: Vec<(bool, Option<String>)> = row[first..]
            .iter()
            .map(|cell| match cell {
                Cell::Texts(list) => (true, Some(json_text(&list.as_slice().into()))),
                Cell::Text(_) | Cell::Json(_) => (true, plain_text(cell)),
                other => (false, plain_text(other)),
            })
            .collect();
        let own = own.iter().map(|text| Field::Quoted(text));
        let values = values.iter().map(|(is_text, value)| match value {
            None => Field::Empty,
            Some(value) if *is_text => Field::Quoted(value),
            Some(value) => Field::Bare(value),
        });
        write_row(&mut out, own.chain(values))
    })?;
    out.flush()
}

/// Lists are JSON, because the format's own lists cannot hold every text. A property of a vertex is a
/// set unless its header says otherwise.
fn property(name: &str, kind: ColumnKind, is_node: bool) -> String {
    let kind = match kind {
        ColumnKind::Text | ColumnKind::Json | ColumnKind::Texts | ColumnKind::Floats => "String",
        ColumnKind::Integer => "Long",
        ColumnKind::Real => "Double",
        ColumnKind::Boolean => "Bool",
        ColumnKind::Time => "Date",
    };
    let single = if is_node { "(single)" } else { "" };
    format!("{name}:{kind}{single}")
}

/// The format parts labels at `;`, so a type that holds one has the full-width form here; the property
/// `types` has it as it is.
fn label(table: &GraphTable, row: &[Cell]) -> String {
    let safe = |name: &str| name.replace(';', "；");
    if table.name == RELATION.name {
        return safe(text(RELATION.cell(row, "type")));
    }
    let mut labels = vec![table.name.to_owned()];
    if table.name == ENTITY.name {
        let types = texts(ENTITY.cell(row, "types"))
            .iter()
            .map(|name| safe(name));
        labels.extend(types.filter(|name| !name.is_empty() && *name != table.name));
    }
    labels.join(";")
}
