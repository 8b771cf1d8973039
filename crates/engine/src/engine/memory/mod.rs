//! What people and agents tell the store: remember, correct, undo. A file a verb, and one for episodes.

mod correct;
mod episode;
mod near;
mod undo;

use self::episode::{Episode, amendment, plan_episodes, state, summary, withdraw};
use super::Engine;
use crate::Result;
use crate::memory::{Writer, Written};
use crate::pipeline::{self, Changes, GraphChange, Indexed, Scope};
use crate::storage::{self, NamespaceId, NewOperation};
use crate::types::{ConflictPolicy, IngestReport, Memory, MemoryReport, OperationView, Timestamp};

pub(super) use self::episode::is_numbered;

/// Label of the source that episodes belong to; their uris start with it.
pub(super) const EPISODES: &str = "memory";

/// What comes and goes in one operation.
pub(super) struct Remembered<'a> {
    /// Who holds the store meanwhile.
    pub(super) by: &'a str,
    pub(super) memories: &'a [Memory],
    /// Paths of episodes that go.
    pub(super) closed: Vec<String>,
}

impl Engine {
    /// Stores texts, entities, relations and claims as they are given; no model is asked. Unknown entities are made.
    /// Each memory is one episode, in the order given. What is wrong with one is in the report and costs none
    /// of the others.
    ///
    /// # Errors
    /// A busy or read-only store.
    pub fn remember(&self, memories: &[Memory], policy: ConflictPolicy) -> Result<MemoryReport> {
        let remembered = Remembered {
            by: "malha remember",
            memories,
            closed: Vec::new(),
        };
        let near = self.near_texts(memories);
        let mut report = self.remember_and_close(&remembered, policy)?;
        report.near.extend(near);
        Ok(report)
    }

    /// [`Engine::remember`], and closes episodes as one operation with it.
    pub(super) fn remember_and_close(
        &self,
        remembered: &Remembered<'_>,
        policy: ConflictPolicy,
    ) -> Result<MemoryReport> {
        let mut report = MemoryReport::default();
        self.run(&(), |job| {
            let lease = job
                .store
                .write_lease(remembered.by, job.config.lease_wait)?;
            let episodes = plan_episodes(job, remembered.memories, &mut report)?;
            if episodes.is_empty() && remembered.closed.is_empty() {
                return Ok(nothing());
            }
            let amendment = amendment(&episodes, remembered.closed.clone());
            pipeline::amend(job, &lease, &amendment, &mut |scope, changes| {
                let mut writer = writer(scope, policy)?;
                for path in &remembered.closed {
                    withdraw(&mut writer, path, &mut report)?;
                }
                for (place, episode) in (1..).zip(&episodes) {
                    state(&mut writer, episode, place, &mut report)?;
                }
                let operation = NewOperation {
                    summary: &summary(&episodes),
                    ..NewOperation::new("remember")
                };
                conclude(writer, &episodes, operation, changes, &mut report)
            })
        })?;
        Ok(report)
    }

    /// The latest changes, newest first: what [`Engine::undo`] takes.
    pub fn operations(&self, limit: usize) -> Result<Vec<OperationView>> {
        let store = self.asked()?;
        match store.namespace(&self.namespace)? {
            Some(namespace) => storage::operations(store.connection(), namespace.0, limit),
            None => Ok(Vec::new()),
        }
    }
}

fn nothing() -> Indexed {
    Indexed {
        report: IngestReport::default(),
        graph: GraphChange::Nothing,
    }
}

fn writer<'a>(scope: &Scope<'a>, policy: ConflictPolicy) -> Result<Writer<'a>> {
    let last = storage::last_operation(scope.connection, scope.namespace)?;
    Ok(Writer {
        connection: scope.connection,
        namespace: (NamespaceId(scope.namespace), scope.namespace_name),
        // Two changes are never recorded at one moment, so what was known between them can be asked for.
        now: last.map_or(scope.now, |last| Timestamp(scope.now.0.max(last.0 + 1))),
        policy,
        written: Written::default(),
    })
}

/// Records the operation, with the episodes it added, and hands what was written over to the caches and the report.
fn conclude(
    writer: Writer<'_>,
    episodes: &[Episode<'_>],
    operation: NewOperation<'_>,
    changes: &mut Changes,
    report: &mut MemoryReport,
) -> Result<()> {
    let paths: Vec<String> = episodes
        .iter()
        .map(|episode| episode.path.clone())
        .collect();
    report.operation = Some(storage::save_operation(
        writer.connection,
        writer.namespace.0.0,
        &NewOperation {
            episodes: &paths,
            ..operation
        },
        writer.now,
    )?);
    let written = writer.written;
    for form in &written.forms {
        changes.change_owner(form);
    }
    changes.touched_entities.extend(written.entities);
    for relation in written.relations {
        changes.touch_relation(relation);
    }
    report.entities_added += written.entities_added;
    report.relations_added += written.relations_added;
    report.relations_repeated += written.relations_repeated;
    report.claims_added += written.claims_added;
    report.claims_repeated += written.claims_repeated;
    for fact in written.ended {
        if !report.ended.contains(&fact) {
            report.ended.push(fact);
        }
    }
    report.conflicts.extend(written.conflicts);
    report.suppressed.extend(written.suppressed);
    report.near.extend(written.near);
    Ok(())
}
