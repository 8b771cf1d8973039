use csv::{ReaderBuilder, StringRecord};
use serde_json::{Map, Value};

use super::rows::Rows;
use super::{ReadOptions, ReadOutcome};
use crate::types::Warning;

/// Reads a table with a header row; every other row becomes a document.
pub(super) fn read_csv(
    text: &str,
    uri: &str,
    options: &ReadOptions,
    mut warnings: Vec<Warning>,
) -> ReadOutcome {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rows = Rows::new(uri, options);
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter(text, uri))
        .flexible(true)
        .has_headers(false)
        .from_reader(text.as_bytes());
    let mut header: Option<Vec<String>> = None;
    let mut number = 0;
    for record in reader.records() {
        match record {
            Ok(record) => {
                let line = record
                    .position()
                    .map_or(0, |position| position.line() as usize);
                let Some(columns) = &header else {
                    header = Some(column_names(&record));
                    continue;
                };
                number += 1;
                let row = fields(columns, &record);
                rows.add(number, line, row, std::mem::take(&mut warnings));
            }
            Err(error) => {
                let line = error
                    .position()
                    .map_or(0, |position| position.line() as usize);
                rows.fail(line, format!("the row cannot be read: {error}"));
            }
        }
        if rows.is_full() {
            break;
        }
    }
    // The csv crate reads an unclosed quote to the end of the file without complaint.
    if text.matches('"').count() % 2 == 1 {
        rows.warn_last(Warning {
            line: 0,
            message: "a quotation mark is never closed; the last row may hold the rows after it"
                .to_owned(),
        });
    }
    rows.finish()
}

/// Tab for `.tsv`; otherwise the separator that the header row has most of.
fn delimiter(text: &str, uri: &str) -> u8 {
    if uri.to_ascii_lowercase().ends_with(".tsv") {
        return b'\t';
    }
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0), (b'|', 0)];
    let mut quoted = false;
    for byte in text.bytes() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => break,
            _ if !quoted => {
                for (delimiter, count) in &mut counts {
                    *count += usize::from(byte == *delimiter);
                }
            }
            _ => {}
        }
    }
    // The first of equals: a comma where there is one column only.
    let best = counts.iter().rev().max_by_key(|(_, count)| *count);
    best.map_or(b',', |(delimiter, _)| *delimiter)
}

fn column_names(record: &StringRecord) -> Vec<String> {
    let name = |(at, name): (usize, &str)| match name.trim() {
        "" => format!("column {}", at + 1),
        name => name.to_owned(),
    };
    record.iter().enumerate().map(name).collect()
}

/// Values without a column name get a number; of two columns with one name the second gets one too.
fn fields(columns: &[String], record: &StringRecord) -> Value {
    let mut fields = Map::new();
    for (at, value) in record.iter().enumerate() {
        let numbered = || format!("column {}", at + 1);
        let mut name = columns.get(at).cloned().unwrap_or_else(numbered);
        if fields.contains_key(&name) {
            name = numbered();
        }
        fields.insert(name, Value::String(value.to_owned()));
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, uri: &str) -> ReadOutcome {
        read_csv(text, uri, &ReadOptions::default(), Vec::new())
    }

    #[test]
    fn tables() {
        let check = |uri: &str, text: &str, expected: &[(&str, &str, &str)]| {
            let outcome = read(text, uri);
            let found: Vec<_> = outcome
                .documents
                .iter()
                .map(|d| (d.fragment.as_str(), d.title.as_str(), d.text.as_str()))
                .collect();
            assert_eq!(found, expected, "{text}");
            assert_eq!(outcome.failures, []);
        };
        check(
            "t.csv",
            "name,city\nAna,Recife\n",
            &[("row-1", "Ana", "name: Ana\ncity: Recife")],
        );
        check(
            "t.csv",
            "\u{feff}nome;cidade\r\nAna;\"Recife; PE\"\r\n",
            &[("row-1", "Ana", "nome: Ana\ncidade: Recife; PE")],
        );
        check("t.tsv", "id\ttext\n1\ta, b\n", &[("1", "1", "a, b")]);
        check(
            "t.csv",
            "id,text\n1,\"two\nlines\"\n2,\"a \"\"q\"\"\"\n",
            &[("1", "1", "two\nlines"), ("2", "2", "a \"q\"")],
        );
        check(
            "t.csv",
            "a,,a\n1,2,3,4\n5\n",
            &[
                (
                    "row-1",
                    "t 1",
                    "a: 1\ncolumn 2: 2\ncolumn 3: 3\ncolumn 4: 4",
                ),
                ("row-2", "t 2", "a: 5"),
            ],
        );
        check(
            "t.csv",
            "word\none\n\ntwo\n",
            &[("row-1", "t 1", "word: one"), ("row-2", "t 2", "word: two")],
        );
    }

    #[test]
    fn what_is_odd_is_said() {
        assert_eq!(read("a,b\n", "t.csv").skipped[0].reason, "it holds no rows");
        assert_eq!(read("a,b\n,\n", "t.csv").skipped[0].uri, "t.csv#row-1");
        let outcome = read("a,b\n1,\"never closed\n2,3\n", "t.csv");
        assert_eq!(outcome.documents.len(), 1);
        assert!(
            outcome.documents[0].warnings[0]
                .message
                .contains("never closed")
        );
    }
}
