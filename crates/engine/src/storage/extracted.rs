//! What a chat model said of passages, as rows: read for the next run, written by difference.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

use super::{EvidenceRow, Origin};
use crate::Result;
use crate::text::Language;
use crate::types::{
    Alias, AliasSource, ChunkId, DocumentId, EntityId, EntityKind, RelationId, RelationTypeId,
    Timestamp,
};

/// Marks the types that a model gave: the rest is the uri of the document.
pub(crate) const TYPE_EVIDENCE: &str = "llm:";

/// A current document that has chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocumentText {
    pub id: DocumentId,
    pub uri: String,
    pub title: String,
    pub language: Language,
    /// The day it speaks from, as it states it.
    pub date: Option<String>,
    pub chunks: Vec<ChunkPlace>,
}

/// A current chunk with its text and place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChunkPlace {
    pub id: ChunkId,
    pub start: usize,
    pub end: usize,
    pub text: String,
    pub heading_path: Vec<String>,
}

/// All current documents of a namespace with their chunks, by uri.
pub(crate) fn document_texts(connection: &Connection, namespace: i64) -> Result<Vec<DocumentText>> {
    let mut statement = connection.prepare_cached(
        "SELECT d.id, d.uri, d.title, d.language, d.valid_from_written, c.id, c.start, c.end, c.text, c.heading_path
         FROM document d JOIN chunk c ON c.document = d.id AND c.retracted_at IS NULL
         WHERE d.namespace = ?1 AND d.retracted_at IS NULL ORDER BY d.uri, d.id, c.ordinal",
    )?;
    let mut rows = statement.query([namespace])?;
    let mut documents: Vec<DocumentText> = Vec::new();
    while let Some(row) = rows.next()? {
        let id = DocumentId(row.get(0)?);
        if documents.last().is_none_or(|last| last.id != id) {
            let language: String = row.get(3)?;
            documents.push(DocumentText {
                id,
                uri: row.get(1)?,
                title: row.get(2)?,
                language: language.parse().unwrap_or(Language::Other),
                date: row.get(4)?,
                chunks: Vec::new(),
            });
        }
        let heading_path: String = row.get(9)?;
        let document = documents.last_mut().expect("pushed above");
        document.chunks.push(ChunkPlace {
            id: ChunkId(row.get(5)?),
            start: row.get::<_, i64>(6)? as usize,
            end: row.get::<_, i64>(7)? as usize,
            text: row.get(8)?,
            heading_path: serde_json::from_str(&heading_path).unwrap_or_default(),
        });
    }
    Ok(documents)
}

