//! Links as written, and what became of them.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::Result;
use crate::types::{DocumentId, LinkDraft, LinkKind, LinkStatus, ResolutionRule};

/// A stored link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LinkRow {
    pub id: i64,
    pub document: DocumentId,
    pub start: usize,
    pub end: usize,
    pub line: usize,
    pub quote_start: usize,
    pub quote: String,
    pub kind: LinkKind,
    pub target: String,
    pub form: String,
    pub relation: Option<String>,
    pub outcome: LinkOutcome,
}

/// The line a link stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinkPlace<'a> {
    pub line: usize,
    /// Byte of the document's text where `quote` starts.
    pub quote_start: usize,
    pub quote: &'a str,
}

/// What became of a link, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LinkOutcome {
    pub status: LinkStatus,
    pub rule: Option<ResolutionRule>,
    pub resolved: Option<DocumentId>,
    /// Uris when ambiguous, the path when an attachment.
    pub candidates: Vec<String>,
}

impl LinkOutcome {
    /// A link that was not looked up yet.
    pub(crate) const fn open() -> Self {
        Self {
            status: LinkStatus::Unresolved,
            rule: None,
            resolved: None,
            candidates: Vec::new(),
        }
    }
}

const COLUMNS: &str =
    "l.id, l.document, l.start, l.end, l.line, l.kind, l.target, l.form, l.relation, l.status,
    l.rule, l.resolved, l.candidates, l.quote_start, l.quote";

fn read_row(row: &Row<'_>) -> rusqlite::Result<LinkRow> {
    let kind: String = row.get(5)?;
    let status: String = row.get(9)?;
    let rule: Option<String> = row.get(10)?;
    let candidates: Option<String> = row.get(12)?;
    Ok(LinkRow {
        id: row.get(0)?,
        document: DocumentId(row.get(1)?),
        start: row.get::<_, i64>(2)? as usize,
        end: row.get::<_, i64>(3)? as usize,
        line: row.get::<_, i64>(4)? as usize,
        quote_start: row.get::<_, i64>(13)? as usize,
        quote: row.get(14)?,
        kind: LinkKind::parse(&kind).unwrap_or(LinkKind::Wikilink),
        target: row.get(6)?,
        form: row.get(7)?,
        relation: row.get(8)?,
        outcome: LinkOutcome {
            status: LinkStatus::parse(&status).unwrap_or(LinkStatus::Unresolved),
            rule: rule.as_deref().and_then(ResolutionRule::parse),
            resolved: row.get::<_, Option<i64>>(11)?.map(DocumentId),
            candidates: candidates
                .and_then(|json| serde_json::from_str(&json).ok())
                .unwrap_or_default(),
        },
    })
}

/// Adds a link of a document, not resolved yet.
pub(crate) fn insert_link(
    connection: &Connection,
    document: DocumentId,
    place: &LinkPlace<'_>,
    (key, form): (&str, &str),
    draft: &LinkDraft,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO link (document, start, end, line, kind, target, key, anchor, label, relation, quote_start, quote,
                 form, status)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 'unresolved')",
        )?
        .execute(params![
            document.0,
            draft.start as i64,
            draft.end as i64,
            place.line as i64,
            draft.kind.as_str(),
            draft.target,
            key,
            draft.anchor,
            draft.label,
            draft.relation,
            place.quote_start as i64,
            place.quote,
            form,
        ])?;
    Ok(())
}

/// Drops the links of a document.
pub(crate) fn delete_links(connection: &Connection, document: DocumentId) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM link WHERE document = ?1")?
        .execute([document.0])?;
    Ok(())
}

/// Stores what became of a link.
pub(crate) fn save_outcome(connection: &Connection, id: i64, outcome: &LinkOutcome) -> Result<()> {
    let candidates = (!outcome.candidates.is_empty())
        .then(|| serde_json::Value::from(outcome.candidates.clone()).to_string());
    connection
        .prepare_cached(
            "UPDATE link SET status = ?2, rule = ?3, resolved = ?4, candidates = ?5 WHERE id = ?1",
        )?
        .execute(params![
            id,
            outcome.status.as_str(),
            outcome.rule.map(ResolutionRule::as_str),
            outcome.resolved.map(|document| document.0),
            candidates,
        ])?;
    Ok(())
}

/// The links of a document, in order.
pub(crate) fn links_of_document(
    connection: &Connection,
    document: DocumentId,
) -> Result<Vec<LinkRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM link l WHERE l.document = ?1 ORDER BY l.start, l.id"
    ))?;
    let rows = statement.query_map([document.0], read_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The links of current documents whose target's last segment folds to this key.
pub(crate) fn links_of_key(
    connection: &Connection,
    namespace: i64,
    key: &str,
) -> Result<Vec<LinkRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM link l JOIN document d ON d.id = l.document
         WHERE l.key = ?2 AND d.namespace = ?1 AND d.retracted_at IS NULL ORDER BY l.id"
    ))?;
    let rows = statement.query_map(params![namespace, key], read_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The links that resolved to a document, which may be gone.
pub(crate) fn links_to_document(
    connection: &Connection,
    document: DocumentId,
) -> Result<Vec<LinkRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM link l JOIN document d ON d.id = l.document
         WHERE l.resolved = ?1 AND d.retracted_at IS NULL ORDER BY l.id"
    ))?;
    let rows = statement.query_map([document.0], read_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Every link of the current documents, by row id.
pub(crate) fn current_links(connection: &Connection, namespace: i64) -> Result<Vec<LinkRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM link l JOIN document d ON d.id = l.document
         WHERE d.namespace = ?1 AND d.retracted_at IS NULL ORDER BY l.id"
    ))?;
    let rows = statement.query_map([namespace], read_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The most frequent target of open links with this form (ties: the smaller one); `None` when no link is open.
pub(crate) fn open_target(
    connection: &Connection,
    namespace: i64,
    form: &str,
) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached(
            "SELECT l.target FROM link l JOIN document d ON d.id = l.document
             WHERE l.form = ?2 AND l.status IN ('unresolved', 'ambiguous') AND d.namespace = ?1
                 AND d.retracted_at IS NULL
             GROUP BY l.target ORDER BY count(*) DESC, l.target LIMIT 1",
        )?
        .query_row(params![namespace, form], |row| row.get(0))
        .optional()?)
}

/// The most frequent target of the open links of every form (ties: the smaller one), by form.
pub(crate) fn open_targets(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<(String, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT l.form, l.target FROM link l JOIN document d ON d.id = l.document
         WHERE l.status IN ('unresolved', 'ambiguous') AND d.namespace = ?1 AND d.retracted_at IS NULL
         GROUP BY l.form, l.target ORDER BY l.form, count(*) DESC, l.target",
    )?;
    let rows = statement.query_map([namespace], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut targets: Vec<(String, String)> = rows.collect::<rusqlite::Result<_>>()?;
    targets.dedup_by(|next, first| next.0 == first.0);
    Ok(targets)
}
