//! From what a reply says to what may be stored: schema, grounding, end points. An item that fails costs only
//! itself.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::{Value, json};

use super::extracted::{ExtractedEntity, ExtractedRelation, Extraction, Kind, RejectedItem};
use super::grounding::Grounding;
use super::nameless::is_nameless;
use super::raw::{RawEntity, RawRelation, RawReply, ids};
use super::schema::{RelationType, Schema, name_properties};
use crate::text::{clean_name, fold, name_key, squash};

/// Why a property is left out.
const UNDECLARED: &str = "they are not in the schema";

/// Checks a reply against the text it is about.
pub fn check_reply(raw: RawReply, text: &str, schema: &Schema) -> Extraction {
    let mut checker = Checker {
        schema,
        grounding: Grounding::new(text),
        out: Extraction::default(),
        by_name: BTreeMap::new(),
        by_id: BTreeMap::new(),
        refused: BTreeMap::new(),
        untyped: BTreeMap::new(),
    };
    for (ids, entity) in ids(&raw.entities).into_iter().zip(raw.entities) {
        checker.entity(ids, &entity);
    }
    checker.join_untyped();
    for relation in raw.relations {
        checker.relation(relation);
    }
    for claim in raw.claims {
        checker.claim(claim);
    }
    for entity in std::mem::take(&mut checker.untyped).into_values() {
        let item = json!({ "name": entity.name }).to_string();
        checker.reject("entity", item, "it has no type, and no relation tells it");
    }
    for item in raw.unread {
        checker.reject("item", item, "neither an entity nor a relation");
    }
    if raw.is_cut {
        let reason = "the reply ends in the middle: what it had yet to say is missing";
        checker.reject("item", String::new(), reason);
    }
    checker.out.oddities = raw.oddities.into_iter().map(str::to_owned).collect();
    checker.out
}

pub(super) struct Checker<'a> {
    pub(super) schema: &'a Schema,
    pub(super) grounding: Grounding<'a>,
    pub(super) out: Extraction,
    /// Positions by key of name and aliases.
    by_name: BTreeMap<String, usize>,
    /// By what else the reply calls an entity: the key of its name, or why it was refused.
    by_id: BTreeMap<String, Result<String, String>>,
    /// Names of entities that were refused, with the reason.
    refused: BTreeMap<String, String>,
    /// Entities without a type where types are declared, by key of their name: a relation that allows one type tells it.
    untyped: BTreeMap<String, ExtractedEntity>,
}

/// What an end point names.
pub(super) enum End {
    /// An entity of this position.
    Known(usize),
    /// Something that the passage names and that is no entity yet.
    New(Box<ExtractedEntity>),
}

impl End {
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Known(one), Self::Known(other)) => one == other,
            (Self::New(one), Self::New(other)) => name_key(&one.name) == name_key(&other.name),
            _ => false,
        }
    }
}

