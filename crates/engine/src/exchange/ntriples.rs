//! N-Triples: a statement a line.

use std::fmt::Write as _;

use super::cell_text::needs_escape;
use super::output::Out;
use super::rdf::{Object, for_each_resource};
use crate::Result;
use crate::storage::graph_table::GraphReader;

pub(super) fn write(reader: &GraphReader<'_>, namespace: &str, out: &mut Out<'_>) -> Result<()> {
    for_each_resource(reader, namespace, |resource| {
        for (predicate, object) in &resource.statements {
            write!(out, "<{}> <{predicate}> ", resource.subject)?;
            match object {
                Object::Iri(iri) => writeln!(out, "<{iri}> .")?,
                Object::Text(text) => writeln!(out, "\"{}\" .", escaped(text))?,
                Object::Typed(text, kind) => {
                    let schema = "http://www.w3.org/2001/XMLSchema";
                    writeln!(out, "\"{}\"^^<{schema}#{kind}> .", escaped(text))?;
                }
            }
        }
        Ok(())
    })
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if needs_escape(c) => {
                write!(out, "\\u{:04X}", u32::from(c)).expect("a string takes every text");
            }
            c => out.push(c),
        }
    }
    out
}
