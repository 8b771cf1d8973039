//! Facts that are stated directly, by a file or by a person or agent, with the lines that say so.

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};

use super::{NamespaceId, Origin};
use crate::types::{DocumentId, EntityId, PublicId, RelationId, RelationTypeId, Timestamp};
use crate::{Error, Result};

/// An end of a stated period: the instant, and the date as written.
pub(crate) type StatedEnd<'a> = Option<(Timestamp, &'a str)>;

/// A fact with its end points found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fact<'a> {
    pub(crate) source: EntityId,
    pub(crate) target: EntityId,
    pub(crate) kind: RelationTypeId,
    pub(crate) from: StatedEnd<'a>,
    pub(crate) to: StatedEnd<'a>,
    /// The fact as a sentence.
    pub(crate) sentence: Option<&'a str>,
    /// The subject has this relation to one thing at a time.
    pub(crate) exclusive: bool,
    /// When its source was last seen to be fresh.
    pub(crate) observed_at: Option<Timestamp>,
    pub(crate) origin: Origin,
}

/// A file, or one of the sources it names, as the document that its facts are quoted from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FactDocument<'a> {
    pub(crate) uri: &'a str,
    pub(crate) title: &'a str,
    pub(crate) content_hash: &'a [u8],
}

/// A line that states a fact, as bytes of its file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FactLine<'a> {
    pub(crate) document: DocumentId,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// From 1; of a text that the store keeps it can be counted.
    pub(crate) line: Option<usize>,
    pub(crate) quote: &'a str,
}

/// The relation that states the fact for the same period, made if it is not there. True when it is new:
/// it then weighs what its first line will.
pub(crate) fn ensure_fact(
    connection: &Connection,
    namespace: NamespaceId,
    fact: &Fact<'_>,
    now: Timestamp,
) -> Result<(RelationId, bool)> {
    let (source, target, kind) = (fact.source.0, fact.target.0, fact.kind.0);
    let (from, to) = (fact.from.map(|end| end.0.0), fact.to.map(|end| end.0.0));
    let known = connection
        .prepare_cached(
            "SELECT id FROM relation WHERE source = ?1 AND target = ?2 AND type = ?3
                 AND origin = ?6 AND retracted_at IS NULL AND valid_from IS ?4
                 AND iif(superseded_by IS NULL, valid_to, stated_to) IS ?5
             ORDER BY version LIMIT 1",
        )?
        .query_row(
            params![source, target, kind, from, to, fact.origin.as_str()],
            |row| row.get(0).map(RelationId),
        )
        .optional()?;
    if let Some(id) = known {
        connection
            .prepare_cached(
                "UPDATE relation SET fact = coalesce(fact, ?2), exclusive = max(exclusive, ?3),
                     observed_at = max(coalesce(observed_at, ?4), coalesce(?4, observed_at)) WHERE id = ?1",
            )?
            .execute(params![
                id.0,
                fact.sentence,
                fact.exclusive,
                fact.observed_at.map(|at| at.0)
            ])?;
        return Ok((id, false));
    }
    let id: i64 = connection
        .prepare_cached("SELECT coalesce(max(id), 0) + 1 FROM relation")?
        .query_row([], |row| row.get(0))?;
    connection
        .prepare_cached(
            "INSERT INTO relation (source, target, type, version, id, namespace, fact, weight, valid_from,
                 valid_from_written, valid_to, valid_to_written, recorded_at, origin, exclusive, observed_at)
             VALUES (?1, ?2, ?3,
                 (SELECT coalesce(max(version), 0) + 1 FROM relation
                  WHERE source = ?1 AND target = ?2 AND type = ?3),
                 ?4, ?5, ?6, 1, ?7, nullif(?8, ''), ?9, ?10, ?11, ?12, ?13, ?14)",
        )?
        .execute(params![
            source,
            target,
            kind,
            id,
            namespace.0,
            fact.sentence,
            from,
            fact.from.map(|end| end.1),
            to,
            fact.to.map(|end| end.1),
            now.0,
            fact.origin.as_str(),
            fact.exclusive,
            fact.observed_at.map(|at| at.0),
        ])?;
    Ok((RelationId(id), true))
}

/// Whether a line of the document states the fact already.
pub(crate) fn states_fact(
    connection: &Connection,
    relation: RelationId,
    document: DocumentId,
) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM evidence WHERE relation = ?1 AND document = ?2 AND retracted_at IS NULL",
        )?
        .exists(params![relation.0, document.0])?)
}

