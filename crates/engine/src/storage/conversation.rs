//! Questions that go on with each other.

use rusqlite::{Connection, params};

use crate::Result;
use crate::types::Timestamp;

/// A question of a conversation with its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConversationTurn {
    pub question: String,
    pub answer: String,
    /// Names that it was about.
    pub subject: Vec<String>,
}

/// The newest turns of a conversation, oldest first.
pub(crate) fn conversation(
    connection: &Connection,
    namespace: i64,
    name: &str,
    most: usize,
) -> Result<Vec<ConversationTurn>> {
    let mut statement = connection.prepare_cached(
        "SELECT question, answer, subject FROM conversation WHERE namespace = ?1 AND name = ?2
         ORDER BY ordinal DESC LIMIT ?3",
    )?;
    let rows = statement.query_map(params![namespace, name, most as i64], |row| {
        let subject: String = row.get(2)?;
        Ok(ConversationTurn {
            question: row.get(0)?,
            answer: row.get(1)?,
            subject: serde_json::from_str(&subject).unwrap_or_default(),
        })
    })?;
    let mut turns: Vec<ConversationTurn> = rows.collect::<rusqlite::Result<_>>()?;
    turns.reverse();
    Ok(turns)
}

/// Adds a turn to a conversation.
pub(crate) fn add_conversation_turn(
    connection: &Connection,
    namespace: i64,
    name: &str,
    turn: &ConversationTurn,
    now: Timestamp,
) -> Result<()> {
    let subject = serde_json::to_string(&turn.subject).expect("names are plain JSON");
    connection
        .prepare_cached(
            "INSERT INTO conversation (namespace, name, ordinal, question, answer, subject, asked_at)
             VALUES (?1, ?2, (SELECT coalesce(max(ordinal), 0) + 1 FROM conversation
                 WHERE namespace = ?1 AND name = ?2), ?3, ?4, ?5, ?6)",
        )?
        .execute(params![namespace, name, turn.question, turn.answer, subject, now.0])?;
    Ok(())
}
