use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Error, Result};

/// One JSON object of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub path: PathBuf,
    /// From 1.
    pub line: usize,
    pub fields: Map<String, Value>,
}

/// A row that could not be used, and why. It costs no other row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BrokenRow {
    pub path: PathBuf,
    /// From 1.
    pub line: usize,
    pub reason: String,
}

impl std::fmt::Display for BrokenRow {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            out,
            "{}:{}: {}",
            self.path.display(),
            self.line,
            self.reason
        )
    }
}

/// The rows of one or several files, in order.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub rows: Vec<Row>,
    pub broken: Vec<BrokenRow>,
}

/// Reads a JSONL file, plain or gzip (told by its first bytes, not by its name). Blank lines are left out;
/// a line that is no JSON object is reported as broken.
pub(crate) fn read_rows(path: &Path) -> Result<Rows> {
    let mut rows = Rows::default();
    let mut reader = open(path)?;
    let mut bytes = Vec::new();
    let mut line = 0;
    loop {
        bytes.clear();
        if reader
            .read_until(b'\n', &mut bytes)
            .map_err(Error::io(path))?
            == 0
        {
            return Ok(rows);
        }
        line += 1;
        let content = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        if content.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice::<Value>(content) {
            Ok(Value::Object(fields)) => rows.rows.push(Row {
                path: path.to_owned(),
                line,
                fields,
            }),
            Ok(_) => rows.broken.push(BrokenRow {
                path: path.to_owned(),
                line,
                reason: "a JSON value, but no object".to_owned(),
            }),
            Err(error) => rows.broken.push(BrokenRow {
                path: path.to_owned(),
                line,
                reason: error.to_string(),
            }),
        }
    }
}

fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    let mut file = BufReader::new(File::open(path).map_err(Error::io(path))?);
    let gzip = file
        .fill_buf()
        .map_err(Error::io(path))?
        .starts_with(&[0x1f, 0x8b]);
    Ok(if gzip {
        Box::new(BufReader::new(MultiGzDecoder::new(file)))
    } else {
        Box::new(file)
    })
}

/// The whole text of a file, plain or gzip.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let mut text = String::new();
    open(path)?
        .read_to_string(&mut text)
        .map_err(Error::io(path))?;
    Ok(text)
}

impl Row {
    /// A string field; numbers are written out. `None` when absent or null.
    pub(crate) fn text(&self, field: &str) -> Option<String> {
        match self.fields.get(field)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// A list of strings, or a single string as a list of one. Absent and null give an empty list.
    pub(crate) fn list(&self, field: &str) -> Vec<String> {
        match self.fields.get(field) {
            Some(Value::Array(items)) => items.iter().filter_map(scalar).collect(),
            Some(value) => scalar(value).into_iter().collect(),
            None => Vec::new(),
        }
    }

    /// The field's value as the scoring scripts beside the data print it (`True`, `None`, bare strings).
    pub(crate) fn label(&self, field: &str) -> String {
        match self.fields.get(field) {
            None | Some(Value::Null) => "None".to_owned(),
            Some(Value::Bool(true)) => "True".to_owned(),
            Some(Value::Bool(false)) => "False".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }

    pub(crate) fn broken(&self, reason: impl Into<String>) -> BrokenRow {
        BrokenRow {
            path: self.path.clone(),
            line: self.line,
            reason: reason.into(),
        }
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    const CONTENT: &str =
        "\u{feff}{\"id\": \"a\"}\n\n{\"id\": 7, \"ok\": true}\nnot json\n[1]\n{\"id\": \"z\"}";

    fn check(bytes: &[u8]) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.jsonl");
        std::fs::write(&path, bytes).unwrap();
        let rows = read_rows(&path).unwrap();
        let ids: Vec<_> = rows
            .rows
            .iter()
            .map(|row| (row.line, row.text("id")))
            .collect();
        assert_eq!(
            ids,
            [
                (1, Some("a".to_owned())),
                (3, Some("7".to_owned())),
                (6, Some("z".to_owned()))
            ]
        );
        assert_eq!(
            rows.broken.iter().map(|b| b.line).collect::<Vec<_>>(),
            [4, 5]
        );
        assert!(rows.broken[0].to_string().contains("rows.jsonl:4: "));
    }

    #[test]
    fn plain_and_gzip_files_give_the_same_rows() {
        check(CONTENT.as_bytes());
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(CONTENT.as_bytes()).unwrap();
        check(&gzip.finish().unwrap());
    }

    #[test]
    fn values_are_labelled_like_the_scripts_do() {
        let row = Row {
            path: PathBuf::new(),
            line: 1,
            fields: serde_json::from_str(
                r#"{"s": "x y", "n": 2, "t": true, "f": false, "z": null, "l": ["a", 3, null]}"#,
            )
            .unwrap(),
        };
        for (field, label) in [
            ("s", "x y"),
            ("n", "2"),
            ("t", "True"),
            ("f", "False"),
            ("z", "None"),
            ("absent", "None"),
        ] {
            assert_eq!(row.label(field), label);
        }
        assert_eq!(row.list("l"), ["a", "3"]);
        assert_eq!(row.list("s"), ["x y"]);
        assert!(row.list("z").is_empty() && row.list("absent").is_empty());
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read_rows(Path::new("no/such.jsonl")).unwrap_err();
        assert!(error.to_string().starts_with("no/such.jsonl: "), "{error}");
    }
}
