//! What all passages say, joined by name: one entity a name, one fact a statement.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::{Map, Value, json};

use super::plan::Item;
use crate::extraction::{ExtractedClaim, ExtractedEntity, ExtractedRelation, Extraction, Schema};
use crate::memory::Period;
use crate::resolution::is_descriptor;
use crate::sources::{parse_date, parse_relative_date};
use crate::storage::{Aside, EvidenceRow, relation_key};
use crate::text::{fold, is_better_name, name_key};
use crate::types::{ChunkId, ClaimStatus, DocumentId, Timestamp, ValidDate};

/// Characters of an entity's description; more is cut at a sentence.
const LONGEST_DESCRIPTION: usize = 600;

/// Everything that is stated, in an order that does not depend on how it became known.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub entities: BTreeMap<String, GatheredEntity>,
    pub relations: BTreeMap<FactKey, GatheredRelation>,
    pub claims: BTreeMap<ClaimKey, GatheredClaim>,
    pub asides: Vec<Aside>,
    /// Dates that were not understood and the like.
    pub warnings: Vec<String>,
    /// In how many replies something was odd, and where first.
    oddities: BTreeMap<String, (usize, String)>,
}

/// A name with all that is said of it.
#[derive(Debug, Default)]
pub(super) struct GatheredEntity {
    /// How often each spelling was seen.
    pub spellings: BTreeMap<String, usize>,
    pub aliases: BTreeSet<String>,
    /// Type and uri of the document that gives it.
    pub kinds: BTreeSet<(String, String)>,
    pub descriptions: Vec<String>,
    pub properties: Map<String, Value>,
    /// How it is shown, where its name alone would not tell it from others.
    pub title: Option<String>,
    /// One description that a model made of many.
    pub summary: Option<String>,
}

/// What makes a statement the same one: both names, the type, the period.
pub(super) type FactKey = (String, String, String, Option<i64>, Option<i64>);

/// What makes a claim the same one: whom it is about and concerns, type, status, words, period.
pub(super) type ClaimKey = (
    String,
    Option<String>,
    String,
    ClaimStatus,
    String,
    Option<i64>,
    Option<i64>,
);

/// A claim with the passages that make it.
#[derive(Debug)]
pub(super) struct GatheredClaim {
    pub kind: String,
    pub description: String,
    pub from: Option<(Timestamp, String)>,
    pub to: Option<(Timestamp, String)>,
    pub confidence: f64,
    pub evidence: BTreeMap<(DocumentId, usize), EvidenceRow>,
    /// The latest date of its documents.
    pub observed_at: Option<Timestamp>,
}

/// A statement with the passages that make it.
#[derive(Debug)]
pub(super) struct GatheredRelation {
    pub kind: String,
    pub from: Option<(Timestamp, String)>,
    pub to: Option<(Timestamp, String)>,
    pub fact: Option<String>,
    pub properties: Map<String, Value>,
    pub confidence: f64,
    pub exclusive: bool,
    /// Its ends stand in the order of their keys, which another name for one of them may change.
    pub is_symmetric: bool,
    pub evidence: BTreeMap<(DocumentId, usize), EvidenceRow>,
    pub passages: BTreeSet<(DocumentId, ChunkId)>,
    /// The latest date of its documents.
    pub observed_at: Option<Timestamp>,
}

impl GatheredEntity {
    /// The spelling to show: of the name that it is stored under, the most frequent one.
    pub(super) fn shown(&self, key: &str) -> &str {
        if let Some(title) = &self.title {
            return title;
        }
        let spellings = || {
            let counts = self.spellings.iter();
            counts.map(|(spelling, &count)| (spelling.as_str(), count))
        };
        best_spelling(spellings().filter(|(spelling, _)| name_key(spelling) == key))
            .or_else(|| best_spelling(spellings()))
            .expect("every name is spelled")
    }

    /// What is said of it, each sentence once.
    pub(super) fn distinct_descriptions(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let mut distinct: Vec<&str> = self.descriptions.iter().map(String::as_str).collect();
        distinct.retain(|description| seen.insert(fold(description)));
        distinct
    }

    /// Whether more is said of it than fits into one description.
    pub(super) fn is_long(&self) -> bool {
        let distinct = self.distinct_descriptions();
        distinct.len() > 1
            && distinct.iter().map(|text| text.len()).sum::<usize>() > LONGEST_DESCRIPTION
    }

    /// What is said of it, within bounds: a model's summary where there is one, else each sentence once.
    pub(super) fn description(&self) -> Option<String> {
        if let Some(summary) = &self.summary {
            return Some(summary.clone());
        }
        let mut out = String::new();
        for description in self.distinct_descriptions() {
            let is_first = out.is_empty();
            if !is_first && out.len() + description.len() > LONGEST_DESCRIPTION {
                break;
            }
            if !is_first {
                out.push_str(if out.ends_with(['.', '!', '?', '。']) {
                    " "
                } else {
                    ". "
                });
            }
            out.push_str(description);
        }
        (!out.is_empty()).then_some(out)
    }

