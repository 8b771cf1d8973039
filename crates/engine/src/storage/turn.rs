//! Transcripts, their turns, and what is searched of them.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::json;

use super::NamespaceId;
use crate::Result;
use crate::text::{Language, QueryTerm, index_terms, name_key};
use crate::types::{Decision, LedgerStats, PublicId, Timestamp, Turn, TurnView};

/// How far a transcript was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TranscriptRow {
    pub(crate) resume_at: u64,
    pub(crate) fingerprint: String,
    pub(crate) session: String,
    pub(crate) folder: String,
}

/// The transcript of this path, made if it is not there.
pub(crate) fn transcript(
    connection: &Connection,
    namespace: NamespaceId,
    path: &str,
) -> Result<(i64, TranscriptRow)> {
    connection
        .prepare_cached(
            "INSERT INTO transcript (namespace, path) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        )?
        .execute(params![namespace.0, path])?;
    Ok(connection
        .prepare_cached(
            "SELECT id, resume_at, fingerprint, session, folder FROM transcript
             WHERE namespace = ?1 AND path = ?2",
        )?
        .query_row(params![namespace.0, path], |row| {
            let state = TranscriptRow {
                resume_at: row.get::<_, i64>(1)? as u64,
                fingerprint: row.get(2)?,
                session: row.get(3)?,
                folder: row.get(4)?,
            };
            Ok((row.get(0)?, state))
        })?)
}

pub(crate) fn save_transcript(
    connection: &Connection,
    transcript: i64,
    state: &TranscriptRow,
) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE transcript SET resume_at = ?2, fingerprint = ?3, session = ?4, folder = ?5
             WHERE id = ?1",
        )?
        .execute(params![
            transcript,
            state.resume_at as i64,
            state.fingerprint,
            state.session,
            state.folder,
        ])?;
    Ok(())
}

/// The file holds other bytes than before: its turns stay, but nobody knows where they stand.
pub(crate) fn forget_places(connection: &Connection, transcript: i64) -> Result<()> {
    connection
        .prepare_cached("UPDATE turn SET start = NULL, \"end\" = NULL WHERE transcript = ?1")?
        .execute([transcript])?;
    Ok(())
}

/// Stores a turn, or what has become of it; true when it is new.
pub(crate) fn save_turn(
    connection: &Connection,
    namespace: NamespaceId,
    transcript: i64,
    turn: &Turn,
) -> Result<bool> {
    // Without a time, two equal questions of a session are told apart by their place.
    let when = turn
        .asked_at
        .map_or_else(|| format!("@{}", turn.start), |at| at.0.to_string());
    let key = PublicId::new(&turn.session, &when, &turn.question).0;
    let known: Option<i64> = connection
        .prepare_cached("SELECT id FROM turn WHERE namespace = ?1 AND key = ?2")?
        .query_row(params![namespace.0, key], |row| row.get(0))
        .optional()?;
    let id: i64 = connection
        .prepare_cached(
            "INSERT INTO turn (namespace, key, transcript, start, \"end\", session, asked_at,
                 answered_at, question, answer, tools, commands)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
             ON CONFLICT (namespace, key) DO UPDATE SET transcript = excluded.transcript,
                 start = excluded.start, \"end\" = excluded.\"end\",
                 answered_at = excluded.answered_at, answer = excluded.answer,
                 tools = excluded.tools, commands = excluded.commands
             RETURNING id",
        )?
        .query_row(
            params![
                namespace.0,
                key,
                transcript,
                turn.start as i64,
                turn.end as i64,
                turn.session,
                turn.asked_at.map(|at| at.0),
                turn.answered_at.map(|at| at.0),
                turn.question,
                turn.answer,
                json!(turn.tools).to_string(),
                json!(turn.commands).to_string(),
            ],
            |row| row.get(0),
        )?;
    if known.is_some() {
        for sql in [
            "DELETE FROM turn_file WHERE turn = ?1",
            "DELETE FROM turn_decision WHERE turn = ?1",
            "DELETE FROM turn_fts WHERE rowid = ?1",
        ] {
            connection.prepare_cached(sql)?.execute([id])?;
        }
    }
    let mut terms = String::new();
    let mut index = |text: &str| {
        index_terms(text, Language::Other, &mut terms);
        terms.push(' ');
    };
    index(&turn.question);
    index(&turn.answer);
    for command in &turn.commands {
        index(command);
    }
    for file in &turn.files {
        index(file);
        connection
            .prepare_cached("INSERT OR IGNORE INTO turn_file (turn, path) VALUES (?1, ?2)")?
            .execute(params![id, file])?;
    }
    for (ordinal, decision) in (0_i64..).zip(&turn.decisions) {
        index(&decision.text);
        connection
            .prepare_cached(
                "INSERT INTO turn_decision (turn, ordinal, text, start, \"end\")
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                id,
                ordinal,
                decision.text,
                decision.start as i64,
                decision.end as i64,
            ])?;
    }
    connection
        .prepare_cached("INSERT INTO turn_fts (rowid, body) VALUES (?1, ?2)")?
        .execute(params![id, terms])?;
    Ok(known.is_none())
}

