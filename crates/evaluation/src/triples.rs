use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use malha_engine::extraction::{RelationType, Schema, check_reply, read_reply};
use malha_engine::text::{clean_name, fold, squash};
use serde::Serialize;
use serde_json::Value;

use crate::Result;
use crate::dataset::BrokenRow;
use crate::dataset::rows::read_rows;

/// How well replies of models became facts.
#[derive(Debug, Default, Serialize)]
pub struct TripleReport {
    /// By model, in the order of names.
    pub models: BTreeMap<String, TripleScore>,
    pub broken: Vec<BrokenRow>,
}

/// Facts against those of the data set, in percent. A fact counts when both names and the relation are right.
#[derive(Debug, Default, Serialize)]
pub struct TripleScore {
    pub sentences: usize,
    /// As the reply has them.
    pub read: Score,
    /// Of those, the ones that schema and grounding let pass.
    pub kept: Score,
    /// Replies without a fact, and facts that were refused, by reason.
    pub unread: BTreeMap<String, usize>,
    pub refused: BTreeMap<String, usize>,
}

/// Precision and recall in percent.
#[derive(Debug, Default, Clone, Copy, Serialize)]
pub struct Score {
    pub right: usize,
    pub found: usize,
    pub expected: usize,
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
}

impl Score {
    pub(crate) fn reckon(&mut self) {
        let share = |of: usize| {
            if of == 0 {
                0.0
            } else {
                100.0 * self.right as f64 / of as f64
            }
        };
        self.precision = share(self.found);
        self.recall = share(self.expected);
        let sum = self.precision + self.recall;
        self.f1 = if sum == 0.0 {
            0.0
        } else {
            2.0 * self.precision * self.recall / sum
        };
    }

    fn add(&mut self, found: &BTreeSet<Triple>, expected: &BTreeSet<Triple>) {
        self.right += found.intersection(expected).count();
        self.found += found.len();
        self.expected += expected.len();
    }
}

type Triple = (String, String, String);

/// Reads the replies of rows {sentence, ontology, gold, llm: {model: {text}}} as extraction reads them, and checks
/// them against their sentences and ontologies {id, ontology: {concepts, relations}}.
pub fn evaluate_triples(rows: &Path, ontologies: &Path) -> Result<TripleReport> {
    let mut report = TripleReport::default();
    let mut schemas: BTreeMap<String, Schema> = BTreeMap::new();
    let listed = read_rows(ontologies)?;
    report.broken.extend(listed.broken);
    for row in listed.rows {
        if let Some(id) = row.text("id") {
            schemas.insert(short(&id).to_owned(), schema_of(row.fields.get("ontology")));
        }
    }
    let listed = read_rows(rows)?;
    report.broken.extend(listed.broken);
    for row in listed.rows {
        let (Some(sentence), Some(ontology)) = (row.text("sentence"), row.text("ontology")) else {
            report
                .broken
                .push(row.broken("no `sentence` or `ontology`"));
            continue;
        };
        let Some(schema) = schemas.get(short(&ontology)) else {
            report
                .broken
                .push(row.broken(format!("no ontology {ontology:?}")));
            continue;
        };
        let gold = row.fields.get("gold").and_then(Value::as_array);
        let expected: BTreeSet<Triple> = gold
            .into_iter()
            .flatten()
            .filter_map(|triple| {
                let part = |at: usize| triple.get(at).and_then(Value::as_str);
                Some(normal(part(0)?, part(1)?, part(2)?))
            })
            .collect();
        let replies = row.fields.get("llm").and_then(Value::as_object);
        for (model, reply) in replies.into_iter().flatten() {
            let Some(text) = reply.get("text").and_then(Value::as_str) else {
                continue;
            };
            score(
                report.models.entry(model.clone()).or_default(),
                text,
                &sentence,
                schema,
                &expected,
            );
        }
    }
    for score in report.models.values_mut() {
        score.read.reckon();
        score.kept.reckon();
    }
    Ok(report)
}

fn score(
    score: &mut TripleScore,
    text: &str,
    sentence: &str,
    schema: &Schema,
    expected: &BTreeSet<Triple>,
) {
    score.sentences += 1;
    let raw = match read_reply(text) {
        Ok(raw) => raw,
        Err(reason) => {
            *score.unread.entry(reason.to_string()).or_default() += 1;
            score.read.add(&BTreeSet::new(), expected);
            score.kept.add(&BTreeSet::new(), expected);
            return;
        }
    };
    let read = raw
        .relations
        .iter()
        .map(|tie| normal(&tie.source, &tie.kind, &tie.target))
        .collect();
    score.read.add(&read, expected);
    let found = check_reply(raw, sentence, schema);
    let name = |at: usize| found.entities[at].name.as_str();
    let kept = found
        .relations
        .iter()
        .map(|tie| normal(name(tie.source), &tie.kind, name(tie.target)))
        .collect();
    score.kept.add(&kept, expected);
    for item in found.rejected {
        *score
            .refused
            .entry(kind_of(&item.reason).to_owned())
            .or_default() += 1;
    }
}

/// A reason without the names in it.
fn kind_of(reason: &str) -> &str {
    const KINDS: [(&str, &str); 7] = [
        (
            "is not in the schema",
            "a type or relation that the schema does not have",
        ),
        ("was refused", "an end that was refused"),
        (
            "is none of the entities",
            "an end that the sentence does not name",
        ),
        ("does not name it", "a name that the sentence does not have"),
        (
            "does not lead from",
            "types that the relation does not join",
        ),
        ("to itself", "from a thing to itself"),
        ("names nothing", "a word that names nothing"),
    ];
    KINDS
        .iter()
        .find(|(mark, _)| reason.contains(mark))
        .map_or(reason, |(_, kind)| kind)
}

/// The last part of an id: rows and ontologies name the same one differently.
fn short(id: &str) -> &str {
    let last = id.rsplit('/').next().unwrap_or(id);
    last.strip_prefix("ont_").unwrap_or(last)
}

fn schema_of(ontology: Option<&Value>) -> Schema {
    let mut schema = Schema::default();
    let list = |name: &str| {
        ontology
            .and_then(|ontology| ontology[name].as_array())
            .into_iter()
            .flatten()
    };
    let label = |value: &Value| value["label"].as_str().map(str::to_owned);
    for relation in list("relations") {
        // The replies give no types: with the concepts declared, every end of a relation would have to have one.
        if let Some(name) = label(relation) {
            schema.relation.insert(name, RelationType::default());
        }
    }
    schema
}

/// Names as the data set compares them: without quotes, underscores and what stands in brackets.
fn normal(source: &str, kind: &str, target: &str) -> Triple {
    let name = |written: &str| {
        let clean = clean_name(&written.replace('_', " ")).unwrap_or_default();
        fold(clean.split(" (").next().unwrap_or(&clean))
    };
    (name(source), squash(kind), name(target))
}
