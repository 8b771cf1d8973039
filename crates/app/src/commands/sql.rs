//! `malha sql QUERY`

use std::io::{self, Write};

use malha_engine::types::SqlRows;
use serde_json::{Map, Value};

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{Output, Table, plain, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// One SELECT; docs/store.md describes the tables
    query: String,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let rows = settings.open_read_only()?.sql(&args.query)?;
    let mut out = Output::new();
    if settings.json {
        out.json(&objects(&rows))?;
    } else if out.is_terminal() {
        let header: Vec<&str> = rows.columns.iter().map(String::as_str).collect();
        let mut table = Table::new(&header);
        for row in &rows.rows {
            table.row(row.iter().map(cell));
        }
        table.write(&mut out)?;
    } else {
        write_tabs(&mut out, &rows)?;
    }
    out.flush()?;
    if rows.cut {
        let message = format!(
            "only the first {} rows; LIMIT and OFFSET show others",
            rows.rows.len()
        );
        stderr::note(settings.verbosity, &message);
    }
    Ok(Exit::Success)
}

/// A row as an object, its columns in order.
fn objects(rows: &SqlRows) -> Vec<Map<String, Value>> {
    rows.rows
        .iter()
        .map(|row| {
            rows.columns
                .iter()
                .cloned()
                .zip(row.iter().cloned())
                .collect()
        })
        .collect()
}

/// Tab-separated lines for other programs: a header, then a row a line.
fn write_tabs(out: &mut impl Write, rows: &SqlRows) -> io::Result<()> {
    writeln!(out, "{}", rows.columns.join("\t"))?;
    for row in &rows.rows {
        let cells: Vec<String> = row
            .iter()
            .map(|value| {
                let text = cell(value).replace('\\', "\\\\");
                let text = text.replace('\n', "\\n").replace('\t', "\\t");
                plain(&text).into_owned()
            })
            .collect();
        writeln!(out, "{}", cells.join("\t"))?;
    }
    Ok(())
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_line() {
        let rows = SqlRows {
            columns: vec!["a".to_owned(), "b".to_owned()],
            rows: vec![
                vec![Value::Null, "x\ty\nz\\".into()],
                vec![7.into(), 1.5.into()],
            ],
            cut: false,
        };
        let mut out = Vec::new();
        write_tabs(&mut out, &rows).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "a\tb\n\tx\\ty\\nz\\\\\n7\t1.5\n"
        );
    }
}
