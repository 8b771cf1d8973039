//! `GraphML`, which yEd, igraph, networkx and many others read. Text is escaped as `xml_text` says.

use std::collections::BTreeMap;

use super::cell_text::{plain_text, text};
use super::output::Out;
use super::xml_text::xml_text;
use crate::Result;
use crate::storage::graph_table::{
    Cell, ColumnKind, EDGES, GraphReader, GraphTable, NODES, RELATION,
};

pub(super) fn write(reader: &GraphReader<'_>, out: &mut Out<'_>) -> Result<()> {
    out.text(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
    )?;
    let mut node_keys = keys(NODES, 1);
    // What kind of node it is; of an edge that is its type.
    node_keys.insert("label", ColumnKind::Text);
    let mut edge_keys = keys(EDGES, 2);
    edge_keys.extend(keys(&[&RELATION], 2));
    for (owner, keys) in [("node", node_keys), ("edge", edge_keys)] {
        for (name, kind) in keys {
            writeln!(
                out,
                "<key id=\"{owner}.{name}\" for=\"{owner}\" attr.name=\"{name}\" attr.type=\"{}\"/>",
                type_name(kind)
            )?;
        }
    }
    out.text("<graph id=\"malha\" edgedefault=\"directed\">\n")?;
    for table in NODES {
        reader.rows(table, |row| {
            write!(out, "<node id=\"{}\">", xml_text(text(&row[0])))?;
            write!(out, "<data key=\"node.label\">{}</data>", table.name)?;
            write_data("node", table, row, 1, out)?;
            out.text("</node>\n")
        })?;
    }
    for table in EDGES.iter().chain(&[&RELATION]) {
        reader.rows(table, |row| {
            let [source, target] = [0, 1].map(|index| xml_text(text(&row[index])));
            write!(out, "<edge source=\"{source}\" target=\"{target}\">")?;
            if table.name != RELATION.name {
                write!(out, "<data key=\"edge.type\">{}</data>", table.name)?;
            }
            write_data("edge", table, row, 2, out)?;
            out.text("</edge>\n")
        })?;
    }
    out.text("</graph>\n</graphml>\n")
}

fn keys(tables: &[&GraphTable], first: usize) -> BTreeMap<&'static str, ColumnKind> {
    let columns = tables.iter().flat_map(|table| &table.columns[first..]);
    columns.map(|column| (column.name, column.kind)).collect()
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

fn write_data(
    owner: &str,
    table: &GraphTable,
    row: &[Cell],
    first: usize,
    out: &mut Out<'_>,
) -> Result<()> {
    for (column, cell) in table.columns[first..].iter().zip(&row[first..]) {
        if let Some(value) = plain_text(cell) {
            write!(
                out,
                "<data key=\"{owner}.{}\">{}</data>",
                column.name,
                xml_text(&value)
            )?;
        }
    }
    Ok(())
}
