//! Names that may mean one thing: found anew by every run, decided once.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, params};

use crate::Result;
use crate::types::{MergeRule, MergeStatus, MergeView, Timestamp};

/// A pair of names as a run found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MergeRow {
    /// Keys, the smaller one first.
    pub pair: (String, String),
    /// As they are shown: the first goes into the other.
    pub shown: (String, String),
    pub rule: MergeRule,
    pub status: MergeStatus,
}

/// Who decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decider {
    User,
    Model,
}

impl Decider {
    const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Model => "model",
        }
    }
}

/// Makes the list of pairs hold exactly these, and those that were decided.
pub(crate) fn save_merges(
    connection: &Connection,
    namespace: i64,
    rows: &[MergeRow],
) -> Result<()> {
    let mut upsert = connection.prepare_cached(
        "INSERT INTO merge (namespace, low, high, one, other, rule, status) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (namespace, low, high) DO UPDATE SET one = excluded.one, other = excluded.other,
             rule = iif(excluded.rule = 'decided', rule, excluded.rule), status = excluded.status
         WHERE (one, other, rule, status) <> (excluded.one, excluded.other, excluded.rule, excluded.status)",
    )?;
    for row in rows {
        upsert.execute(params![
            namespace,
            row.pair.0,
            row.pair.1,
            row.shown.0,
            row.shown.1,
            row.rule.as_str(),
            row.status.as_str(),
        ])?;
    }
    let wanted: BTreeSet<(&str, &str)> = rows
        .iter()
        .map(|row| (row.pair.0.as_str(), row.pair.1.as_str()))
        .collect();
    let mut statement = connection.prepare_cached(
        "SELECT id, low, high FROM merge WHERE namespace = ?1 AND decided_by IS NULL",
    )?;
    let known: Vec<(i64, String, String)> = statement
        .query_map([namespace], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    for (id, low, high) in known {
        if !wanted.contains(&(low.as_str(), high.as_str())) {
            connection
                .prepare_cached("DELETE FROM merge WHERE id = ?1")?
                .execute([id])?;
        }
    }
    // A pair that was decided to be two stays so, whether or not a rule finds it again.
    connection
        .prepare_cached(
            "UPDATE merge SET status = ?2
             WHERE namespace = ?1 AND decided_by IS NOT NULL AND is_same = 0 AND status <> ?2",
        )?
        .execute(params![namespace, MergeStatus::Apart.as_str()])?;
    Ok(())
}

/// What was decided: keys of a pair, and whether they are one thing; `None` where a model did not know.
pub(crate) fn merge_decisions(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<(String, String, Option<bool>)>> {
    let mut statement = connection.prepare_cached(
        "SELECT low, high, is_same FROM merge WHERE namespace = ?1 AND decided_by IS NOT NULL ORDER BY low, high",
    )?;
    let rows = statement.query_map([namespace], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// All pairs, those that wait for a decision first.
pub(crate) fn merges(connection: &Connection, namespace: i64) -> Result<Vec<MergeView>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, one, other, rule, status, decided_by FROM merge WHERE namespace = ?1
         ORDER BY status <> 'proposed', status, other, one, id",
    )?;
    let rows = statement.query_map([namespace], |row| {
        let (rule, status): (String, String) = (row.get(3)?, row.get(4)?);
        Ok(MergeView {
            id: row.get(0)?,
            one: row.get(1)?,
            other: row.get(2)?,
            rule: MergeRule::parse(&rule).unwrap_or(MergeRule::Decided),
            status: MergeStatus::parse(&status).unwrap_or(MergeStatus::Proposed),
            decided_by: row.get(5)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Notes what a person decided about a pair; `None` takes a decision back. False when there is no such pair.
pub(crate) fn decide_merge(
    connection: &Connection,
    namespace: i64,
    id: i64,
    is_same: Option<bool>,
    now: Timestamp,
) -> Result<bool> {
    let by = is_same.map(|_| Decider::User.as_str());
    let found: Option<i64> = connection
        .prepare_cached(
            "UPDATE merge SET is_same = ?3, decided_by = ?4, decided_at = ?5 WHERE namespace = ?1 AND id = ?2
             RETURNING id",
        )?
        .query_row(params![namespace, id, is_same, by, now.0], |row| row.get(0))
        .optional()?;
    Ok(found.is_some())
}

/// Notes what a model says of a pair that nobody decided; `None`: it does not know either.
pub(crate) fn judge_merge(
    connection: &Connection,
    namespace: i64,
    row: &MergeRow,
    is_same: Option<bool>,
    now: Timestamp,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO merge (namespace, low, high, one, other, rule, status, is_same, decided_by, decided_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (namespace, low, high) DO UPDATE SET
                 is_same = excluded.is_same, decided_by = excluded.decided_by, decided_at = excluded.decided_at
             WHERE decided_by IS NULL",
        )?
        .execute(params![
            namespace,
            row.pair.0,
            row.pair.1,
            row.shown.0,
            row.shown.1,
            row.rule.as_str(),
            row.status.as_str(),
            is_same,
            Decider::Model.as_str(),
            now.0,
        ])?;
    Ok(())
}

/// The keys that were joined with this one, itself among them.
pub(crate) fn joined_keys(
    connection: &Connection,
    namespace: i64,
    key: &str,
) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE joined(key) AS (
             VALUES (?2)
             UNION
             SELECT iif(m.low = j.key, m.high, m.low) FROM joined j JOIN merge m
                 ON m.namespace = ?1 AND m.status = 'merged' AND j.key IN (m.low, m.high)
         ) SELECT key FROM joined ORDER BY key",
    )?;
    let rows = statement.query_map(params![namespace, key], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Drops every pair with one of these keys, decided or not.
pub(crate) fn forget_merges(
    connection: &Connection,
    namespace: i64,
    keys: &[String],
) -> Result<()> {
    let mut delete = connection
        .prepare_cached("DELETE FROM merge WHERE namespace = ?1 AND ?2 IN (low, high)")?;
    for key in keys {
        delete.execute(params![namespace, key])?;
    }
    Ok(())
}