/// The ways this namespace was extracted, newest first: model and settings.
pub(crate) fn extraction_versions(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<(String, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT model, settings FROM schema_version WHERE namespace = ?1 ORDER BY id DESC",
    )?;
    let rows = statement.query_map([namespace], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Notes how the namespace is extracted from now on; the same as before is not noted twice.
pub(crate) fn save_extraction_version(
    connection: &Connection,
    namespace: i64,
    model: &str,
    settings: &str,
    now: Timestamp,
) -> Result<()> {
    let newest = extraction_versions(connection, namespace)?;
    if newest
        .first()
        .is_some_and(|(m, s)| m == model && s == settings)
    {
        return Ok(());
    }
    connection
        .prepare_cached(
            "INSERT INTO schema_version (namespace, model, settings, created_at) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![namespace, model, settings, now.0])?;
    Ok(())
}

/// A current relation that a model stated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExtractedRow {
    pub id: RelationId,
    pub source: EntityId,
    pub target: EntityId,
    pub kind: RelationTypeId,
    pub from: Option<i64>,
    /// As its passage states it.
    pub to: Option<i64>,
    pub fact: Option<String>,
    pub properties: Option<String>,
    pub weight: f64,
    pub confidence: f64,
    pub exclusive: bool,
    pub observed_at: Option<Timestamp>,
}

/// The current relations that a model stated, by row id.
pub(crate) fn extracted_relations(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<ExtractedRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, source, target, type, valid_from, iif(superseded_by IS NULL, valid_to, stated_to), fact,
                properties, weight, confidence, exclusive, observed_at
         FROM relation WHERE namespace = ?1 AND origin = ?2 AND retracted_at IS NULL ORDER BY id",
    )?;
    let rows = statement.query_map(params![namespace, Origin::Llm.as_str()], |row| {
        Ok(ExtractedRow {
            id: RelationId(row.get(0)?),
            source: EntityId(row.get(1)?),
            target: EntityId(row.get(2)?),
            kind: RelationTypeId(row.get(3)?),
            from: row.get(4)?,
            to: row.get(5)?,
            fact: row.get(6)?,
            properties: row.get(7)?,
            weight: row.get(8)?,
            confidence: row.get(9)?,
            exclusive: row.get(10)?,
            observed_at: row.get::<_, Option<i64>>(11)?.map(Timestamp),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// What the passages of a relation say of it.
pub(crate) struct ExtractedValues<'a> {
    pub fact: Option<&'a str>,
    pub properties: Option<&'a str>,
    pub weight: f64,
    pub confidence: f64,
    pub exclusive: bool,
    pub observed_at: Option<Timestamp>,
}

/// Brings what a current relation says in line with its passages.
pub(crate) fn update_extracted(
    connection: &Connection,
    id: RelationId,
    values: &ExtractedValues<'_>,
) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE relation SET fact = ?2, properties = ?3, weight = ?4, confidence = ?5, exclusive = ?6,
                 observed_at = ?7
             WHERE id = ?1",
        )?
        .execute(params![
            id.0,
            values.fact,
            values.properties,
            values.weight,
            values.confidence,
            values.exclusive,
            values.observed_at.map(|at| at.0)
        ])?;
    Ok(())
}

/// The current evidence of all current relations that a model stated, by relation, each in order.
pub(crate) fn evidence_of_models(
    connection: &Connection,
    namespace: i64,
) -> Result<FxHashMap<RelationId, Vec<EvidenceRow>>> {
    let mut statement = connection.prepare_cached(
        "SELECT v.relation, v.document, v.start, v.end, v.chunk, v.quote FROM relation r
         JOIN evidence v ON v.relation = r.id AND v.retracted_at IS NULL
         WHERE r.namespace = ?1 AND r.origin = ?2 AND r.retracted_at IS NULL
         ORDER BY v.relation, v.document, v.start",
    )?;
    let mut rows = statement.query(params![namespace, Origin::Llm.as_str()])?;
    let mut found: FxHashMap<RelationId, Vec<EvidenceRow>> = FxHashMap::default();
    while let Some(row) = rows.next()? {
        let evidence = EvidenceRow {
            document: DocumentId(row.get(1)?),
            start: row.get::<_, i64>(2)? as usize,
            end: row.get::<_, i64>(3)? as usize,
            chunk: row.get::<_, Option<i64>>(4)?.map(ChunkId),
            quote: row.get(5)?,
        };
        found
            .entry(RelationId(row.get(0)?))
            .or_default()
            .push(evidence);
    }
    Ok(found)
}

/// Takes a relation back: no passage states it any more. When it was true in the world is not touched.
pub(crate) fn retract_extracted(
    connection: &Connection,
    id: RelationId,
    now: Timestamp,
) -> Result<()> {
    connection
        .prepare_cached("UPDATE relation SET retracted_at = ?2 WHERE id = ?1")?
        .execute(params![id.0, now.0])?;
    connection
        .prepare_cached(
            "UPDATE evidence SET retracted_at = ?2 WHERE relation = ?1 AND retracted_at IS NULL",
        )?
        .execute(params![id.0, now.0])?;
    Ok(())
}

/// The aliases that models gave, by entity and form.
pub(crate) fn extracted_aliases(connection: &Connection, namespace: i64) -> Result<Vec<Alias>> {
    let mut statement = connection.prepare_cached(
        "SELECT folded, squashed, written, entity FROM alias
         WHERE namespace = ?1 AND source = ?2 ORDER BY entity, folded",
    )?;
    let source = AliasSource::Extracted;
    let rows = statement.query_map(params![namespace, source.as_str()], |row| {
        Ok(Alias {
            folded: row.get(0)?,
            squashed: row.get(1)?,
            written: row.get(2)?,
            entity: EntityId(row.get(3)?),
            source,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The types that models gave, with the uri of the document.
pub(crate) fn extracted_types(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<(EntityId, String, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT t.entity, t.type, substr(t.evidence, 5) FROM entity_type t JOIN entity e ON e.id = t.entity
         WHERE e.namespace = ?1 AND substr(t.evidence, 1, 4) = ?2 ORDER BY 1, 2, 3",
    )?;
    let rows = statement.query_map(params![namespace, TYPE_EVIDENCE], |row| {
        Ok((EntityId(row.get(0)?), row.get(1)?, row.get(2)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Takes back a type that a model gave.
pub(crate) fn delete_type(
    connection: &Connection,
    entity: EntityId,
    kind: &str,
    evidence: &str,
) -> Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM entity_type WHERE entity = ?1 AND type = ?2 AND evidence = ?3",
        )?
        .execute(params![entity.0, kind, evidence])?;
    Ok(())
}

/// A current concept as the store has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Concept {
    pub id: EntityId,
    name: String,
    description: Option<String>,
    properties: Option<String>,
    /// Its name was given directly.
    pub is_stated: bool,
}

impl Concept {
    /// Whether it is shown under this name, and models say just this of it.
    pub(crate) fn is_as(
        &self,
        shown: &str,
        (description, properties): (Option<&str>, Option<&Value>),
    ) -> bool {
        let wanted = said_by_models(description, properties)
            .map(|said| Map::from_iter([(EXTRACTED.to_owned(), said)]));
        (self.is_stated || self.name == shown)
            && self.description.as_deref() == description
            && self.properties == wanted.map(|all| Value::Object(all).to_string())
    }

    /// Whether models say something of it.
    pub(crate) fn is_said_of(&self) -> bool {
        self.properties
            .as_deref()
            .is_some_and(|properties| properties.contains(EXTRACTED))
    }
}

/// The current concepts of a namespace, by key.
pub(crate) fn concepts(
    connection: &Connection,
    namespace: i64,
) -> Result<BTreeMap<String, Concept>> {
    let mut statement = connection.prepare_cached(
        "SELECT key, id, name, description, properties,
                EXISTS (SELECT 1 FROM alias a WHERE a.entity = entity.id AND a.source = ?3)
         FROM entity WHERE namespace = ?1 AND kind = ?2 AND retracted_at IS NULL",
    )?;
    let (kind, stated) = (EntityKind::Concept.as_str(), AliasSource::Stated.as_str());
    let rows = statement.query_map(params![namespace, kind, stated], |row| {
        let concept = Concept {
            id: EntityId(row.get(1)?),
            name: row.get(2)?,
            description: row.get(3)?,
            properties: row.get(4)?,
            is_stated: row.get(5)?,
        };
        Ok((row.get(0)?, concept))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Where the properties of an entity keep what models say of it, apart from what others do.
pub(super) const EXTRACTED: &str = "extracted";

/// What models say of an entity, as its properties keep it.
fn said_by_models(description: Option<&str>, properties: Option<&Value>) -> Option<Value> {
    let mut said = Map::new();
    if let Some(description) = description {
        said.insert("description".to_owned(), description.into());
    }
    if let Some(properties) = properties {
        said.insert("properties".to_owned(), properties.clone());
    }
    (!said.is_empty()).then_some(Value::Object(said))
}

/// Gives an entity what models say of it, a description and properties. A description that a person gave stays. True
/// when that changed something.
pub(crate) fn save_extracted(
    connection: &Connection,
    entity: EntityId,
    (description, extracted): (Option<&str>, Option<&Value>),
) -> Result<bool> {
    let (known, properties): (Option<String>, Option<String>) = connection
        .prepare_cached("SELECT description, properties FROM entity WHERE id = ?1")?
        .query_row([entity.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut all: Map<String, Value> = properties
        .as_deref()
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let before = all.shift_remove(EXTRACTED).unwrap_or_default();
    let is_ours = known.is_none() || before["description"].as_str() == known.as_deref();
    if let Some(said) = said_by_models(description, extracted) {
        all.insert(EXTRACTED.to_owned(), said);
    }
    let wanted = (!all.is_empty()).then(|| Value::Object(all).to_string());
    let shown = if is_ours {
        description
    } else {
        known.as_deref()
    };
    if known.as_deref() == shown && properties == wanted {
        return Ok(false);
    }
    connection
        .prepare_cached("UPDATE entity SET description = ?2, properties = ?3 WHERE id = ?1")?
        .execute(params![entity.0, shown, wanted])?;
    Ok(true)
}

/// The current concepts that nothing holds but a model's words: no current relation, and no alias.
pub(crate) fn unheld_concepts(
    connection: &Connection,
    namespace: i64,
) -> Result<FxHashSet<EntityId>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM entity WHERE namespace = ?1 AND kind = ?2 AND retracted_at IS NULL
             AND NOT EXISTS (SELECT 1 FROM alias a WHERE a.entity = entity.id)
             AND NOT EXISTS (SELECT 1 FROM relation r WHERE r.source = entity.id AND r.retracted_at IS NULL)
             AND NOT EXISTS (SELECT 1 FROM relation r WHERE r.target = entity.id AND r.retracted_at IS NULL)
             AND NOT EXISTS (SELECT 1 FROM claim c WHERE c.subject = entity.id AND c.retracted_at IS NULL)
             AND NOT EXISTS (SELECT 1 FROM claim c WHERE c.object = entity.id AND c.retracted_at IS NULL)",
    )?;
    let rows = statement.query_map(params![namespace, EntityKind::Concept.as_str()], |row| {
        row.get(0).map(EntityId)
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Line of a chunk in its document, from 1.
pub(crate) fn line_of_chunk(connection: &Connection, id: ChunkId) -> Result<usize> {
    let line: i64 = connection
        .prepare_cached("SELECT line FROM chunk WHERE id = ?1")?
        .query_row([id.0], |row| row.get(0))?;
    Ok(line as usize)
}
