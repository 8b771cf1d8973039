//! Graphs of other programs in, the store's content in and out.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;

use super::Engine;
use crate::exchange::{self, ExportFormat, ExportReport, TripleOptions, TripleReport};
use crate::storage;
use crate::types::Progress;
use crate::{Error, Result};

impl Engine {
    /// Writes the content of the namespace to `path`: a file, or a folder when the format is one. It
    /// appears whole or not at all. The same content gives the same bytes. `history` adds what was
    /// retracted.
    ///
    /// # Errors
    /// [`Error::Usage`] for a folder that holds anything but a former export; [`Error::Interrupted`] when
    /// `progress` says so.
    pub fn export(
        &self,
        format: ExportFormat,
        history: bool,
        path: &Path,
        progress: &dyn Progress,
    ) -> Result<ExportReport> {
        let store = self.store();
        exchange::export(&store, &self.namespace, format, history, path, progress)
    }

    /// Writes a format that is one file to `out`, which errors call `name`.
    ///
    /// # Errors
    /// [`Error::Usage`] for a format that is a folder; otherwise as [`Engine::export`].
    pub fn export_to(
        &self,
        format: ExportFormat,
        history: bool,
        name: &Path,
        out: &mut dyn Write,
        progress: &dyn Progress,
    ) -> Result<ExportReport> {
        let store = self.store();
        exchange::export_to(
            &store,
            &self.namespace,
            format,
            history,
            name,
            out,
            progress,
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