/// Records that a line states the fact.
pub(crate) fn add_fact_line(
    connection: &Connection,
    relation: RelationId,
    line: &FactLine<'_>,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO evidence (relation, document, start, end, quote, line) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (relation, document, start)
             DO UPDATE SET end = excluded.end, quote = excluded.quote, line = excluded.line,
                 retracted_at = NULL",
        )?
        .execute(params![
            relation.0,
            line.document.0,
            line.start as i64,
            line.end as i64,
            line.quote,
            line.line.map(|line| line as i64)
        ])?;
    Ok(())
}

/// The content hash of the file of facts that was loaded as `uri`. [`Error::Usage`] when a document of
/// an indexed source bears that uri.
pub(crate) fn loaded_facts(
    connection: &Connection,
    namespace: NamespaceId,
    uri: &str,
) -> Result<Option<Vec<u8>>> {
    let known: Option<(Vec<u8>, bool)> = connection
        .prepare_cached(
            "SELECT content_hash, source IS NOT NULL FROM document
             WHERE namespace = ?1 AND uri = ?2 AND retracted_at IS NULL",
        )?
        .query_row(params![namespace.0, uri], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    match known {
        Some((_, true)) => Err(Error::Usage(format!(
            "an indexed document is called {uri:?}; load the facts under another name"
        ))),
        known => Ok(known.map(|(hash, _)| hash)),
    }
}

/// Takes back all that the document at `uri`, and those of its fragments (`uri#…`), state, before they
/// are read anew. Returns the relations that lost a line.
pub(crate) fn withdraw_facts(
    connection: &Connection,
    namespace: NamespaceId,
    uri: &str,
    now: Timestamp,
) -> Result<Vec<RelationId>> {
    let fragments = format!("{uri}#");
    let mut documents = connection.prepare_cached(
        "SELECT id, uri FROM document WHERE namespace = ?1 AND retracted_at IS NULL
             AND source IS NULL AND (uri = ?2 OR substr(uri, 1, length(?3)) = ?3)",
    )?;
    let documents: Vec<(i64, String)> = documents
        .query_map(params![namespace.0, uri, fragments], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<Result<_, _>>()?;
    let mut touched = Vec::new();
    for (document, uri) in documents {
        let mut statement = connection.prepare_cached(
            "UPDATE evidence SET retracted_at = ?2 WHERE document = ?1 AND retracted_at IS NULL
             RETURNING relation",
        )?;
        let rows =
            statement.query_map(params![document, now.0], |row| row.get(0).map(RelationId))?;
        touched.extend(rows.collect::<Result<Vec<_>, _>>()?);
        connection
            .prepare_cached("UPDATE document SET retracted_at = ?2 WHERE id = ?1")?
            .execute(params![document, now.0])?;
        forget_types_of(connection, namespace.0, &uri)?;
    }
    touched.sort_unstable();
    touched.dedup();
    Ok(touched)
}

/// The document at this uri, which is brought back when it was there before.
pub(crate) fn ensure_fact_document(
    connection: &Connection,
    namespace: (NamespaceId, &str),
    entity: EntityId,
    document: &FactDocument<'_>,
    now: Timestamp,
) -> Result<DocumentId> {
    let known = connection
        .prepare_cached(
            "UPDATE document SET content_hash = ?3, retracted_at = NULL
             WHERE id = (SELECT max(id) FROM document
                 WHERE namespace = ?1 AND uri = ?2 AND source IS NULL)
             RETURNING id",
        )?
        .query_row(
            params![namespace.0.0, document.uri, document.content_hash],
            |row| row.get(0).map(DocumentId),
        )
        .optional()?;
    if let Some(id) = known {
        return Ok(id);
    }
    let public_id = PublicId::new(namespace.1, "document", document.uri);
    connection
        .prepare_cached(
            "INSERT INTO document (namespace, public_id, uri, entity, title, kind, language, content_hash,
                 recorded_at) VALUES (?1, ?2, ?3, ?4, ?5, 'row', 'other', ?6, ?7)",
        )?
        .execute(params![
            namespace.0.0,
            public_id.0,
            document.uri,
            entity.0,
            document.title,
            document.content_hash,
            now.0,
        ])?;
    Ok(DocumentId(connection.last_insert_rowid()))
}

/// Closes the entities of documents of the file that it no longer has.
pub(crate) fn retire_withdrawn_documents(
    connection: &Connection,
    namespace: NamespaceId,
    uri: &str,
    now: Timestamp,
) -> Result<()> {
    let fragments = format!("{uri}#");
    connection
        .prepare_cached(
            "UPDATE entity SET retracted_at = ?4 WHERE retracted_at IS NULL AND id IN (
                 SELECT d.entity FROM document d WHERE d.namespace = ?1
                     AND d.source IS NULL AND (d.uri = ?2 OR substr(d.uri, 1, length(?3)) = ?3))
             AND NOT EXISTS (SELECT 1 FROM document d
                 WHERE d.entity = entity.id AND d.retracted_at IS NULL)",
        )?
        .execute(params![namespace.0, uri, fragments, now.0])?;
    Ok(())
}

