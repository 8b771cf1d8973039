//! Entities, their aliases, and how often names were discovered.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::Result;
use crate::types::{Alias, AliasSource, EntityId, EntityKind, PublicId, Timestamp};

/// An entity's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EntityRow {
    pub id: EntityId,
    pub public_id: PublicId,
    pub kind: EntityKind,
    pub key: String,
    pub name: String,
    pub description: Option<String>,
    pub current: bool,
}

const COLUMNS: &str = "id, public_id, kind, key, name, description, retracted_at IS NULL";

fn read_row(row: &Row<'_>) -> rusqlite::Result<EntityRow> {
    let kind: String = row.get(2)?;
    Ok(EntityRow {
        id: EntityId(row.get(0)?),
        public_id: PublicId(row.get(1)?),
        kind: EntityKind::parse(&kind).unwrap_or(EntityKind::Concept),
        key: row.get(3)?,
        name: row.get(4)?,
        description: row.get(5)?,
        current: row.get(6)?,
    })
}

/// The entity of this row id.
pub(crate) fn entity(connection: &Connection, id: EntityId) -> Result<EntityRow> {
    Ok(connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM entity WHERE id = ?1"))?
        .query_row([id.0], read_row)?)
}

/// The current entity of this public id.
pub(crate) fn entity_by_public_id(
    connection: &Connection,
    namespace: i64,
    public_id: &str,
) -> Result<Option<EntityRow>> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM entity WHERE public_id = ?2 AND namespace = ?1 AND retracted_at IS NULL"
        ))?
        .query_row(params![namespace, public_id], read_row)
        .optional()?)
}

/// The entity of this kind and key, retracted ones too.
pub(crate) fn find_entity(
    connection: &Connection,
    namespace: i64,
    kind: EntityKind,
    key: &str,
) -> Result<Option<EntityRow>> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM entity WHERE namespace = ?1 AND kind = ?2 AND key = ?3"
        ))?
        .query_row(params![namespace, kind.as_str(), key], read_row)
        .optional()?)
}

