//! What notes and rows are called: the names under which extraction finds them.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, params};

use super::{EXTRACTED, TYPE_EVIDENCE};
use crate::Result;
use crate::text::name_key;
use crate::types::{AliasSource, DocumentKind, EntityId, EntityKind};

/// A note, or what rows of one title are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedDocument {
    pub id: EntityId,
    /// What it is known by: the uri at first sight, or the folded title.
    pub key: String,
    pub name: String,
    /// Its title, file stem and the aliases of its front matter, as [`name_key`] has them.
    pub names: BTreeSet<String>,
    /// Types that were given directly.
    pub kinds: BTreeSet<String>,
}

/// The current entities of documents, episodes aside: their titles name no thing. In the order of their row ids.
pub(crate) fn named_documents(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<NamedDocument>> {
    let mut found: BTreeMap<EntityId, NamedDocument> = BTreeMap::new();
    let mut statement = connection.prepare_cached(
        "SELECT e.id, e.key, e.name, a.written FROM entity e
         JOIN alias a ON a.entity = e.id AND a.source IN (?2, ?3)
         WHERE e.namespace = ?1 AND e.kind IN (?4, ?5) AND e.retracted_at IS NULL
             AND EXISTS (SELECT 1 FROM document d
                         WHERE d.entity = e.id AND d.retracted_at IS NULL AND d.kind <> ?6)",
    )?;
    let mut rows = statement.query(params![
        namespace,
        AliasSource::Title.as_str(),
        AliasSource::FrontMatter.as_str(),
        EntityKind::Note.as_str(),
        EntityKind::Title.as_str(),
        DocumentKind::Episode.as_str(),
    ])?;
    while let Some(row) = rows.next()? {
        let id = EntityId(row.get(0)?);
        let written: String = row.get(3)?;
        let document = match found.entry(id) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(new) => new.insert(NamedDocument {
                id,
                key: row.get(1)?,
                name: row.get(2)?,
                names: BTreeSet::new(),
                kinds: BTreeSet::new(),
            }),
        };
        document.names.insert(name_key(&written));
    }
    let mut statement = connection.prepare_cached(
        "SELECT t.entity, t.type FROM entity_type t JOIN entity e ON e.id = t.entity
         WHERE e.namespace = ?1 AND e.kind IN (?2, ?3) AND substr(t.evidence, 1, 4) <> ?4",
    )?;
    let mut rows = statement.query(params![
        namespace,
        EntityKind::Note.as_str(),
        EntityKind::Title.as_str(),
        TYPE_EVIDENCE,
    ])?;
    while let Some(row) = rows.next()? {
        if let Some(document) = found.get_mut(&EntityId(row.get(0)?)) {
            document.kinds.insert(row.get(1)?);
        }
    }
    Ok(found.into_values().collect())
}

/// The current entities of documents that models say something of.
pub(crate) fn described_documents(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<EntityId>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM entity WHERE namespace = ?1 AND kind IN (?2, ?3) AND retracted_at IS NULL
             AND json_type(properties, ?4) IS NOT NULL ORDER BY id",
    )?;
    let path = format!("$.{EXTRACTED}");
    let kinds = (EntityKind::Note.as_str(), EntityKind::Title.as_str());
    let rows = statement.query_map(params![namespace, kinds.0, kinds.1, path], |row| {
        row.get(0).map(EntityId)
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
