//! What is shown of the store: counts, open links, evidence.

use rusqlite::{Connection, OptionalExtension, params};

use super::citation::LINE_OF_EVIDENCE;
use crate::Result;
use crate::types::{
    DocumentId, EntityId, EvidenceView, LinkStatus, OpenLink, RelationId, RelationTypeId, Stats,
};

/// Counts of what is current in a namespace.
pub(crate) fn stats(connection: &Connection, namespace: i64) -> Result<Stats> {
    let count = |sql: &str| -> Result<u64> {
        let count: i64 = connection.query_row(sql, [namespace], |row| row.get(0))?;
        Ok(count as u64)
    };
    let links = |status: &str| {
        count(&format!(
            "SELECT count(*) FROM link l JOIN document d ON d.id = l.document
             WHERE d.namespace = ?1 AND d.retracted_at IS NULL AND l.status = '{status}'"
        ))
    };
    let issues = |severity: &str| {
        count(&format!(
            "SELECT count(*) FROM issue i JOIN source s ON s.id = i.source
             WHERE s.namespace = ?1 AND i.severity = '{severity}'"
        ))
    };
    Ok(Stats {
        documents: count("SELECT count(*) FROM document WHERE namespace = ?1 AND retracted_at IS NULL")?,
        chunks: super::count_chunks(connection, namespace)? as u64,
        entities: count("SELECT count(*) FROM entity WHERE namespace = ?1 AND retracted_at IS NULL")?,
        aliases: count("SELECT count(*) FROM alias WHERE namespace = ?1")?,
        mentions: count(
            "SELECT count(*) FROM mention m JOIN chunk c ON c.id = m.chunk JOIN document d ON d.id = c.document
             WHERE d.namespace = ?1",
        )?,
        relations: count("SELECT count(*) FROM relation WHERE namespace = ?1 AND retracted_at IS NULL")?,
        claims: count("SELECT count(*) FROM claim WHERE namespace = ?1 AND retracted_at IS NULL")?,
        links_resolved: links("resolved")?,
        links_unresolved: links("unresolved")?,
        links_ambiguous: links("ambiguous")?,
        issues_skipped: issues("skipped")?,
        issues_failed: issues("failed")?,
        issues_warning: issues("warning")?,
        history: count(
            "SELECT (SELECT count(*) FROM document WHERE namespace = ?1 AND retracted_at IS NOT NULL)
                  + (SELECT count(*) FROM relation WHERE namespace = ?1 AND retracted_at IS NOT NULL)
                  + (SELECT count(*) FROM claim WHERE namespace = ?1 AND retracted_at IS NOT NULL)
                  + (SELECT count(*) FROM chunk c JOIN document d ON d.id = c.document
                     WHERE d.namespace = ?1 AND c.retracted_at IS NOT NULL)",
        )?,
        store_bytes: 0,
        generation: 0,
    })
}

/// Links that point to no note, or to several, by uri and line.
pub(crate) fn open_links(connection: &Connection, namespace: i64) -> Result<Vec<OpenLink>> {
    let mut statement = connection.prepare_cached(
        "SELECT d.uri, l.line, l.target, l.status, l.candidates FROM link l JOIN document d ON d.id = l.document
         WHERE d.namespace = ?1 AND d.retracted_at IS NULL AND l.status IN ('unresolved', 'ambiguous')
         ORDER BY d.uri, l.start, l.id",
    )?;
    let rows = statement.query_map([namespace], |row| {
        let status: String = row.get(3)?;
        let candidates: Option<String> = row.get(4)?;
        Ok(OpenLink {
            uri: row.get(0)?,
            line: row.get::<_, i64>(1)? as usize,
            target: row.get(2)?,
            status: LinkStatus::parse(&status).unwrap_or(LinkStatus::Unresolved),
            candidates: candidates
                .and_then(|json| serde_json::from_str(&json).ok())
                .unwrap_or_default(),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The types of an entity, sorted.
pub(crate) fn types_of_entity(connection: &Connection, entity: EntityId) -> Result<Vec<String>> {
    let mut statement = connection
        .prepare_cached("SELECT DISTINCT type FROM entity_type WHERE entity = ?1 ORDER BY type")?;
    let rows = statement.query_map([entity.0], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The relation types whose name equals `name` without regard to case.
pub(crate) fn relation_types_of(
    connection: &Connection,
    namespace: i64,
    name: &str,
) -> Result<Vec<RelationTypeId>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM relation_type WHERE namespace = ?1 AND key = ?2 ORDER BY id",
    )?;
    let rows = statement.query_map(params![namespace, relation_key(name)], |row| {
        Ok(RelationTypeId(row.get(0)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Relation types are compared without case and with single blanks.
pub(crate) fn relation_key(name: &str) -> String {
    name.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

/// A relation type as it was first written.
pub(crate) fn relation_type_name(connection: &Connection, id: RelationTypeId) -> Result<String> {
    Ok(connection
        .prepare_cached("SELECT name FROM relation_type WHERE id = ?1")?
        .query_row([id.0], |row| row.get(0))?)
}

/// A link to a place inside the document it resolved to, as written after `#`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub document: DocumentId,
    pub written: String,
}

/// Where a relation is stated: up to `limit` passages by uri, with the anchor of the link that states it.
pub(crate) fn evidence_of_relation(
    connection: &Connection,
    relation: RelationId,
    limit: usize,
) -> Result<Vec<(EvidenceView, Option<Anchor>)>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT d.uri, e.quote, {LINE_OF_EVIDENCE},
             a.resolved, a.anchor
         FROM evidence e JOIN document d ON d.id = e.document JOIN relation r ON r.id = e.relation
         LEFT JOIN link a ON a.id =
             (SELECT l.id FROM link l JOIN document t ON t.id = l.resolved
              WHERE l.document = e.document AND l.quote_start = e.start AND l.anchor IS NOT NULL
                  AND t.entity = r.target ORDER BY l.start LIMIT 1)
         WHERE e.relation = ?1 ORDER BY d.uri, e.start LIMIT ?2",
    ))?;
    let rows = statement.query_map(params![relation.0, limit as i64], |row| {
        let evidence = EvidenceView {
            uri: row.get(0)?,
            quote: row.get(1)?,
            line: row.get::<_, i64>(2)? as usize,
            heading: None,
        };
        let document: Option<i64> = row.get(3)?;
        let written: Option<String> = row.get(4)?;
        let anchor = document.zip(written).map(|(document, written)| Anchor {
            document: DocumentId(document),
            written,
        });
        Ok((evidence, anchor))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Title of the coarsest community that an entity belongs to.
pub(crate) fn community_of(connection: &Connection, entity: EntityId) -> Result<Option<String>> {
    let title: Option<Option<String>> = connection
        .prepare_cached(
            "SELECT c.title FROM membership m JOIN community c ON c.id = m.community
             WHERE m.entity = ?1 ORDER BY c.level LIMIT 1",
        )?
        .query_row([entity.0], |row| row.get(0))
        .optional()?;
    Ok(title.flatten())
}
