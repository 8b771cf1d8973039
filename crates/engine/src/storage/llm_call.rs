//! Replies of language models, what they cost, and who is asking for which now.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::Result;
use crate::types::{ReplyPart, Timestamp, UsageKey, UsageLine};

/// A reply that was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReplyRow {
    pub id: i64,
    pub text: String,
    pub answered_by: String,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub is_truncated: bool,
    /// Which part of it answers, where several requests were asked together.
    pub part: Option<ReplyPart>,
}

/// A call that came back, before it has a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallValues<'a> {
    pub key: &'a [u8],
    pub step: &'a str,
    pub model: &'a str,
    pub answered_by: &'a str,
    pub document: Option<&'a str>,
    /// The reply, or what went wrong.
    pub outcome: Result<&'a str, &'a str>,
    pub is_truncated: bool,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cost: Option<f64>,
    pub retries: u32,
    pub waited_ms: u64,
    pub took_ms: u64,
}

/// Whether any call of a step had a reply.
pub(crate) fn has_replies(connection: &Connection, namespace: i64, step: &str) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM llm_call WHERE namespace = ?1 AND step = ?2 AND reply IS NOT NULL)",
        )?
        .query_row(params![namespace, step], |row| row.get(0))?)
}

/// The usable reply of this key.
pub(crate) fn find_reply(
    connection: &Connection,
    namespace: i64,
    key: &[u8],
) -> Result<Option<ReplyRow>> {
    Ok(connection
        .prepare_cached(
            "SELECT id, reply, answered_by, input_tokens, output_tokens, is_truncated, NULL, NULL FROM llm_call
             WHERE namespace = ?1 AND key = ?2 AND reply IS NOT NULL AND rejected IS NULL",
        )?
        .query_row(params![namespace, key], read_reply)
        .optional()?)
}

/// The reply to several requests that holds the answer to the one of this key.
pub(crate) fn find_part(
    connection: &Connection,
    namespace: i64,
    key: &[u8],
) -> Result<Option<ReplyRow>> {
    Ok(connection
        .prepare_cached(
            "SELECT c.id, c.reply, c.answered_by, c.input_tokens, c.output_tokens, c.is_truncated, p.number, p.parts
             FROM llm_part p JOIN llm_call c ON c.id = p.call
             WHERE p.namespace = ?1 AND p.key = ?2 AND c.rejected IS NULL",
        )?
        .query_row(params![namespace, key], read_reply)
        .optional()?)
}

fn read_reply(row: &Row<'_>) -> rusqlite::Result<ReplyRow> {
    Ok(ReplyRow {
        id: row.get(0)?,
        text: row.get(1)?,
        answered_by: row.get(2)?,
        input_tokens: row.get::<_, i64>(3)? as u64,
        output_tokens: row.get::<_, i64>(4)? as u64,
        is_truncated: row.get(5)?,
        part: match (row.get::<_, Option<i64>>(6)?, row.get::<_, Option<i64>>(7)?) {
            (Some(number), Some(of)) => Some(ReplyPart {
                number: number as usize,
                of: of as usize,
            }),
            _ => None,
        },
    })
}

/// A request that is asked together with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    /// Of the request as it would be alone.
    pub key: [u8; 32],
    /// The uri that it is about.
    pub document: String,
}

/// Notes that the parts of a reply, in order, answer these requests.
pub(crate) fn insert_parts(
    connection: &Connection,
    namespace: i64,
    call: i64,
    members: &[Member],
) -> Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT OR REPLACE INTO llm_part (namespace, key, call, number, document, parts)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (number, member) in (1_i64..).zip(members) {
        insert.execute(params![
            namespace,
            member.key.as_slice(),
            call,
            number,
            member.document,
            members.len() as i64,
        ])?;
    }
    Ok(())
}

/// Why a reply does not count that came when there was one.
const SECOND: &str = "another reply to the same question was stored first";

/// Stores what came back, and gives up the claim on its key. Returns the row of a reply that counts from now on: a
/// second one to the same key is only on the bill.
pub(crate) fn insert_call(
    connection: &Connection,
    namespace: i64,
    call: &CallValues<'_>,
    now: Timestamp,
) -> Result<Option<i64>> {
    let is_second = call.outcome.is_ok() && find_reply(connection, namespace, call.key)?.is_some();
    let id = connection
        .prepare_cached(
            "INSERT INTO llm_call (namespace, key, step, model, answered_by, document, reply, error,
                 is_truncated, input_tokens, output_tokens, cost, retries, waited_ms, took_ms, created_at, rejected)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17) RETURNING id",
        )?
        .query_row(params![
            namespace,
            call.key,
            call.step,
            call.model,
            call.answered_by,
            call.document,
            call.outcome.ok(),
            call.outcome.err(),
            call.is_truncated,
            call.input_tokens as i64,
            call.output_tokens as i64,
            call.cost,
            call.retries,
            call.waited_ms as i64,
            call.took_ms as i64,
            now.0,
            is_second.then_some(SECOND),
        ], |row| row.get(0))?;
    release_job(connection, namespace, call.key)?;
    Ok((call.outcome.is_ok() && !is_second).then_some(id))
}

