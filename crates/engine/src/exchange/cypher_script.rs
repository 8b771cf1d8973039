//! A Cypher script for Neo4j and other databases that speak openCypher.
//!
//! Every statement is one `UNWIND` of a list of literal rows, so that a user's text only ever stands in
//! a quoted string or a back-ticked name. `MERGE` makes the script repeatable.

use std::fmt::Write as _;

use super::cell_text::{iso_time, needs_escape, plain_text, real_text, text, texts};
use super::output::Out;
use crate::Result;
use crate::storage::graph_table::{
    Cell, EDGES, ENTITY, GraphReader, GraphTable, NODES, RELATION, TableKind,
};

/// Rows and bytes after which a statement ends: databases parse a statement as a whole.
const BATCH_ROWS: usize = 200;
const BATCH_BYTES: usize = 64 * 1024;

pub(super) fn write(reader: &GraphReader<'_>, out: &mut Out<'_>) -> Result<()> {
    for table in NODES {
        let name = table.name;
        writeln!(
            out,
            "CREATE INDEX malha_{} IF NOT EXISTS FOR (n:{name}) ON (n.id);",
            name.to_lowercase()
        )?;
    }
    for table in NODES {
        write_nodes(reader, table, out)?;
    }
    let name_of_type = |row: &[Cell]| quoted_name(text(RELATION.cell(row, "type")));
    write_edges(reader, &RELATION, name_of_type, &["id"], out)?;
    for table in EDGES {
        let keys: &[&str] = if table.columns.iter().any(|c| c.name == "how") {
            &["how", "start"]
        } else {
            &[]
        };
        write_edges(reader, table, |_| table.name.to_owned(), keys, out)?;
    }
    Ok(())
}

fn write_nodes(reader: &GraphReader<'_>, table: &GraphTable, out: &mut Out<'_>) -> Result<()> {
    let mut batch = Batch::default();
    reader.rows(table, |row| {
        let types = if table.name == ENTITY.name {
            texts(ENTITY.cell(row, "types"))
        } else {
            &[]
        };
        let mut labels = String::new();
        for name in types {
            if !name.is_empty() && name != table.name {
                labels.push_str(", n:");
                labels.push_str(&quoted_name(name));
            }
        }
        let tail = format!(
            " AS row MERGE (n:{} {{id: row.id}}) SET n += row{labels};\n",
            table.name
        );
        batch.add(&map(table, row, 0), &tail, out)
    })?;
    batch.end(out)
}

fn write_edges(
    reader: &GraphReader<'_>,
    table: &GraphTable,
    type_of: impl Fn(&[Cell]) -> String,
    keys: &[&str],
    out: &mut Out<'_>,
) -> Result<()> {
    let TableKind::Edge { from, to } = table.kind else {
        unreachable!("only edges are listed");
    };
    let key: Vec<String> = keys
        .iter()
        .map(|key| format!("{key}: row.properties.{key}"))
        .collect();
    let key = if key.is_empty() {
        String::new()
    } else {
        format!(" {{{}}}", key.join(", "))
    };
    let mut batch = Batch::default();
    reader.rows(table, |row| {
        let entry = format!(
            "{{source: {}, target: {}, properties: {}}}",
            quoted_text(text(&row[0])),
            quoted_text(text(&row[1])),
            map(table, row, 2)
        );
        let tail = format!(
            " AS row MATCH (a:{from} {{id: row.source}}), (b:{to} {{id: row.target}}) \
             MERGE (a)-[r:{}{key}]->(b) SET r += row.properties;\n",
            type_of(row)
        );
        batch.add(&entry, &tail, out)
    })?;
    batch.end(out)
}

/// Rows that share what follows their list.
#[derive(Default)]
struct Batch {
    rows: usize,
    bytes: usize,
    tail: String,
}

impl Batch {
    fn add(&mut self, row: &str, tail: &str, out: &mut Out<'_>) -> Result<()> {
        if self.rows == BATCH_ROWS || self.bytes > BATCH_BYTES || self.tail != tail {
            self.end(out)?;
        }
        if self.rows == 0 {
            tail.clone_into(&mut self.tail);
            out.text("UNWIND [\n")?;
        } else {
            out.text(",\n")?;
        }
        self.rows += 1;
        self.bytes += row.len();
        out.text(row)
    }

    fn end(&mut self, out: &mut Out<'_>) -> Result<()> {
        if self.rows > 0 {
            out.text("\n]")?;
            out.text(&self.tail)?;
        }
        *self = Self::default();
        Ok(())
    }
}

/// The cells from column `first` on as a map literal, without those that are empty.
fn map(table: &GraphTable, row: &[Cell], first: usize) -> String {
    let entries: Vec<String> = table.columns[first..]
        .iter()
        .zip(&row[first..])
        .filter_map(|(column, cell)| Some(format!("{}: {}", column.name, literal(cell)?)))
        .collect();
    format!("{{{}}}", entries.join(", "))
}

fn literal(cell: &Cell) -> Option<String> {
    Some(match cell {
        Cell::Null => return None,
        Cell::Text(text) | Cell::Json(text) => quoted_text(text),
        Cell::Texts(texts) => {
            let texts: Vec<String> = texts.iter().map(|text| quoted_text(text)).collect();
            format!("[{}]", texts.join(", "))
        }
        Cell::Floats(_) => plain_text(cell)?,
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => real_text(*number),
        Cell::Boolean(truth) => truth.to_string(),
        Cell::Time(ms) => format!("datetime('{}')", iso_time(*ms)?),
    })
}

/// A string literal. Some parsers read `\uXXXX` before anything else, even behind a backslash; so no
/// backslash of the text is ever followed by a plain `u`.
fn quoted_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    let mut after_backslash = false;
    for c in text.chars() {
        match c {
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            'u' if after_backslash => out.push_str("\\u0075"),
            c if needs_escape(c) => {
                write!(out, "\\u{:04X}", u32::from(c)).expect("a string takes every text");
            }
            c => out.push(c),
        }
        after_backslash = c == '\\';
    }
    out.push('\'');
    out
}

/// A label or type in back-ticks, the same name whatever it holds. A name cannot hold U+0000, which
/// becomes its picture; a backslash before `u` is written in the escaped form that Neo4j reads.
fn quoted_name(name: &str) -> String {
    let name = name
        .replace('\0', "\u{2400}")
        .replace('`', "``")
        .replace("\\u", "\\u005Cu");
    format!("`{name}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_names_stay_within_their_quotes() {
        let check = |text: &str, expected: &str| assert_eq!(quoted_text(text), expected);
        check("it's", r"'it\'s'");
        check(r"a\u0027 b\\u", r"'a\\\u00750027 b\\\\\u0075'");
        check("\u{1}\u{1b}\n\u{fffe}é", r"'\u0001\u001B\n\uFFFEé'");
        let check = |name: &str, expected: &str| assert_eq!(quoted_name(name), expected);
        check("Person", "`Person`");
        check("x` SET n.admin = true //", "`x`` SET n.admin = true //`");
        check(r"x\u0060", r"`x\u005Cu0060`");
        check("a\0b", "`a\u{2400}b`");
    }
}
