//! Apache Parquet: a file a table, for data frames, lakes and vector databases.
//!
//! A small writer of our own: plain encoding, one page a column and row group, gzip. The format's crate
//! would take longer to build than all of our engine.

mod column;
mod thrift;

use column::ColumnBuffer;
use thrift::Struct;

use super::output::{Folder, Out};
use crate::Result;
use crate::storage::graph_table::{
    Cell, Column, ColumnKind, EDGES, EMBEDDING, EVIDENCE, GraphReader, GraphTable, NODES, RELATION,
};

/// Rows and bytes after which a row group ends: what is held in memory.
const GROUP_ROWS: usize = 65_536;
const GROUP_BYTES: usize = 16 << 20;
const MAGIC: &str = "PAR1";

pub(super) fn write(reader: &GraphReader<'_>, folder: &mut Folder) -> Result<()> {
    let details = [&RELATION, &EVIDENCE, &EMBEDDING];
    for table in NODES.iter().chain(&details).chain(EDGES) {
        let name = format!("{}.parquet", table.name.to_lowercase());
        write_table(reader, table, folder.file(&name)?)?;
    }
    Ok(())
}

fn write_table(reader: &GraphReader<'_>, table: &GraphTable, out: Out<'static>) -> Result<()> {
    let mut file = File {
        out,
        columns: table
            .columns
            .iter()
            .map(|c| ColumnBuffer::new(c.kind))
            .collect(),
        names: table.columns,
        buffered: 0,
        rows: 0,
        groups: Vec::new(),
    };
    file.out.text(MAGIC)?;
    reader.rows(table, |row| file.row(row))?;
    file.finish()
}

struct File {
    out: Out<'static>,
    names: &'static [Column],
    columns: Vec<ColumnBuffer>,
    /// Rows in the buffers.
    buffered: usize,
    rows: usize,
    /// Metadata of the groups written so far.
    groups: Vec<Struct>,
}

impl File {
    fn row(&mut self, row: &[Cell]) -> Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(row) {
            column.push(cell);
        }
        self.buffered += 1;
        let bytes: usize = self.columns.iter().map(ColumnBuffer::bytes).sum();
        if self.buffered == GROUP_ROWS || bytes > GROUP_BYTES {
            self.end_group()?;
        }
        Ok(())
    }

    fn end_group(&mut self) -> Result<()> {
        if self.buffered == 0 {
            return Ok(());
        }
        let mut chunks = Vec::new();
        let mut total = 0;
        for (column, name) in self.columns.iter_mut().zip(self.names) {
            let offset = self.out.written() as i64;
            let page = column.take_page();
            self.out.bytes(&page.bytes)?;
            total += page.uncompressed;
            let path: Vec<&str> = match name.kind {
                ColumnKind::Texts | ColumnKind::Floats => vec![name.name, "list", "element"],
                _ => vec![name.name],
            };
            let metadata = Struct::new()
                .int(1, physical_type(name.kind))
                // Plain values, run-length encoded levels.
                .ints(2, &[0, 3])
                .texts(3, &path)
                .int(4, column::GZIP)
                .long(5, page.values as i64)
                .long(6, page.uncompressed as i64)
                .long(7, page.bytes.len() as i64)
                .long(9, offset);
            chunks.push(Struct::new().long(2, offset).inner(3, metadata));
        }
        let group = Struct::new()
            .structs(1, chunks)
            .long(2, total as i64)
            .long(3, self.buffered as i64);
        self.groups.push(group);
        self.rows += self.buffered;
        self.buffered = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        self.end_group()?;
        let metadata = Struct::new()
            .int(1, 1)
            .structs(2, schema(self.names))
            .long(3, self.rows as i64)
            .structs(4, self.groups)
            .text(6, "malha")
            .bytes();
        self.out.bytes(&metadata)?;
        self.out.bytes(&(metadata.len() as u32).to_le_bytes())?;
        self.out.text(MAGIC)?;
        self.out.flush()
    }
}

const OPTIONAL: i32 = 1;

/// The tree of columns, flattened.
fn schema(columns: &[Column]) -> Vec<Struct> {
    let mut elements = vec![Struct::new().text(4, "row").int(5, columns.len() as i32)];
    for column in columns {
        let leaf = |name: &str, repetition: i32| {
            let element = Struct::new()
                .int(1, physical_type(column.kind))
                .int(3, repetition)
                .text(4, name);
            match column.kind {
                ColumnKind::Text | ColumnKind::Texts => element.int(6, 0),
                ColumnKind::Json => element.int(6, 19),
                ColumnKind::Time => element.int(6, 9),
                ColumnKind::Floats
                | ColumnKind::Integer
                | ColumnKind::Real
                | ColumnKind::Boolean => element,
            }
        };
        if matches!(column.kind, ColumnKind::Texts | ColumnKind::Floats) {
            let list = Struct::new().int(3, OPTIONAL).text(4, column.name);
            elements.push(list.int(5, 1).int(6, 3));
            elements.push(Struct::new().int(3, 2).text(4, "list").int(5, 1));
            elements.push(leaf("element", 0));
        } else {
            elements.push(leaf(column.name, OPTIONAL));
        }
    }
    elements
}

fn physical_type(kind: ColumnKind) -> i32 {
    match kind {
        ColumnKind::Boolean => 0,
        ColumnKind::Integer | ColumnKind::Time => 2,
        ColumnKind::Floats => 4,
        ColumnKind::Real => 5,
        ColumnKind::Text | ColumnKind::Texts | ColumnKind::Json => 6,
    }
}
