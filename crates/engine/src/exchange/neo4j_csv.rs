//! CSV files for `neo4j-admin database import`, with the command that loads them.

use super::cell_text::{plain_text, text, texts};
use super::csv_row::{Field, write_row};
use super::output::Folder;
use crate::storage::graph_table::{
    Cell, ColumnKind, EDGES, ENTITY, GraphReader, GraphTable, NODES, RELATION, TableKind,
};
use crate::{Error, Result};

/// Characters that may stand between the elements of a list, the first that no element holds.
const DELIMITERS: [char; 8] = [
    ';', '\u{1f}', '\u{1e}', '\u{1d}', '\u{1c}', '\u{e000}', '\u{e001}', '\u{e002}',
];

pub(super) fn write(reader: &GraphReader<'_>, folder: &mut Folder) -> Result<()> {
    let delimiter = free_delimiter(reader)?;
    let mut options = Vec::new();
    for table in NODES.iter().chain(&[&RELATION]).chain(EDGES) {
        let name = format!("{}.csv", table.name.to_lowercase());
        write_table(reader, table, delimiter, folder, &name)?;
        options.push(match table.kind {
            TableKind::Node => format!("--nodes={name}"),
            _ => format!("--relationships={name}"),
        });
    }
    let script = format!(
        "#!/bin/sh\n# Run where the database is stopped, in this folder: sh import.sh [DATABASE]\n\
         cd \"$(dirname \"$0\")\" || exit 1\n\
         neo4j-admin database import full --array-delimiter='{}' --multiline-fields=true \\\n    \
         {} \\\n    \"${{1:-neo4j}}\"\n",
        delimiter_name(delimiter),
        options.join(" \\\n    ")
    );
    folder.write("import.sh", &script)
}

fn delimiter_name(delimiter: char) -> String {
    if delimiter == ';' {
        ";".to_owned()
    } else {
        format!("U+{:04X}", u32::from(delimiter))
    }
}

/// `neo4j-admin` has no escape for the character between elements, so it must be one that none holds.
fn free_delimiter(reader: &GraphReader<'_>) -> Result<char> {
    let mut taken = [false; DELIMITERS.len()];
    for table in NODES {
        let lists: Vec<usize> = (0..table.columns.len())
            .filter(|&index| table.columns[index].kind == ColumnKind::Texts)
            .collect();
        if lists.is_empty() {
            continue;
        }
        reader.rows(table, |row| {
            for text in lists.iter().flat_map(|&index| texts(&row[index])) {
                for (taken, delimiter) in taken.iter_mut().zip(DELIMITERS) {
                    *taken |= text.contains(delimiter);
                }
            }
            Ok(())
        })?;
    }
    let free = DELIMITERS.iter().zip(taken).find(|(_, taken)| !taken);
    free.map(|(delimiter, _)| *delimiter).ok_or_else(|| {
        Error::Usage(
            "every character that could stand between the elements of a list occurs in one; \
             `--format cypher` has no such limit"
                .to_owned(),
        )
    })
}

fn write_table(
    reader: &GraphReader<'_>,
    table: &GraphTable,
    delimiter: char,
    folder: &mut Folder,
    name: &str,
) -> Result<()> {
    let mut out = folder.file(name)?;
    let columns = columns(table);
    write_row(&mut out, columns.iter().map(|name| Field::Bare(name)))?;
    let separator = delimiter.to_string();
    reader.rows(table, |row| {
        let labels = labels(table, row, &separator);
        let values: Vec<Option<String>> = row
            .iter()
            .map(|cell| match cell {
                // An empty list is none.
                Cell::Texts(texts) if texts.is_empty() => None,
                Cell::Texts(texts) => Some(texts.join(&separator)),
                other => plain_text(other),
            })
            .collect();
        let fields = values.iter().zip(row).map(|(value, cell)| match value {
            None => Field::Empty,
            Some(value) if is_quoted(cell) => Field::Quoted(value),
            Some(value) => Field::Bare(value),
        });
        let labels = std::iter::once(Field::Quoted(&labels));
        write_row(&mut out, fields.chain(labels))
    })?;
    out.flush()
}

fn is_quoted(cell: &Cell) -> bool {
    matches!(cell, Cell::Text(_) | Cell::Json(_) | Cell::Texts(_))
}

/// Names with types; the last column holds labels or the type where the table alone does not say it.
fn columns(table: &GraphTable) -> Vec<String> {
    let mut names: Vec<String> = table
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| match (table.kind, index) {
            (TableKind::Node, 0) => format!("id:ID({})", table.name),
            (TableKind::Edge { from, .. }, 0) => format!(":START_ID({from})"),
            (TableKind::Edge { to, .. }, 1) => format!(":END_ID({to})"),
            _ => format!("{}:{}", column.name, type_name(column.kind)),
        })
        .collect();
    names.push(match table.kind {
        TableKind::Node => ":LABEL".to_owned(),
        _ => ":TYPE".to_owned(),
    });
    names
}

fn type_name(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Text | ColumnKind::Json => "string",
        ColumnKind::Texts => "string[]",
        ColumnKind::Floats => "float[]",
        ColumnKind::Integer => "long",
        ColumnKind::Real => "double",
        ColumnKind::Boolean => "boolean",
        ColumnKind::Time => "datetime",
    }
}

fn labels(table: &GraphTable, row: &[Cell], separator: &str) -> String {
    if table.name == RELATION.name {
        return text(RELATION.cell(row, "type")).to_owned();
    }
    let mut labels = vec![table.name];
    if table.name == ENTITY.name {
        let types = texts(ENTITY.cell(row, "types")).iter().map(String::as_str);
        labels.extend(types.filter(|name| !name.is_empty() && *name != table.name));
    }
    labels.join(separator)
}
