//! What runs leave behind: settings, the flag of unfinished work, reports.

use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;

use crate::Result;
use crate::text::Language;
use crate::types::{IssueSeverity, RunRecord, Skipped, Timestamp};

/// A stored setting.
pub(crate) fn meta(connection: &Connection, key: &str) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?)
}

/// Stores a setting.
pub(crate) fn set_meta(connection: &Connection, key: &str, value: &str) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO meta (key, value) VALUES (?1, ?2)
             ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE value <> excluded.value",
        )?
        .execute(params![key, value])?;
    Ok(())
}

fn pending_key(namespace: i64) -> String {
    format!("pending:{namespace}")
}

/// Whether a large run was stopped before everything was derived.
pub(crate) fn is_pending(connection: &Connection, namespace: i64) -> Result<bool> {
    Ok(meta(connection, &pending_key(namespace))?.is_some_and(|value| value == "1"))
}

/// Raises or lowers the flag of unfinished work.
pub(crate) fn set_pending(connection: &Connection, namespace: i64, pending: bool) -> Result<()> {
    set_meta(
        connection,
        &pending_key(namespace),
        if pending { "1" } else { "0" },
    )
}

fn unfollowed_key(namespace: i64) -> String {
    format!("unfollowed:{namespace}")
}

/// Whether documents changed, and what models found in them has not followed.
pub(crate) fn is_unfollowed(connection: &Connection, namespace: i64) -> Result<bool> {
    Ok(meta(connection, &unfollowed_key(namespace))?.is_some_and(|value| value == "1"))
}

/// Notes that documents changed, or that what models found has followed.
pub(crate) fn set_unfollowed(
    connection: &Connection,
    namespace: i64,
    is_unfollowed: bool,
) -> Result<()> {
    let value = if is_unfollowed { "1" } else { "0" };
    set_meta(connection, &unfollowed_key(namespace), value)
}

fn languages_key(namespace: i64) -> String {
    format!("languages:{namespace}")
}

/// Notes the languages of the current documents, most frequent first, for the questions that follow.
pub(crate) fn save_languages(connection: &Connection, namespace: i64) -> Result<()> {
    let languages: Vec<&str> = super::document::languages(connection, namespace)?
        .into_iter()
        .map(Language::as_str)
        .collect();
    set_meta(connection, &languages_key(namespace), &languages.join(","))
}

/// The languages noted by the last run, most frequent first.
pub(crate) fn known_languages(connection: &Connection, namespace: i64) -> Result<Vec<Language>> {
    let names = meta(connection, &languages_key(namespace))?.unwrap_or_default();
    Ok(names
        .split(',')
        .filter_map(|name| name.parse().ok())
        .collect())
}

/// Notes that a run began. One without an end was killed, or is going on.
pub(crate) fn begin_run(
    connection: &Connection,
    namespace: i64,
    started: Timestamp,
    kind: &str,
) -> Result<i64> {
    connection
        .prepare_cached("INSERT INTO run (namespace, started_at, kind) VALUES (?1, ?2, ?3)")?
        .execute(params![namespace, started.0, kind])?;
    Ok(connection.last_insert_rowid())
}

/// Notes what a run did.
pub(crate) fn end_run(
    connection: &Connection,
    id: i64,
    finished: Timestamp,
    report: &impl Serialize,
) -> Result<()> {
    let json = serde_json::to_string(report).expect("a report is plain data");
    connection
        .prepare_cached("UPDATE run SET finished_at = ?2, report = ?3 WHERE id = ?1")?
        .execute(params![id, finished.0, json])?;
    Ok(())
}

/// The newest runs of a namespace, newest first.
pub(crate) fn runs(
    connection: &Connection,
    namespace: i64,
    limit: usize,
) -> Result<Vec<RunRecord>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, kind, started_at, finished_at, report FROM run
         WHERE namespace = ?1 ORDER BY id DESC LIMIT ?2",
    )?;
    let rows = statement.query_map(params![namespace, limit as i64], |row| {
        let report: Option<String> = row.get(4)?;
        Ok(RunRecord {
            id: row.get(0)?,
            kind: row.get(1)?,
            started_at: Timestamp(row.get(2)?),
            finished_at: row.get::<_, Option<i64>>(3)?.map(Timestamp),
            report: report
                .and_then(|text| serde_json::from_str(&text).ok())
                .unwrap_or_default(),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Whether the last walk of a source left out exactly these.
pub(crate) fn has_walk_skips(
    connection: &Connection,
    source: i64,
    skipped: &[Skipped],
) -> Result<bool> {
    let mut statement = connection.prepare_cached(
        "SELECT path, reason FROM issue WHERE source = ?1 AND ordinal = 0 ORDER BY path",
    )?;
    let rows = statement.query_map([source], |row| {
        Ok(Skipped {
            uri: row.get(0)?,
            reason: row.get(1)?,
        })
    })?;
    let stored: Vec<Skipped> = rows.collect::<rusqlite::Result<_>>()?;
    let mut wanted: Vec<&Skipped> = skipped.iter().collect();
    wanted.sort();
    Ok(stored.iter().eq(wanted))
}

/// Replaces what the walk of a source left out (its issues have ordinal 0).
pub(crate) fn save_walk_skips(
    connection: &Connection,
    source: i64,
    skipped: &[Skipped],
) -> Result<()> {
    connection.execute(
        "DELETE FROM issue WHERE source = ?1 AND ordinal = 0",
        [source],
    )?;
    for skip in skipped {
        super::source::add_issue(
            connection,
            source,
            &skip.uri,
            0,
            IssueSeverity::Skipped,
            0,
            &skip.reason,
        )?;
    }
    Ok(())
}