/// Creates the entity of this kind and key, or brings a retracted one back. True when it was not current before.
pub(crate) fn ensure_entity(
    connection: &Connection,
    namespace: (i64, &str),
    kind: EntityKind,
    key: &str,
    name: &str,
    now: Timestamp,
) -> Result<(EntityId, bool)> {
    if let Some(row) = find_entity(connection, namespace.0, kind, key)? {
        if !row.current {
            connection
                .prepare_cached("UPDATE entity SET retracted_at = NULL, name = ?2 WHERE id = ?1")?
                .execute(params![row.id.0, name])?;
        }
        return Ok((row.id, !row.current));
    }
    let public_id = PublicId::new(namespace.1, kind.as_str(), key);
    connection
        .prepare_cached(
            "INSERT INTO entity (namespace, public_id, kind, key, name, recorded_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![namespace.0, public_id.0, kind.as_str(), key, name, now.0])?;
    Ok((EntityId(connection.last_insert_rowid()), true))
}

/// Gives an entity its canonical name.
pub(crate) fn rename_entity(connection: &Connection, id: EntityId, name: &str) -> Result<()> {
    let renamed = connection
        .prepare_cached("UPDATE entity SET name = ?2 WHERE id = ?1 AND name <> ?2")?
        .execute(params![id.0, name])?;
    if renamed > 0 {
        super::synonym::delete_name_vectors(connection, id)?;
    }
    Ok(())
}

/// Says what an entity is; the latest description is the one that is kept.
pub(crate) fn describe_entity(connection: &Connection, id: EntityId, text: &str) -> Result<()> {
    connection
        .prepare_cached("UPDATE entity SET description = nullif(?2, '') WHERE id = ?1")?
        .execute(params![id.0, text])?;
    Ok(())
}

/// Makes a closed entity current again; its aliases are the caller's.
pub(crate) fn bring_back_entity(connection: &Connection, id: EntityId) -> Result<()> {
    connection
        .prepare_cached("UPDATE entity SET retracted_at = NULL WHERE id = ?1")?
        .execute([id.0])?;
    Ok(())
}

/// Closes an entity and drops its aliases.
pub(crate) fn retire_entity(connection: &Connection, id: EntityId, now: Timestamp) -> Result<()> {
    connection
        .prepare_cached("UPDATE entity SET retracted_at = ?2 WHERE id = ?1")?
        .execute(params![id.0, now.0])?;
    connection
        .prepare_cached("DELETE FROM alias WHERE entity = ?1")?
        .execute([id.0])?;
    super::synonym::delete_name_vectors(connection, id)
}

/// Every entity of a namespace, current or not, by row id.
pub(crate) fn entities_of_namespace(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<EntityId>> {
    let mut statement =
        connection.prepare_cached("SELECT id FROM entity WHERE namespace = ?1 ORDER BY id")?;
    let rows = statement.query_map([namespace], |row| row.get(0).map(EntityId))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The current entities of a kind: key to row id.
pub(crate) fn entities_of_kind(
    connection: &Connection,
    namespace: i64,
    kind: EntityKind,
) -> Result<Vec<(String, EntityId)>> {
    let mut statement = connection.prepare_cached(
        "SELECT key, id FROM entity WHERE namespace = ?1 AND kind = ?2 AND retracted_at IS NULL ORDER BY key",
    )?;
    let rows = statement.query_map(params![namespace, kind.as_str()], |row| {
        Ok((row.get(0)?, EntityId(row.get(1)?)))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn read_alias(row: &Row<'_>) -> rusqlite::Result<Alias> {
    let source: String = row.get(4)?;
    Ok(Alias {
        folded: row.get(0)?,
        squashed: row.get(1)?,
        written: row.get(2)?,
        entity: EntityId(row.get(3)?),
        source: AliasSource::parse(&source).unwrap_or(AliasSource::Stated),
    })
}

/// The aliases of an entity, by folded form and source.
pub(crate) fn aliases_of_entity(connection: &Connection, entity: EntityId) -> Result<Vec<Alias>> {
    let mut statement = connection.prepare_cached(
        "SELECT folded, squashed, written, entity, source FROM alias WHERE entity = ?1 ORDER BY folded, source",
    )?;
    let rows = statement.query_map([entity.0], read_alias)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Calls `each` with every alias of a namespace as (folded form, entity), by folded form then entity.
pub(crate) fn for_each_alias(
    connection: &Connection,
    namespace: i64,
    mut each: impl FnMut(&str, EntityId),
) -> Result<()> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT folded, entity FROM alias WHERE namespace = ?1 ORDER BY folded, entity",
    )?;
    let mut rows = statement.query([namespace])?;
    while let Some(row) = rows.next()? {
        each(
            row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?,
            EntityId(row.get(1)?),
        );
    }
    Ok(())
}

/// The entities that bear an alias of this folded form, by row id.
pub(crate) fn entities_of_form(
    connection: &Connection,
    namespace: i64,
    folded: &str,
) -> Result<Vec<EntityId>> {
    entities_where(connection, "folded", namespace, folded)
}

/// The entities that bear an alias of this squashed form, by row id.
pub(crate) fn entities_of_squashed(
    connection: &Connection,
    namespace: i64,
    squashed: &str,
) -> Result<Vec<EntityId>> {
    entities_where(connection, "squashed", namespace, squashed)
}

fn entities_where(
    connection: &Connection,
    column: &'static str,
    namespace: i64,
    value: &str,
) -> Result<Vec<EntityId>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT DISTINCT entity FROM alias WHERE namespace = ?1 AND {column} = ?2 ORDER BY entity"
    ))?;
    let rows = statement.query_map(params![namespace, value], |row| Ok(EntityId(row.get(0)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// True when an entity other than a discovered name bears this folded form.
pub(crate) fn form_has_owner(
    connection: &Connection,
    namespace: i64,
    folded: &str,
) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM alias WHERE namespace = ?1 AND folded = ?2 AND source <> 'name' LIMIT 1",
        )?
        .exists(params![namespace, folded])?)
}

/// Whether `prefix` is a folded form, and whether forms start with it and go on.
pub(crate) fn forms_from(
    connection: &Connection,
    namespace: i64,
    prefix: &str,
) -> Result<(bool, bool)> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT folded FROM alias WHERE namespace = ?1 AND folded >= ?2 ORDER BY folded LIMIT 2",
    )?;
    let mut rows = statement.query(params![namespace, prefix])?;
    let (mut is_form, mut goes_on) = (false, false);
    while let Some(row) = rows.next()? {
        let folded = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        is_form |= folded == prefix;
        goes_on |= folded.len() > prefix.len() && folded.starts_with(prefix);
    }
    Ok((is_form, goes_on))
}

/// The folded forms that entities other than discovered names bear, sorted.
pub(crate) fn owned_forms(connection: &Connection, namespace: i64) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT folded FROM alias WHERE namespace = ?1 AND source <> 'name' ORDER BY folded",
    )?;
    let rows = statement.query_map([namespace], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Adds an alias.
pub(crate) fn insert_alias(connection: &Connection, namespace: i64, alias: &Alias) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO alias (namespace, folded, entity, source, written, squashed)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            namespace,
            alias.folded,
            alias.entity.0,
            alias.source.as_str(),
            alias.written,
            alias.squashed
        ])?;
    Ok(())
}

