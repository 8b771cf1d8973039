//! Versions of facts: what is known of a fact never changes in place. A fact whose end becomes known, or is
//! taken back, is retracted and recorded anew with the end it then has.

use rusqlite::{Connection, params};

use crate::Result;
use crate::types::{EntityId, RelationId, RelationTypeId, Timestamp};

/// A current fact of an exclusive relation, with the end that its source states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExclusiveFact {
    pub(crate) id: RelationId,
    pub(crate) target: EntityId,
    pub(crate) from: Option<Timestamp>,
    pub(crate) from_written: Option<String>,
    /// As stated.
    pub(crate) stated_to: Option<Timestamp>,
    /// As it is now, by what ended it.
    pub(crate) to: Option<Timestamp>,
    pub(crate) ended_by: Option<RelationId>,
}

/// Whether the subject has this relation to one thing at a time: some current fact of the type says so.
pub(crate) fn is_exclusive(
    connection: &Connection,
    kind: RelationTypeId,
    source: EntityId,
) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM relation WHERE source = ?2 AND type = ?1 AND exclusive = 1 AND retracted_at IS NULL",
        )?
        .exists([kind.0, source.0])?)
}

/// The current facts of a subject and relation, by row id; hand-made links are no facts.
pub(crate) fn facts_of(
    connection: &Connection,
    source: EntityId,
    kind: RelationTypeId,
) -> Result<Vec<ExclusiveFact>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, target, valid_from, valid_from_written, iif(superseded_by IS NULL, valid_to, stated_to),
                valid_to, superseded_by
         FROM relation WHERE source = ?1 AND type = ?2 AND origin <> 'link' AND retracted_at IS NULL ORDER BY id",
    )?;
    let rows = statement.query_map([source.0, kind.0], |row| {
        let time =
            |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(Timestamp));
        Ok(ExclusiveFact {
            id: RelationId(row.get(0)?),
            target: EntityId(row.get(1)?),
            from: time(2)?,
            from_written: row.get(3)?,
            stated_to: time(4)?,
            to: time(5)?,
            ended_by: row.get::<_, Option<i64>>(6)?.map(RelationId),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// What ends a fact before its source says: when, as written, and which fact.
pub(crate) struct Ending<'a> {
    pub(crate) at: Timestamp,
    pub(crate) written: Option<&'a str>,
    pub(crate) by: RelationId,
}

/// Records the fact anew with this end, or with its stated one, and retracts what was known. Returns the new
/// version; a version that was recorded at this very moment is amended instead.
pub(crate) fn end_fact(
    connection: &Connection,
    id: RelationId,
    ending: Option<&Ending<'_>>,
    now: Timestamp,
) -> Result<RelationId> {
    let recorded_at: i64 = connection
        .prepare_cached("SELECT recorded_at FROM relation WHERE id = ?1")?
        .query_row([id.0], |row| row.get(0))?;
    let id = if recorded_at == now.0 {
        id
    } else {
        record_again(connection, id, now)?
    };
    // The end as stated moves aside while another fact ends this one.
    let sql = match ending {
        Some(_) => {
            "UPDATE relation SET
                 stated_to = iif(superseded_by IS NULL, valid_to, stated_to),
                 stated_to_written = iif(superseded_by IS NULL, valid_to_written, stated_to_written),
                 valid_to = ?2, valid_to_written = ?3, superseded_by = ?4 WHERE id = ?1"
        }
        None => {
            "UPDATE relation SET valid_to = stated_to, valid_to_written = stated_to_written,
                 stated_to = NULL, stated_to_written = NULL, superseded_by = NULL
             WHERE id = ?1 AND superseded_by IS NOT NULL AND ?2 IS NULL AND ?3 IS NULL AND ?4 IS NULL"
        }
    };
    connection.prepare_cached(sql)?.execute(params![
        id.0,
        ending.map(|ending| ending.at.0),
        ending.and_then(|ending| ending.written),
        ending.map(|ending| ending.by.0),
    ])?;
    Ok(id)
}

/// A new version of a fact from `now` on, with its current evidence; the old one is retracted if it was
/// current.
pub(crate) fn record_again(
    connection: &Connection,
    id: RelationId,
    now: Timestamp,
) -> Result<RelationId> {
    let new: i64 = connection
        .prepare_cached(
            "INSERT INTO relation (source, target, type, version, id, namespace, fact, properties, weight,
                 confidence, exclusive, valid_from, valid_from_written, valid_to, valid_to_written, recorded_at,
                 observed_at, superseded_by, origin, stated_to, stated_to_written)
             SELECT source, target, type,
                 (SELECT max(version) + 1 FROM relation v
                  WHERE v.source = r.source AND v.target = r.target AND v.type = r.type),
                 (SELECT max(id) + 1 FROM relation), namespace, fact, properties, weight, confidence, exclusive,
                 valid_from, valid_from_written, valid_to, valid_to_written, ?2, observed_at, superseded_by,
                 origin, stated_to, stated_to_written
             FROM relation r WHERE id = ?1 RETURNING id",
        )?
        .query_row(params![id.0, now.0], |row| row.get(0))?;
    // What a version lost with its retraction is its evidence still.
    connection
        .prepare_cached(
            "INSERT INTO evidence (relation, document, start, end, chunk, quote, line)
             SELECT ?2, document, start, end, chunk, quote, line FROM evidence v
             WHERE relation = ?1
                 AND retracted_at IS (SELECT retracted_at FROM relation WHERE id = ?1)
                 AND EXISTS (SELECT 1 FROM document d WHERE d.id = v.document AND d.retracted_at IS NULL)",
        )?
        .execute([id.0, new])?;
    retract_fact(connection, id, now)?;
    Ok(RelationId(new))
}

/// Whether what stated a fact when it was taken back is still there.
pub(crate) fn is_still_stated(connection: &Connection, id: RelationId) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM evidence v JOIN document d ON d.id = v.document AND d.retracted_at IS NULL
             WHERE v.relation = ?1
                 AND v.retracted_at IS (SELECT retracted_at FROM relation WHERE id = ?1)",
        )?
        .exists([id.0])?)
}

