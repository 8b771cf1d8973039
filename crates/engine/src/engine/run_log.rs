//! What a run leaves behind: a row from its start, so that one that was killed shows too.

use serde::Serialize;
use serde_json::{Value, json};

use super::Engine;
use crate::Result;
use crate::storage;

impl Engine {
    /// Does `work`, with a row of this kind in the log of runs. Its report is what `work` gives, or the error.
    pub(super) fn logged<T, R: Serialize>(
        &self,
        kind: &'static str,
        work: impl FnOnce() -> Result<(T, R)>,
    ) -> Result<T> {
        let id = self.begin_run(kind)?;
        match work() {
            Ok((value, report)) => {
                let report = serde_json::to_value(report).expect("a report is plain data");
                // What was done stands, and the log has it as begun.
                if let Err(error) = self.end_run(id, &report) {
                    tracing::warn!(%error, "the end of a run could not be logged");
                }
                Ok(value)
            }
            Err(error) => {
                // Where even this cannot be written, the first error tells more.
                let _ = self.end_run(id, &json!({ "error": error.to_string() }));
                Err(error)
            }
        }
    }

    fn begin_run(&self, kind: &'static str) -> Result<i64> {
        let store = self.store();
        let lease = store.write_lease("malha", self.config.lease_wait)?;
        let transaction = lease.transaction()?;
        let namespace = transaction.namespace(&self.namespace)?.0;
        let connection = transaction.connection();
        let id = storage::begin_run(connection, namespace, self.clock.now(), kind)?;
        transaction.commit_bookkeeping()?;
        Ok(id)
    }

    fn end_run(&self, id: i64, report: &Value) -> Result<()> {
        let store = self.store();
        let lease = store.write_lease("malha", self.config.lease_wait)?;
        let transaction = lease.transaction()?;
        storage::end_run(transaction.connection(), id, self.clock.now(), report)?;
        transaction.commit_bookkeeping()
    }
}