/// Notes why a hook failed.
pub(crate) fn log_failure(
    connection: &Connection,
    namespace: NamespaceId,
    at: Timestamp,
    reason: &str,
) -> Result<()> {
    connection
        .prepare_cached("INSERT INTO ledger_log (namespace, at, reason) VALUES (?1, ?2, ?3)")?
        .execute(params![namespace.0, at.0, reason])?;
    Ok(())
}

/// The latest turns first, of one session if one is given.
pub(crate) fn latest_turns(
    connection: &Connection,
    namespace: NamespaceId,
    session: Option<&str>,
    limit: usize,
) -> Result<Vec<TurnView>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM turn WHERE namespace = ?1 AND (?2 IS NULL OR session = ?2)
         ORDER BY asked_at DESC, id DESC LIMIT ?3",
    )?;
    let ids = statement.query_map(params![namespace.0, session, limit as i64], |row| {
        row.get(0)
    })?;
    let ids: Vec<i64> = ids.collect::<rusqlite::Result<_>>()?;
    let turns = ids.into_iter().map(|id| turn(connection, namespace, id));
    Ok(turns
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .flatten()
        .collect())
}

/// One turn with all that belongs to it.
pub(crate) fn turn(
    connection: &Connection,
    namespace: NamespaceId,
    id: i64,
) -> Result<Option<TurnView>> {
    let found = connection
        .prepare_cached(
            "SELECT t.id, t.session, s.path, t.start, t.\"end\", t.asked_at, t.question, t.answer,
                 t.tools, t.commands
             FROM turn t JOIN transcript s ON s.id = t.transcript
             WHERE t.id = ?2 AND t.namespace = ?1",
        )?
        .query_row(params![namespace.0, id], |row| {
            Ok(TurnView {
                id: row.get(0)?,
                session: row.get(1)?,
                transcript: row.get(2)?,
                start: row.get::<_, Option<i64>>(3)?.map(|at| at as u64),
                end: row.get::<_, Option<i64>>(4)?.map(|at| at as u64),
                asked_at: row.get::<_, Option<i64>>(5)?.and_then(iso),
                question: row.get(6)?,
                answer: row.get(7)?,
                tools: list(row, 8)?,
                commands: list(row, 9)?,
                ..TurnView::default()
            })
        })
        .optional()?;
    let Some(mut view) = found else {
        return Ok(None);
    };
    let mut statement =
        connection.prepare_cached("SELECT path FROM turn_file WHERE turn = ?1 ORDER BY path")?;
    let files = statement.query_map([id], |row| row.get(0))?;
    view.files = files.collect::<rusqlite::Result<_>>()?;
    let mut statement = connection.prepare_cached(
        "SELECT text, start, \"end\" FROM turn_decision WHERE turn = ?1 ORDER BY ordinal",
    )?;
    let decisions = statement.query_map([id], |row| {
        Ok(Decision {
            text: row.get(0)?,
            start: row.get::<_, i64>(1)? as u64,
            end: row.get::<_, i64>(2)? as u64,
        })
    })?;
    view.decisions = decisions.collect::<rusqlite::Result<_>>()?;
    Ok(Some(view))
}

fn list(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    let json: String = row.get(column)?;
    Ok(serde_json::from_str(&json).unwrap_or_default())
}

