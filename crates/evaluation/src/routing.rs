use std::collections::BTreeMap;

use malha_engine::router::{Features, route};
use malha_engine::types::AskMode;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Questions of our own in three languages, each with the way of answering that fits it.
const QUESTIONS: &str = include_str!("../data/router_questions.jsonl");

#[derive(Deserialize)]
struct Labelled {
    question: String,
    mode: String,
    language: String,
    /// Its words are labels or relationship types of the graph that is asked.
    #[serde(default)]
    in_graph: bool,
}

/// How often the router takes the way that fits.
#[derive(Debug, Default, Serialize)]
pub struct RouterReport {
    pub questions: usize,
    /// In percent.
    pub accuracy: f64,
    /// The same by language and by the way that fits.
    pub by_language: BTreeMap<String, f64>,
    pub by_mode: BTreeMap<String, f64>,
    /// Questions that went another way.
    pub wrong: Vec<Misrouted>,
}

/// A question that the router sends the wrong way.
#[derive(Debug, Serialize)]
pub struct Misrouted {
    pub question: String,
    pub expected: String,
    pub taken: AskMode,
    pub reason: String,
}

/// Routes the labelled questions of this repository, without a store.
pub fn evaluate_router() -> Result<RouterReport> {
    let mut report = RouterReport::default();
    let mut counts: BTreeMap<(u8, String), (usize, usize)> = BTreeMap::new();
    for (row, line) in QUESTIONS.lines().zip(1..) {
        let labelled: Labelled = serde_json::from_str(row)
            .map_err(|error| Error::Usage(format!("router_questions.jsonl:{line}: {error}")))?;
        let features = Features {
            in_graph: labelled.in_graph,
            ..Features::default()
        };
        let routed = route(&labelled.question, features);
        let is_right = routed.mode.as_str() == labelled.mode;
        for key in [
            (0, String::new()),
            (1, labelled.language),
            (2, labelled.mode.clone()),
        ] {
            let count = counts.entry(key).or_default();
            count.0 += usize::from(is_right);
            count.1 += 1;
        }
        if !is_right {
            report.wrong.push(Misrouted {
                question: labelled.question,
                expected: labelled.mode,
                taken: routed.mode,
                reason: routed.reason,
            });
        }
    }
    for ((kind, name), (right, all)) in counts {
        let percent = 100.0 * right as f64 / all as f64;
        match kind {
            0 => (report.questions, report.accuracy) = (all, percent),
            1 => drop(report.by_language.insert(name, percent)),
            _ => drop(report.by_mode.insert(name, percent)),
        }
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_questions_of_every_language_go_the_right_way() {
        let report = evaluate_router().unwrap();
        assert!(report.questions >= 200);
        assert!(report.accuracy >= 85.0, "{report:#?}");
        for (language, accuracy) in &report.by_language {
            assert!(*accuracy >= 80.0, "{language}: {accuracy}: {report:#?}");
        }
    }
}