/// Brings a relation in line with its lines: its weight is their number, and without any it is
/// retracted. Its end points then, when nothing else holds them, are too. True when it was retracted.
pub(crate) fn settle_fact(
    connection: &Connection,
    relation: RelationId,
    now: Timestamp,
) -> Result<bool> {
    let (lines, source, target): (i64, i64, i64) = connection
        .prepare_cached(
            "SELECT (SELECT count(*) FROM evidence v WHERE v.relation = r.id AND v.retracted_at IS NULL),
                    r.source, r.target
             FROM relation r WHERE r.id = ?1",
        )?
        .query_row([relation.0], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
    if lines > 0 {
        connection
            .prepare_cached("UPDATE relation SET weight = ?2 WHERE id = ?1 AND weight <> ?2")?
            .execute(params![relation.0, lines as f64])?;
        return Ok(false);
    }
    connection
        .prepare_cached(
            "UPDATE relation SET retracted_at = ?2 WHERE id = ?1 AND retracted_at IS NULL",
        )?
        .execute(params![relation.0, now.0])?;
    retire_unheld(connection, [source, target], now)?;
    Ok(true)
}

/// Closes the end points of a relation that no other relation or document holds.
pub(crate) fn retire_unheld_ends(
    connection: &Connection,
    relation: RelationId,
    now: Timestamp,
) -> Result<()> {
    let ends = ends_of(connection, relation)?;
    retire_unheld(connection, ends.map(|entity| entity.0), now)
}

/// Closes the entities of a claim that nothing else holds.
pub(crate) fn retire_unheld_of_claim(
    connection: &Connection,
    subject: EntityId,
    object: Option<EntityId>,
    now: Timestamp,
) -> Result<()> {
    let ends = std::iter::once(subject).chain(object);
    retire_unheld(connection, ends.map(|entity| entity.0), now)
}

/// Source and target of a relation version.
pub(crate) fn ends_of(connection: &Connection, relation: RelationId) -> Result<[EntityId; 2]> {
    Ok(connection
        .prepare_cached("SELECT source, target FROM relation WHERE id = ?1")?
        .query_row([relation.0], |row| {
            Ok([EntityId(row.get(0)?), EntityId(row.get(1)?)])
        })?)
}

/// A fact by its names, with the dates that its source states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedFact {
    pub(crate) source: String,
    pub(crate) relation: String,
    pub(crate) target: String,
    pub(crate) from: Option<Timestamp>,
    pub(crate) to: Option<Timestamp>,
}

/// A relation version by its names.
pub(crate) fn named_fact(connection: &Connection, relation: RelationId) -> Result<NamedFact> {
    Ok(connection
        .prepare_cached(
            "SELECT a.name, t.name, b.name, iif(r.valid_from_written IS NULL, NULL, r.valid_from),
                    iif(r.superseded_by IS NULL, r.valid_to, r.stated_to)
             FROM relation r JOIN entity a ON a.id = r.source JOIN entity b ON b.id = r.target
             JOIN relation_type t ON t.id = r.type WHERE r.id = ?1",
        )?
        .query_row([relation.0], |row| {
            let time = |column| {
                Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(Timestamp))
            };
            Ok(NamedFact {
                source: row.get(0)?,
                relation: row.get(1)?,
                target: row.get(2)?,
                from: time(3)?,
                to: time(4)?,
            })
        })?)
}

