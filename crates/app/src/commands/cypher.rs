//! `malha cypher QUERY`

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use malha_engine::Engine;
use malha_engine::types::{CypherRequest, CypherRows};
use serde_json::{Map, Value};

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::stderr::{self, Verbosity};
use crate::ui::{Output, Table, place, plain};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A query in openCypher, such as 'MATCH (a)-[r]->(b) RETURN a.name, type(r), b.name LIMIT 5'
    #[arg(required_unless_present = "question")]
    query: Option<String>,
    /// Ask in words instead: templates make the query (English, Portuguese, Chinese), no model is asked
    #[arg(long, value_name = "TEXT", conflicts_with = "query")]
    question: Option<String>,
    /// Value of $NAME, as JSON; what is no JSON is a text
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameter)]
    param: Vec<(String, Value)>,
    /// Most rows; a query with more is an error
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    limit: u64,
    /// Most milliseconds that the query may take
    #[arg(long, value_name = "MS", default_value_t = 10_000)]
    timeout_ms: u64,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    if let Some(question) = &args.question {
        return ask(question, settings);
    }
    let query = args.query.as_deref().unwrap_or_default();
    let request = CypherRequest {
        parameters: args.param.iter().cloned().collect::<BTreeMap<_, _>>(),
        max_rows: args.limit,
        timeout: Duration::from_millis(args.timeout_ms),
        ..CypherRequest::new(query)
    };
    let reading = settings.with_schema(settings.open_read_only()?)?;
    // What is wrong with a query shows when it runs.
    let engine = match reading.lacks_communities(&request) {
        Ok(true) => settings.with_schema(writing(settings)?)?,
        _ => reading,
    };
    let rows = engine.cypher(&request)?;
    let mut out = Output::new();
    if settings.json {
        out.json(&objects(&rows))?;
    } else {
        write_rows(&mut out, &rows)?;
    }
    out.flush()?;
    if settings.verbosity >= Verbosity::Verbose {
        let message = format!("{} rows in {:.3} ms", rows.rows.len(), rows.elapsed_ms);
        stderr::note(settings.verbosity, &message);
    }
    Ok(Exit::Success)
}

/// The store opened to be written where it can be: communities are found when they are first asked for.
fn writing(settings: &Settings) -> anyhow::Result<Engine> {
    match Engine::open(&settings.store, settings.engine.clone()) {
        Ok(engine) => Ok(settings.with_models(engine).at(settings.times)),
        Err(_) => settings.open_read_only(),
    }
}

/// Answers a question by the templates, with the query and the passages that state what it found.
fn ask(question: &str, settings: &Settings) -> anyhow::Result<Exit> {
    settings.check_store_exists()?;
    let engine = if Engine::asks_for_communities(question) {
        writing(settings)?
    } else {
        settings.open_read_only()?
    };
    let found = settings.with_schema(engine)?.ask_graph(question)?;
    let mut out = Output::new();
    if settings.json {
        out.json(&found)?;
    } else {
        for asked in &found.queries {
            writeln!(out, "{}", plain(&asked.query))?;
            write_rows(&mut out, &asked.answer)?;
        }
        for cited in &found.evidence {
            let place = place(&plain(&cited.uri), cited.line);
            writeln!(out, "{place}  {}", plain(&cited.quote))?;
        }
    }
    out.flush()?;
    if !found.knows() {
        stderr::note(settings.verbosity, "the graph does not know");
        return Ok(Exit::NotFound);
    }
    Ok(Exit::Success)
}

fn write_rows(out: &mut Output, rows: &CypherRows) -> std::io::Result<()> {
    let header: Vec<String> = rows
        .columns
        .iter()
        .map(|name| plain(name).into_owned())
        .collect();
    let mut table = Table::new(&header.iter().map(String::as_str).collect::<Vec<_>>());
    for row in &rows.rows {
        table.row(row.iter().map(shown));
    }
    table.write(out)
}

/// `NAME=VALUE`, the value as JSON; what is no JSON is a text.
pub(super) fn parameter(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| format!("{text}: write NAME=VALUE"))?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok((name.trim_start_matches('$').to_owned(), value))
}

/// A row as an object, its columns in order.
fn objects(rows: &CypherRows) -> Vec<Map<String, Value>> {
    let columns = &rows.columns;
    rows.rows
        .iter()
        .map(|row| columns.iter().cloned().zip(row.iter().cloned()).collect())
        .collect()
}

/// A cell for people: a node by its name, a relationship by its type, a path by both.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Object(object) => match (
            object.get("labels"),
            object.get("nodes"),
            object.get("type"),
        ) {
            (Some(_), _, _) => format!("({})", node_name(object)),
            (_, Some(Value::Array(nodes)), _) => {
                let names = nodes.iter().filter_map(Value::as_object).map(node_name);
                names.collect::<Vec<_>>().join(" – ")
            }
            (_, _, Some(Value::String(kind))) if object.contains_key("source") => {
                format!("[{kind}]")
            }
            _ => value.to_string(),
        },
        other => other.to_string(),
    };
    plain(&text).into_owned()
}

fn node_name(node: &Map<String, Value>) -> String {
    let property = |name: &str| node.get("properties").and_then(|all| all.get(name));
    ["name", "title", "uri", "id"]
        .into_iter()
        .find_map(property)
        .map_or_else(String::new, |value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_json_or_text() {
        #[track_caller]
        fn check(text: &str, expected: (&str, Value)) {
            assert_eq!(parameter(text), Ok((expected.0.to_owned(), expected.1)));
        }
        check("n=3", ("n", 3.into()));
        check("$name=Ana=Bela", ("name", "Ana=Bela".into()));
        check("list=[1,2]", ("list", serde_json::json!([1, 2])));
        assert!(parameter("name").is_err());
    }
}
