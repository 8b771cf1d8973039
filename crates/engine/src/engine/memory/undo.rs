//! Taking an operation back.

use super::correct::unbury_fact;
use super::episode::{amendment, withdraw};
use super::{conclude, writer};
use crate::engine::Engine;
use crate::pipeline;
use crate::storage::{self, NewOperation};
use crate::types::{ConflictPolicy, MemoryReport};
use crate::{Error, Result};

impl Engine {
    /// Takes back what an operation said, and lets what it took back hold again.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such operation; [`Error::Usage`] when it was undone before.
    pub fn undo(&self, operation: i64) -> Result<MemoryReport> {
        let mut report = MemoryReport::default();
        self.run(&(), |job| {
            let lease = job.store.write_lease("malha undo", job.config.lease_wait)?;
            let connection = job.store.connection();
            let namespace = job.store.namespace(job.namespace)?;
            let found = match namespace {
                Some(namespace) => storage::operation(connection, namespace.0, operation)?,
                None => None,
            };
            let found = found.ok_or_else(|| Error::NotFound {
                kind: "operation",
                name: operation.to_string(),
            })?;
            if found.undone || found.kind == "undo" {
                return Err(Error::Usage(format!(
                    "operation {operation} cannot be undone: it {}",
                    if found.undone {
                        "was undone before"
                    } else {
                        "undid another one"
                    }
                )));
            }
            let amendment = amendment(&[], found.episodes.clone());
            pipeline::amend(job, &lease, &amendment, &mut |scope, changes| {
                let mut writer = writer(scope, ConflictPolicy::Close)?;
                for path in &found.episodes {
                    withdraw(&mut writer, path, &mut report)?;
                }
                for &id in &found.retracted {
                    unbury_fact(&writer, id)?;
                    report.relations_added += usize::from(writer.restore(id)?);
                }
                for &id in &found.claims {
                    report.claims_added += usize::from(writer.restore_claim(id)?);
                }
                storage::mark_undone(scope.connection, operation, writer.now)?;
                let operation = NewOperation {
                    summary: &format!("operation {operation}"),
                    ..NewOperation::new("undo")
                };
                conclude(writer, &[], operation, changes, &mut report)
            })
        })?;
        Ok(report)
    }
}
