//! What people and agents tell the store: remember, correct, undo.

use std::collections::{BTreeMap, BTreeSet};

use super::Engine;
use crate::memory::{Composed, Period, Stated, Writer, Written, compose};
use crate::pipeline::{self, Addition, Amendment, Changes, GraphChange, Indexed, Job, Scope};
use crate::sources::parse_date;
use crate::storage::{self, Buried, EpisodeValues, NamespaceId};
use crate::text::{clean_name, name_key};
use crate::types::{
    ConflictPolicy, Correction, GivenEntity, GivenFact, IngestReport, ItemFailure, Memory,
    MemoryReport, OperationView, RelationId, Timestamp, ValidDate,
};
use crate::{Error, Result};

/// Label of the source that episodes belong to; their uris start with it.
pub(super) const EPISODES: &str = "memory";
/// Session of what is remembered outside a conversation.
const SESSION: &str = "default";
/// Letters of a summary.
const SUMMARY: usize = 100;

/// An episode about to be stored.
struct Episode<'a> {
    memory: &'a Memory,
    composed: Composed,
    path: String,
    session: String,
    ordinal: i64,
    said_at: Timestamp,
    date: Option<ValidDate>,
}

impl Engine {
    /// Stores texts, entities and relations as they are given; no model is asked. Unknown entities are made.
    /// Each memory is one episode, in the order given. What is wrong with one is in the report and costs none
    /// of the others.
    ///
    /// # Errors
    /// A busy or read-only store.
    pub fn remember(&self, memories: &[Memory], policy: ConflictPolicy) -> Result<MemoryReport> {
        let mut report = MemoryReport::default();
        self.run(&(), |job| {
            let lease = job
                .store
                .write_lease("malha remember", job.config.lease_wait)?;
            let episodes = plan_episodes(job, memories, &mut report)?;
            if episodes.is_empty() {
                return Ok(nothing());
            }
            let amendment = amendment(&episodes, Vec::new());
            pipeline::amend(job, &lease, &amendment, &mut |scope, changes| {
                let mut writer = writer(scope, policy)?;
                for (place, episode) in (1..).zip(&episodes) {
                    state(&mut writer, episode, place, &mut report)?;
                }
                let paths: Vec<String> = episodes
                    .iter()
                    .map(|episode| episode.path.clone())
                    .collect();
                let summary = summary(&episodes);
                report.operation = Some(storage::save_operation(
                    scope.connection,
                    scope.namespace,
                    "remember",
                    &summary,
                    &paths,
                    &[],
                    writer.now,
                )?);
                finish(writer.written, changes, &mut report);
                Ok(())
            })
        })?;
        Ok(report)
    }

    /// Takes a fact back and states the right one instead. What was corrected does not come back when a source
    /// states it again.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such fact; [`Error::Usage`] when it is a link of a note, which is
    /// corrected in the note.
    pub fn correct(&self, correction: &Correction) -> Result<MemoryReport> {
        let mut report = MemoryReport::default();
        let told = GivenFact {
            source: correction.source.clone(),
            relation: correction.relation.clone(),
            target: correction
                .new_target
                .clone()
                .unwrap_or_else(|| correction.target.clone()),
            fact: correction.reason.clone(),
            valid_from: correction.valid_from.clone(),
            valid_to: correction.valid_to.clone(),
            exclusive: false,
        };
        let replaces = correction.new_target.is_some()
            || correction.valid_from.is_some()
            || correction.valid_to.is_some();
        // A date that is not understood must not cost the fact it was to correct.
        let period = Period::new(told.valid_from.as_deref(), told.valid_to.as_deref());
        if let Some(unknown) = period.map_err(Error::Usage)?.unknown.first() {
            return Err(Error::Usage(format!(
                "the date {unknown:?} was not understood"
            )));
        }
        let memory = Memory {
            relations: vec![told],
            ..Memory::default()
        };
        self.run(&(), |job| {
            let lease = job
                .store
                .write_lease("malha correct", job.config.lease_wait)?;
            let memories = std::slice::from_ref(&memory);
            let episodes = if replaces {
                plan_episodes(job, memories, &mut report)?
            } else {
                Vec::new()
            };
            let amendment = amendment(&episodes, Vec::new());
            pipeline::amend(job, &lease, &amendment, &mut |scope, changes| {
                let mut writer = writer(scope, ConflictPolicy::Close)?;
                let wrong = find_facts(&writer, correction)?;
                let mut exclusive = false;
                for &id in &wrong {
                    let (source, kind) = storage::subject_of(scope.connection, id)?;
                    exclusive |= storage::is_exclusive(scope.connection, kind, source)?;
                    bury_fact(&writer, id)?;
                    writer.retract(id)?;
                }
                report.relations_retracted = wrong.len();
                for episode in &episodes {
                    let mut right = memory.relations[0].clone();
                    right.exclusive = exclusive;
                    let dates = storage::written_dates(scope.connection, wrong[0])?;
                    right.valid_from = right.valid_from.or(dates.0);
                    right.valid_to = right.valid_to.or(dates.1);
                    let memory = Memory {
                        relations: vec![right],
                        ..Memory::default()
                    };
                    let episode = Episode {
                        memory: &memory,
                        composed: episode.composed.clone(),
                        path: episode.path.clone(),
                        session: episode.session.clone(),
                        date: episode.date.clone(),
                        ..*episode
                    };
                    state(&mut writer, &episode, 1, &mut report)?;
                }
                let paths: Vec<String> = episodes
                    .iter()
                    .map(|episode| episode.path.clone())
                    .collect();
                let summary = format!(
                    "{} {} {}",
                    correction.source, correction.relation, correction.target
                );
                report.operation = Some(storage::save_operation(
                    scope.connection,
                    scope.namespace,
                    "correct",
                    &cut(&summary),
                    &paths,
                    &wrong,
                    writer.now,
                )?);
                finish(writer.written, changes, &mut report);
                Ok(())
            })
        })?;
        Ok(report)
    }