fn iso(ms: i64) -> Option<String> {
    Some(jiff::Timestamp::from_millisecond(ms).ok()?.to_string())
}

/// Turns whose own words are these, the best first.
pub(crate) fn turns_with_words(
    connection: &Connection,
    namespace: NamespaceId,
    terms: &[QueryTerm],
    limit: usize,
) -> Result<Vec<i64>> {
    let mut words: Vec<&QueryTerm> = terms.iter().filter(|term| !term.stop).collect();
    if words.is_empty() {
        words = terms.iter().collect();
    }
    let query: Vec<String> = words
        .iter()
        .flat_map(|term| &term.alternatives)
        .map(|term| format!("\"{}\"", term.replace('"', "\"\"")))
        .collect();
    if query.is_empty() {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare_cached(
        "SELECT t.id FROM turn_fts f JOIN turn t ON t.id = f.rowid
         WHERE turn_fts MATCH ?2 AND t.namespace = ?1 ORDER BY bm25(turn_fts), t.id DESC LIMIT ?3",
    )?;
    let ids = statement.query_map(
        params![namespace.0, query.join(" OR "), limit as i64],
        |row| row.get(0),
    )?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// Turns that touched a document which speaks of the entity of this name, with the document's uri, the
/// latest first.
pub(crate) fn turns_about(
    connection: &Connection,
    namespace: NamespaceId,
    name: &str,
    limit: usize,
) -> Result<Vec<(i64, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT t.id, d.uri FROM turn_document x JOIN turn t ON t.id = x.turn
         JOIN document d ON d.id = x.document
         WHERE t.namespace = ?1 AND EXISTS (
             SELECT 1 FROM alias a WHERE a.namespace = ?1 AND a.folded = ?2 AND (
                 a.entity = d.entity OR EXISTS (
                     SELECT 1 FROM chunk c JOIN mention m ON m.chunk = c.id AND m.entity = a.entity
                     WHERE c.document = d.id AND c.retracted_at IS NULL)))
         ORDER BY t.asked_at DESC, t.id DESC, d.uri LIMIT ?3",
    )?;
    let rows = statement.query_map(params![namespace.0, name_key(name), limit as i64], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(crate) fn ledger_stats(connection: &Connection, namespace: NamespaceId) -> Result<LedgerStats> {
    let count = |sql: &str| -> Result<u64> {
        let count: i64 = connection.query_row(sql, [namespace.0], |row| row.get(0))?;
        Ok(count as u64)
    };
    let mut statement = connection.prepare(
        "SELECT tool.value, count(*) FROM turn t JOIN json_each(t.tools) tool
         WHERE t.namespace = ?1 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20",
    )?;
    let tools = statement.query_map([namespace.0], |row| {
        Ok((row.get(0)?, row.get::<_, i64>(1)? as u64))
    })?;
    let tools = tools.collect::<rusqlite::Result<_>>()?;
    let mut statement = connection
        .prepare("SELECT reason FROM ledger_log WHERE namespace = ?1 ORDER BY id DESC LIMIT 5")?;
    let last = statement.query_map([namespace.0], |row| row.get(0))?;
    let last_failures = last.collect::<rusqlite::Result<_>>()?;
    Ok(LedgerStats {
        transcripts: count("SELECT count(*) FROM transcript WHERE namespace = ?1")?,
        sessions: count("SELECT count(DISTINCT session) FROM turn WHERE namespace = ?1")?,
        turns: count("SELECT count(*) FROM turn WHERE namespace = ?1")?,
        decisions: count(
            "SELECT count(*) FROM turn_decision x JOIN turn t ON t.id = x.turn WHERE t.namespace = ?1",
        )?,
        files: count(
            "SELECT count(DISTINCT x.path) FROM turn_file x JOIN turn t ON t.id = x.turn
             WHERE t.namespace = ?1",
        )?,
        documents: count(
            "SELECT count(DISTINCT x.document) FROM turn_document x JOIN turn t ON t.id = x.turn
             WHERE t.namespace = ?1",
        )?,
        failures: count("SELECT count(*) FROM ledger_log WHERE namespace = ?1")?,
        last_failures,
        tools,
    })
}
