//! From what a reply says to what may be stored: schema, grounding, end points. An item that fails costs only
//! itself.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::json;

use super::extracted::{ExtractedEntity, ExtractedRelation, Extraction, RejectedItem};
use super::grounding::Grounding;
use super::raw::{RawEntity, RawRelation, RawReply};
use super::schema::Schema;
use crate::text::{clean_name, name_key, squash};

/// Checks a reply against the text it is about.
pub fn check_reply(raw: RawReply, text: &str, schema: &Schema) -> Extraction {
    let mut checker = Checker {
        schema,
        grounding: Grounding::new(text),
        out: Extraction::default(),
        by_name: BTreeMap::new(),
        by_id: BTreeMap::new(),
        refused: BTreeMap::new(),
    };
    for (number, entity) in raw.entities.into_iter().enumerate() {
        checker.entity(number, entity);
    }
    for relation in raw.relations {
        checker.relation(relation);
    }
    for claim in raw.claims {
        checker.claim(claim);
    }
    for item in raw.unread {
        checker.out.rejected.push(RejectedItem {
            kind: "item",
            item,
            reason: "neither an entity nor a relation".to_owned(),
        });
    }
    checker.out
}

pub(super) struct Checker<'a> {
    pub(super) schema: &'a Schema,
    pub(super) grounding: Grounding<'a>,
    pub(super) out: Extraction,
    /// Positions by key of name and aliases.
    by_name: BTreeMap<String, usize>,
    /// Positions by what the reply calls them.
    by_id: BTreeMap<String, usize>,
    /// Names of entities that were refused, with the reason.
    refused: BTreeMap<String, String>,
}

