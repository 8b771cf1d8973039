//! Communities, who is in them, and their reports.

use rusqlite::{Connection, OptionalExtension, params};

use crate::Result;
use crate::types::EntityId;

/// An entity in a community at one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Membership {
    pub entity: EntityId,
    pub level: usize,
    pub community: i64,
    pub signature: i64,
}

/// A community without its members.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CommunityRow {
    pub id: i64,
    pub level: usize,
    pub parent: Option<i64>,
    pub content_hash: Vec<u8>,
}

/// The generation that the communities of a namespace were found in.
pub(crate) fn community_generation(connection: &Connection, namespace: i64) -> Result<Option<u64>> {
    Ok(connection
        .prepare_cached("SELECT generation FROM community_state WHERE namespace = ?1")?
        .query_row([namespace], |row| Ok(row.get::<_, i64>(0)? as u64))
        .optional()?)
}

/// Remembers it.
pub(crate) fn set_community_generation(
    connection: &Connection,
    namespace: i64,
    generation: u64,
) -> Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO community_state VALUES (?1, ?2)")?
        .execute(params![namespace, generation as i64])?;
    Ok(())
}

/// All memberships of a namespace, by entity and level.
pub(crate) fn memberships(connection: &Connection, namespace: i64) -> Result<Vec<Membership>> {
    let mut statement = connection.prepare_cached(
        "SELECT m.entity, m.level, m.community, m.signature FROM membership m
         JOIN entity e ON e.id = m.entity WHERE e.namespace = ?1 ORDER BY m.entity, m.level",
    )?;
    let rows = statement.query_map([namespace], |row| {
        Ok(Membership {
            entity: EntityId(row.get(0)?),
            level: row.get::<_, i64>(1)? as usize,
            community: row.get(2)?,
            signature: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The highest community id in use, 0 for none.
pub(crate) fn last_community(connection: &Connection) -> Result<i64> {
    Ok(
        connection.query_row("SELECT coalesce(max(id), 0) FROM community", [], |row| {
            row.get(0)
        })?,
    )
}

/// Writes a community. Its report stays; it is stale when the content is another one.
pub(crate) fn upsert_community(
    connection: &Connection,
    namespace: i64,
    row: &CommunityRow,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO community (id, namespace, level, parent, content_hash) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (id) DO UPDATE SET level = ?3, parent = ?4,
                 stale = stale OR content_hash IS NOT ?5, content_hash = ?5",
        )?
        .execute(params![row.id, namespace, row.level as i64, row.parent, row.content_hash])?;
    Ok(())
}

/// Puts an entity into a community.
pub(crate) fn set_membership(connection: &Connection, row: &Membership) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO membership (entity, level, community, signature) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![row.entity.0, row.level as i64, row.community, row.signature])?;
    Ok(())
}

/// Takes an entity out of its communities.
pub(crate) fn remove_memberships(connection: &Connection, entity: EntityId) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM membership WHERE entity = ?1")?
        .execute([entity.0])?;
    Ok(())
}

/// Removes the communities that have no members left.
pub(crate) fn remove_empty_communities(connection: &Connection, namespace: i64) -> Result<()> {
    const EMPTY: &str = "SELECT c.id FROM community c WHERE c.namespace = ?1
        AND NOT EXISTS (SELECT 1 FROM membership m WHERE m.community = c.id)";
    connection.execute(
        &format!("UPDATE community SET parent = NULL WHERE parent IN ({EMPTY})"),
        [namespace],
    )?;
    connection.execute(
        &format!("DELETE FROM community WHERE id IN ({EMPTY})"),
        [namespace],
    )?;
    Ok(())
}

/// Level, parent and title of a community.
pub(crate) fn community(
    connection: &Connection,
    id: i64,
) -> Result<(usize, Option<i64>, Option<String>)> {
    Ok(connection
        .prepare_cached("SELECT level, parent, title FROM community WHERE id = ?1")?
        .query_row([id], |row| {
            Ok((row.get::<_, i64>(0)? as usize, row.get(1)?, row.get(2)?))
        })?)
}

/// Communities of a level with their sizes, the largest first.
pub(crate) fn communities_of_level(
    connection: &Connection,
    namespace: i64,
    level: usize,
) -> Result<Vec<(i64, usize)>> {
    let mut statement = connection.prepare_cached(
        "SELECT m.community, count(*) FROM membership m JOIN community c ON c.id = m.community
         WHERE c.namespace = ?1 AND m.level = ?2 GROUP BY m.community ORDER BY count(*) DESC, m.community",
    )?;
    let rows = statement.query_map(params![namespace, level as i64], |row| {
        Ok((row.get(0)?, row.get::<_, i64>(1)? as usize))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Entities of a community at a level, by row id.
pub(crate) fn members_of_community(
    connection: &Connection,
    id: i64,
    level: usize,
) -> Result<Vec<EntityId>> {
    let mut statement = connection.prepare_cached(
        "SELECT entity FROM membership WHERE community = ?1 AND level = ?2 ORDER BY entity",
    )?;
    let rows = statement.query_map(params![id, level as i64], |row| Ok(EntityId(row.get(0)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// At most `most` parts of a community that is split further, the largest first.
pub(crate) fn parts_of_community(
    connection: &Connection,
    id: i64,
    most: usize,
) -> Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT c.id FROM community c JOIN membership m ON m.community = c.id AND m.level = c.level
         WHERE c.parent = ?1 GROUP BY c.id ORDER BY count(*) DESC, c.id LIMIT ?2",
    )?;
    let rows = statement.query_map(params![id, most as i64], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The communities of an entity, by level.
pub(crate) fn communities_of_entity(
    connection: &Connection,
    entity: EntityId,
) -> Result<Vec<(usize, i64)>> {
    let mut statement = connection.prepare_cached(
        "SELECT level, community FROM membership WHERE entity = ?1 ORDER BY level",
    )?;
    let rows = statement.query_map([entity.0], |row| {
        Ok((row.get::<_, i64>(0)? as usize, row.get(1)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A stored report: title, summary, and its findings as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredReport {
    pub title: String,
    pub summary: String,
    pub report: String,
}

/// The report of a community of the namespace, unless it is stale or was never written.
pub(crate) fn fresh_report(
    connection: &Connection,
    namespace: i64,
    id: i64,
) -> Result<Option<StoredReport>> {
    Ok(connection
        .prepare_cached(
            "SELECT title, summary, report FROM community
             WHERE id = ?1 AND namespace = ?2 AND NOT stale AND report IS NOT NULL",
        )?
        .query_row([id, namespace], |row| {
            Ok(StoredReport {
                title: row.get(0)?,
                summary: row.get(1)?,
                report: row.get(2)?,
            })
        })
        .optional()?)
}

/// Communities of a namespace that have a fresh report, with its title and summary.
pub(crate) fn told_communities(
    connection: &Connection,
    namespace: i64,
) -> Result<Vec<(i64, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, coalesce(title, '') || ': ' || coalesce(summary, '') FROM community
         WHERE namespace = ?1 AND NOT stale AND report IS NOT NULL ORDER BY id",
    )?;
    let rows = statement.query_map([namespace], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Keeps a report until the community's content changes.
pub(crate) fn set_report(connection: &Connection, id: i64, report: &StoredReport) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE community SET title = ?2, summary = ?3, report = ?4, stale = 0 WHERE id = ?1",
        )?
        .execute(params![id, report.title, report.summary, report.report])?;
    Ok(())
}

/// Whether the namespace has a community of this id.
pub(crate) fn has_community(connection: &Connection, namespace: i64, id: i64) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM community WHERE id = ?1 AND namespace = ?2")?
        .exists(params![id, namespace])?)
}
