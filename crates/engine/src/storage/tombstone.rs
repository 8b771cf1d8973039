//! What must not come back, as keyed hashes: with the store alone they can be checked, not read.

use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};

use super::run::{meta, set_meta};
use crate::Result;
use crate::types::Timestamp;

/// Bytes of a block of SHA-256, as HMAC pads its key to.
const BLOCK: usize = 64;
const KEY: &str = "tombstone key";

/// What a tombstone stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Buried {
    /// A document, by its uri and by the hash of its content.
    Document,
    /// An entity, by its folded name.
    Entity,
    /// A fact, by its folded names and dates.
    Fact,
    /// A claim, by folded names, status, words and dates.
    Claim,
}

impl Buried {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Entity => "entity",
            Self::Fact => "fact",
            Self::Claim => "claim",
        }
    }
}

/// Keeps these from coming back.
pub(crate) fn bury(
    connection: &Connection,
    namespace: i64,
    kind: Buried,
    parts: &[&str],
    now: Timestamp,
) -> Result<()> {
    let hash = keyed_hash(connection, parts)?;
    connection
        .prepare_cached(
            "INSERT INTO tombstone (namespace, kind, hash, at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
        )?
        .execute(params![namespace, kind.as_str(), hash, now.0])?;
    Ok(())
}

/// Lets these come back. True when they were kept from it.
pub(crate) fn unbury(
    connection: &Connection,
    namespace: i64,
    kind: Buried,
    parts: &[&str],
) -> Result<bool> {
    let hash = keyed_hash(connection, parts)?;
    let changed = connection
        .prepare_cached("DELETE FROM tombstone WHERE namespace = ?1 AND kind = ?2 AND hash = ?3")?
        .execute(params![namespace, kind.as_str(), hash])?;
    Ok(changed > 0)
}

/// Whether anything must not come back.
pub(crate) fn is_anything_buried(connection: &Connection, namespace: i64) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM tombstone WHERE namespace = ?1 LIMIT 1")?
        .exists([namespace])?)
}

/// Whether these must not come back.
pub(crate) fn is_buried(
    connection: &Connection,
    namespace: i64,
    kind: Buried,
    parts: &[&str],
) -> Result<bool> {
    // Nearly every store has none, and every document and fact asks.
    let any = connection
        .prepare_cached("SELECT 1 FROM tombstone WHERE namespace = ?1 AND kind = ?2 LIMIT 1")?
        .exists(params![namespace, kind.as_str()])?;
    if !any {
        return Ok(false);
    }
    let hash = keyed_hash(connection, parts)?;
    Ok(connection
        .prepare_cached("SELECT 1 FROM tombstone WHERE namespace = ?1 AND kind = ?2 AND hash = ?3")?
        .exists(params![namespace, kind.as_str(), hash])?)
}

/// HMAC-SHA-256 (RFC 2104) with the store's own random key.
pub(super) fn keyed_hash(connection: &Connection, parts: &[&str]) -> Result<Vec<u8>> {
    let key = key(connection)?;
    let pad = |with: u8| {
        let mut block = [with; BLOCK];
        for (byte, key) in block.iter_mut().zip(key.as_bytes()) {
            *byte ^= key;
        }
        block
    };
    let mut inner = Sha256::new();
    inner.update(pad(0x36));
    for part in parts {
        inner.update((part.len() as u64).to_le_bytes());
        inner.update(part.as_bytes());
    }
    let mut outer = Sha256::new();
    outer.update(pad(0x5c));
    outer.update(inner.finalize());
    Ok(outer.finalize().to_vec())
}

/// 32 random hexadecimal digits, made when they are first needed.
fn key(connection: &Connection) -> Result<String> {
    if let Some(key) = meta(connection, KEY)? {
        return Ok(key);
    }
    let key: String = connection.query_row("SELECT hex(randomblob(16))", [], |row| row.get(0))?;
    set_meta(connection, KEY, &key)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::super::Store;
    use super::*;

    #[test]
    fn what_is_buried_is_known_by_nothing_but_itself() {
        let store = Store::in_memory().unwrap();
        let connection = store.connection();
        let buried = |kind, parts: &[&str]| is_buried(connection, 1, kind, parts).unwrap();
        assert!(!buried(Buried::Fact, &["a", "b"]));
        bury(connection, 1, Buried::Fact, &["a", "b"], Timestamp(1)).unwrap();
        bury(connection, 1, Buried::Fact, &["a", "b"], Timestamp(2)).unwrap();
        assert!(buried(Buried::Fact, &["a", "b"]));
        assert!(!buried(Buried::Fact, &["ab", ""]));
        assert!(!buried(Buried::Entity, &["a", "b"]));
        assert!(!is_buried(connection, 2, Buried::Fact, &["a", "b"]).unwrap());
        let hash: Vec<u8> = connection
            .query_row("SELECT hash FROM tombstone", [], |row| row.get(0))
            .unwrap();
        // The same with another key is another hash: nobody can try names without the store.
        set_meta(connection, KEY, "other").unwrap();
        assert_ne!(super::keyed_hash(connection, &["a", "b"]).unwrap(), hash);
        assert!(!buried(Buried::Fact, &["a", "b"]));
        set_meta(connection, KEY, "0123456789ABCDEF").unwrap();
        bury(connection, 1, Buried::Fact, &["c"], Timestamp(1)).unwrap();
        assert!(unbury(connection, 1, Buried::Fact, &["c"]).unwrap());
        assert!(!unbury(connection, 1, Buried::Fact, &["c"]).unwrap());
    }
}