    /// Takes back what an operation said, and lets what it took back hold again.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such operation; [`Error::Usage`] when it was undone before.
    pub fn undo(&self, operation: i64) -> Result<MemoryReport> {
        let mut report = MemoryReport::default();
        self.run(&(), |job| {
            let lease = job.store.write_lease("malha undo", job.config.lease_wait)?;
            let connection = job.store.connection();
            let namespace = job.store.namespace(job.namespace)?;
            let found = match namespace {
                Some(namespace) => storage::operation(connection, namespace.0, operation)?,
                None => None,
            };
            let found = found.ok_or_else(|| Error::NotFound {
                kind: "operation",
                name: operation.to_string(),
            })?;
            if found.undone || found.kind == "undo" {
                return Err(Error::Usage(format!(
                    "operation {operation} cannot be undone: it {}",
                    if found.undone {
                        "was undone before"
                    } else {
                        "undid another one"
                    }
                )));
            }
            let amendment = amendment(&[], found.episodes.clone());
            pipeline::amend(job, &lease, &amendment, &mut |scope, changes| {
                let mut writer = writer(scope, ConflictPolicy::Close)?;
                for path in &found.episodes {
                    let uri = storage::join_uri(EPISODES, path);
                    for document in
                        storage::documents_ever(scope.connection, scope.namespace, &uri)?
                    {
                        let lost =
                            storage::withdraw_document(scope.connection, document, writer.now)?;
                        storage::forget_types_of(scope.connection, &uri)?;
                        report.relations_retracted += writer.settle_withdrawn(&lost)?;
                    }
                }
                for &id in &found.retracted {
                    unbury_fact(&writer, id)?;
                    report.relations_added += usize::from(writer.restore(id)?);
                }
                storage::mark_undone(scope.connection, operation, writer.now)?;
                report.operation = Some(storage::save_operation(
                    scope.connection,
                    scope.namespace,
                    "undo",
                    &format!("operation {operation}"),
                    &[],
                    &[],
                    writer.now,
                )?);
                finish(writer.written, changes, &mut report);
                Ok(())
            })
        })?;
        Ok(report)
    }

    /// The latest changes, newest first: what [`Engine::undo`] takes.
    pub fn operations(&self, limit: usize) -> Result<Vec<OperationView>> {
        let store = self.store();
        match store.namespace(&self.namespace)? {
            Some(namespace) => storage::operations(store.connection(), namespace.0, limit),
            None => Ok(Vec::new()),
        }
    }
}

fn nothing() -> Indexed {
    Indexed {
        report: IngestReport::default(),
        graph: GraphChange::Nothing,
    }
}

fn amendment<'a>(episodes: &[Episode<'_>], removed: Vec<String>) -> Amendment<'a> {
    Amendment {
        label: EPISODES,
        added: episodes
            .iter()
            .map(|episode| Addition {
                path: episode.path.clone(),
                text: episode.composed.text.clone(),
                date: episode.date.clone(),
            })
            .collect(),
        removed,
    }
}

