//! What all passages say, joined by name: one entity a name, one fact a statement.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::plan::Item;
use crate::extraction::{ExtractedEntity, ExtractedRelation, Extraction, Schema};
use crate::memory::Period;
use crate::storage::{Aside, EvidenceRow, relation_key};
use crate::text::{fold, is_better_name, name_key};
use crate::types::{ChunkId, DocumentId, Timestamp};

/// Characters of an entity's description; more is cut at a sentence.
const LONGEST_DESCRIPTION: usize = 600;

/// Everything that is stated, in an order that does not depend on how it became known.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub entities: BTreeMap<String, GatheredEntity>,
    pub relations: BTreeMap<FactKey, GatheredRelation>,
    pub asides: Vec<Aside>,
    /// Dates that were not understood and the like.
    pub warnings: Vec<String>,
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
}

/// What makes a statement the same one: both names, the type, the period.
pub(super) type FactKey = (String, String, String, Option<i64>, Option<i64>);

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
    pub evidence: BTreeMap<(DocumentId, usize), EvidenceRow>,
    pub passages: BTreeSet<(DocumentId, ChunkId)>,
}

impl GatheredEntity {
    /// The spelling to show: the most frequent, of equals the better one.
    pub(super) fn shown(&self) -> &str {
        let mut shown: Option<(&str, usize)> = None;
        for (spelling, &count) in &self.spellings {
            let is_better = shown.is_none_or(|(best, most)| {
                count > most || (count == most && is_better_name(spelling, best))
            });
            if is_better {
                shown = Some((spelling, count));
            }
        }
        shown.expect("every name is spelled").0
    }

    /// What is said of it, each sentence once, within bounds.
    pub(super) fn description(&self) -> Option<String> {
        let mut out = String::new();
        let mut seen = BTreeSet::new();
        for description in &self.descriptions {
            if !seen.insert(fold(description)) {
                continue;
            }
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
    /// Adds what one passage says. Passages come in the order of documents and places.
    pub(super) fn add(&mut self, item: &Item, found: Extraction, schema: &Schema) {
        let keys: Vec<String> = found
            .entities
            .iter()
            .map(|entity| name_key(&entity.name))
            .collect();
        for (key, entity) in keys.iter().zip(found.entities) {
            self.add_entity(key, &item.uri, entity);
        }
        for relation in found.relations {
            self.add_relation(item, &keys, relation, schema);
        }
        for rejected in found.rejected {
            self.asides
                .push(aside(item, rejected.kind, rejected.item, rejected.reason));
        }
    }

    fn add_entity(&mut self, key: &str, uri: &str, entity: ExtractedEntity) {
        let known = self.entities.entry(key.to_owned()).or_default();
        *known.spellings.entry(entity.name).or_default() += 1;
        known
            .aliases
            .extend(entity.aliases.into_iter().filter(|alias| is_name(alias)));
        for kind in entity.kinds {
            known.kinds.insert((kind, uri.to_owned()));
        }
        known.descriptions.extend(entity.description);
        for (name, value) in entity.properties {
            known.properties.entry(name).or_insert(value);
        }
    }

    fn add_relation(
        &mut self,
        item: &Item,
        keys: &[String],
        relation: ExtractedRelation,
        schema: &Schema,
    ) {
        let (mut source, mut target) =
            (keys[relation.source].clone(), keys[relation.target].clone());
        let is_symmetric = schema
            .relation_type(&relation.kind)
            .is_some_and(|(_, rules)| rules.symmetric);
        if is_symmetric && target < source {
            std::mem::swap(&mut source, &mut target);
        }
        let period = match Period::new(relation.valid_from.as_deref(), relation.valid_to.as_deref())
        {
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
        let (chunk, place) = item.passage.locate(&relation.quote);
        let evidence = EvidenceRow {
            document: item.document,
            start: chunk.start + place.start,
            end: chunk.start + place.end,
            chunk: Some(chunk.id),
            quote: chunk.text[place].to_owned(),
        };
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
                evidence: BTreeMap::new(),
                passages: BTreeSet::new(),
            });
        known.fact = known.fact.take().or(relation.fact);
        known.confidence = known.confidence.max(confidence);
        known.exclusive |= relation.is_exclusive;
        for (name, value) in relation.properties {
            known.properties.entry(name).or_insert(value);
        }
        known.passages.insert((item.document, chunk.id));
        known
            .evidence
            .entry((evidence.document, evidence.start))
            .or_insert(evidence);
    }
}

/// Something of a passage to be put aside.
pub(super) fn aside(item: &Item, kind: &'static str, what: String, reason: String) -> Aside {
    let first = &item.passage.parts[0].0;
    Aside {
        document: item.document,
        uri: item.uri.clone(),
        chunk: first.id,
        start: first.start,
        kind,
        item: what,
        reason,
    }
}

/// Whether an alias names something: "the company" is found in every text.
fn is_name(alias: &str) -> bool {
    alias
        .chars()
        .any(|c| c.is_uppercase() || c.is_numeric() || (c.is_alphabetic() && !c.is_lowercase()))
}
