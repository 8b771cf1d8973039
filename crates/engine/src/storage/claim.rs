//! Claims, and the passages that make them.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::citation::LINE_OF_EVIDENCE;
use super::fact::StatedEnd;
use super::relation::{EvidenceRow, Origin};
use super::time::moment;
use super::view::relation_key;
use crate::Result;
use crate::text::fold;
use crate::types::{
    ChunkId, ClaimId, ClaimStatus, DocumentId, EntityId, EvidenceView, PublicId, RelationTimes,
    Timestamp,
};

/// A claim with those it is about found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClaimValues<'a> {
    pub(crate) subject: EntityId,
    pub(crate) object: Option<EntityId>,
    pub(crate) kind: &'a str,
    pub(crate) status: ClaimStatus,
    pub(crate) description: &'a str,
    pub(crate) confidence: f64,
    pub(crate) from: StatedEnd<'a>,
    pub(crate) to: StatedEnd<'a>,
    /// When its source was last seen to be fresh.
    pub(crate) observed_at: Option<Timestamp>,
    pub(crate) origin: Origin,
}

/// What makes a claim the same one, whatever its row.
pub(crate) fn claim_identity(
    connection: &Connection,
    values: &ClaimValues<'_>,
) -> Result<PublicId> {
    let mut select = connection.prepare_cached("SELECT public_id FROM entity WHERE id = ?1")?;
    let mut public = |entity: EntityId| -> Result<String> {
        Ok(select.query_row([entity.0], |row| row.get(0))?)
    };
    let object = values.object.map(&mut public).transpose()?;
    let time = |end: StatedEnd<'_>| end.map_or(String::new(), |(at, _)| at.0.to_string());
    let parts = [
        public(values.subject)?,
        object.unwrap_or_default(),
        relation_key(values.kind),
        values.status.as_str().to_owned(),
        fold(values.description),
        time(values.from),
        time(values.to),
        values.origin.as_str().to_owned(),
    ];
    // The ids of the entities hold the namespace.
    Ok(PublicId::new("", "claim", &parts.join("\n")))
}

/// The current claim that says the same, made if it is not there. True when it is new.
pub(crate) fn ensure_claim(
    connection: &Connection,
    namespace: i64,
    values: &ClaimValues<'_>,
    now: Timestamp,
) -> Result<(ClaimId, bool)> {
    let public_id = claim_identity(connection, values)?;
    let observed_at = values.observed_at.map(|at| at.0);
    let known = connection
        .prepare_cached(
            "UPDATE claim SET confidence = max(confidence, ?3),
                 observed_at = max(coalesce(observed_at, ?4), coalesce(?4, observed_at))
             WHERE namespace = ?1 AND public_id = ?2 AND retracted_at IS NULL RETURNING id",
        )?
        .query_row(
            params![namespace, public_id.0, values.confidence, observed_at],
            |row| row.get(0).map(ClaimId),
        )
        .optional()?;
    if let Some(id) = known {
        return Ok((id, false));
    }
    connection
        .prepare_cached(
            "INSERT INTO claim (namespace, public_id, subject, object, type, status, description, confidence,
                 valid_from, valid_from_written, valid_to, valid_to_written, recorded_at, observed_at, origin)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        )?
        .execute(params![
            namespace,
            public_id.0,
            values.subject.0,
            values.object.map(|id| id.0),
            values.kind,
            values.status.as_str(),
            values.description,
            values.confidence,
            values.from.map(|end| end.0.0),
            values.from.map(|end| end.1),
            values.to.map(|end| end.0.0),
            values.to.map(|end| end.1),
            now.0,
            observed_at,
            values.origin.as_str(),
        ])?;
    Ok((ClaimId(connection.last_insert_rowid()), true))
}

/// Brings a claim in line with the passages that make it.
pub(crate) fn update_claim(
    connection: &Connection,
    id: ClaimId,
    confidence: f64,
    observed_at: Option<Timestamp>,
) -> Result<()> {
    connection
        .prepare_cached("UPDATE claim SET confidence = ?2, observed_at = ?3 WHERE id = ?1")?
        .execute(params![id.0, confidence, observed_at.map(|at| at.0)])?;
    Ok(())
}