/// Removes an alias.
pub(crate) fn delete_alias(connection: &Connection, namespace: i64, alias: &Alias) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM alias WHERE namespace = ?1 AND folded = ?2 AND entity = ?3 AND source = ?4")?
        .execute(params![
            namespace,
            alias.folded,
            alias.entity.0,
            alias.source.as_str()
        ])?;
    Ok(())
}

/// Changes in how many chunks a spelling was discovered; rows that fall to zero go.
pub(crate) fn add_name_count(
    connection: &Connection,
    namespace: i64,
    folded: &str,
    written: &str,
    change: i64,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO name_count (namespace, folded, written, chunks) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (namespace, folded, written) DO UPDATE SET chunks = chunks + excluded.chunks",
        )?
        .execute(params![namespace, folded, written, change])?;
    connection
        .prepare_cached(
            "DELETE FROM name_count WHERE namespace = ?1 AND folded = ?2 AND written = ?3 AND chunks <= 0",
        )?
        .execute(params![namespace, folded, written])?;
    Ok(())
}

/// Drops every count of a namespace, before they are taken afresh.
pub(crate) fn clear_name_counts(connection: &Connection, namespace: i64) -> Result<()> {
    connection.execute("DELETE FROM name_count WHERE namespace = ?1", [namespace])?;
    Ok(())
}

/// Inserts a count taken afresh.
pub(crate) fn insert_name_count(
    connection: &Connection,
    namespace: i64,
    folded: &str,
    written: &str,
    chunks: i64,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO name_count (namespace, folded, written, chunks) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![namespace, folded, written, chunks])?;
    Ok(())
}

/// Of several spellings the one to show comes first: the most frequent, not in capitals alone, the
/// smaller one.
const BEST_SPELLING: &str = "chunks DESC, written = upper(written), written";

/// In how many chunks a name was discovered, and its best spelling.
pub(crate) fn name_count(
    connection: &Connection,
    namespace: i64,
    folded: &str,
) -> Result<Option<(usize, String)>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT written, chunks FROM name_count WHERE namespace = ?1 AND folded = ?2 ORDER BY {BEST_SPELLING}",
    ))?;
    let mut rows = statement.query(params![namespace, folded])?;
    let mut found: Option<(usize, String)> = None;
    while let Some(row) = rows.next()? {
        let chunks: i64 = row.get(1)?;
        match &mut found {
            Some((total, _)) => *total += chunks as usize,
            None => found = Some((chunks as usize, row.get(0)?)),
        }
    }
    Ok(found)
}

/// Calls `each` with every discovered name: form, number of chunks, best spelling.
pub(crate) fn for_each_name_count(
    connection: &Connection,
    namespace: i64,
    mut each: impl FnMut(&str, usize, &str),
) -> Result<()> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT folded, written, chunks FROM name_count WHERE namespace = ?1 ORDER BY folded, {BEST_SPELLING}",
    ))?;
    let mut rows = statement.query([namespace])?;
    let mut current: Option<(String, usize, String)> = None;
    while let Some(row) = rows.next()? {
        let folded = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        let chunks = row.get::<_, i64>(2)? as usize;
        match &mut current {
            Some((form, total, _)) if form == folded => *total += chunks,
            _ => {
                if let Some((form, total, written)) = &current {
                    each(form, *total, written);
                }
                current = Some((folded.to_owned(), chunks, row.get(1)?));
            }
        }
    }
    if let Some((form, total, written)) = &current {
        each(form, *total, written);
    }
    Ok(())
}