/// The dates of a relation version as written.
pub(crate) fn written_dates(
    connection: &Connection,
    relation: RelationId,
) -> Result<(Option<String>, Option<String>)> {
    Ok(connection
        .prepare_cached(
            "SELECT valid_from_written, iif(superseded_by IS NULL, valid_to_written, stated_to_written)
             FROM relation WHERE id = ?1",
        )?
        .query_row([relation.0], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// Whether a note links the two this way.
pub(crate) fn has_link(
    connection: &Connection,
    source: EntityId,
    kind: RelationTypeId,
    target: EntityId,
) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM relation WHERE source = ?1 AND target = ?3 AND type = ?2 AND origin = 'link'
                 AND retracted_at IS NULL",
        )?
        .exists([source.0, kind.0, target.0])?)
}

/// Drops the types that a document of the namespace gave: another one may have documents of the same uris.
pub(crate) fn forget_types_of(connection: &Connection, namespace: i64, uri: &str) -> Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM entity_type WHERE evidence = ?2
                 AND entity IN (SELECT id FROM entity WHERE namespace = ?1)",
        )?
        .execute(params![namespace, uri])?;
    Ok(())
}

/// The documents that ever had this uri, current or not.
pub(crate) fn documents_ever(
    connection: &Connection,
    namespace: i64,
    uri: &str,
) -> Result<Vec<DocumentId>> {
    let mut statement = connection
        .prepare_cached("SELECT id FROM document WHERE namespace = ?1 AND uri = ?2 ORDER BY id")?;
    let rows = statement.query_map(params![namespace, uri], |row| row.get(0).map(DocumentId))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Closes those of these entities that nothing holds.
fn retire_unheld(
    connection: &Connection,
    ends: impl IntoIterator<Item = i64>,
    now: Timestamp,
) -> Result<()> {
    for entity in ends {
        let held = connection
            .prepare_cached(
                "SELECT 1 FROM relation WHERE source = ?1 AND retracted_at IS NULL
                 UNION ALL SELECT 1 FROM relation WHERE target = ?1 AND retracted_at IS NULL
                 UNION ALL SELECT 1 FROM document WHERE entity = ?1 AND retracted_at IS NULL
                 UNION ALL SELECT 1 FROM episode e JOIN document d ON d.id = e.document
                     AND d.retracted_at IS NULL WHERE e.speaker = ?1
                 UNION ALL SELECT 1 FROM claim WHERE subject = ?1 AND retracted_at IS NULL
                 UNION ALL SELECT 1 FROM claim WHERE object = ?1 AND retracted_at IS NULL
                 UNION ALL SELECT 1 FROM entity_type WHERE entity = ?1
                 UNION ALL SELECT 1 FROM entity WHERE id = ?1 AND (description IS NOT NULL OR kind <> 'concept')",
            )?
            .exists([entity])?;
        if !held {
            super::retire_entity(connection, EntityId(entity), now)?;
        }
    }
    Ok(())
}

/// The spellings of an entity's name that were seen besides the one that is shown.
pub(crate) fn spellings(connection: &Connection, entity: EntityId) -> Result<Vec<String>> {
    let properties: Option<String> = connection
        .prepare_cached("SELECT properties FROM entity WHERE id = ?1")?
        .query_row([entity.0], |row| row.get(0))?;
    let properties: Value = properties
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    Ok(properties["spellings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|spelling| spelling.as_str().map(str::to_owned))
        .collect())
}

/// Keeps the spellings of an entity's name besides the one that is shown.
pub(crate) fn save_spellings(
    connection: &Connection,
    entity: EntityId,
    spellings: &[String],
) -> Result<()> {
    let list = (!spellings.is_empty()).then(|| json!(spellings).to_string());
    connection
        .prepare_cached(
            "UPDATE entity SET properties = iif(?2 IS NULL,
                 nullif(json_remove(properties, '$.spellings'), '{}'),
                 json_set(coalesce(properties, '{}'), '$.spellings', json(?2))) WHERE id = ?1",
        )?
        .execute(params![entity.0, list])?;
    Ok(())
}

/// Records that `evidence` gives the entity this type.
pub(crate) fn add_type(
    connection: &Connection,
    entity: EntityId,
    name: &str,
    evidence: &str,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO entity_type (entity, type, evidence) VALUES (?1, ?2, ?3)
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![entity.0, name, evidence])?;
    Ok(())
}