/// Marks a reply as unusable: it stays on the bill, and the next run asks anew.
pub(crate) fn reject_reply(connection: &Connection, id: i64, reason: &str) -> Result<()> {
    connection
        .prepare_cached("UPDATE llm_call SET rejected = ?2 WHERE id = ?1")?
        .execute(params![id, reason])?;
    Ok(())
}

/// Counts how often a stored reply served.
pub(crate) fn add_hits(connection: &Connection, id: i64, hits: u64) -> Result<()> {
    connection
        .prepare_cached("UPDATE llm_call SET hits = hits + ?2 WHERE id = ?1")?
        .execute(params![id, hits as i64])?;
    Ok(())
}

/// Who claims a key, and until when unless that is renewed.
pub(crate) fn claim_on(
    connection: &Connection,
    namespace: i64,
    key: &[u8],
) -> Result<Option<(String, Timestamp)>> {
    Ok(connection
        .prepare_cached("SELECT owner, expires_at FROM job WHERE namespace = ?1 AND key = ?2")?
        .query_row(params![namespace, key], |row| {
            Ok((row.get(0)?, Timestamp(row.get(1)?)))
        })
        .optional()?)
}

/// Claims a key until `expires_at`, whoever held it.
pub(crate) fn claim_job(
    connection: &Connection,
    namespace: i64,
    key: &[u8],
    owner: &str,
    expires_at: Timestamp,
) -> Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO job (namespace, key, owner, expires_at) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![namespace, key, owner, expires_at.0])?;
    Ok(())
}

/// Gives up all that an owner claims who is gone.
pub(crate) fn release_owner(connection: &Connection, owner: &str) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM job WHERE owner = ?1")?
        .execute([owner])?;
    Ok(())
}

/// Gives a claim up.
pub(crate) fn release_job(connection: &Connection, namespace: i64, key: &[u8]) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM job WHERE namespace = ?1 AND key = ?2")?
        .execute(params![namespace, key])?;
    Ok(())
}

/// Keeps the claims of an owner alive.
pub(crate) fn renew_jobs(
    connection: &Connection,
    owner: &str,
    expires_at: Timestamp,
) -> Result<usize> {
    Ok(connection
        .prepare_cached("UPDATE job SET expires_at = ?2 WHERE owner = ?1")?
        .execute(params![owner, expires_at.0])?)
}

/// The bill, split by `by`; largest lines first.
pub(crate) fn usage(
    connection: &Connection,
    namespace: i64,
    by: UsageKey,
) -> Result<Vec<UsageLine>> {
    let name = match by {
        UsageKey::Step => "step",
        UsageKey::Model => "answered_by",
        UsageKey::Document => "coalesce(document, '')",
        UsageKey::Day => "strftime('%Y-%m-%d', created_at / 1000, 'unixepoch')",
    };
    let mut statement = connection.prepare(&format!(
        "SELECT {name}, count(*), sum(error IS NOT NULL), sum(rejected IS NOT NULL), sum(hits), sum(retries),
             sum(waited_ms), sum(input_tokens), sum(output_tokens), total(cost),
             sum(cost IS NULL AND error IS NULL)
         FROM llm_call WHERE namespace = ?1 GROUP BY 1
         ORDER BY sum(input_tokens) + sum(output_tokens) DESC, 1"
    ))?;
    let rows = statement.query_map([namespace], |row| {
        let number = |column| row.get::<_, i64>(column).map(|number| number as u64);
        Ok(UsageLine {
            name: row.get(0)?,
            calls: number(1)?,
            failed: number(2)?,
            rejected: number(3)?,
            cache_hits: number(4)?,
            retries: number(5)?,
            waited_ms: number(6)?,
            input_tokens: number(7)?,
            output_tokens: number(8)?,
            cost: row.get(9)?,
            unpriced: number(10)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Seconds that a call of a model in a step took so far, on average.
pub(crate) fn seconds_per_call(
    connection: &Connection,
    namespace: i64,
    step: &str,
    model: &str,
) -> Result<Option<f64>> {
    Ok(connection
        .prepare_cached(
            "SELECT avg(took_ms) / 1000.0 FROM llm_call
             WHERE namespace = ?1 AND step = ?2 AND model = ?3 AND error IS NULL AND rejected IS NULL",
        )?
        .query_row(params![namespace, step, model], |row| row.get(0))?)
}