/// Takes a fact back: from `now` on it is known to be no fact. Nothing happens to one that was taken back
/// before.
pub(crate) fn retract_fact(connection: &Connection, id: RelationId, now: Timestamp) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE evidence SET retracted_at = ?2 WHERE relation = ?1 AND retracted_at IS NULL
                 AND (SELECT retracted_at FROM relation WHERE id = ?1) IS NULL",
        )?
        .execute(params![id.0, now.0])?;
    connection
        .prepare_cached(
            "UPDATE relation SET retracted_at = ?2 WHERE id = ?1 AND retracted_at IS NULL",
        )?
        .execute(params![id.0, now.0])?;
    Ok(())
}

/// Subject and relation of a relation version.
pub(crate) fn subject_of(
    connection: &Connection,
    id: RelationId,
) -> Result<(EntityId, RelationTypeId)> {
    Ok(connection
        .prepare_cached("SELECT source, type FROM relation WHERE id = ?1")?
        .query_row([id.0], |row| {
            Ok((EntityId(row.get(0)?), RelationTypeId(row.get(1)?)))
        })?)
}

/// A relation version as a sentence: the one that is stated, or its names.
pub(crate) fn fact_sentence(connection: &Connection, id: RelationId) -> Result<String> {
    Ok(connection
        .prepare_cached(
            "SELECT coalesce(r.fact, a.name || ' ' || t.name || ' ' || b.name) FROM relation r
             JOIN entity a ON a.id = r.source JOIN entity b ON b.id = r.target
             JOIN relation_type t ON t.id = r.type WHERE r.id = ?1",
        )?
        .query_row([id.0], |row| row.get(0))?)
}

/// Whether a relation version is the one that is known now.
pub(crate) fn is_current_fact(connection: &Connection, id: RelationId) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM relation WHERE id = ?1 AND retracted_at IS NULL")?
        .exists([id.0])?)
}

/// Whether a relation is a fact, and no hand-made link.
pub(crate) fn is_fact(connection: &Connection, id: RelationId) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM relation WHERE id = ?1 AND origin <> 'link'")?
        .exists([id.0])?)
}
