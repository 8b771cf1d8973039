use std::path::Path;
use std::time::{Duration, Instant};

use malha_engine::types::{RecallRequest, Timestamp};
use malha_engine::{Engine, parse_moment};
use serde::Serialize;

use crate::dataset::BrokenRow;
use crate::dataset::rows::read_rows;
use crate::{Error, Result};

/// Milliseconds of a day.
const DAY: f64 = 86_400_000.0;

/// What a memory recalls, with the present preferred and without.
#[derive(Debug, Default, Serialize)]
pub struct RecallReport {
    pub questions: usize,
    pub present: RecallFigures,
    pub history: RecallFigures,
    pub broken: Vec<BrokenRow>,
}

/// Means over all questions.
#[derive(Debug, Default, Serialize)]
pub struct RecallFigures {
    /// Age of the passages that have a date, in days; nothing where none has one.
    pub mean_age_days: Option<f64>,
    /// Percentage of the passages that have a date.
    pub dated: f64,
    /// Tokens of everything recalled for a question, by estimate.
    pub mean_tokens: f64,
    pub mean_passages: f64,
    pub mean_relations: f64,
    /// Percentage of the relations that had ended by then.
    pub ended_relations: f64,
    /// Median time of a question in milliseconds.
    pub p50_ms: f64,
}

/// Recalls every question of the rows {question} twice: as `recall` answers, and with what has ended and
/// without a preference for what is fresh. Ages count until `now`.
///
/// # Errors
/// [`Error::Usage`] when no row has a question.
pub fn evaluate_recall(engine: &Engine, queries: &Path, now: Timestamp) -> Result<RecallReport> {
    let rows = read_rows(queries)?;
    let mut report = RecallReport {
        broken: rows.broken,
        ..RecallReport::default()
    };
    let mut questions = Vec::new();
    for row in rows.rows {
        match row.text("question") {
            Some(question) => questions.push(question),
            None => report.broken.push(row.broken("no `question`")),
        }
    }
    if questions.is_empty() {
        return Err(Error::Usage(format!(
            "{} holds no question",
            queries.display()
        )));
    }
    report.questions = questions.len();
    report.present = measure(engine, &questions, now, true);
    report.history = measure(engine, &questions, now, false);
    Ok(report)
}

fn measure(
    engine: &Engine,
    questions: &[String],
    now: Timestamp,
    prefer_present: bool,
) -> RecallFigures {
    let (mut ages, mut passages, mut relations, mut ended, mut tokens) = (Vec::new(), 0, 0, 0, 0);
    let mut times: Vec<Duration> = Vec::with_capacity(questions.len());
    for question in questions {
        let request = RecallRequest {
            prefer_present,
            ..RecallRequest::new(question.as_str())
        };
        let start = Instant::now();
        let recalled = engine.recall(&request);
        times.push(start.elapsed());
        tokens += recalled.tokens;
        passages += recalled.evidence.len();
        relations += recalled.relations.len();
        let said_at = |said: &Option<String>| parse_moment(said.as_deref()?).ok();
        ages.extend(
            recalled
                .evidence
                .iter()
                .filter_map(|passage| said_at(&passage.said_at))
                .map(|said| (now.0 - said.0) as f64 / DAY),
        );
        ended += recalled
            .relations
            .iter()
            .filter(|relation| said_at(&relation.valid_to).is_some_and(|end| end <= now))
            .count();
    }
    times.sort_unstable();
    let mean = |sum: usize| sum as f64 / questions.len() as f64;
    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    RecallFigures {
        mean_age_days: (!ages.is_empty()).then(|| ages.iter().sum::<f64>() / ages.len() as f64),
        dated: percent(ages.len(), passages),
        mean_tokens: mean(tokens),
        mean_passages: mean(passages),
        mean_relations: mean(relations),
        ended_relations: percent(ended, relations),
        p50_ms: times[times.len() / 2].as_secs_f64() * 1000.0,
    }
}

#[cfg(test)]
mod tests {
    use malha_engine::EngineConfig;
    use malha_engine::types::{ConflictPolicy, GivenFact, Memory};

    use super::*;

    #[test]
    fn ages_count_dated_passages_and_only_history_shows_what_ended() {
        let engine = Engine::in_memory(EngineConfig::default()).unwrap();
        let memory = Memory {
            text: "Orbital Depot belongs to Iris Vale.".to_owned(),
            time: Some("2024-01-01".to_owned()),
            relations: vec![GivenFact {
                source: "Orbital Depot".to_owned(),
                relation: "belongs to".to_owned(),
                target: "Iris Vale".to_owned(),
                valid_from: Some("2020".to_owned()),
                valid_to: Some("2022".to_owned()),
                ..GivenFact::default()
            }],
            ..Memory::default()
        };
        let remembered = engine.remember(&[memory], ConflictPolicy::Close).unwrap();
        assert!(remembered.failed.is_empty(), "{:?}", remembered.failed);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("queries.jsonl");
        let rows = "{\"question\": \"Orbital Depot\"}\n{\"other\": 1}\nno JSON\n";
        std::fs::write(&file, rows).unwrap();
        let now = parse_moment("2024-01-11").unwrap();
        let report = evaluate_recall(&engine, &file, now).unwrap();
        assert_eq!((report.questions, report.broken.len()), (1, 2));
        let (present, history) = (&report.present, &report.history);
        assert_eq!(present.mean_age_days, Some(10.0));
        assert_eq!((present.dated, present.mean_passages), (100.0, 1.0));
        assert_eq!(
            (present.mean_relations, present.ended_relations),
            (0.0, 0.0)
        );
        assert_eq!(
            (history.mean_relations, history.ended_relations),
            (1.0, 100.0)
        );
        assert!(present.mean_tokens < history.mean_tokens);
        std::fs::write(&file, "{\"other\": 1}\n").unwrap();
        assert!(matches!(
            evaluate_recall(&engine, &file, now),
            Err(Error::Usage(_))
        ));
    }
}
