//! Tables as other programs write them: Parquet, JSON lines, one JSON object by id; plain or gzipped.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde_json::{Map, Value};

use super::parquet;
use crate::{Error, Result};

/// A row with its number in the file, from 1.
pub(super) type Row = (usize, Map<String, Value>);

/// A table that was found.
pub(super) struct Table {
    /// Name of its file, for messages.
    pub file: String,
    pub rows: Vec<Row>,
    /// Lines that are no rows.
    pub broken: Vec<(usize, String)>,
}

/// The first of these tables that the folder has, by name without ending.
pub(super) fn find(folder: &Path, names: &[&str]) -> Result<Option<Table>> {
    for name in names {
        for ending in ["parquet", "jsonl", "jsonl.gz", "json", "json.gz"] {
            let path = folder.join(format!("{name}.{ending}"));
            if path.is_file() {
                return read(&path).map(Some);
            }
        }
    }
    Ok(None)
}

/// A table that has to be there.
pub(super) fn need(folder: &Path, names: &[&str]) -> Result<Table> {
    find(folder, names)?.ok_or_else(|| {
        Error::Usage(format!(
            "{}: there is no {} (.parquet, .jsonl or .json)",
            folder.display(),
            names.join(" or ")
        ))
    })
}

/// Reads a table.
pub(super) fn read(path: &Path) -> Result<Table> {
    let file = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let bytes = bytes_of(path)?;
    let bad = |reason: String| Error::Usage(format!("{}: {reason}", path.display()));
    if bytes.starts_with(b"PAR1") {
        let rows = parquet::read(&bytes).map_err(bad)?;
        return Ok(Table {
            file,
            rows: rows
                .into_iter()
                .enumerate()
                .map(|(at, row)| (at + 1, row))
                .collect(),
            broken: Vec::new(),
        });
    }
    let text = String::from_utf8(bytes).map_err(|_| bad("no UTF-8 text".to_owned()))?;
    let text = text.trim_start_matches('\u{feff}');
    let (mut rows, mut broken) = (Vec::new(), Vec::new());
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(items)) => {
            for (at, item) in items.into_iter().enumerate() {
                match item {
                    Value::Object(row) => rows.push((at + 1, row)),
                    _ => broken.push((at + 1, "no object".to_owned())),
                }
            }
        }
        // One object that holds all rows by id, or the rows under one name.
        Ok(Value::Object(map)) => rows = rows_of_object(map),
        _ => {
            for (at, line) in text
                .lines()
                .enumerate()
                .filter(|(_, line)| !line.trim().is_empty())
            {
                match serde_json::from_str(line) {
                    Ok(Value::Object(row)) => rows.push((at + 1, row)),
                    Ok(_) => broken.push((at + 1, "no object".to_owned())),
                    Err(error) => broken.push((at + 1, error.to_string())),
                }
            }
            if rows.is_empty() && !broken.is_empty() {
                return Err(bad("neither JSON nor JSON lines".to_owned()));
            }
        }
    }
    Ok(Table { file, rows, broken })
}

fn rows_of_object(map: Map<String, Value>) -> Vec<Row> {
    if let Some(Value::Array(items)) = map.get("docs").or_else(|| map.get("data")) {
        let objects = items
            .iter()
            .enumerate()
            .filter_map(|(at, item)| Some((at + 1, item.as_object()?.clone())));
        return objects.collect();
    }
    if !map.is_empty() && map.values().all(Value::is_object) {
        let with_id = |(at, (id, row)): (usize, (String, Value))| {
            let Value::Object(mut row) = row else {
                unreachable!("all values are objects");
            };
            row.entry("id").or_insert(Value::String(id));
            (at + 1, row)
        };
        return map.into_iter().enumerate().map(with_id).collect();
    }
    vec![(1, map)]
}

/// All bytes of a file, unpacked.
pub(super) fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    let io_error = |source| Error::Io {
        path: path.to_owned(),
        source,
    };
    let file = BufReader::new(File::open(path).map_err(io_error)?);
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|ending| ending == "gz") {
        MultiGzDecoder::new(file)
            .read_to_end(&mut bytes)
            .map_err(io_error)?;
    } else {
        let mut file = file;
        file.read_to_end(&mut bytes).map_err(io_error)?;
    }
    Ok(bytes)
}

/// A file of the folder, plain or gzipped.
pub(super) fn file_in(folder: &Path, name: &str) -> Option<PathBuf> {
    [name.to_owned(), format!("{name}.gz")]
        .iter()
        .map(|name| folder.join(name))
        .find(|path| path.is_file())
}

/// A field as text: a number is one too, `null` and "NONE" are none.
pub(super) fn text<'a>(
    row: &'a Map<String, Value>,
    names: &[&str],
) -> Option<std::borrow::Cow<'a, str>> {
    let value = names
        .iter()
        .find_map(|name| row.get(*name).filter(|value| !value.is_null()))?;
    match value {
        Value::String(text) if text.trim().is_empty() || text == "NONE" => None,
        Value::String(text) => Some(text.as_str().into()),
        Value::Number(number) => Some(number.to_string().into()),
        _ => None,
    }
}

/// A field that lists texts, or one text of several that `<SEP>` separates.
pub(super) fn texts(row: &Map<String, Value>, names: &[&str]) -> Vec<String> {
    let value = names
        .iter()
        .find_map(|name| row.get(*name).filter(|value| !value.is_null()));
    match value {
        Some(Value::Array(items)) => items
            .iter()
            .filter_map(|item| match item {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            })
            .collect(),
        Some(Value::String(text)) => split(text),
        _ => Vec::new(),
    }
}

/// Parts of a text that was merged.
pub(super) fn split(text: &str) -> Vec<String> {
    let parts = text
        .split("<SEP>")
        .map(str::trim)
        .filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}