/// Records where a claim is made.
pub(crate) fn add_claim_evidence(
    connection: &Connection,
    claim: ClaimId,
    row: &EvidenceRow,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO claim_evidence (claim, document, start, end, chunk, quote) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (claim, document, start) DO UPDATE SET
                 end = excluded.end, chunk = excluded.chunk, quote = excluded.quote, retracted_at = NULL",
        )?
        .execute(params![
            claim.0,
            row.document.0,
            row.start as i64,
            row.end as i64,
            row.chunk.map(|chunk| chunk.0),
            row.quote
        ])?;
    Ok(())
}

/// The passages that make a claim now, in order.
pub(crate) fn current_claim_evidence(
    connection: &Connection,
    claim: ClaimId,
) -> Result<Vec<EvidenceRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT document, start, end, chunk, quote FROM claim_evidence
         WHERE claim = ?1 AND retracted_at IS NULL ORDER BY document, start",
    )?;
    let rows = statement.query_map([claim.0], |row| {
        Ok(EvidenceRow {
            document: DocumentId(row.get(0)?),
            start: row.get::<_, i64>(1)? as usize,
            end: row.get::<_, i64>(2)? as usize,
            chunk: row.get::<_, Option<i64>>(3)?.map(ChunkId),
            quote: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Replaces the passages that make a current claim.
pub(crate) fn save_claim_evidence(
    connection: &Connection,
    claim: ClaimId,
    rows: &[EvidenceRow],
) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM claim_evidence WHERE claim = ?1")?
        .execute([claim.0])?;
    for row in rows {
        add_claim_evidence(connection, claim, row)?;
    }
    Ok(())
}

/// Takes a claim back. Its passages stay: they tell what was known.
pub(crate) fn retract_claim(connection: &Connection, id: ClaimId, now: Timestamp) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE claim SET retracted_at = ?2 WHERE id = ?1 AND retracted_at IS NULL",
        )?
        .execute(params![id.0, now.0])?;
    Ok(())
}

/// Takes back what a document claims. Returns the claims that nothing makes any more.
pub(crate) fn withdraw_claims(
    connection: &Connection,
    document: DocumentId,
    now: Timestamp,
) -> Result<Vec<ClaimId>> {
    let mut statement = connection.prepare_cached(
        "UPDATE claim_evidence SET retracted_at = ?2 WHERE document = ?1 AND retracted_at IS NULL
         RETURNING claim",
    )?;
    let rows = statement.query_map(params![document.0, now.0], |row| row.get(0).map(ClaimId))?;
    let mut lost = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    lost.sort_unstable();
    lost.dedup();
    let mut gone = Vec::new();
    for id in lost {
        if current_claim_evidence(connection, id)?.is_empty() {
            retract_claim(connection, id, now)?;
            gone.push(id);
        }
    }
    Ok(gone)
}

/// Records a claim anew that was taken back. `None` when nothing makes it any more, or it is there.
pub(crate) fn record_claim_again(
    connection: &Connection,
    id: ClaimId,
    now: Timestamp,
) -> Result<Option<ClaimId>> {
    let evidence = current_claim_evidence(connection, id)?;
    if evidence.is_empty() {
        return Ok(None);
    }
    let new = connection
        .prepare_cached(
            "INSERT INTO claim (namespace, public_id, subject, object, type, status, description, confidence,
                 valid_from, valid_from_written, valid_to, valid_to_written, recorded_at, observed_at, origin)
             SELECT namespace, public_id, subject, object, type, status, description, confidence,
                 valid_from, valid_from_written, valid_to, valid_to_written, ?2, observed_at, origin
             FROM claim WHERE id = ?1 AND retracted_at IS NOT NULL
             ON CONFLICT DO NOTHING RETURNING id",
        )?
        .query_row(params![id.0, now.0], |row| row.get(0).map(ClaimId))
        .optional()?;
    if let Some(new) = new {
        save_claim_evidence(connection, new, &evidence)?;
    }
    Ok(new)
}

