//! Graphs of other programs in, the store's content in and out.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

use super::Engine;
use crate::exchange::{self, TripleOptions, TripleReport};
use crate::storage;
use crate::{Error, Result};

impl Engine {
    /// Writes the current content of the namespace as JSON lines that [`Engine::import_malha`] reads;
    /// returns the number of records. `name` is what errors call `out`.
    pub fn export_malha(&self, name: &Path, out: &mut dyn Write) -> Result<u64> {
        exchange::export_malha(
            &self.store(),
            &self.namespace,
            name,
            BufWriter::with_capacity(1 << 16, out),
        )
    }

    /// Reads an export into the namespace, which must hold nothing else, all of it or nothing; returns
    /// the number of records, 0 when the content was there already.
    pub fn import_malha(&self, path: &Path) -> Result<u64> {
        let file = File::open(path).map_err(|source| Error::Io {
            path: path.to_owned(),
            source,
        })?;
        let store = self.store();
        let lease = store.write_lease("malha import", self.config.lease_wait)?;
        let transaction = lease.transaction()?;
        let records =
            exchange::import_malha(&transaction, &self.namespace, path, BufReader::new(file))?;
        transaction.commit()?;
        Ok(records)
    }

    /// Loads the facts of a file. What an earlier file of the same `uri` stated and this one does not is
    /// closed. The next indexing run looks for the new names in every passage.
    pub fn import_triples(
        &self,
        path: &Path,
        uri: &str,
        options: &TripleOptions,
    ) -> Result<TripleReport> {
        let store = self.store();
        let lease = store.write_lease("malha import", self.config.lease_wait)?;
        let transaction = lease.transaction()?;
        let report = exchange::import_triples(
            &transaction,
            &self.namespace,
            path,
            uri,
            options,
            self.clock.now(),
        )?;
        if report.unchanged {
            return Ok(report);
        }
        let namespace = transaction.namespace(&self.namespace)?;
        storage::set_pending(transaction.connection(), namespace.0, true)?;
        transaction.commit()?;
        Ok(report)
    }
}
