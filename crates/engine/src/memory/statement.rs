//! Entities and facts given directly become rows: what is known is found by its name, the rest is made.

use std::collections::BTreeSet;

use rusqlite::Connection;

use super::likeness::{likeness, terms};
use super::period::Period;
use super::settle;
use crate::Result;
use crate::storage::{self, Buried, Fact, FactLine, NamespaceId, Origin};
use crate::text::{clean_name, fold, name_key, squash};
use crate::types::{
    Alias, AliasSource, ConflictPolicy, DocumentId, EntityId, EntityKind, GivenEntity, GivenFact,
    Near, NearBy, RelationId, RelationTypeId, Timestamp,
};

/// Type of an entity that was only named.
pub(crate) const UNTYPED: &str = "Concept";

/// Share of words from which two relations of the same two things, or their sentences, come near.
const NEAR_RELATION: f64 = 0.5;
const NEAR_WORDS: f64 = 0.7;

/// What a fact is known by when it must not come back: keys of the names, relation, and the dates stated.
pub(crate) fn buried_fact(
    source: &str,
    relation: &str,
    target: &str,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) -> [String; 5] {
    let date = |at: Option<Timestamp>| at.map_or(String::new(), |at| at.0.to_string());
    [
        source.to_owned(),
        storage::relation_key(relation),
        target.to_owned(),
        date(from),
        date(to),
    ]
}

/// What was written, for the caches and the report.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) entities: BTreeSet<EntityId>,
    pub(crate) relations: BTreeSet<RelationId>,
    /// Folded names that got an owner.
    pub(crate) forms: BTreeSet<String>,
    pub(crate) entities_added: usize,
    pub(crate) relations_added: usize,
    pub(crate) relations_repeated: usize,
    pub(crate) claims_added: usize,
    /// Claims that were known: they gained evidence.
    pub(crate) claims_repeated: usize,
    pub(crate) ended: Vec<String>,
    pub(crate) conflicts: Vec<String>,
    pub(crate) suppressed: Vec<String>,
    pub(crate) near: Vec<Near>,
}

/// Where a statement stands: a document, and the bytes of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stated<'a> {
    pub(crate) document: DocumentId,
    pub(crate) uri: &'a str,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) quote: &'a str,
    /// When it was said.
    pub(crate) at: Timestamp,
}

/// Writes what is given directly, inside a transaction.
pub(crate) struct Writer<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) namespace: (NamespaceId, &'a str),
    pub(crate) now: Timestamp,
    pub(crate) policy: ConflictPolicy,
    pub(crate) written: Written,
}

/// The one entity that bears this name, of those that are more than a name in texts.
pub(crate) fn entity_of_name(
    connection: &Connection,
    namespace: i64,
    name: &str,
) -> Result<Option<EntityId>> {
    let key = name_key(name);
    let concept = storage::find_entity(connection, namespace, EntityKind::Concept, &key)?;
    if let Some(row) = concept.filter(|row| row.current) {
        return Ok(Some(row.id));
    }
    let mut owners = Vec::new();
    for id in storage::entities_of_form(connection, namespace, &fold(name))? {
        if storage::entity(connection, id)?.kind != EntityKind::Name {
            owners.push(id);
        }
    }
    Ok(match owners.as_slice() {
        &[only] => Some(only),
        _ => None,
    })
}