impl Checker<'_> {
    fn entity(&mut self, ids: Vec<String>, raw: &RawEntity) {
        let shown = shown_entity(raw);
        let checked = self.checked_entity(raw);
        let key = match &checked {
            Ok(entity) => Ok(name_key(&entity.name)),
            Err(reason) => Err(reason.clone()),
        };
        for id in ids {
            self.by_id.entry(id).or_insert_with(|| key.clone());
        }
        let entity = match checked {
            Ok(entity) => entity,
            Err(reason) => {
                self.refused.insert(name_key(&raw.name), reason.clone());
                return self.reject("entity", shown, &reason);
            }
        };
        if let Some(text) = &raw.unread_properties {
            self.reject_properties(&raw.name, &text.as_str().into(), "they cannot be read");
        }
        if entity.kinds.is_empty() && self.is_closed() {
            self.untyped.entry(name_key(&entity.name)).or_insert(entity);
        } else {
            let at = self.add(entity);
            self.by_name.entry(name_key(&raw.name)).or_insert(at);
        }
    }

    /// Adds what is said of an entity without its type to one of the same name that has one.
    fn join_untyped(&mut self) {
        for (key, entity) in std::mem::take(&mut self.untyped) {
            if self.by_name.contains_key(&key) {
                self.add(entity);
            } else {
                self.untyped.insert(key, entity);
            }
        }
    }

    /// Whether every entity needs one of the declared types.
    fn is_closed(&self) -> bool {
        !self.schema.entity.is_empty()
    }

    pub(super) fn reject(&mut self, kind: Kind, item: String, reason: &str) {
        let reason = reason.to_owned();
        let item = RejectedItem { kind, item, reason };
        self.out.rejected.push(item);
    }

    /// Puts properties of something aside that is kept without them.
    fn reject_properties(&mut self, of: &str, properties: &Value, reason: &str) {
        let item = json!({ "of": of, "properties": properties });
        self.reject(
            "item",
            item.to_string(),
            &format!("its properties: {reason}"),
        );
    }

    fn checked_entity(&self, raw: &RawEntity) -> Result<ExtractedEntity, String> {
        let name = clean_name(&raw.name).map_err(|reason| format!("the name {reason}"))?;
        if is_nameless(&name) {
            return Err("it names nothing by itself".to_owned());
        }
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
    fn add(&mut self, mut entity: ExtractedEntity) -> usize {
        let key = name_key(&entity.name);
        let kinds = entity.kinds.iter();
        let declared = kinds.filter_map(|kind| self.schema.entity.get(kind));
        let names = declared.map(|kind| (&*kind.properties, &kind.property_labels));
        let undeclared = name_properties(&mut entity.properties, names);
        if !undeclared.is_empty() {
            self.reject_properties(&entity.name, &undeclared.into(), UNDECLARED);
        }
        if let Some(&at) = self.by_name.get(&key) {
            let known = &mut self.out.entities[at];
            known.kinds.extend(entity.kinds);
            known.places.extend(entity.places);
            known
                .places
                .sort_unstable_by_key(|place| (place.start, place.end));
            known.places.dedup();
            for alias in entity.aliases {
                self.by_name.entry(name_key(&alias)).or_insert(at);
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
            Err(reason) => self.reject("relation", shown, &reason),
        }
    }

    fn checked_relation(&mut self, raw: RawRelation) -> Result<ExtractedRelation, String> {
        let is_implied = match raw.status.as_deref().map(Stated::read) {
            None | Some(Some(Stated::Outright)) => false,
            Some(Some(Stated::Implied)) => true,
            Some(None) => {
                return Err(format!("not a fact: {}", raw.status.unwrap_or_default()));
            }
        };
        let written = clean_name(&raw.kind).map_err(|reason| format!("the type {reason}"))?;
        let schema = self.schema;
        let declared = schema.relation_type(&written);
        if !schema.relation.is_empty() && declared.is_none() {
            return Err(format!("the relation {written:?} is not in the schema"));
        }
        let kind = declared
            .map_or(written.as_str(), |(name, _)| name)
            .to_owned();
        let rules = declared.map(|(_, rules)| rules);
        let mut source = (self.end("source", &raw.source)?, raw.source.as_str());
        let mut target = (self.end("target", &raw.target)?, raw.target.as_str());
        if source.0.is_same(&target.0) && !rules.is_some_and(|rules| rules.reflexive) {
            return Err("it leads from a thing to itself".to_owned());
        }
        if let Some(rules) = rules {
            let (from, to) = (self.kinds(&source.0), self.kinds(&target.0));
            if !schema.joins_any(rules, from, to) {
                // Models turn relations around; where only one direction fits, it is the one they meant.
                if !schema.joins_any(rules, to, from) {
                    let types = |kinds: &BTreeSet<String>| {
                        let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
                        kinds.join("|")
                    };
                    let (from, to) = (types(from), types(to));
                    return Err(format!("{kind} does not lead from {from} to {to}"));
                }
                std::mem::swap(&mut source, &mut target);
            }
        }
        let places = [&source.0, &target.0].map(|end| self.places(end));
        let given = raw
            .quote
            .as_deref()
            .and_then(|quote| self.grounding.quote(quote))
            // "She" may stand for one of the two; words that name neither are evidence of nothing.
            .filter(|quote| {
                let mut places = places.iter().flat_map(|places| places.iter());
                places.any(|place| quote.start <= place.start && place.end <= quote.end)
            });
        let is_quoted = given.is_some();
        let quote = given
            .or_else(|| self.grounding.sentences_with(places[0], places[1]))
            .ok_or("the passage does not have its quote, nor both names near each other")?;
        let ends = |ends: fn(&RelationType) -> &[String]| rules.map_or(&[][..], ends);
        let (sources, targets) = (ends(|rules| &rules.source), ends(|rules| &rules.target));
        // Before either is kept: a relation that is refused leaves nothing behind.
        self.can_settle("source", &source, sources)?;
        self.can_settle("target", &target, targets)?;
        let source = self.settle(source, sources);
        let target = self.settle(target, targets);
        let mut properties = raw.properties;
        let names = rules.map(|rules| (&*rules.properties, &rules.property_labels));
        let undeclared = name_properties(&mut properties, names.into_iter());
        if !undeclared.is_empty() {
            self.reject_properties(&kind, &undeclared.into(), UNDECLARED);
        }
        if let Some(text) = raw.unread_properties {
            self.reject_properties(&kind, &text.into(), "they cannot be read");
        }
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
            properties,
        })
    }

    /// What an end point names: one of the reply's entities, or something that the passage itself names.
    pub(super) fn end(&self, what: &str, written: &str) -> Result<End, String> {
        let refused = |reason: &str| Err(format!("its {what} {written:?} was refused: {reason}"));
        let of = |key: &str| {
            let known = self.by_name.get(key).map(|&at| End::Known(at));
            known.or_else(|| Some(End::New(Box::new(self.untyped.get(key)?.clone()))))
        };
        let key = name_key(written);
        if let Some(end) = of(&key) {
            return Ok(end);
        }
        // A year may be a name.
        if let Some(reason) = self.refused.get(&key) {
            return refused(reason);
        }
        match self.by_id.get(written) {
            Some(Ok(key)) => return of(key).ok_or_else(|| format!("its {what} is not there")),
            Some(Err(reason)) => return refused(reason),
            None => {}
        }
        let name = clean_name(written).map_err(|reason| format!("its {what} {reason}"))?;
        if is_nameless(&name) {
            return Err(format!("its {what} {written:?} names nothing by itself"));
        }
        // A number is what the reply calls an entity by, and it has none of that number.
        let is_reference = name.chars().all(|c| c.is_ascii_digit()) && !self.by_id.is_empty();
        let (name, places) = self.grounded(name);
        if is_reference || places.is_empty() {
            return Err(format!("its {what} {written:?} is none of the entities"));
        }
        Ok(of(&name_key(&name)).unwrap_or_else(|| {
            End::New(Box::new(ExtractedEntity {
                name,
                places,
                ..ExtractedEntity::default()
            }))
        }))
    }

    /// Whether an end has a type, or gets one: where types are declared, something new gets the only one that is
    /// allowed here.
    pub(super) fn can_settle(
        &self,
        what: &str,
        (end, written): &(End, &str),
        allowed: &[String],
    ) -> Result<(), String> {
        match end {
            End::New(_) if self.is_closed() && allowed.len() != 1 => Err(format!(
                "its {what} {written:?} has no type, and more than one is allowed here"
            )),
            _ => Ok(()),
        }
    }

    /// The position of an end that [`Checker::can_settle`].
    pub(super) fn settle(&mut self, (end, written): (End, &str), allowed: &[String]) -> usize {
        let mut entity = match end {
            End::Known(at) => return at,
            End::New(entity) => entity,
        };
        if let ([only], true) = (allowed, self.is_closed()) {
            let kind = self.schema.entity_type(only).map(str::to_owned);
            entity.kinds.extend(kind);
        }
        self.untyped.remove(&name_key(&entity.name));
        let at = self.add(*entity);
        self.by_name.entry(name_key(written)).or_insert(at);
        at
    }

    pub(super) fn kinds<'e>(&'e self, end: &'e End) -> &'e BTreeSet<String> {
        &self.of(end).kinds
    }

    pub(super) fn places<'e>(&'e self, end: &'e End) -> &'e [Range<usize>] {
        &self.of(end).places
    }

    fn of<'e>(&'e self, end: &'e End) -> &'e ExtractedEntity {
        match end {
            End::Known(at) => &self.out.entities[*at],
            End::New(entity) => entity,
        }
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

/// How a passage says something.
enum Stated {
    Outright,
    Implied,
}

impl Stated {
    /// By a model's word for it; `None` where it may be denied, asked, planned, only possible or anything else.
    fn read(status: &str) -> Option<Self> {
        const OUTRIGHT: &str = "stated explicit explicitly explicita explicito declared asserted affirmed confirmed fact \
            factual true certain actual yes afirmado afirmada declarado declarada confirmado confirmada fato facto \
            verdadeiro verdadeira certo explicite affirme 陈述 明确 明示 事实 确认 已确认 真 是";
        const IMPLIED: &str = "implied implicit implicitly inferred implicito implicita inferido inferida implicite 隐含 暗示 推断";
        let folded = fold(status);
        let is_of = |list: &str, word: &str| list.split_whitespace().any(|known| known == word);
        let mut words = folded
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty());
        let first = words.next()?;
        let is_implied = is_of(IMPLIED, first);
        let is_known = is_implied || is_of(OUTRIGHT, first);
        // "explicitly stated", not "stated as a plan".
        if !is_known || !words.all(|word| is_of(OUTRIGHT, word)) {
            return None;
        }
        Some(if is_implied {
            Self::Implied
        } else {
            Self::Outright
        })
    }
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