/// The current claims that a model found: row and identity.
pub(crate) fn extracted_claims(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<(ClaimId, PublicId)>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, public_id FROM claim WHERE namespace = ?1 AND origin = ?2 AND retracted_at IS NULL ORDER BY id",
    )?;
    let rows = statement.query_map(params![namespace, Origin::Llm.as_str()], |row| {
        Ok((ClaimId(row.get(0)?), PublicId(row.get(1)?)))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A claim as the store has it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClaimRow {
    pub(crate) id: ClaimId,
    pub(crate) public_id: PublicId,
    pub(crate) subject: EntityId,
    pub(crate) object: Option<EntityId>,
    pub(crate) kind: String,
    pub(crate) status: ClaimStatus,
    pub(crate) description: String,
    pub(crate) confidence: f64,
    pub(crate) from: Option<Timestamp>,
    pub(crate) to: Option<Timestamp>,
    pub(crate) recorded_at: Timestamp,
    pub(crate) retracted_at: Option<Timestamp>,
    pub(crate) observed_at: Option<Timestamp>,
    /// The same as text, with the dates as written.
    pub(crate) times: RelationTimes,
}

const COLUMNS: &str =
    "id, public_id, subject, object, type, status, description, confidence, valid_from,
    valid_from_written, valid_to, valid_to_written, recorded_at, retracted_at, observed_at";

fn claim_row(row: &Row<'_>) -> rusqlite::Result<ClaimRow> {
    let time = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(Timestamp));
    let status: String = row.get(5)?;
    let recorded_at = Timestamp(row.get(12)?);
    Ok(ClaimRow {
        id: ClaimId(row.get(0)?),
        public_id: PublicId(row.get(1)?),
        subject: EntityId(row.get(2)?),
        object: row.get::<_, Option<i64>>(3)?.map(EntityId),
        kind: row.get(4)?,
        status: ClaimStatus::parse(&status).unwrap_or_default(),
        description: row.get(6)?,
        confidence: row.get(7)?,
        from: time(8)?,
        to: time(10)?,
        recorded_at,
        retracted_at: time(13)?,
        observed_at: time(14)?,
        times: RelationTimes {
            valid_from: moment(row, 8)?,
            valid_from_written: row.get(9)?,
            valid_to: moment(row, 10)?,
            valid_to_written: row.get(11)?,
            recorded_at: recorded_at.to_string(),
            retracted_at: moment(row, 13)?,
            observed_at: moment(row, 14)?,
        },
    })
}

/// Claims about an entity, or that concern it, recorded until `known`, taken back ones too.
pub(crate) fn claims_of_entity(
    connection: &Connection,
    entity: EntityId,
    known: Timestamp,
) -> Result<Vec<ClaimRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM claim WHERE subject = ?1 AND recorded_at <= ?2
         UNION SELECT {COLUMNS} FROM claim WHERE object = ?1 AND recorded_at <= ?2 ORDER BY id"
    ))?;
    let rows = statement.query_map(params![entity.0, known.0], claim_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// All claims of a namespace, taken back ones too, by row id.
pub(crate) fn claims_of_namespace(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<ClaimRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM claim WHERE namespace = ?1 ORDER BY id"
    ))?;
    let rows = statement.query_map([namespace], claim_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The current claim of an identity.
pub(crate) fn current_claim(
    connection: &Connection,
    namespace: i64,
    public_id: &str,
) -> Result<Option<ClaimRow>> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM claim WHERE namespace = ?1 AND public_id = ?2 AND retracted_at IS NULL"
        ))?
        .query_row(params![namespace, public_id], claim_row)
        .optional()?)
}

/// A claim by its row.
pub(crate) fn claim(connection: &Connection, id: ClaimId) -> Result<ClaimRow> {
    Ok(connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM claim WHERE id = ?1"))?
        .query_row([id.0], claim_row)?)
}

/// Where a claim is made: up to `limit` passages by uri.
pub(crate) fn evidence_of_claim(
    connection: &Connection,
    claim: ClaimId,
    limit: usize,
) -> Result<Vec<EvidenceView>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT d.uri, e.quote, {LINE_OF_EVIDENCE}
         FROM (SELECT *, NULL AS line FROM claim_evidence) e JOIN document d ON d.id = e.document
         WHERE e.claim = ?1 ORDER BY d.uri, e.start LIMIT ?2"
    ))?;
    let rows = statement.query_map(params![claim.0, limit as i64], |row| {
        Ok(EvidenceView {
            uri: row.get(0)?,
            quote: row.get(1)?,
            line: row.get::<_, i64>(2)? as usize,
            heading: None,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
