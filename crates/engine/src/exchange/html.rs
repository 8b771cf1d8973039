//! One HTML file that shows entities, relations and their evidence without a network.

use serde_json::{Value, json};

use super::cell_text::{iso_time, json_text, text};
use super::output::Out;
use crate::Result;
use crate::storage::graph_table::{Cell, ENTITY, GraphReader, RELATION};

const VIEWER: &str = include_str!("viewer.html");
/// Where the viewer wants the data.
const PLACE: &str = "/*GRAPH*/";

pub(super) fn write(reader: &GraphReader<'_>, out: &mut Out<'_>) -> Result<()> {
    let (before, after) = VIEWER
        .split_once(PLACE)
        .expect("the viewer has a place for the data");
    out.text(before)?;
    out.text("{\"nodes\":[")?;
    let mut separator = "\n";
    reader.rows(&ENTITY, |row| {
        out.text(separator)?;
        separator = ",\n";
        let cells = ["id", "name", "type", "description"].map(|name| text(ENTITY.cell(row, name)));
        out.text(&script_json(&json!(cells)))
    })?;
    out.text("\n],\n\"edges\":[")?;
    separator = "\n";
    reader.rows(&RELATION, |row| {
        out.text(separator)?;
        separator = ",\n";
        let evidence: Vec<Value> =
            serde_json::from_str(text(RELATION.cell(row, "evidence"))).unwrap_or_default();
        let quotes: Vec<Value> = evidence
            .iter()
            .map(|place| json!([place["document"], place["quote"]]))
            .collect();
        let [from, until] = ["valid_from", "valid_to"].map(|name| match RELATION.cell(row, name) {
            Cell::Time(ms) => iso_time(*ms).unwrap_or_default(),
            _ => String::new(),
        });
        let [source, target, name, fact] =
            ["source", "target", "type", "fact"].map(|name| text(RELATION.cell(row, name)));
        let edge = json!([source, target, name, fact, from, until, quotes]);
        out.text(&script_json(&edge))
    })?;
    out.text("\n]}")?;
    out.text(after)
}

/// JSON in which nothing ends the script it stands in.
fn script_json(value: &Value) -> String {
    json_text(value).replace('<', "\\u003c")
}
