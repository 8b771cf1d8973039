//! GEXF 1.3, the format of Gephi. Text is escaped as `xml_text` says.

use super::cell_text::{plain_text, text};
use super::output::Out;
use super::xml_text::xml_text;
use crate::Result;
use crate::storage::graph_table::{
    Cell, Column, ColumnKind, EDGES, GraphReader, GraphTable, NODES, RELATION,
};

pub(super) fn write(reader: &GraphReader<'_>, out: &mut Out<'_>) -> Result<()> {
    out.text(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <gexf xmlns=\"http://gexf.net/1.3\" version=\"1.3\">\n\
         <graph defaultedgetype=\"directed\" mode=\"static\">\n",
    )?;
    let relations = [&RELATION];
    let node_columns = columns(NODES, 1);
    let edge_columns = columns(&[&relations, EDGES].concat(), 2);
    for (owner, columns) in [("node", &node_columns), ("edge", &edge_columns)] {
        writeln!(out, "<attributes class=\"{owner}\">")?;
        let own = if owner == "node" { "table" } else { "kind" };
        writeln!(
            out,
            "<attribute id=\"{own}\" title=\"{own}\" type=\"string\"/>"
        )?;
        for column in columns {
            let (name, kind) = (column.name, type_name(column.kind));
            writeln!(
                out,
                "<attribute id=\"{name}\" title=\"{name}\" type=\"{kind}\"/>"
            )?;
        }
        out.text("</attributes>\n")?;
    }
    out.text("<nodes>\n")?;
    for table in NODES {
        reader.rows(table, |row| {
            let (id, label) = (xml_text(text(&row[0])), xml_text(label(table, row)));
            write!(out, "<node id=\"{id}\" label=\"{label}\">")?;
            write_values(("table", table.name), &node_columns, table, row, 1, out)?;
            out.text("</node>\n")
        })?;
    }
    out.text("</nodes>\n<edges>\n")?;
    let mut number = 0;
    for table in [&relations, EDGES].concat() {
        reader.rows(table, |row| {
            number += 1;
            let [source, target] = [0, 1].map(|index| xml_text(text(&row[index])));
            let (kind, weight) = if table.name == RELATION.name {
                (
                    text(RELATION.cell(row, "type")),
                    plain_text(RELATION.cell(row, "weight")),
                )
            } else {
                (table.name, None)
            };
            let safe_kind = xml_text(kind);
            write!(
                out,
                "<edge id=\"{number}\" source=\"{source}\" target=\"{target}\" \
                 kind=\"{safe_kind}\" label=\"{safe_kind}\" weight=\"{}\">",
                weight.as_deref().unwrap_or("1.0")
            )?;
            write_values(("kind", kind), &edge_columns, table, row, 2, out)?;
            out.text("</edge>\n")
        })?;
    }
    out.text("</edges>\n</graph>\n</gexf>\n")
}

/// The columns of all the tables, each name once.
fn columns(tables: &[&'static GraphTable], first: usize) -> Vec<&'static Column> {
    let mut columns: Vec<&Column> = Vec::new();
    for column in tables.iter().flat_map(|table| &table.columns[first..]) {
        // `weight` is an attribute of the edge itself.
        if column.name != "weight" && !columns.iter().any(|other| other.name == column.name) {
            columns.push(column);
        }
    }
    columns
}

/// What a node is called in a picture.
fn label<'a>(table: &GraphTable, row: &'a [Cell]) -> &'a str {
    let at = table
        .columns
        .iter()
        .position(|column| matches!(column.name, "name" | "title"));
    match at.map(|at| text(&row[at])) {
        Some(label) if !label.is_empty() => label,
        _ => text(&row[0]),
    }
}

fn type_name(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Integer => "long",
        ColumnKind::Real => "double",
        ColumnKind::Boolean => "boolean",
        ColumnKind::Text
        | ColumnKind::Texts
        | ColumnKind::Floats
        | ColumnKind::Json
        | ColumnKind::Time => "string",
    }
}

fn write_values(
    own: (&str, &str),
    known: &[&'static Column],
    table: &GraphTable,
    row: &[Cell],
    first: usize,
    out: &mut Out<'_>,
) -> Result<()> {
    let (name, value) = (own.0, xml_text(own.1));
    write!(
        out,
        "<attvalues><attvalue for=\"{name}\" value=\"{value}\"/>"
    )?;
    for (column, cell) in table.columns[first..].iter().zip(&row[first..]) {
        if let Some(value) = plain_text(cell)
            && known.iter().any(|other| other.name == column.name)
        {
            let (name, value) = (column.name, xml_text(&value));
            write!(out, "<attvalue for=\"{name}\" value=\"{value}\"/>")?;
        }
    }
    out.text("</attvalues>")
}
