//! The graph as statements, which N-Triples and JSON-LD write each in their own way.
//!
//! A relation is a statement of its two entities, and a resource of its own (`rdf:Statement`) that has
//! its times and its evidence.

use std::fmt::Write as _;

use super::cell_text::{iso_time, json_text, plain_text, text, texts};
use crate::Result;
use crate::storage::graph_table::{
    CHUNK, Cell, DOCUMENT, EDGES, ENTITY, EVIDENCE, GraphReader, GraphTable, MENTIONS, NODES,
    RELATION, TableKind,
};

pub(super) const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
pub(super) const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const LABEL: &str = "http://www.w3.org/2000/01/rdf-schema#label";
const OTHER_LABEL: &str = "http://www.w3.org/2004/02/skos/core#altLabel";
/// Before the names of tables and columns.
pub(super) const TERM: &str = "urn:malha:term:";

/// What a statement says of its subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Object {
    Iri(String),
    Text(String),
    /// A value and the name of its type in XML Schema.
    Typed(String, &'static str),
}

/// Some statements of one subject.
#[derive(Debug, Default)]
pub(super) struct Resource {
    pub(super) subject: String,
    pub(super) statements: Vec<(String, Object)>,
}

impl Resource {
    fn new(subject: String) -> Self {
        Self {
            subject,
            statements: Vec::new(),
        }
    }

    fn say(&mut self, predicate: impl Into<String>, object: Object) {
        self.statements.push((predicate.into(), object));
    }

    /// The cell under the name of its column; a list as many statements unless its order matters.
    fn say_cell(&mut self, name: &str, cell: &Cell) {
        let predicate = match name {
            "name" | "title" => LABEL.to_owned(),
            "aliases" => OTHER_LABEL.to_owned(),
            _ => format!("{TERM}{name}"),
        };
        let object = match cell {
            Cell::Null => return,
            Cell::Texts(list) if name == "heading_path" => {
                Object::Text(json_text(&list.as_slice().into()))
            }
            Cell::Texts(list) => {
                for text in list {
                    self.say(predicate.clone(), Object::Text(text.clone()));
                }
                return;
            }
            Cell::Text(text) | Cell::Json(text) => Object::Text(text.clone()),
            Cell::Time(ms) => match iso_time(*ms) {
                Some(time) => Object::Typed(time, "dateTime"),
                None => return,
            },
            other => {
                let kind = match other {
                    Cell::Integer(_) => "integer",
                    Cell::Real(_) => "double",
                    _ => "boolean",
                };
                Object::Typed(plain_text(other).unwrap_or_default(), kind)
            }
        };
        self.say(predicate, object);
    }

    fn say_cells(&mut self, table: &GraphTable, row: &[Cell], first: usize) {
        for (column, cell) in table.columns[first..].iter().zip(&row[first..]) {
            self.say_cell(column.name, cell);
        }
    }
}

fn term(name: &str) -> Object {
    Object::Iri(format!("{TERM}{name}"))
}

/// Makes the names of a namespace's things.
struct Names {
    prefix: String,
}

impl Names {
    fn of(&self, kind: &str, id: &str) -> String {
        format!("{}{kind}:{}", self.prefix, percent(id))
    }

    fn node(&self, table: &str, id: &Cell) -> String {
        self.of(&table.to_lowercase(), text(id))
    }
}

/// Every byte that is no plain letter, digit or one of `-._~` as `%HH`.
fn percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            other => write!(out, "%{other:02X}").expect("a string takes every text"),
        }
    }
    out
}

