//! Ladybug, the successor of Kuzu: tables, CSV files and the commands that load them. Every relation
//! type is a table of its own, so that queries name it as they do here.

use std::collections::BTreeSet;

use super::cell_text::{needs_escape, plain_text, text};
use super::csv_row::{Field, write_row};
use super::output::{Folder, Out};
use crate::Result;
use crate::storage::graph_table::{
    Cell, ColumnKind, EDGES, GraphReader, GraphTable, NODES, RELATION, TableKind,
};

/// Quoted fields may hold line breaks, which the parallel reader does not take.
const COPY_OPTIONS: &str = "(header=true, parallel=false, escape='\"')";

pub(super) fn write(reader: &GraphReader<'_>, folder: &mut Folder) -> Result<()> {
    let mut script = Script::new(folder)?;
    for table in NODES.iter().chain(EDGES) {
        let name = format!("{}.csv", table.name.to_lowercase());
        script.table(table.name, table, &name)?;
        let mut out = folder.file(&name)?;
        header(table, &mut out)?;
        reader.rows(table, |row| write_cells(row, &mut out))?;
        out.flush()?;
    }
    // The rows of a type follow one another.
    let mut current: Option<(String, Out<'static>)> = None;
    let mut number = 0;
    reader.rows(&RELATION, |row| {
        let name = text(RELATION.cell(row, "type"));
        if current.as_ref().is_none_or(|(open, _)| open != name) {
            if let Some((_, out)) = &mut current {
                out.flush()?;
            }
            number += 1;
            let file = format!("relations/{number:05}.csv");
            let table_name = script.free_name(name);
            script.table(&table_name, &RELATION, &file)?;
            let mut out = folder.file(&file)?;
            header(&RELATION, &mut out)?;
            current = Some((name.to_owned(), out));
        }
        let (_, out) = current.as_mut().expect("it was opened above");
        write_cells(row, out)
    })?;
    if let Some((_, mut out)) = current {
        out.flush()?;
    }
    script.schema.flush()?;
    script.copy.flush()
}

/// The statements, in the order in which they must run.
struct Script {
    schema: Out<'static>,
    copy: Out<'static>,
    /// Names of tables in lower case: the database does not tell cases apart.
    taken: BTreeSet<String>,
}

impl Script {
    fn new(folder: &mut Folder) -> Result<Self> {
        let names = NODES.iter().chain(EDGES).chain(&[&RELATION]);
        Ok(Self {
            schema: folder.file("schema.cypher")?,
            copy: folder.file("copy.cypher")?,
            taken: names.map(|table| table.name.to_lowercase()).collect(),
        })
    }

    /// The relation type as a table's name. What cannot be one is changed; its rows have the type as it
    /// is in their column `type`.
    fn free_name(&mut self, name: &str) -> String {
        let mut name: String = name
            .chars()
            .map(|c| if needs_escape(c) { '\u{fffd}' } else { c })
            .collect();
        while !self.taken.insert(name.to_lowercase()) {
            name.push('_');
        }
        name
    }

    fn table(&mut self, name: &str, table: &GraphTable, file: &str) -> Result<()> {
        let quoted = format!("`{}`", name.replace('`', "``"));
        let (kind, ends, first) = match table.kind {
            TableKind::Edge { from, to } => ("REL", format!("FROM `{from}` TO `{to}`"), 2),
            _ => ("NODE", String::new(), 0),
        };
        let columns = table.columns[first..]
            .iter()
            .map(|column| format!("`{}` {}", column.name, type_name(column.kind)));
        let mut parts: Vec<String> = Some(ends)
            .filter(|ends| !ends.is_empty())
            .into_iter()
            .collect();
        parts.extend(columns);
        if first == 0 {
            parts.push("PRIMARY KEY (`id`)".to_owned());
        }
        let parts = parts.join(", ");
        writeln!(self.schema, "CREATE {kind} TABLE {quoted} ({parts});")?;
        writeln!(self.copy, "COPY {quoted} FROM '{file}' {COPY_OPTIONS};")
    }
}

/// Lists are JSON, because the loader's own lists cannot hold every text.
fn type_name(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Text | ColumnKind::Json | ColumnKind::Texts | ColumnKind::Floats => "STRING",
        ColumnKind::Integer => "INT64",
        ColumnKind::Real => "DOUBLE",
        ColumnKind::Boolean => "BOOL",
        ColumnKind::Time => "TIMESTAMP",
    }
}

fn header(table: &GraphTable, out: &mut Out<'_>) -> Result<()> {
    write_row(
        out,
        table.columns.iter().map(|column| Field::Bare(column.name)),
    )
}

fn write_cells(row: &[Cell], out: &mut Out<'_>) -> Result<()> {
    let values: Vec<Option<String>> = row.iter().map(plain_text).collect();
    let fields = values
        .iter()
        .zip(row)
        .map(|(value, cell)| match (value, cell) {
            (None, _) => Field::Empty,
            (Some(value), Cell::Text(_) | Cell::Json(_) | Cell::Texts(_)) => Field::Quoted(value),
            (Some(value), _) => Field::Bare(value),
        });
    write_row(out, fields)
}
