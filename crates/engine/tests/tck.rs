//! The openCypher technology compatibility kit, as far as its queries only read.
//!
//! The kit's folder is `MALHA_TCK_DIR`, else `opencypher_tck` in `MALHA_DATA_DIR`, else in
//! `../shared/data`. `cargo test --test tck -- --nocapture` shows what fails and why.

#[path = "tck/create.rs"]
mod create;
#[path = "tck/gherkin.rs"]
mod gherkin;
#[path = "tck/shown.rs"]
mod shown;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gherkin::{Scenario, Step};
use malha_engine::cypher::{
    Budget, CypherError, ErrorKind, Flow, Limits, MemoryGraph, Parameters, Phase, Query, Value,
};
use shown::Shown;

/// Percent of all scenarios that have to pass, and of those about time.
const FLOOR: usize = 97;
const TEMPORAL_FLOOR: usize = 90;

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    passed: usize,
    all: usize,
}

#[test]
fn queries_that_read_answer_as_the_kit_says() {
    let Some(folder) = folder() else {
        println!("skipped: no compatibility kit (set MALHA_TCK_DIR)");
        return;
    };
    let mut files = Vec::new();
    feature_files(&folder.join("features"), &mut files);
    files.sort();
    let (mut total, mut temporal, mut with_procedures, mut writing) =
        (Count::default(), Count::default(), 0, 0);
    let mut by_folder: BTreeMap<String, Count> = BTreeMap::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let place = file.strip_prefix(&folder).unwrap();
        let group = place.parent().unwrap().display().to_string();
        for scenario in gherkin::read(&text) {
            if writes(&scenario) {
                writing += 1;
                continue;
            }
            if scenario
                .steps
                .iter()
                .any(|step| step.text.starts_with("there exists a procedure"))
            {
                with_procedures += 1;
                continue;
            }
            let outcome = play(&scenario, &folder);
            let passed = usize::from(outcome.is_ok());
            let counts = [
                Some(&mut total),
                Some(by_folder.entry(group.clone()).or_default()),
            ];
            let of_time = group.ends_with("temporal").then_some(&mut temporal);
            for count in counts.into_iter().chain([of_time]).flatten() {
                count.all += 1;
                count.passed += passed;
            }
            if let Err(reason) = outcome {
                println!("FAILED {} {}: {reason}", place.display(), scenario.name);
            }
        }
    }
    for (group, count) in &by_folder {
        println!("{group}: {} of {}", count.passed, count.all);
    }
    println!(
        "tck: {with_procedures} scenarios need test procedures and {writing} write; they are not counted"
    );
    println!("tck: passed {} of {}", total.passed, total.all);
    assert!(total.all > 0, "the folder holds no scenarios");
    assert!(total.passed * 100 >= total.all * FLOOR);
    assert!(temporal.passed * 100 >= temporal.all * TEMPORAL_FLOOR);
}

fn folder() -> Option<PathBuf> {
    let data = std::env::var_os("MALHA_DATA_DIR").map(PathBuf::from);
    let data =
        data.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"));
    let folder = std::env::var_os("MALHA_TCK_DIR").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| data.join("opencypher_tck"));
    folder.join("features").is_dir().then_some(folder)
}

fn feature_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            feature_files(&path, out);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "feature")
        {
            out.push(path);
        }
    }
}

fn queries(scenario: &Scenario) -> impl Iterator<Item = &str> {
    let steps = scenario.steps.iter();
    steps
        .filter(|step| step.text.starts_with("executing"))
        .filter_map(|step| step.document.as_deref())
}

/// Whether a query of the scenario has a clause that writes.
fn writes(scenario: &Scenario) -> bool {
    queries(scenario).any(|query| {
        let lexed = open_cypher::lex(query);
        lexed.tokens.iter().any(|token| {
            let is_word = !matches!(
                token.kind,
                open_cypher::TokenKind::String
                    | open_cypher::TokenKind::EscapedIdentifier
                    | open_cypher::TokenKind::Parameter
            );
            let text = token.text(query).unwrap_or_default().to_uppercase();
            is_word && ["CREATE", "MERGE", "DELETE", "SET", "REMOVE"].contains(&text.as_str())
        })
    })
}

type Answer = Result<(Vec<String>, Vec<Vec<Value>>), CypherError>;

