//! Mentions.

use rusqlite::{Connection, Statement, params};

use crate::Result;
use crate::types::{ChunkId, Mention, MentionHow};

const INSERT: &str =
    "INSERT OR IGNORE INTO mention (chunk, start, end, entity, how) VALUES (?1, ?2, ?3, ?4, ?5)";

/// Adds a mention; one that is there already stays.
pub(crate) fn insert_mention(connection: &Connection, mention: &Mention) -> Result<()> {
    connection.prepare_cached(INSERT)?.execute(params![
        mention.chunk.0,
        mention.start,
        mention.end,
        mention.entity.0,
        mention.how.as_str()
    ])?;
    Ok(())
}

/// Adds many mentions; those that are there already stay.
pub(crate) struct MentionWriter<'connection>(Statement<'connection>);

impl<'connection> MentionWriter<'connection> {
    pub(crate) fn new(connection: &'connection Connection) -> Result<Self> {
        Ok(Self(connection.prepare(INSERT)?))
    }

    pub(crate) fn insert(&mut self, mention: &Mention) -> Result<()> {
        self.0.execute(params![
            mention.chunk.0,
            mention.start,
            mention.end,
            mention.entity.0,
            mention.how.as_str()
        ])?;
        Ok(())
    }
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

/// Drops every mention of a namespace that links, tags and names make.
pub(crate) fn clear_mentions(connection: &Connection, namespace: i64) -> Result<()> {
    connection.execute(
        "DELETE FROM mention WHERE how IN ('link', 'tag', 'name') AND chunk IN
             (SELECT c.id FROM chunk c JOIN document d ON d.id = c.document WHERE d.namespace = ?1)",
        [namespace],
    )?;
    Ok(())
}