/// Hands over all statements, grouped by what they speak of.
pub(super) fn for_each_resource(
    reader: &GraphReader<'_>,
    namespace: &str,
    mut each: impl FnMut(&Resource) -> Result<()>,
) -> Result<()> {
    let names = Names {
        prefix: format!("urn:malha:{}:", percent(namespace)),
    };
    for table in NODES {
        reader.rows(table, |row| each(&node(&names, table, row)))?;
    }
    let mut last_type = None;
    reader.rows(&RELATION, |row| {
        let name = text(RELATION.cell(row, "type"));
        let predicate = names.of("relation", name);
        if last_type.as_deref() != Some(name) {
            last_type = Some(name.to_owned());
            let mut resource = Resource::new(predicate.clone());
            resource.say(TYPE, Object::Iri(format!("{RDF}Property")));
            resource.say(LABEL, Object::Text(name.to_owned()));
            each(&resource)?;
        }
        let [source, target] = [0, 1].map(|index| names.node(ENTITY.name, &row[index]));
        // A statement that has been taken back is only told of.
        if *RELATION.cell(row, "retracted_at") == Cell::Null {
            let mut resource = Resource::new(source.clone());
            resource.say(predicate.clone(), Object::Iri(target.clone()));
            each(&resource)?;
        }
        let mut resource = Resource::new(names.of("statement", text(RELATION.cell(row, "id"))));
        resource.say(TYPE, Object::Iri(format!("{RDF}Statement")));
        resource.say(format!("{RDF}subject"), Object::Iri(source));
        resource.say(format!("{RDF}predicate"), Object::Iri(predicate));
        resource.say(format!("{RDF}object"), Object::Iri(target));
        // The evidence has resources of its own.
        resource.say_cells(&RELATION, &row[..row.len() - 1], 4);
        each(&resource)
    })?;
    reader.rows(&EVIDENCE, |row| {
        let id = format!("{}:{}:{}", text(&row[0]), text(&row[1]), place(&row[3]));
        let mut resource = Resource::new(names.of("evidence", &id));
        resource.say(TYPE, term("Evidence"));
        let statement = names.of("statement", text(&row[0]));
        resource.say(format!("{TERM}states"), Object::Iri(statement));
        let document = names.node(DOCUMENT.name, &row[1]);
        resource.say(format!("{TERM}document"), Object::Iri(document));
        if row[2] != Cell::Null {
            let chunk = names.node(CHUNK.name, &row[2]);
            resource.say(format!("{TERM}chunk"), Object::Iri(chunk));
        }
        resource.say_cells(&EVIDENCE, row, 3);
        each(&resource)
    })?;
    for table in EDGES {
        reader.rows(table, |row| edge(&names, table, row, &mut each))?;
    }
    Ok(())
}

fn place(cell: &Cell) -> String {
    plain_text(cell).unwrap_or_default()
}

fn node(names: &Names, table: &GraphTable, row: &[Cell]) -> Resource {
    let mut resource = Resource::new(names.node(table.name, &row[0]));
    resource.say(TYPE, term(table.name));
    if table.name == ENTITY.name {
        for name in texts(ENTITY.cell(row, "types")) {
            resource.say(TYPE, Object::Iri(names.of("type", name)));
        }
    }
    resource.say_cells(table, row, 1);
    resource
}

fn edge(
    names: &Names,
    table: &GraphTable,
    row: &[Cell],
    each: &mut impl FnMut(&Resource) -> Result<()>,
) -> Result<()> {
    let TableKind::Edge { from, to } = table.kind else {
        unreachable!("only edges are listed");
    };
    let (source, target) = (names.node(from, &row[0]), names.node(to, &row[1]));
    let mut resource = Resource::new(source.clone());
    let predicate = format!("{TERM}{}", table.name.to_lowercase());
    resource.say(predicate, Object::Iri(target.clone()));
    each(&resource)?;
    if table.name != MENTIONS.name {
        return Ok(());
    }
    let id = format!(
        "{}:{}:{}:{}",
        text(&row[0]),
        place(&row[3]),
        text(&row[1]),
        text(&row[2])
    );
    let mut resource = Resource::new(names.of("mention", &id));
    resource.say(TYPE, term("Mention"));
    resource.say(format!("{TERM}chunk"), Object::Iri(source));
    resource.say(format!("{TERM}entity"), Object::Iri(target));
    resource.say_cells(&MENTIONS, row, 2);
    each(&resource)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_part_of_a_name() {
        let check = |text: &str, expected: &str| assert_eq!(percent(text), expected);
        check("co-worker", "co-worker");
        check("has space", "has%20space");
        check("für>:\"", "f%C3%BCr%3E%3A%22");
    }
}
