use std::collections::BTreeSet;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use malha_engine::exchange::{TripleOptions, TripleSyntax};
use malha_engine::text::fold;
use malha_engine::types::{Direction, NeighborRequest, Times};
use malha_engine::{Engine, EngineConfig, Error as EngineError, parse_moment};
use serde::Serialize;
use serde_json::json;

use crate::dataset::BrokenRow;
use crate::dataset::rows::read_rows;
use crate::{Error, Result};

/// Answers in a list of wrong ones.
const LISTED: usize = 20;

/// How well questions about a date were answered.
#[derive(Debug, Default, Serialize)]
pub struct TemporalReport {
    /// Percentage of questions answered with exactly the right set.
    pub exact: f64,
    pub questions: usize,
    pub facts: usize,
    /// Mean time of a question in milliseconds.
    pub mean_ms: f64,
    /// The first questions that were answered otherwise.
    pub wrong: Vec<WrongAnswer>,
    /// Lines of the facts that could not be used.
    pub refused: Vec<String>,
    pub broken: Vec<BrokenRow>,
}

/// A question that was not answered exactly.
#[derive(Debug, Serialize)]
pub struct WrongAnswer {
    pub qid: String,
    pub expected: BTreeSet<String>,
    pub found: BTreeSet<String>,
}

/// Loads facts {s, r, o, start, end} and asks, for each row {qid, s, r, at, answers}, which objects the engine
/// shows for subject and relation as of that date. Names are compared as the engine folds them.
pub fn evaluate_temporal(
    facts: &Path,
    queries: &Path,
    config: &EngineConfig,
) -> Result<TemporalReport> {
    let mut report = TemporalReport::default();
    let engine = Engine::in_memory(config.clone())?;
    load(&engine, facts, &mut report)?;
    let rows = read_rows(queries)?;
    report.broken.extend(rows.broken);
    let (mut exact, mut time) = (0, Duration::ZERO);
    for row in rows.rows {
        let needed = [row.text("s"), row.text("r"), row.text("at")];
        let [Some(subject), Some(relation), Some(at)] = needed else {
            report.broken.push(row.broken("no `s`, `r` or `at`"));
            continue;
        };
        let as_of = match parse_moment(&at) {
            Ok(at) => Some(at),
            Err(error) => {
                report.broken.push(row.broken(error.to_string()));
                continue;
            }
        };
        let start = Instant::now();
        let engine = engine.at(Times {
            as_of,
            known_at: None,
        });
        let found = objects(&engine, &subject, &relation)?;
        time += start.elapsed();
        let expected: BTreeSet<String> =
            row.list("answers").iter().map(|name| fold(name)).collect();
        report.questions += 1;
        if found == expected {
            exact += 1;
        } else if report.wrong.len() < LISTED {
            report.wrong.push(WrongAnswer {
                qid: row.text("qid").unwrap_or_default(),
                expected,
                found,
            });
        }
    }
    if report.questions == 0 {
        return Err(Error::Usage(format!(
            "{}: no question in it",
            queries.display()
        )));
    }
    report.exact = 100.0 * f64::from(exact) / report.questions as f64;
    report.mean_ms = time.as_secs_f64() * 1000.0 / report.questions as f64;
    Ok(report)
}

/// The same way in as `malha import --format triples`.
fn load(engine: &Engine, facts: &Path, report: &mut TemporalReport) -> Result<()> {
    let rows = read_rows(facts)?;
    report.broken.extend(rows.broken);
    let file = tempfile::NamedTempFile::new().map_err(Error::io(facts))?;
    let mut out = BufWriter::new(&file);
    for row in &rows.rows {
        let field = |name: &str| row.fields.get(name).cloned().unwrap_or_default();
        let line = json!({
            "subject": field("s"), "relation": field("r"), "object": field("o"),
            "valid_from": field("start"), "valid_to": field("end"),
        });
        writeln!(out, "{line}").map_err(Error::io(facts))?;
    }
    out.flush().map_err(Error::io(facts))?;
    drop(out);
    let options = TripleOptions {
        syntax: Some(TripleSyntax::Jsonl),
        ..TripleOptions::default()
    };
    let loaded = engine.import_triples(file.path(), "facts", &options)?;
    report.facts = loaded.facts + loaded.repeated;
    report.refused = loaded
        .failures
        .iter()
        .map(|failure| format!("line {}: {}", failure.line, failure.reason))
        .collect();
    Ok(())
}

/// What a subject has this relation to, by folded name; nothing for names that no fact has.
fn objects(engine: &Engine, subject: &str, relation: &str) -> Result<BTreeSet<String>> {
    let found = engine.neighbors(&NeighborRequest {
        max_hops: 1,
        max_nodes: 10_000,
        direction: Direction::Out,
        relation_types: vec![relation.to_owned()],
        ..NeighborRequest::new(subject)
    });
    let found = match found {
        Ok(found) => found,
        Err(EngineError::NotFound { .. }) => return Ok(BTreeSet::new()),
        Err(error) => return Err(error.into()),
    };
    // Relations among the objects themselves are not the subject's.
    let subject = fold(subject);
    Ok(found
        .relations
        .iter()
        .filter(|relation| fold(&relation.source) == subject)
        .map(|relation| fold(&relation.target))
        .collect())
}
