use rusqlite::Connection;

use super::{Store, lease};
use crate::{Error, Result};

/// A write transaction. Dropped without [`WriteTransaction::commit`], it is rolled back.
#[derive(Debug)]
pub struct WriteTransaction<'store> {
    store: &'store Store,
    changes_before: u64,
    open: bool,
}

impl<'store> WriteTransaction<'store> {
    pub(super) fn begin(store: &'store Store) -> Result<Self> {
        store
            .connection()
            .execute_batch("BEGIN IMMEDIATE")
            .map_err(|e| name_holder(store, e))?;
        Ok(Self {
            store,
            changes_before: store.connection().total_changes(),
            open: true,
        })
    }

    /// Makes the changes durable. The store's generation grows if any row was changed: by a random step, so
    /// that a store put back from a backup and changed again never has a generation that a cache beside it
    /// knows from before.
    pub fn commit(self) -> Result<()> {
        if self.store.connection().total_changes() != self.changes_before {
            self.store
                .connection()
                .prepare_cached(
                    "UPDATE meta SET value = CAST(value AS INTEGER) + 1 + (random() & 0x3fffffff)
                     WHERE key = 'generation'",
                )?
                .execute([])?;
        }
        self.end()
    }

    /// Makes changes durable that no cache depends on (run reports, file times): the generation stays.
    pub fn commit_bookkeeping(self) -> Result<()> {
        self.end()
    }

    fn end(mut self) -> Result<()> {
        self.store
            .connection()
            .execute_batch("COMMIT")
            .map_err(|e| name_holder(self.store, e))?;
        self.open = false;
        Ok(())
    }

    /// The store that is written.
    pub fn store(&self) -> &'store Store {
        self.store
    }

    pub(crate) fn connection(&self) -> &'store Connection {
        self.store.connection()
    }
}

impl Drop for WriteTransaction<'_> {
    fn drop(&mut self) {
        if self.open && !self.store.connection().is_autocommit() {
            // Nothing to do about a failure: the transaction is not committed either way.
            let _ = self.store.connection().execute_batch("ROLLBACK");
        }
    }
}

/// One state of the store for several reads.
#[derive(Debug)]
pub struct ReadTransaction<'store> {
    /// `None` inside another transaction, which goes on after this one.
    begun: Option<&'store Connection>,
}

impl<'store> ReadTransaction<'store> {
    pub(super) fn begin(store: &'store Store) -> Result<Self> {
        let connection = store.connection();
        let begun = if connection.is_autocommit() {
            connection.execute_batch("BEGIN DEFERRED")?;
            Some(connection)
        } else {
            None
        };
        Ok(Self { begun })
    }
}

impl Drop for ReadTransaction<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.begun {
            // Nothing was written, so there is nothing to lose.
            let _ = connection.execute_batch("COMMIT");
        }
    }
}

/// Tells who holds the store when `SQLite` itself found it locked.
fn name_holder(store: &Store, error: rusqlite::Error) -> Error {
    match Error::from(error) {
        Error::Busy { holder } => Error::Busy {
            holder: store
                .path()
                .and_then(lease::current_holder)
                .unwrap_or(holder),
        },
        other => other,
    }
}
