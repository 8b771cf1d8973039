//! The `malha` format: the whole current content of a namespace as JSON lines.
//!
//! The first line is a header with the format's version and the content's digest, the last one the
//! number of records between them. A record is an object with one member, whose name is the table:
//! `{"entity": {"public_id": "…", "kind": "note", …}}`. Rows name each other by uri and public id.
//! Vectors, reports of communities and closed rows are not in it; `malha backup` keeps them all.

use std::io::{BufRead, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::storage::{self, RecordError, RecordWriter, Store, WriteTransaction};
use crate::text::{Language, index_terms};
use crate::types::Namespace;
use crate::{Error, Result};

/// Version of the format. A reader refuses what it does not know.
const VERSION: u64 = 1;

/// Writes the namespace to `out`, in an order that depends on the content alone, and returns the
/// number of records. `name` is what errors call `out`.
pub fn export_malha(
    store: &Store,
    namespace: &Namespace,
    name: &Path,
    mut out: impl Write,
) -> Result<u64> {
    let _state = store.read()?;
    let io_error = |source| Error::Io {
        path: name.to_owned(),
        source,
    };
    let header = json!({
        "malha_export": VERSION,
        "namespace": namespace.as_str(),
        "digest": store.digest(namespace)?,
    });
    writeln!(out, "{header}").map_err(io_error)?;
    let mut records = 0;
    if let Some(id) = store.namespace(namespace)? {
        storage::for_each_record(store.connection(), id, |table, record| {
            records += 1;
            let line = Value::Object(Map::from_iter([(table.to_owned(), Value::Object(record))]));
            writeln!(out, "{line}").map_err(io_error)
        })?;
    }
    writeln!(out, "{}", json!({ "end": records })).map_err(io_error)?;
    out.flush().map_err(io_error)?;
    Ok(records)
}

/// Reads an export into a namespace that holds nothing yet, inside `transaction`, and returns the
/// number of records. A namespace that already has the same content is left alone, and 0 returned.
/// The content's digest must be that of the header; a file that was cut or changed is refused whole.
pub fn import_malha(
    transaction: &WriteTransaction<'_>,
    namespace: &Namespace,
    name: &Path,
    input: impl BufRead,
) -> Result<u64> {
    let store = transaction.store();
    let refuse = |line: usize, reason: String| Error::Import {
        path: name.to_owned(),
        line,
        reason,
    };
    let mut lines = (1..).zip(input.lines());
    let mut next = || -> Result<Option<(usize, Value)>> {
        let Some((number, line)) = lines.next() else {
            return Ok(None);
        };
        let line = line.map_err(|source| match source.kind() {
            std::io::ErrorKind::InvalidData => refuse(number, "it is no UTF-8 text".to_owned()),
            _ => Error::Io {
                path: name.to_owned(),
                source,
            },
        })?;
        let value = serde_json::from_str(&line)
            .map_err(|error| refuse(number, format!("it is no JSON: {error}")))?;
        Ok(Some((number, value)))
    };
    let header = next()?.map(|(_, value)| value).unwrap_or_default();
    let digest = check_header(&header).map_err(|reason| refuse(1, reason))?;
    let before = store.digest(namespace)?;
    if before == digest {
        return Ok(0);
    }
    if let Some(id) = store.namespace(namespace)?
        && storage::has_content(store.connection(), id)?
    {
        return Err(Error::Usage(format!(
            "namespace {namespace} holds other content already; import into an empty store or \
             choose another --namespace"
        )));
    }
    let id = transaction.namespace(namespace)?;
    let mut writer = RecordWriter::new(store.connection(), id)?;
    let mut records = 0;
    loop {
        let Some((number, line)) = next()? else {
            return Err(refuse(
                records as usize + 2,
                "the file ends before its last line; it was cut".to_owned(),
            ));
        };
        if let Some(count) = line.get("end").and_then(Value::as_u64) {
            if count != records || next()?.is_some() {
                return Err(refuse(number, "the number of records is wrong".to_owned()));
            }
            break;
        }
        let (table, record) = only_member(&line)
            .ok_or_else(|| refuse(number, "it is no record of an export".to_owned()))?;
        writer.insert(table, record).map_err(|error| match error {
            RecordError::Unusable(reason) => refuse(number, reason),
            RecordError::Failed(error) => error,
        })?;
        records += 1;
    }
    fill_full_text(store, id)?;
    if store.digest(namespace)? != digest {
        return Err(refuse(
            1,
            "the content is not that of the header's digest; the file was changed".to_owned(),
        ));
    }
    Ok(records)
}

fn check_header(header: &Value) -> Result<String, String> {
    match header.get("malha_export").and_then(Value::as_u64) {
        Some(VERSION) => {}
        Some(other) => {
            return Err(format!(
                "format {other} is not known, only {VERSION}; update malha"
            ));
        }
        None => {
            return Err("the file is no malha export (use --format triples for facts)".to_owned());
        }
    }
    header
        .get("digest")
        .and_then(Value::as_str)
        .map(str::to_owned)
        .ok_or_else(|| "the header has no digest".to_owned())
}

fn only_member(line: &Value) -> Option<(&str, &Map<String, Value>)> {
    let object = line.as_object()?;
    let (name, value) = object.iter().next()?;
    (object.len() == 1).then_some((name.as_str(), value.as_object()?))
}

/// The full-text index is no part of an export: it follows from the chunks.
fn fill_full_text(store: &Store, namespace: storage::NamespaceId) -> Result<()> {
    let connection = store.connection();
    storage::for_each_text(connection, namespace, |chunk| {
        let language: Language = chunk.language.parse().unwrap_or(Language::Other);
        let mut title_terms = String::new();
        index_terms(&chunk.title, language, &mut title_terms);
        for alias in &chunk.aliases {
            title_terms.push(' ');
            index_terms(alias, language, &mut title_terms);
        }
        let mut heading_terms = String::new();
        index_terms(&chunk.heading_path.join("\n"), language, &mut heading_terms);
        let mut body_terms = String::new();
        index_terms(&chunk.text, language, &mut body_terms);
        storage::full_text::insert(
            connection,
            chunk.id,
            &title_terms,
            &heading_terms,
            &body_terms,
        )
    })?;
    storage::save_languages(connection, namespace.0)
}