fn play(scenario: &Scenario, folder: &Path) -> Result<(), String> {
    let mut graph = MemoryGraph::default();
    let mut parameters = Parameters::new();
    let mut answer: Option<Answer> = None;
    for step in &scenario.steps {
        let text = step.text.as_str();
        if text.ends_with("graph") && text.starts_with("the ") {
            let name = text.trim_start_matches("the ").trim_end_matches(" graph");
            let file = folder.join(format!("graphs/{name}/{name}.cypher"));
            let script = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
            create::create(&mut graph, &script)?;
        } else if text.starts_with("having executed") {
            create::create(&mut graph, step.document.as_deref().unwrap_or_default())?;
        } else if text.starts_with("parameters are") {
            for row in &step.table {
                let (_, rows) = create::run(
                    &graph,
                    &format!("RETURN {} AS x", row[1]),
                    &Parameters::new(),
                )?;
                parameters.insert(row[0].clone(), rows[0][0].clone());
            }
        } else if text.starts_with("executing") {
            answer = Some(ask(
                &graph,
                step.document.as_deref().unwrap_or_default(),
                &parameters,
            ));
        } else if text.starts_with("the result should be") {
            let rows = match answer.as_ref().ok_or("no query came before")? {
                Ok(rows) => rows,
                Err(error) => return Err(error.to_string()),
            };
            compare(&graph, step, rows)?;
        } else if text.contains("should be raised") {
            match answer.as_ref().ok_or("no query came before")? {
                Ok(_) => return Err(format!("no error, but {text}")),
                Err(error) => check_error(text, error)?,
            }
        }
    }
    Ok(())
}

fn ask(graph: &MemoryGraph, query: &str, parameters: &Parameters) -> Answer {
    let query = Query::new(query, graph, parameters)?;
    let mut rows = Vec::new();
    query.run(
        graph,
        1_500_000_000_000_000_000,
        &Budget::new(Limits::default()),
        &mut |row| {
            rows.push(row.to_vec());
            Ok(Flow::Continue)
        },
    )?;
    Ok((
        query.columns().iter().map(ToString::to_string).collect(),
        rows,
    ))
}

/// "a `SyntaxError` should be raised at compile time: `UndefinedVariable`"
fn check_error(text: &str, error: &CypherError) -> Result<(), String> {
    let kind = text.split_whitespace().nth(1).unwrap_or_default();
    let expected_phase = if text.contains("at compile time") {
        Some(Phase::CompileTime)
    } else if text.contains("at runtime") {
        Some(Phase::Runtime)
    } else {
        None
    };
    let same_kind = format!("{:?}", error.kind) == kind
        || (kind == "SyntaxError" && error.kind == ErrorKind::WriteRefused);
    if same_kind && expected_phase.is_none_or(|phase| phase == error.phase) {
        Ok(())
    } else {
        Err(format!(
            "{text}, but {:?} at {:?}: {error}",
            error.kind, error.phase
        ))
    }
}

fn compare(
    graph: &MemoryGraph,
    step: &Step,
    (columns, rows): &(Vec<String>, Vec<Vec<Value>>),
) -> Result<(), String> {
    let is_ordered = step.text.contains("in order");
    let keeps_lists = !step.text.contains("ignoring element order");
    let tidy = |shown: Shown| {
        if keeps_lists {
            shown
        } else {
            shown::without_order(shown)
        }
    };
    let Some((header, expected)) = step.table.split_first() else {
        return if rows.is_empty() {
            Ok(())
        } else {
            Err(format!("{} rows where none should be", rows.len()))
        };
    };
    let places = header
        .iter()
        .map(|name| {
            columns
                .iter()
                .position(|column| column == name)
                .ok_or_else(|| format!("no column {name} among {columns:?}"))
        })
        .collect::<Result<Vec<_>, _>>()?;
    if places.len() != columns.len() {
        return Err(format!("columns {columns:?}, expected {header:?}"));
    }
    let mut expected = expected
        .iter()
        .map(|row| {
            let cells = row.iter().map(|cell| Ok(tidy(shown::read(cell)?)));
            Ok(format!("{:?}", cells.collect::<Result<Vec<_>, String>>()?))
        })
        .collect::<Result<Vec<String>, String>>()?;
    let mut actual: Vec<String> = rows
        .iter()
        .map(|row| {
            let cells = places
                .iter()
                .map(|place| tidy(shown::of_value(graph, &row[*place])));
            format!("{:?}", cells.collect::<Vec<_>>())
        })
        .collect();
    if !is_ordered {
        expected.sort();
        actual.sort();
    }
    if expected == actual {
        Ok(())
    } else {
        Err(format!("rows {actual:?}, expected {expected:?}"))
    }
}
