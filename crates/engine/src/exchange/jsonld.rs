//! JSON-LD: one document whose `@graph` has a node object for every resource, on a line of its own.

use serde_json::{Map, Value, json};

use super::cell_text::json_text;
use super::output::Out;
use super::rdf::{Object, TERM, TYPE, for_each_resource};
use crate::Result;
use crate::storage::graph_table::GraphReader;

pub(super) fn write(reader: &GraphReader<'_>, namespace: &str, out: &mut Out<'_>) -> Result<()> {
    let context = json!({
        "@vocab": TERM,
        "xsd": "http://www.w3.org/2001/XMLSchema#",
    });
    write!(out, "{{\"@context\": {context},\n\"@graph\": [")?;
    let mut separator = "\n";
    for_each_resource(reader, namespace, |resource| {
        out.text(separator)?;
        separator = ",\n";
        let mut node = Map::new();
        node.insert("@id".to_owned(), resource.subject.as_str().into());
        for (predicate, object) in &resource.statements {
            let (name, value) = member(predicate, object);
            let values = node.entry(name).or_insert_with(|| Value::Array(Vec::new()));
            let values = values.as_array_mut().expect("every other member is a list");
            values.push(value);
        }
        out.text(&json_text(&Value::Object(node)))
    })?;
    out.text("\n]}\n")
}

fn member(predicate: &str, object: &Object) -> (String, Value) {
    if let (TYPE, Object::Iri(iri)) = (predicate, object) {
        return ("@type".to_owned(), iri.as_str().into());
    }
    let name = predicate.strip_prefix(TERM).unwrap_or(predicate);
    let value = match object {
        Object::Iri(iri) => json!({ "@id": iri }),
        Object::Text(text) => text.as_str().into(),
        Object::Typed(text, kind) => json!({ "@value": text, "@type": format!("xsd:{kind}") }),
    };
    (name.to_owned(), value)
}