impl Writer<'_> {
    /// Finds or makes the entity of a name. The inner error is the item's own.
    pub(crate) fn entity(
        &mut self,
        given: &GivenEntity,
        evidence: &str,
    ) -> Result<Result<EntityId, String>> {
        let name = match clean_name(&given.name) {
            Ok(name) => name,
            Err(reason) => return Ok(Err(format!("the name {reason}"))),
        };
        let key = name_key(&name);
        if storage::is_buried(self.connection, self.namespace.0.0, Buried::Entity, &[&key])? {
            return Ok(Err(format!(
                "{name:?} was forgotten; `malha forget --allow {name:?}` lets it come back"
            )));
        }
        let id = match self.known(&name)? {
            Some(id) => id,
            None => self.make(&name, &key)?,
        };
        self.written.entities.insert(id);
        if let Some(kind) = given
            .kind
            .as_deref()
            .map(str::trim)
            .filter(|kind| !kind.is_empty())
        {
            storage::add_type(self.connection, id, kind, evidence)?;
        }
        if let Some(description) = &given.description {
            storage::describe_entity(self.connection, id, description.trim())?;
        }
        for alias in &given.aliases {
            match clean_name(alias) {
                Ok(alias) => self.alias(id, &alias)?,
                Err(reason) => return Ok(Err(format!("the alias {reason}"))),
            }
        }
        Ok(Ok(id))
    }

    /// The one entity that this public id or name means.
    pub(crate) fn known(&self, name: &str) -> Result<Option<EntityId>> {
        let namespace = self.namespace.0.0;
        if let Some(row) = storage::entity_by_public_id(self.connection, namespace, name)? {
            return Ok(Some(row.id));
        }
        entity_of_name(self.connection, namespace, name)
    }

    fn make(&mut self, name: &str, key: &str) -> Result<EntityId> {
        let near =
            storage::entities_of_squashed(self.connection, self.namespace.0.0, &squash(name))?;
        for id in near {
            let row = storage::entity(self.connection, id)?;
            if row.kind != EntityKind::Name && row.name != name {
                self.written.near.push(Near {
                    new: name.to_owned(),
                    known: row.name,
                    by: NearBy::Name,
                    similarity: 1.0,
                    uri: row.public_id.0,
                });
            }
        }
        let (id, _) = storage::ensure_entity(
            self.connection,
            (self.namespace.0.0, self.namespace.1),
            EntityKind::Concept,
            key,
            name,
            self.now,
        )?;
        self.written.entities_added += 1;
        self.alias(id, name)?;
        Ok(id)
    }

    pub(super) fn alias(&mut self, entity: EntityId, written: &str) -> Result<()> {
        let folded = fold(written);
        // Signs alone: nothing that a text or a question could be matched by.
        if folded.is_empty() {
            return Ok(());
        }
        let alias = Alias {
            written: written.to_owned(),
            squashed: squash(written),
            folded: folded.clone(),
            entity,
            source: AliasSource::Stated,
        };
        storage::insert_alias(self.connection, self.namespace.0.0, &alias)?;
        self.written.forms.insert(folded);
        Ok(())
    }

    /// States a fact. The inner error is the item's own.
    pub(crate) fn fact(
        &mut self,
        given: &GivenFact,
        stated: &Stated<'_>,
    ) -> Result<Result<(), String>> {
        let relation = match clean_name(&given.relation) {
            Ok(relation) => relation,
            Err(reason) => return Ok(Err(format!("the relation {reason}"))),
        };
        let period = match Period::new(given.valid_from.as_deref(), given.valid_to.as_deref()) {
            Ok(period) => period,
            Err(reason) => return Ok(Err(reason)),
        };
        if let Some(unknown) = period.unknown.first() {
            return Ok(Err(format!("the date {unknown:?} was not understood")));
        }
        if self.is_suppressed(given, &relation, &period)? {
            self.written.suppressed.push(format!(
                "{} {relation} {}",
                given.source.trim(),
                given.target.trim()
            ));
            return Ok(Ok(()));
        }
        let (source, target) = match (
            self.end(&given.source, stated)?,
            self.end(&given.target, stated)?,
        ) {
            (Ok(source), Ok(target)) => (source, target),
            (Err(reason), _) | (_, Err(reason)) => return Ok(Err(reason)),
        };
        if source == target {
            return Ok(Err(format!(
                "{:?} and {:?} are one entity; a relation needs two",
                given.source, given.target
            )));
        }
        let kind = match self.known_relation(source, target, &relation, given)? {
            Some(kind) => kind,
            None => storage::relation_type_id(
                self.connection,
                self.namespace.0.0,
                &storage::relation_key(&relation),
                &relation,
            )?,
        };
        let exclusive = given.exclusive || storage::is_exclusive(self.connection, kind, source)?;
        let end = |end: &Option<(Timestamp, String)>| end.clone();
        let (mut from, to) = (end(&period.from), end(&period.to));
        let goes_on = to.as_ref().is_none_or(|(to, _)| stated.at < *to);
        if exclusive && from.is_none() && goes_on && self.has_other(source, kind, target)? {
            // What replaces something does so when it is said.
            from = Some((stated.at, String::new()));
        }
        if exclusive
            && self.policy == ConflictPolicy::Ask
            && let Some(other) = self.contradicted(source, kind, target, from.as_ref())?
        {
            self.written.conflicts.push(format!(
                "{} {relation} {} contradicts {other:?}; not stored",
                given.source.trim(),
                given.target.trim()
            ));
            return Ok(Ok(()));
        }
        let fact = Fact {
            source,
            target,
            kind,
            from: from.as_ref().map(|(at, written)| (*at, written.as_str())),
            to: to.as_ref().map(|(at, written)| (*at, written.as_str())),
            sentence: given.fact.as_deref(),
            exclusive,
            observed_at: Some(stated.at),
            origin: Origin::Stated,
        };
        let (id, new) = storage::ensure_fact(self.connection, self.namespace.0, &fact, self.now)?;
        let repeated = !new && storage::states_fact(self.connection, id, stated.document)?;
        if !repeated {
            storage::add_fact_line(
                self.connection,
                id,
                &FactLine {
                    document: stated.document,
                    start: stated.start as u64,
                    end: stated.end as u64,
                    line: None,
                    quote: stated.quote,
                },
            )?;
        }
        if new {
            self.written.relations_added += 1;
        } else {
            storage::settle_fact(self.connection, id, self.now)?;
            self.written.relations_repeated += 1;
        }
        self.written.relations.insert(id);
        self.settle(source, kind)?;
        Ok(Ok(()))
    }

    /// The relation that a current fact about the same two has, when it is this one spelled otherwise (`works_at`,
    /// "works at"): the fact is then the same and gains evidence. Facts that only come near are noted.
    fn known_relation(
        &mut self,
        source: EntityId,
        target: EntityId,
        relation: &str,
        given: &GivenFact,
    ) -> Result<Option<RelationTypeId>> {
        let key = storage::relation_key(relation);
        let (words, said) = (terms(relation), given.fact.as_deref().map(terms));
        let mut same = None;
        for known in storage::facts_between(self.connection, source, target)? {
            if storage::relation_key(&known.relation) == key {
                return Ok(None);
            }
            let by_name = likeness(&words, &terms(&known.relation));
            if by_name >= 1.0 {
                same = same.or(Some(known.kind));
                continue;
            }
            let by_text = match (&said, &known.sentence) {
                (Some(said), Some(sentence)) => likeness(said, &terms(sentence)),
                _ => 0.0,
            };
            let (by, similarity) = if by_text >= NEAR_WORDS {
                (NearBy::Text, by_text)
            } else if by_name >= NEAR_RELATION {
                (NearBy::Name, by_name)
            } else {
                continue;
            };
            self.written.near.push(Near {
                new: format!("{} {relation} {}", given.source.trim(), given.target.trim()),
                known: storage::fact_sentence(self.connection, known.id)?,
                by,
                similarity: (similarity * 100.0).round() / 100.0,
                uri: storage::first_uri_of_fact(self.connection, known.id)?.unwrap_or_default(),
            });
        }
        Ok(same)
    }

    pub(super) fn end(
        &mut self,
        name: &str,
        stated: &Stated<'_>,
    ) -> Result<Result<EntityId, String>> {
        let given = GivenEntity {
            name: name.to_owned(),
            ..GivenEntity::default()
        };
        self.entity(&given, stated.uri)
    }

    /// Keeps these from coming back.
    pub(crate) fn bury(&self, kind: Buried, parts: &[&str]) -> Result<()> {
        storage::bury(self.connection, self.namespace.0.0, kind, parts, self.now)
    }

    fn is_suppressed(&self, given: &GivenFact, relation: &str, period: &Period) -> Result<bool> {
        let time = |end: &Option<(Timestamp, String)>| end.as_ref().map(|(at, _)| *at);
        let parts = buried_fact(
            &name_key(given.source.trim()),
            relation,
            &name_key(given.target.trim()),
            time(&period.from),
            time(&period.to),
        );
        self.is_buried(Buried::Fact, &parts.each_ref().map(String::as_str))
    }

    /// Whether these must not come back.
    pub(super) fn is_buried(&self, kind: Buried, parts: &[&str]) -> Result<bool> {
        storage::is_buried(self.connection, self.namespace.0.0, kind, parts)
    }

    fn has_other(&self, source: EntityId, kind: RelationTypeId, target: EntityId) -> Result<bool> {
        let facts = storage::facts_of(self.connection, source, kind)?;
        Ok(facts.iter().any(|fact| fact.target != target))
    }

    /// A fact with another object that holds when a new one would begin.
    fn contradicted(
        &self,
        source: EntityId,
        kind: RelationTypeId,
        target: EntityId,
        from: Option<&(Timestamp, String)>,
    ) -> Result<Option<String>> {
        let from = from.map(|(at, _)| *at);
        let facts = storage::facts_of(self.connection, source, kind)?;
        let other = facts.iter().find(|fact| {
            fact.target != target && fact.from <= from && fact.to.is_none_or(|to| from < Some(to))
        });
        other
            .map(|fact| storage::fact_sentence(self.connection, fact.id))
            .transpose()
    }

    /// Brings the ends of a subject's facts in line, and notes what that changed.
    pub(crate) fn settle(&mut self, source: EntityId, kind: RelationTypeId) -> Result<()> {
        let settled = settle(self.connection, source, kind, self.now)?;
        for id in &settled.touched {
            if storage::is_current_fact(self.connection, *id)? {
                let sentence = storage::fact_sentence(self.connection, *id)?;
                self.written.ended.push(sentence);
            }
        }
        self.written.relations.extend(settled.touched);
        for conflict in settled.conflicts {
            let conflict = conflict.sentence(self.connection)?;
            if !self.written.conflicts.contains(&conflict) {
                self.written.conflicts.push(conflict);
            }
        }
        Ok(())
    }

    /// Takes facts back that lost what states them, and lets what they ended go on.
    pub(crate) fn settle_withdrawn(&mut self, relations: &[RelationId]) -> Result<usize> {
        let mut retracted = 0;
        for &id in relations {
            self.touch_ends(id)?;
            retracted += usize::from(storage::settle_fact(self.connection, id, self.now)?);
            let (source, kind) = storage::subject_of(self.connection, id)?;
            self.settle(source, kind)?;
        }
        Ok(retracted)
    }

    /// Takes a fact back.
    pub(crate) fn retract(&mut self, id: RelationId) -> Result<()> {
        self.touch_ends(id)?;
        storage::retract_fact(self.connection, id, self.now)?;
        storage::retire_unheld_ends(self.connection, id, self.now)?;
        let (source, kind) = storage::subject_of(self.connection, id)?;
        self.settle(source, kind)
    }

    /// Records a fact anew that was taken back. False when nothing states it any more.
    pub(crate) fn restore(&mut self, id: RelationId) -> Result<bool> {
        if !storage::is_still_stated(self.connection, id)? {
            return Ok(false);
        }
        let new = storage::record_again(self.connection, id, self.now)?;
        self.written.relations.extend([id, new]);
        let (source, kind) = storage::subject_of(self.connection, new)?;
        for entity in storage::ends_of(self.connection, new)? {
            storage::bring_back_entity(self.connection, entity)?;
            let name = storage::entity(self.connection, entity)?.name;
            self.alias(entity, &name)?;
            self.written.entities.insert(entity);
        }
        self.settle(source, kind)?;
        Ok(true)
    }

    fn touch_ends(&mut self, id: RelationId) -> Result<()> {
        self.written.relations.insert(id);
        for end in storage::ends_of(self.connection, id)? {
            self.written.entities.insert(end);
            // An end that is closed loses its names: passages that hold them are matched again.
            for alias in storage::aliases_of_entity(self.connection, end)? {
                self.written.forms.insert(alias.folded);
            }
        }
        Ok(())
    }
}