    /// Properties as the store keeps them.
    pub(super) fn properties(&self) -> Option<Value> {
        (!self.properties.is_empty()).then(|| Value::Object(self.properties.clone()))
    }
}

impl Gathered {
    /// Adds what one passage says. Passages come in the order of documents and places. `keys`: of its
    /// entities; those without one were forgotten.
    pub(super) fn add(
        &mut self,
        item: &Item,
        found: &Extraction,
        keys: &[Option<String>],
        schema: &Schema,
    ) {
        for (key, entity) in keys.iter().zip(&found.entities) {
            if let Some(key) = key {
                self.add_entity(key, &item.uri, entity);
            }
        }
        for relation in &found.relations {
            if let (Some(source), Some(target)) = (&keys[relation.source], &keys[relation.target]) {
                self.add_relation(item, (source.clone(), target.clone()), relation, schema);
            }
        }
        for claim in &found.claims {
            let object = claim.object.map(|at| keys[at].as_ref());
            // What was forgotten has no key.
            if let (Some(subject), None | Some(Some(_))) = (&keys[claim.subject], object) {
                self.add_claim(item, (subject, object.flatten()), claim);
            }
        }
        for oddity in found.oddities.iter().collect::<BTreeSet<_>>() {
            let first = || (0, item.uri.clone());
            self.oddities.entry(oddity.clone()).or_insert_with(first).0 += 1;
        }
        for rejected in &found.rejected {
            let (what, reason) = (rejected.item.clone(), rejected.reason.clone());
            self.asides.push(aside(item, rejected.kind, what, reason));
        }
    }

    /// One warning for each thing that was odd about replies.
    pub(super) fn warn_of_oddities(&mut self) {
        for (oddity, (count, uri)) in std::mem::take(&mut self.oddities) {
            let warning = format!("replies with {oddity}: {count}, the first about {uri}");
            self.warnings.push(warning);
        }
    }

    fn add_entity(&mut self, key: &str, uri: &str, entity: &ExtractedEntity) {
        let known = self.entities.entry(key.to_owned()).or_default();
        *known.spellings.entry(entity.name.clone()).or_default() += 1;
        let aliases = entity.aliases.iter();
        let aliases = aliases.filter(|alias| is_name(alias, &entity.kinds));
        known.aliases.extend(aliases.cloned());
        for kind in &entity.kinds {
            known.kinds.insert((kind.clone(), uri.to_owned()));
        }
        known.descriptions.extend(entity.description.clone());
        add_new(&mut known.properties, &entity.properties);
    }

    fn add_relation(
        &mut self,
        item: &Item,
        (mut source, mut target): (String, String),
        relation: &ExtractedRelation,
        schema: &Schema,
    ) {
        let rules = schema.relation_type(&relation.kind).map(|(_, rules)| rules);
        let is_symmetric = rules.is_some_and(|rules| rules.symmetric);
        if relation.source != relation.target
            && source == target
            && !rules.is_some_and(|rules| rules.reflexive)
        {
            let shown = json!({ "source": source, "type": relation.kind, "target": target });
            let reason = "both of its names are one thing (malha review merges)".to_owned();
            self.asides
                .push(aside(item, "relation", shown.to_string(), reason));
            return;
        }
        if is_symmetric && target < source {
            std::mem::swap(&mut source, &mut target);
        }
        let anchor = item.date.as_deref().and_then(parse_date);
        let [valid_from, valid_to] = [&relation.valid_from, &relation.valid_to]
            .map(|date| date.as_deref().map(|date| absolute(date, anchor.as_ref())));
        let period = match Period::new(valid_from.as_deref(), valid_to.as_deref()) {
            Ok(period) => period,
            Err(reason) => {
                let shown = json!({
                    "source": source, "type": relation.kind, "target": target,
                    "valid_from": relation.valid_from, "valid_to": relation.valid_to,
                });
                self.asides
                    .push(aside(item, "relation", shown.to_string(), reason));
                return;
            }
        };
        for date in &period.unknown {
            self.warnings.push(format!(
                "{}: the date {date:?} was not understood; the fact has no such bound",
                item.uri
            ));
        }
        let evidence = evidence_of(item, &relation.quote);
        let confidence = match (relation.is_implied, relation.is_quoted) {
            (true, _) => 0.6,
            (false, false) => 0.8,
            (false, true) => 1.0,
        };
        let key = (
            source,
            target,
            relation_key(&relation.kind),
            period.from.as_ref().map(|(at, _)| at.0),
            period.to.as_ref().map(|(at, _)| at.0),
        );
        let known = self
            .relations
            .entry(key)
            .or_insert_with(|| GatheredRelation {
                kind: relation.kind.clone(),
                from: period.from,
                to: period.to,
                fact: None,
                properties: Map::new(),
                confidence,
                exclusive: false,
                is_symmetric,
                evidence: BTreeMap::new(),
                passages: BTreeSet::new(),
                observed_at: None,
            });
        known.observed_at = known.observed_at.max(observed_at(item));
        known.fact = known.fact.take().or_else(|| relation.fact.clone());
        known.confidence = known.confidence.max(confidence);
        known.exclusive |= relation.is_exclusive;
        add_new(&mut known.properties, &relation.properties);
        let chunk = evidence.chunk.expect("a passage has chunks");
        known.passages.insert((item.document, chunk));
        known
            .evidence
            .entry((evidence.document, evidence.start))
            .or_insert(evidence);
    }

