//! Mentions.

use rusqlite::{Connection, params};

use crate::Result;
use crate::types::{ChunkId, Mention, MentionHow};

/// Adds a mention; one that is there already stays.
pub(crate) fn insert_mention(connection: &Connection, mention: &Mention) -> Result<()> {
    connection
        .prepare_cached("INSERT OR IGNORE INTO mention (chunk, start, end, entity, how) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![
            mention.chunk.0,
            mention.start,
            mention.end,
            mention.entity.0,
            mention.how.as_str()
        ])?;
    Ok(())
}

/// Drops the mentions of a chunk that were recognised this way.
pub(crate) fn delete_mentions(
    connection: &Connection,
    chunk: ChunkId,
    how: MentionHow,
) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM mention WHERE chunk = ?1 AND how = ?2")?
        .execute(params![chunk.0, how.as_str()])?;
    Ok(())
}

/// Drops every mention of a namespace that was recognised this way.
pub(crate) fn clear_mentions(
    connection: &Connection,
    namespace: i64,
    how: MentionHow,
) -> Result<()> {
    connection.execute(
        "DELETE FROM mention WHERE how = ?2 AND chunk IN
             (SELECT c.id FROM chunk c JOIN document d ON d.id = c.document WHERE d.namespace = ?1)",
        params![namespace, how.as_str()],
    )?;
    Ok(())
}