/// Puts the memories into words and gives each its place; those that hold nothing are in the report.
fn plan_episodes<'a>(
    job: &Job<'_>,
    memories: &'a [Memory],
    report: &mut MemoryReport,
) -> Result<Vec<Episode<'a>>> {
    let connection = job.store.connection();
    let namespace = job.store.namespace(job.namespace)?;
    let mut next: BTreeMap<String, i64> = BTreeMap::new();
    let mut paths: BTreeSet<String> = BTreeSet::new();
    let mut episodes = Vec::new();
    for (place, memory) in (1..).zip(memories) {
        let checked = (|| {
            let composed = compose(memory)?;
            let session = checked_name("session", memory.session.as_deref().unwrap_or(SESSION))?;
            let date = match memory.time.as_deref().map(str::trim) {
                Some(time) if !time.is_empty() => Some(
                    parse_date(time)
                        .ok_or_else(|| format!("the time {time:?} was not understood"))?,
                ),
                _ => None,
            };
            let id = memory.id.as_deref().map(|id| checked_name("id", id));
            Ok((composed, session, date, id.transpose()?))
        })();
        let (composed, session, date, id) = match checked {
            Ok(checked) => checked,
            Err(reason) => {
                report.failed.push(failure(place, reason));
                continue;
            }
        };
        let ordinal = match next.get(&session) {
            Some(&ordinal) => ordinal,
            None => match namespace {
                Some(namespace) => storage::next_ordinal(connection, namespace.0, &session)?,
                None => 1,
            },
        };
        next.insert(session.clone(), ordinal + 1);
        let path = id.unwrap_or_else(|| numbered(&session, ordinal));
        if !paths.insert(path.clone()) {
            let reason = format!("another one has the id {path:?}");
            report.failed.push(failure(place, reason));
            continue;
        }
        episodes.push(Episode {
            memory,
            composed,
            path,
            session,
            ordinal,
            said_at: date.as_ref().map_or(job.clock.now(), |date| date.start),
            date,
        });
    }
    Ok(episodes)
}

fn numbered(session: &str, ordinal: i64) -> String {
    format!("{session}/{ordinal:06}")
}

/// Whether an episode's path was made of its session and its number.
pub(super) fn is_numbered(path: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(session, number)| {
        number
            .parse()
            .is_ok_and(|ordinal| numbered(session, ordinal) == path)
    })
}

/// A name that becomes part of a uri.
fn checked_name(what: &str, name: &str) -> Result<String, String> {
    let name = name.trim();
    if name.is_empty() || name.len() > 200 {
        return Err(format!(
            "the {what} has {} bytes; 1 to 200 are allowed",
            name.len()
        ));
    }
    match name.chars().find(|c| c.is_control()) {
        Some(control) => Err(format!(
            "the {what} holds the control character {control:?}"
        )),
        None => Ok(name.to_owned()),
    }
}

fn failure(place: usize, reason: String) -> ItemFailure {
    ItemFailure {
        uri: String::new(),
        line: place,
        reason,
    }
}

fn writer<'a>(scope: &Scope<'a>, policy: ConflictPolicy) -> Result<Writer<'a>> {
    let last = storage::last_operation(scope.connection, scope.namespace)?;
    Ok(Writer {
        connection: scope.connection,
        namespace: (NamespaceId(scope.namespace), scope.namespace_name),
        // Two changes are never recorded at one moment, so what was known between them can be asked for.
        now: last.map_or(scope.now, |last| Timestamp(scope.now.0.max(last.0 + 1))),
        policy,
        written: Written::default(),
    })
}

