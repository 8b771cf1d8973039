//! The stages that ask a chat model: passages → replies → what they say → rows.
//!
//! What is stored follows from the current passages, the stored replies, the schema and the user's
//! decisions, and from nothing else: replies are only ever added by [`call_all`], and [`store_rows`] derives
//! all rows from them and writes the difference. So an interrupted run loses nothing, and any sequence of
//! edits and runs ends where a fresh run with the same replies would.

mod apply;
mod call;
mod claims;
mod estimate;
mod gather;
mod identity;
mod opinion;
mod plan;
mod read;
mod version;

use super::{Changes, GraphChange, Job, Scope, graph_change};
use crate::Result;
use crate::storage;
use crate::types::ExtractReport;

pub(crate) use call::{Called, call_all};
pub(crate) use estimate::estimate;
pub(crate) use opinion::{judge, long_descriptions, open_pairs, summarize};
pub(crate) use plan::{Plan, last_version};
pub(crate) use read::Read;

/// The line of the bill, and part of every key.
pub(crate) const STEP: &str = "extraction";

/// Makes the rows of extraction what the replies say, in one transaction. `None` when the store is no longer the one
/// that the plan was made from: it has to be made anew. `called` is what a run just did.
pub(crate) fn store_rows(
    job: &Job<'_>,
    plan: &Plan,
    read: Read,
    called: Option<&Called>,
    report: &mut ExtractReport,
) -> Result<Option<GraphChange>> {
    let lease = job
        .store
        .write_lease("malha index --extract", job.config.lease_wait)?;
    let transaction = lease.transaction()?;
    if job.store.generation()? != plan.generation {
        return Ok(None);
    }
    let namespace = transaction.namespace(job.namespace)?;
    let scope = Scope {
        connection: transaction.connection(),
        namespace: namespace.0,
        namespace_name: job.namespace.as_str(),
        now: job.clock.now(),
        conventions: &[],
    };
    let mut changes = Changes::default();
    read.save(scope.connection, scope.namespace, plan)?;
    apply::apply(
        &scope,
        &mut changes,
        plan,
        read,
        called,
        job.progress,
        report,
    )?;
    // Without a model there is nothing but what was imported.
    if !plan.model().is_empty() {
        save_version(&scope, plan)?;
    }
    storage::set_unfollowed(scope.connection, scope.namespace, false)?;
    transaction.commit()?;
    graph_change(job.store, &changes, plan.generation).map(Some)
}

/// Notes how the namespace is extracted, before the first call: an interrupted run goes on the same way.
pub(crate) fn note_version(job: &Job<'_>, plan: &Plan) -> Result<()> {
    let lease = job
        .store
        .write_lease("malha index --extract", job.config.lease_wait)?;
    let transaction = lease.transaction()?;
    let namespace = transaction.namespace(job.namespace)?;
    let scope = Scope {
        connection: transaction.connection(),
        namespace: namespace.0,
        namespace_name: job.namespace.as_str(),
        now: job.clock.now(),
        conventions: &[],
    };
    save_version(&scope, plan)?;
    transaction.commit_bookkeeping()
}

fn save_version(scope: &Scope<'_>, plan: &Plan) -> Result<()> {
    let settings = serde_json::to_string(plan.settings()).expect("settings are plain data");
    storage::save_extraction_version(
        scope.connection,
        scope.namespace,
        plan.model(),
        &settings,
        scope.now,
    )
}
