//! The file format: one number, one migration a step, never a break.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::store::{explain, store_error};
use crate::{Error, Result};

/// "malh" in ASCII: marks the file as ours (`PRAGMA application_id`).
const APPLICATION_ID: i64 = 0x6d61_6c68;

/// Step `n` (from 0) turns format `n` into format `n + 1`.
const STEPS: &[&str] = &[
    include_str!("migrations/0001_first.sql"),
    include_str!("migrations/0002_facts.sql"),
    include_str!("migrations/0003_llm_call.sql"),
    include_str!("migrations/0004_memory.sql"),
    include_str!("migrations/0005_extraction.sql"),
    include_str!("migrations/0006_ledger.sql"),
    include_str!("migrations/0007_community.sql"),
    include_str!("migrations/0008_embedding_spaces.sql"),
    include_str!("migrations/0009_merge.sql"),
    include_str!("migrations/0010_imported.sql"),
    include_str!("migrations/0011_verdict.sql"),
    include_str!("migrations/0012_full_text_load.sql"),
    include_str!("migrations/0013_query_log.sql"),
    include_str!("migrations/0014_conversation.sql"),
    include_str!("migrations/0015_synonym.sql"),
    include_str!("migrations/0016_derivation.sql"),
    include_str!("migrations/0017_evidence_line.sql"),
    include_str!("migrations/0018_claim.sql"),
    include_str!("migrations/0019_llm_part.sql"),
    include_str!("migrations/0020_run_namespace.sql"),
];

/// Bytes of a page of a new file. Chunks are long rows: on pages of 4 KiB they leave more of each unused, and loading
/// costs a tenth more.
const PAGE_SIZE: i64 = 8192;

/// The format that this version writes and reads.
pub const FORMAT_VERSION: u32 = STEPS.len() as u32;

/// Whether [`run`] would change the file. Refuses foreign and newer files.
pub(super) fn is_needed(connection: &Connection, path: &Path) -> Result<bool> {
    Ok(version(connection, path)? < i64::from(FORMAT_VERSION))
}

/// Whether the file holds nothing yet: it was made a moment ago, or whoever made it was stopped.
pub(super) fn is_blank(connection: &Connection, path: &Path) -> Result<bool> {
    Ok(version(connection, path)? == 0)
}

/// Brings the file to [`FORMAT_VERSION`] in one transaction, so that readers see the old format or the
/// new one. Safe when several processes do it at once: each looks again once it may write.
pub(super) fn run(connection: &Connection, path: &Path) -> Result<()> {
    // Both are kept in the file and cannot be set inside a transaction; a file that has pages keeps their size.
    connection
        .pragma_update(None, "page_size", PAGE_SIZE)
        .map_err(|e| explain(path, e))?;
    connection
        .pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
        .map_err(|e| explain(path, e))?;
    if !is_needed(connection, path)? {
        return Ok(());
    }
    let transaction =
        rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let from = version(connection, path)?;
    for step in &STEPS[from as usize..] {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", FORMAT_VERSION)?;
    transaction.commit()?;
    Ok(())
}

/// Format of the file; 0 for an empty one.
fn version(connection: &Connection, path: &Path) -> Result<i64> {
    let pragma = |name: &str| -> Result<i64> {
        connection
            .pragma_query_value(None, name, |row| row.get(0))
            .map_err(Error::from)
    };
    let (application, version) = (pragma("application_id")?, pragma("user_version")?);
    let objects: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if objects == 0 && version == 0 {
        return Ok(0);
    }
    if application != APPLICATION_ID || version < 1 {
        return Err(store_error(
            path,
            "this file is a database of another program and no malha store; choose another path",
        ));
    }
    if version > i64::from(FORMAT_VERSION) {
        return Err(store_error(
            path,
            &format!(
                "it was written by a newer malha (format {version}, this one knows up to \
                 {FORMAT_VERSION}); update malha"
            ),
        ));
    }
    Ok(version)
}

#[cfg(test)]
mod tests {
    use super::super::Store;
    use super::*;

    #[test]
    fn a_file_of_every_format_opens_and_ends_at_the_newest() {
        for format in 1..=STEPS.len() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("old.db");
            let connection = Connection::open(&path).unwrap();
            for step in &STEPS[..format] {
                connection.execute_batch(step).unwrap();
            }
            connection
                .pragma_update(None, "application_id", APPLICATION_ID)
                .unwrap();
            connection
                .pragma_update(None, "user_version", format as i64)
                .unwrap();
            connection
                .execute("INSERT INTO meta VALUES ('kept', 'yes')", [])
                .unwrap();
            drop(connection);
            let store = Store::open(&path).unwrap();
            let kept: String = store
                .connection()
                .query_row("SELECT value FROM meta WHERE key = 'kept'", [], |row| {
                    row.get(0)
                })
                .unwrap();
            assert_eq!(kept, "yes");
            assert_eq!(
                version(store.connection(), &path).unwrap(),
                i64::from(FORMAT_VERSION)
            );
        }
    }

    #[test]
    fn a_newer_format_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.db");
        let store = Store::create_or_open(&path).unwrap();
        store
            .connection()
            .pragma_update(None, "user_version", FORMAT_VERSION + 1)
            .unwrap();
        drop(store);
        for result in [
            Store::open(&path),
            Store::create_or_open(&path),
            Store::open_read_only(&path),
        ] {
            let message = result.unwrap_err().to_string();
            assert!(message.contains("newer malha"), "{message}");
        }
    }

    #[test]
    fn many_threads_create_one_store() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("malha.db");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| Store::create_or_open(&path).unwrap().generation().unwrap());
            }
        });
    }
}
