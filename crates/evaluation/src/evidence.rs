use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use malha_engine::types::{Budget, BudgetUnit, ContextRequest, Mode, SearchRequest};
use malha_engine::{DocumentInput, Engine, EngineConfig};
use serde::Serialize;

use crate::dataset::BrokenRow;
use crate::dataset::rows::read_rows;
use crate::{Error, Result};

/// Words of English that tell nothing about a text; the list of the data set's own scoring script.
const STOP: &str = "a an and are as at be been but by can could did do does for from had has have he her his i if in \
    into is it its may might of on or she should so such than that the their them then there these they this those to \
    was were what when where which who whom why will with would you your not no also";

/// How much of the evidence stands in what is retrieved.
#[derive(Debug, Default, Serialize)]
pub struct EvidenceReport {
    pub documents: usize,
    pub questions: usize,
    /// Questions without evidence, which are not scored.
    pub skipped: usize,
    /// `sentences` (packed with their neighbours) and `chunks` (whole, by keyword) →
    /// `ALL` or a question type → `coverage@300w` … in percent.
    pub figures: BTreeMap<String, BTreeMap<String, BTreeMap<String, f64>>>,
    pub broken: Vec<BrokenRow>,
}

/// Indexes texts {id, text} and asks each question {question, type, evidence}; scores which share of the distinct
/// content words of the evidence the first so many words hold. Types in `without` are left out.
pub fn evaluate_evidence(
    corpus: &Path,
    questions: &Path,
    words: &[usize],
    without: &[String],
    mode: Mode,
    config: &EngineConfig,
) -> Result<EvidenceReport> {
    let mut report = EvidenceReport::default();
    let engine = Engine::in_memory(config.clone())?;
    let texts = read_rows(corpus)?;
    report.broken.extend(texts.broken);
    let mut documents = Vec::new();
    for row in &texts.rows {
        match (row.text("id"), row.text("text")) {
            (Some(id), Some(text)) => documents.push(DocumentInput {
                title: id.clone(),
                uri: id,
                text,
            }),
            _ => report.broken.push(row.broken("no `id` or `text`")),
        }
    }
    report.documents = documents.len();
    engine.index_documents("corpus", &documents, &())?;

    let stop: BTreeSet<&str> = STOP.split(' ').filter(|word| !word.is_empty()).collect();
    let most = words.iter().copied().max().unwrap_or(0);
    if most == 0 {
        return Err(Error::Usage(
            "at least one budget of words is needed".to_owned(),
        ));
    }
    let mut sums: BTreeMap<(&str, String, usize), (f64, usize)> = BTreeMap::new();
    let rows = read_rows(questions)?;
    report.broken.extend(rows.broken);
    for row in rows.rows {
        let kind = row.label("type");
        if without.contains(&kind) {
            continue;
        }
        let Some(question) = row.text("question") else {
            report.broken.push(row.broken("no `question`"));
            continue;
        };
        let evidence: BTreeSet<String> = row
            .list("evidence")
            .iter()
            .flat_map(|text| words_of(text))
            .filter(|word| !stop.contains(word.as_str()))
            .collect();
        if evidence.is_empty() {
            report.skipped += 1;
            continue;
        }
        report.questions += 1;
        let chunks = chunk_words(&engine, &question, most)?;
        for &budget in words {
            let packed = packed_words(&engine, &question, mode, budget)?;
            for (system, found) in [("sentences", &packed), ("chunks", &chunks)] {
                let found: BTreeSet<&String> = found.iter().take(budget).collect();
                let held = evidence.iter().filter(|word| found.contains(word)).count();
                for group in ["ALL".to_owned(), kind.clone()] {
                    let sum = sums.entry((system, group, budget)).or_default();
                    sum.0 += held as f64 / evidence.len() as f64;
                    sum.1 += 1;
                }
            }
        }
    }
    for ((system, group, budget), (sum, count)) in sums {
        report
            .figures
            .entry(system.to_owned())
            .or_default()
            .entry(group)
            .or_default()
            .insert(format!("coverage@{budget}w"), 100.0 * sum / count as f64);
    }
    Ok(report)
}

fn packed_words(engine: &Engine, question: &str, mode: Mode, budget: usize) -> Result<Vec<String>> {
    let context = engine.context(&ContextRequest {
        mode,
        with_graph: false,
        ..ContextRequest::new(
            question,
            Budget {
                amount: budget,
                unit: BudgetUnit::Words,
            },
        )
    })?;
    Ok(words_of(&context.text()))
}

/// Whole chunks by keyword, best first.
fn chunk_words(engine: &Engine, question: &str, most: usize) -> Result<Vec<String>> {
    let response = engine.search(&SearchRequest {
        mode: Mode::Keyword,
        limit: 30,
        ..SearchRequest::new(question)
    })?;
    let mut words = Vec::new();
    for evidence in response.results {
        if words.len() >= most {
            break;
        }
        words.extend(words_of(&evidence.text));
    }
    Ok(words)
}

/// Runs of letters, digits and `_`, in lower case.
fn words_of(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}
