use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use malha_engine::language_model::Embedder;
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
    /// `chunks` (whole, by keyword) and the modes, whose sentences are packed with their neighbours →
    /// `ALL` or a question type → `coverage@300w` … in percent, and `ms` a question.
    pub figures: BTreeMap<String, BTreeMap<String, BTreeMap<String, f64>>>,
    /// Seconds to index the texts, and to give their passages vectors.
    pub index_s: f64,
    pub embed_s: f64,
    pub broken: Vec<BrokenRow>,
}

/// What is asked of an evidence evaluation.
pub struct EvidenceOptions<'a> {
    pub corpus: &'a Path,
    pub questions: &'a Path,
    /// Budgets in words.
    pub words: &'a [usize],
    /// Types of questions to leave out.
    pub without: &'a [String],
    /// Recipes that find the chunks whose sentences are packed.
    pub modes: &'a [Mode],
    /// Entities, relations and reports take their share of the budget, too.
    pub with_graph: bool,
    /// Gives the passages vectors.
    pub embedder: Option<Arc<dyn Embedder>>,
}

/// Indexes texts {id, text} and asks each question {question, type, evidence}; scores which share of the distinct
/// content words of the evidence the first so many words hold.
pub fn evaluate_evidence(
    options: &EvidenceOptions<'_>,
    config: &EngineConfig,
) -> Result<EvidenceReport> {
    let mut report = EvidenceReport::default();
    let engine = indexed(options, config, &mut report)?;
    let stop: BTreeSet<&str> = STOP.split(' ').filter(|word| !word.is_empty()).collect();
    let most = options.words.iter().copied().max().unwrap_or(0);
    if most == 0 {
        return Err(Error::Usage(
            "at least one budget of words is needed".to_owned(),
        ));
    }
    let mut sums: BTreeMap<(String, String, String), (f64, usize)> = BTreeMap::new();
    let rows = read_rows(options.questions)?;
    report.broken.extend(rows.broken);
    for row in rows.rows {
        let kind = row.label("type");
        if options.without.contains(&kind) {
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
        let mut add = |system: &str, figure: String, value: f64| {
            for group in ["ALL", &kind] {
                let key = (system.to_owned(), group.to_owned(), figure.clone());
                let sum = sums.entry(key).or_default();
                sum.0 += value;
                sum.1 += 1;
            }
        };
        let share = |found: &[String], budget: usize| {
            let found: BTreeSet<&String> = found.iter().take(budget).collect();
            let held = evidence.iter().filter(|word| found.contains(word)).count();
            100.0 * held as f64 / evidence.len() as f64
        };
        let start = Instant::now();
        let chunks = chunk_words(&engine, &question, most)?;
        add("chunks", "ms".to_owned(), ms_since(start));
        for &budget in options.words {
            add("chunks", coverage(budget), share(&chunks, budget));
        }
        for &mode in options.modes {
            for &budget in options.words {
                let start = Instant::now();
                let packed = packed_words(&engine, &question, mode, budget, options.with_graph)?;
                if budget == most {
                    add(mode.as_str(), "ms".to_owned(), ms_since(start));
                }
                add(mode.as_str(), coverage(budget), share(&packed, budget));
            }
        }
    }
    for ((system, group, figure), (sum, count)) in sums {
        let groups = report.figures.entry(system).or_default();
        groups
            .entry(group)
            .or_default()
            .insert(figure, sum / count as f64);
    }
    Ok(report)
}

/// A store of the texts.
fn indexed(
    options: &EvidenceOptions<'_>,
    config: &EngineConfig,
    report: &mut EvidenceReport,
) -> Result<Engine> {
    let mut engine = Engine::in_memory(config.clone())?;
    let texts = read_rows(options.corpus)?;
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
    let start = Instant::now();
    engine.index_documents("corpus", &documents, &())?;
    report.index_s = start.elapsed().as_secs_f64();
    if let Some(embedder) = &options.embedder {
        let start = Instant::now();
        let embedder = Arc::clone(embedder);
        engine = engine.with_embedder(Box::new(move || Ok(Arc::clone(&embedder))));
        engine.embed(&())?;
        report.embed_s = start.elapsed().as_secs_f64();
    }
    Ok(engine)
}

fn coverage(budget: usize) -> String {
    format!("coverage@{budget}w")
}

fn ms_since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1000.0
}

fn packed_words(
    engine: &Engine,
    question: &str,
    mode: Mode,
    budget: usize,
    with_graph: bool,
) -> Result<Vec<String>> {
    let context = engine.context(&ContextRequest {
        mode,
        with_graph,
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