    fn add_claim(
        &mut self,
        item: &Item,
        (subject, object): (&String, Option<&String>),
        claim: &ExtractedClaim,
    ) {
        let mut refuse = |reason: String| {
            let shown = json!({
                "subject": subject, "object": object, "type": claim.kind, "description": claim.description,
                "valid_from": claim.valid_from, "valid_to": claim.valid_to,
            });
            self.asides
                .push(aside(item, "claim", shown.to_string(), reason));
        };
        if object == Some(subject) {
            return refuse("both of its names are one thing (malha review merges)".to_owned());
        }
        let anchor = item.date.as_deref().and_then(parse_date);
        let [from, to] = [&claim.valid_from, &claim.valid_to]
            .map(|date| date.as_deref().map(|date| absolute(date, anchor.as_ref())));
        let period = match Period::new(from.as_deref(), to.as_deref()) {
            Ok(period) => period,
            Err(reason) => return refuse(reason),
        };
        for date in &period.unknown {
            self.warnings.push(format!(
                "{}: the date {date:?} was not understood; the claim has no such bound",
                item.uri
            ));
        }
        let evidence = evidence_of(item, &claim.quote);
        let confidence = if claim.is_quoted { 1.0 } else { 0.8 };
        let key = (
            subject.clone(),
            object.cloned(),
            relation_key(&claim.kind),
            claim.status,
            fold(&claim.description),
            period.from.as_ref().map(|(at, _)| at.0),
            period.to.as_ref().map(|(at, _)| at.0),
        );
        let known = self.claims.entry(key).or_insert_with(|| GatheredClaim {
            kind: claim.kind.clone(),
            description: claim.description.clone(),
            from: period.from,
            to: period.to,
            confidence,
            evidence: BTreeMap::new(),
            observed_at: None,
        });
        known.confidence = known.confidence.max(confidence);
        known.observed_at = known.observed_at.max(observed_at(item));
        known
            .evidence
            .entry((evidence.document, evidence.start))
            .or_insert(evidence);
    }
}

/// Bytes of a passage as evidence in its document.
fn evidence_of(item: &Item, quote: &Range<usize>) -> EvidenceRow {
    let (chunk, place) = item.passage.locate(quote);
    EvidenceRow {
        document: item.document,
        start: chunk.start + place.start,
        end: chunk.start + place.end,
        chunk: Some(chunk.id),
        quote: chunk.text[place].to_owned(),
    }
}

/// When what a passage says was seen to be so: the day that its document speaks from.
fn observed_at(item: &Item) -> Option<Timestamp> {
    Some(parse_date(item.date.as_deref()?)?.start)
}

/// A date of a fact: one that is told from the day of its document, "last year", as that day has it.
fn absolute(date: &str, anchor: Option<&ValidDate>) -> String {
    let told = anchor.and_then(|anchor| parse_relative_date(date, anchor));
    told.map_or_else(|| date.to_owned(), |told| told.written)
}

/// Adds what is not known yet.
fn add_new(known: &mut Map<String, Value>, new: &Map<String, Value>) {
    for (name, value) in new {
        known.entry(name.clone()).or_insert_with(|| value.clone());
    }
}

/// The most frequent spelling, of equals the better one.
pub(super) fn best_spelling<'a>(
    spellings: impl Iterator<Item = (&'a str, usize)>,
) -> Option<&'a str> {
    let mut shown: Option<(&str, usize)> = None;
    for (spelling, count) in spellings {
        let is_better = shown.is_none_or(|(best, most)| {
            count > most || (count == most && is_better_name(spelling, best))
        });
        if is_better {
            shown = Some((spelling, count));
        }
    }
    shown.map(|(spelling, _)| spelling)
}

/// Something of a passage to be put aside.
pub(super) fn aside(item: &Item, kind: &'static str, what: String, reason: String) -> Aside {
    Aside {
        document: item.document,
        chunk: item.passage.parts[0].0.id,
        passage: item.hash(),
        kind,
        item: what,
        reason,
    }
}

/// Whether an alias names something: "the company" is found in every text, and so is "该公司".
fn is_name(alias: &str, kinds: &BTreeSet<String>) -> bool {
    let is_written_as_one = alias
        .chars()
        .any(|c| c.is_uppercase() || c.is_numeric() || (c.is_alphabetic() && !c.is_lowercase()));
    is_written_as_one && !is_descriptor(alias, kinds)
}
