//! The content of a namespace as a property graph: one list of tables of nodes and edges, whose rows
//! stream out in an order that depends on the content alone. Every graph export is made of these.

mod tables;

use std::cell::RefCell;
use std::collections::BTreeMap;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, ToSql, params};

use super::NamespaceId;
use crate::types::Progress;
use crate::{Error, Result};

/// One table: what its rows are called elsewhere, and their columns.
#[derive(Debug)]
pub(crate) struct GraphTable {
    /// Label of the nodes or type of the edges.
    pub(crate) name: &'static str,
    pub(crate) kind: TableKind,
    /// Of a node the first column is `id`; of an edge the first two are `source` and `target`.
    pub(crate) columns: &'static [Column],
    /// `?1` is the namespace; `?2` is whether retracted rows are wanted.
    pub(super) sql: &'static str,
}

impl GraphTable {
    /// The cell of the column `name`, which the table must have.
    pub(crate) fn cell<'a>(&self, row: &'a [Cell], name: &str) -> &'a Cell {
        let at = self.columns.iter().position(|column| column.name == name);
        &row[at.expect("only columns of the table are asked for")]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableKind {
    Node,
    /// Names of the tables that it leads between.
    Edge {
        from: &'static str,
        to: &'static str,
    },
    /// Rows that tell more of an edge or a node; only formats of tables have a place for them.
    Detail,
}

#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: ColumnKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Text,
    /// Any number of texts.
    Texts,
    /// A vector.
    Floats,
    /// JSON as text.
    Json,
    Integer,
    Real,
    Boolean,
    /// Milliseconds since 1970, UTC.
    Time,
}

/// A value of a row, of its column's kind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Null,
    Text(String),
    Texts(Vec<String>),
    Floats(Vec<f32>),
    Json(String),
    Integer(i64),
    Real(f64),
    Boolean(bool),
    Time(i64),
}

pub(crate) use tables::*;

pub(super) const fn column(name: &'static str, kind: ColumnKind) -> Column {
    Column { name, kind }
}

/// Reads the tables of one namespace, the same state of the store for all of them as long as its
/// transaction lives.
pub(crate) struct GraphReader<'a> {
    connection: &'a Connection,
    /// None when the namespace has never been written to; it then has no rows.
    namespace: Option<NamespaceId>,
    /// Hand over retracted relations and entities too.
    history: bool,
    progress: &'a dyn Progress,
    counts: RefCell<BTreeMap<&'static str, u64>>,
}

impl<'a> GraphReader<'a> {
    pub(crate) fn new(
        connection: &'a Connection,
        namespace: Option<NamespaceId>,
        history: bool,
        progress: &'a dyn Progress,
    ) -> Self {
        Self {
            connection,
            namespace,
            history,
            progress,
            counts: RefCell::default(),
        }
    }

    /// Hands over every row of `table`, one cell a column.
    pub(crate) fn rows(
        &self,
        table: &GraphTable,
        each: impl FnMut(&[Cell]) -> Result<()>,
    ) -> Result<()> {
        if let Some(namespace) = self.namespace {
            let count = self.query(table, params![namespace.0, self.history], each)?;
            self.counts.borrow_mut().insert(table.name, count);
        }
        Ok(())
    }

    /// Hands over the rows of one item, whose id the table's statement takes as `?3`.
    pub(crate) fn rows_of(
        &self,
        table: &GraphTable,
        id: &str,
        each: impl FnMut(&[Cell]) -> Result<()>,
    ) -> Result<()> {
        if let Some(namespace) = self.namespace {
            self.query(table, params![namespace.0, self.history, id], each)?;
        }
        Ok(())
    }

    fn query(
        &self,
        table: &GraphTable,
        parameters: &[&dyn ToSql],
        mut each: impl FnMut(&[Cell]) -> Result<()>,
    ) -> Result<u64> {
        let mut statement = self.connection.prepare_cached(table.sql)?;
        // A statement takes as many of them as it names.
        let taken = statement.parameter_count();
        for (index, value) in (1..).zip(parameters).take(taken) {
            statement.raw_bind_parameter(index, value)?;
        }
        let mut rows = statement.raw_query();
        let mut cells = Vec::with_capacity(table.columns.len());
        let mut count = 0;
        while let Some(row) = rows.next()? {
            if self.progress.interrupted() {
                return Err(Error::Interrupted);
            }
            cells.clear();
            for (index, column) in table.columns.iter().enumerate() {
                cells.push(cell(row, index, column.kind)?);
            }
            each(&cells)?;
            count += 1;
        }
        Ok(count)
    }

    /// Number of rows of every table that was read to its end, by name.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.counts.borrow().clone()
    }
}

fn cell(row: &Row<'_>, index: usize, kind: ColumnKind) -> Result<Cell> {
    let value = row.get_ref(index)?;
    if value == ValueRef::Null {
        return Ok(Cell::Null);
    }
    Ok(match kind {
        ColumnKind::Text => Cell::Text(row.get(index)?),
        ColumnKind::Json => Cell::Json(row.get(index)?),
        ColumnKind::Texts => {
            let json: String = row.get(index)?;
            Cell::Texts(serde_json::from_str(&json).unwrap_or_default())
        }
        ColumnKind::Floats => {
            let bytes: Vec<u8> = row.get(index)?;
            let (numbers, _) = bytes.as_chunks::<4>();
            Cell::Floats(
                numbers
                    .iter()
                    .map(|&bytes| f32::from_le_bytes(bytes))
                    .collect(),
            )
        }
        ColumnKind::Integer => Cell::Integer(row.get(index)?),
        ColumnKind::Real => Cell::Real(row.get(index)?),
        ColumnKind::Boolean => Cell::Boolean(row.get(index)?),
        ColumnKind::Time => Cell::Time(row.get(index)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_one_kind_of_value_everywhere() {
        let mut kinds = BTreeMap::new();
        for table in NODES.iter().chain(EDGES).chain(&[&RELATION]) {
            let first: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
            match table.kind {
                TableKind::Edge { .. } => assert_eq!(first[..2], ["source", "target"]),
                _ => assert_eq!(first[0], "id"),
            }
            for column in table.columns {
                let kind = *kinds.entry(column.name).or_insert(column.kind);
                assert_eq!(kind, column.kind, "{}.{}", table.name, column.name);
            }
        }
    }
}