/// Writes what an episode states; its document is there by now.
fn state(
    writer: &mut Writer<'_>,
    episode: &Episode<'_>,
    place: usize,
    report: &mut MemoryReport,
) -> Result<()> {
    let connection = writer.connection;
    let namespace = writer.namespace.0.0;
    let uri = storage::join_uri(EPISODES, &episode.path);
    let Some(document) = storage::document_by_uri(connection, namespace, &uri)? else {
        if storage::is_buried(connection, namespace, Buried::Document, &[&uri])? {
            report.suppressed.push(uri);
            return Ok(());
        }
        let reason = format!("{uri} belongs to another document");
        report.failed.push(failure(place, reason));
        return Ok(());
    };
    // An episode that is replaced no longer states what it did.
    let lost = storage::withdraw_document(connection, document.id, writer.now)?;
    let memory = episode.memory;
    let speaker = match memory.speaker.as_deref().map(str::trim) {
        Some(name) if !name.is_empty() => {
            let given = GivenEntity {
                name: name.to_owned(),
                ..GivenEntity::default()
            };
            match writer.entity(&given, &uri)? {
                Ok(id) => Some(id),
                Err(reason) => {
                    report.failed.push(failure(place, reason));
                    None
                }
            }
        }
        _ => None,
    };
    storage::save_episode(
        connection,
        document.id,
        &EpisodeValues {
            session: storage::ensure_session(connection, namespace, &episode.session)?,
            ordinal: episode.ordinal,
            speaker,
            said_at: episode.said_at,
            said_at_written: episode.date.as_ref().map(|date| date.written.as_str()),
        },
    )?;
    for entity in &memory.entities {
        if let Err(reason) = writer.entity(entity, &uri)? {
            report.failed.push(failure(place, reason));
        }
    }
    for (fact, range) in memory.relations.iter().zip(&episode.composed.facts) {
        let stated = Stated {
            document: document.id,
            uri: &uri,
            start: range.start,
            end: range.end,
            quote: &episode.composed.text[range.clone()],
            at: episode.said_at,
        };
        if let Err(reason) = writer.fact(fact, &stated)? {
            let fact = format!("{} {} {}", fact.source, fact.relation, fact.target);
            report
                .failed
                .push(failure(place, format!("{fact:?}: {reason}")));
        }
    }
    report.relations_retracted += writer.settle_withdrawn(&lost)?;
    report.episodes.push(uri);
    Ok(())
}

/// Hands what was written over to the caches and the report.
fn finish(written: Written, changes: &mut Changes, report: &mut MemoryReport) {
    for form in &written.forms {
        changes.change_owner(form);
    }
    changes.touched_entities.extend(written.entities);
    for relation in written.relations {
        changes.touch_relation(relation);
    }
    report.entities_added += written.entities_added;
    report.relations_added += written.relations_added;
    report.relations_repeated += written.relations_repeated;
    for fact in written.ended {
        if !report.ended.contains(&fact) {
            report.ended.push(fact);
        }
    }
    report.conflicts.extend(written.conflicts);
    report.suppressed.extend(written.suppressed);
    report.similar.extend(written.similar);
}

fn summary(episodes: &[Episode<'_>]) -> String {
    let first = episodes
        .first()
        .map_or("", |episode| &episode.composed.text);
    match episodes.len() {
        1 => cut(first),
        many => format!("{many} episodes: {}", cut(first)),
    }
}

fn cut(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(SUMMARY).collect()
}

/// The current facts that a correction means.
fn find_facts(writer: &Writer<'_>, correction: &Correction) -> Result<Vec<RelationId>> {
    let not_found = || Error::NotFound {
        kind: "fact",
        name: format!(
            "{} {} {}",
            correction.source, correction.relation, correction.target
        ),
    };
    let name = |written: &str| {
        clean_name(written).map_err(|reason| Error::Usage(format!("the name {reason}")))
    };
    let source = writer
        .known(&name(&correction.source)?)?
        .ok_or_else(not_found)?;
    let target = writer
        .known(&name(&correction.target)?)?
        .ok_or_else(not_found)?;
    let kinds = storage::relation_types_of(
        writer.connection,
        writer.namespace.0.0,
        &correction.relation,
    )?;
    let mut facts = Vec::new();
    for kind in kinds {
        for fact in storage::facts_of(writer.connection, source, kind)? {
            if fact.target == target {
                facts.push(fact.id);
            }
        }
        if facts.is_empty() && storage::has_link(writer.connection, source, kind, target)? {
            return Err(Error::Usage(
                "this is a link of a note; edit the note and index it again".to_owned(),
            ));
        }
    }
    if facts.is_empty() {
        return Err(not_found());
    }
    Ok(facts)
}

fn bury_fact(writer: &Writer<'_>, id: RelationId) -> Result<()> {
    let parts = fact_parts(writer, id)?;
    writer.bury(Buried::Fact, &parts.each_ref().map(String::as_str))
}

fn unbury_fact(writer: &Writer<'_>, id: RelationId) -> Result<()> {
    let parts = fact_parts(writer, id)?;
    storage::unbury(
        writer.connection,
        writer.namespace.0.0,
        Buried::Fact,
        &parts.each_ref().map(String::as_str),
    )?;
    Ok(())
}

/// What a fact is known by when it must not come back.
fn fact_parts(writer: &Writer<'_>, id: RelationId) -> Result<[String; 5]> {
    let named = storage::named_fact(writer.connection, id)?;
    Ok(crate::memory::buried_fact(
        &name_key(&named.source),
        &named.relation,
        &name_key(&named.target),
        named.from,
        named.to,
    ))
}