impl Checker<'_> {
    fn entity(&mut self, number: usize, raw: RawEntity) {
        let shown = shown_entity(&raw);
        match self.checked_entity(&raw) {
            Ok(entity) => {
                let at = self.add(entity);
                for id in raw.id.into_iter().chain([number.to_string()]) {
                    self.by_id.entry(id).or_insert(at);
                }
                self.by_name.entry(name_key(&raw.name)).or_insert(at);
            }
            Err(reason) => {
                self.refused.insert(name_key(&raw.name), reason.clone());
                self.out.rejected.push(RejectedItem {
                    kind: "entity",
                    item: shown,
                    reason,
                });
            }
        }
    }

    fn checked_entity(&self, raw: &RawEntity) -> Result<ExtractedEntity, String> {
        let name = clean_name(&raw.name).map_err(|reason| format!("the name {reason}"))?;
        let mut kinds = BTreeSet::new();
        if let Some(kind) = &raw.kind {
            if self.schema.entity.is_empty() {
                kinds.extend(clean_name(kind));
            } else if let Some(known) = self.schema.entity_type(kind) {
                kinds.insert(known.to_owned());
            } else {
                return Err(format!("the type {kind:?} is not in the schema"));
            }
        }
        let (name, mut places) = self.grounded(name);
        let mut aliases = Vec::new();
        for alias in &raw.aliases {
            let Ok(alias) = clean_name(alias) else {
                continue;
            };
            let found = self.grounding.places(&alias);
            // An alias that the passage does not have is the model's own knowledge, if not its invention.
            if !found.is_empty() && name_key(&alias) != name_key(&name) {
                places.extend(found);
                aliases.push(alias);
            }
        }
        if places.is_empty() {
            return Err("the passage does not name it".to_owned());
        }
        places.sort_by_key(|place| (place.start, place.end));
        places.dedup();
        Ok(ExtractedEntity {
            name,
            aliases,
            kinds,
            description: raw.description.as_deref().and_then(sentence),
            properties: raw.properties.clone(),
            places,
        })
    }

    /// Adds an entity, or what is new about one that is there under the same name.
    fn add(&mut self, entity: ExtractedEntity) -> usize {
        let key = name_key(&entity.name);
        if let Some(&at) = self.by_name.get(&key) {
            let known = &mut self.out.entities[at];
            known.kinds.extend(entity.kinds);
            for alias in entity.aliases {
                if !known.aliases.contains(&alias) {
                    known.aliases.push(alias);
                }
            }
            if entity.name != known.name && !known.aliases.contains(&entity.name) {
                known.aliases.push(entity.name);
            }
            known.description = known.description.take().or(entity.description);
            for (name, value) in entity.properties {
                known.properties.entry(name).or_insert(value);
            }
            return at;
        }
        let at = self.out.entities.len();
        for alias in &entity.aliases {
            self.by_name.entry(name_key(alias)).or_insert(at);
        }
        self.by_name.insert(key, at);
        self.out.entities.push(entity);
        at
    }

    fn relation(&mut self, raw: RawRelation) {
        let shown = shown_relation(&raw);
        match self.checked_relation(raw) {
            Ok(relation) => {
                let is_known = self.out.relations.iter().any(|known| {
                    (
                        known.source,
                        known.target,
                        &known.kind,
                        &known.valid_from,
                        &known.quote,
                    ) == (
                        relation.source,
                        relation.target,
                        &relation.kind,
                        &relation.valid_from,
                        &relation.quote,
                    )
                });
                if !is_known {
                    self.out.relations.push(relation);
                }
            }
            Err(reason) => self.out.rejected.push(RejectedItem {
                kind: "relation",
                item: shown,
                reason,
            }),
        }
    }

    fn checked_relation(&mut self, raw: RawRelation) -> Result<ExtractedRelation, String> {
        if let Some(status) = &raw.status
            && is_no_fact(status)
        {
            return Err(format!("not a fact: {status}"));
        }
        let written = clean_name(&raw.kind).map_err(|reason| format!("the type {reason}"))?;
        let is_closed = !self.schema.relation.is_empty();
        let declared = self.schema.relation_type(&written);
        if is_closed && declared.is_none() {
            return Err(format!("the relation {written:?} is not in the schema"));
        }
        let (kind, rules) = declared.map_or((written.as_str(), None), |(name, rules)| {
            (name, Some(rules))
        });
        let kind = kind.to_owned();
        let rules = rules.cloned();
        let mut source = self.end("source", &raw.source)?;
        let mut target = self.end("target", &raw.target)?;
        if source == target && !rules.as_ref().is_some_and(|rules| rules.reflexive) {
            return Err("it leads from a thing to itself".to_owned());
        }
        if let Some(rules) = &rules {
            let fits = |source: usize, target: usize| {
                let any_fits = |at: usize| -> Vec<Option<String>> {
                    let kinds = &self.out.entities[at].kinds;
                    if kinds.is_empty() {
                        vec![None]
                    } else {
                        kinds.iter().cloned().map(Some).collect()
                    }
                };
                any_fits(source).iter().any(|one| {
                    any_fits(target)
                        .iter()
                        .any(|other| self.schema.joins(rules, one.as_deref(), other.as_deref()))
                })
            };
            if !fits(source, target) {
                // Models turn relations around; where only one direction fits, it is the one they meant.
                if fits(target, source) {
                    std::mem::swap(&mut source, &mut target);
                } else {
                    let types = |at: usize| {
                        let kinds = &self.out.entities[at].kinds;
                        kinds
                            .iter()
                            .map(String::as_str)
                            .collect::<Vec<_>>()
                            .join("|")
                    };
                    return Err(format!(
                        "{kind} does not lead from {} to {}",
                        types(source),
                        types(target)
                    ));
                }
            }
        }
        let given = raw
            .quote
            .as_deref()
            .and_then(|quote| self.grounding.quote(quote))
            // "She" may stand for one of the two; words that name neither are evidence of nothing.
            .filter(|quote| {
                [source, target].iter().any(|&at| {
                    let mut places = self.out.entities[at].places.iter();
                    places.any(|place| quote.start <= place.start && place.end <= quote.end)
                })
            });
        let is_quoted = given.is_some();
        let quote = given
            .or_else(|| {
                let [source, target] =
                    [source, target].map(|at| self.out.entities[at].places.as_slice());
                self.grounding.sentences_with(source, target)
            })
            .ok_or("the passage does not have its quote, nor both names near each other")?;
        let is_implied = raw.status.as_deref().is_some_and(|status| {
            matches!(
                status.to_lowercase().as_str(),
                "implied" | "inferred" | "implicit" | "implícito" | "inferido"
            )
        });
        Ok(ExtractedRelation {
            source,
            target,
            kind,
            fact: raw.fact.as_deref().and_then(sentence),
            quote,
            is_quoted,
            is_implied,
            is_exclusive: rules.is_some_and(|rules| rules.exclusive),
            valid_from: raw.valid_from,
            valid_to: raw.valid_to,
            properties: raw.properties,
        })
    }

    /// The entity that an end point names: one of the reply's, or one that the passage itself names.
    pub(super) fn end(&mut self, what: &str, written: &str) -> Result<usize, String> {
        let key = name_key(written);
        if let Some(&at) = self.by_name.get(&key) {
            return Ok(at);
        }
        // A year may be a name.
        if let Some(reason) = self.refused.get(&key) {
            return Err(format!("its {what} {written:?} was refused: {reason}"));
        }
        if let Some(&at) = self.by_id.get(written) {
            return Ok(at);
        }
        let name = clean_name(written).map_err(|reason| format!("its {what} {reason}"))?;
        // A number is what the reply calls an entity by, and it has none of that number.
        let is_reference = name.chars().all(|c| c.is_ascii_digit()) && !self.by_id.is_empty();
        let (name, places) = self.grounded(name);
        if is_reference || places.is_empty() {
            return Err(format!("its {what} {written:?} is none of the entities"));
        }
        let at = self.add(ExtractedEntity {
            name,
            places,
            ..ExtractedEntity::default()
        });
        self.by_name.entry(key).or_insert(at);
        Ok(at)
    }

    /// A name with its places in the passage. Models write names as identifiers, `Ana_Prado`, and add what tells
    /// them apart, `Ana (singer)`, or Chinese in the other script: then the name is what the passage has of it.
    fn grounded(&self, name: String) -> (String, Vec<Range<usize>>) {
        let spaced = name.replace('_', " ");
        let bare = spaced.split(" (").next().unwrap_or_default().trim();
        for form in [name.as_str(), spaced.as_str(), bare] {
            let places = self.grounding.places(form);
            if let Some(first) = places.first() {
                let written = &self.grounding.text[first.clone()];
                // Models write Chinese in the script that they know best: a name stays in the passage's.
                if squash(written) != squash(form) {
                    return (written.to_owned(), places);
                }
                // An identifier of the passage itself stays one.
                let is_own = written.contains('_');
                let is_plain = form != name || is_own;
                let form = if is_plain { form } else { spaced.as_str() };
                return (form.to_owned(), places);
            }
        }
        (name, Vec::new())
    }
}

/// A description or fact worth keeping, on one line.
pub(super) fn sentence(text: &str) -> Option<String> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let visible: String = line.chars().filter(|c| !c.is_control()).collect();
    (!visible.is_empty()).then_some(visible)
}

/// What is denied, asked, planned or only possible is no fact.
fn is_no_fact(status: &str) -> bool {
    const WORDS: [&str; 12] = [
        "negat",
        "denied",
        "hypothe",
        "possib",
        "plann",
        "specul",
        "question",
        "uncertain",
        "false",
        "negad",
        "hipot",
        "否",
    ];
    let status = status.to_lowercase();
    WORDS.iter().any(|word| status.contains(word))
}

fn shown_entity(raw: &RawEntity) -> String {
    json!({ "name": raw.name, "type": raw.kind }).to_string()
}

fn shown_relation(raw: &RawRelation) -> String {
    json!({
        "source": raw.source, "type": raw.kind, "target": raw.target, "quote": raw.quote,
    })
    .to_string()
}

#[cfg(test)]
mod tests;
