//! Episodes: what is remembered, put into words and given its place.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::EPISODES;
use crate::Result;
use crate::memory::{Composed, Stated, Writer, compose};
use crate::pipeline::{Addition, Amendment, Job};
use crate::sources::parse_date;
use crate::storage::{self, Buried, EpisodeValues};
use crate::types::{GivenEntity, ItemFailure, Memory, MemoryReport, Timestamp, ValidDate};

/// Session of what is remembered outside a conversation.
const SESSION: &str = "default";
/// Letters of a summary.
const SUMMARY: usize = 100;

/// An episode about to be stored.
pub(super) struct Episode<'a> {
    pub(super) memory: &'a Memory,
    pub(super) composed: Composed,
    pub(super) path: String,
    pub(super) session: String,
    pub(super) ordinal: i64,
    pub(super) said_at: Timestamp,
    pub(super) date: Option<ValidDate>,
}

/// What the episodes bring, and the paths of those that go.
pub(super) fn amendment<'a>(episodes: &[Episode<'_>], removed: Vec<String>) -> Amendment<'a> {
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
pub(super) fn plan_episodes<'a>(
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
pub(in crate::engine) fn is_numbered(path: &str) -> bool {
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

/// Writes what an episode states; its document is there by now.
pub(super) fn state(
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
    report.claims_retracted += writer.withdraw_claims(document.id)?;
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
    let stated = |range: &Range<usize>| Stated {
        document: document.id,
        uri: &uri,
        start: range.start,
        end: range.end,
        quote: &episode.composed.text[range.clone()],
        at: episode.said_at,
    };
    for (fact, range) in memory.relations.iter().zip(&episode.composed.facts) {
        if let Err(reason) = writer.fact(fact, &stated(range))? {
            let fact = format!("{} {} {}", fact.source, fact.relation, fact.target);
            report
                .failed
                .push(failure(place, format!("{fact:?}: {reason}")));
        }
    }
    for (claim, range) in memory.claims.iter().zip(&episode.composed.claims) {
        if let Err(reason) = writer.claim(claim, &stated(range))? {
            let claim = format!("{} {}", claim.subject, claim.kind);
            report
                .failed
                .push(failure(place, format!("{claim:?}: {reason}")));
        }
    }
    report.relations_retracted += writer.settle_withdrawn(&lost)?;
    report.episodes.push(uri);
    Ok(())
}

/// An operation's summary.
pub(super) fn summary(episodes: &[Episode<'_>]) -> String {
    let first = episodes
        .first()
        .map_or("", |episode| &episode.composed.text);
    match episodes.len() {
        1 => cut(first),
        many => format!("{many} episodes: {}", cut(first)),
    }
}

pub(super) fn cut(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(SUMMARY).collect()
}

/// Takes back what the episode of this path states.
pub(super) fn withdraw(
    writer: &mut Writer<'_>,
    path: &str,
    report: &mut MemoryReport,
) -> Result<()> {
    let uri = storage::join_uri(EPISODES, path);
    for document in storage::documents_ever(writer.connection, writer.namespace.0.0, &uri)? {
        let lost = storage::withdraw_document(writer.connection, document, writer.now)?;
        storage::forget_types_of(writer.connection, writer.namespace.0.0, &uri)?;
        report.claims_retracted += writer.withdraw_claims(document)?;
        report.relations_retracted += writer.settle_withdrawn(&lost)?;
    }
    Ok(())
}
