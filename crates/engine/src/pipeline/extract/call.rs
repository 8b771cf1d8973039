//! Asks a model about every passage that has no usable reply yet.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::STEP;
use super::plan::{Derived, Plan};
use super::version::{Asked, Looked};
use crate::language_model::{ChatModel, ChatRequest};
use crate::replies::{CachedModel, ReplyCache, Silence};
use crate::types::{Progress, Stage};
use crate::{Error, Result};

/// Pause before a passage that another process is asking about is looked at again.
const BUSY_PAUSE: Duration = Duration::from_millis(100);

/// What became of the calls.
#[derive(Debug, Default)]
pub(crate) struct Called {
    /// Usable replies that are new.
    pub(crate) extracted: usize,
    pub(crate) repaired: usize,
    /// In the order of documents and places.
    pub(crate) failed: Vec<FailedPassage>,
    /// Passages that were not asked about.
    pub(crate) left: usize,
    /// Why not.
    pub(crate) stopped: Option<Error>,
}

/// A passage without a usable reply.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FailedPassage {
    pub(crate) uri: String,
    /// Its first byte in the document.
    pub(crate) start: usize,
    pub(crate) reason: String,
    /// What the model said.
    pub(crate) text: String,
}

struct Work {
    /// What one call each is about.
    queue: VecDeque<Vec<usize>>,
    called: Called,
    /// Its failures are the last ones of the list.
    silence: Silence,
    busy: usize,
}

/// Asks about `wanted`, positions in the plan. Every reply is stored as it arrives, so whatever ends this
/// early costs nothing that was paid for.
pub(crate) fn call_all(
    plan: &Plan,
    wanted: &[usize],
    model: &dyn ChatModel,
    replies: &ReplyCache<'_>,
    progress: &dyn Progress,
) -> Result<Called> {
    progress.stage(Stage::Extract, wanted.len());
    let threads = model.concurrency().clamp(1, wanted.len().max(1));
    let span = tracing::Span::current();
    let cached = CachedModel::new(model, replies, STEP);
    let work = Mutex::new(Work {
        queue: plan.calls(wanted).into(),
        called: Called::default(),
        silence: Silence::default(),
        busy: 0,
    });
    replies.renewing(|| {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|_| scope.spawn(|| span.in_scope(|| run(plan, &work, &cached, progress))))
                .collect();
            let mut outcome = Ok(());
            for worker in workers {
                let result = worker.join().expect("a worker does not panic");
                outcome = outcome.and(result);
            }
            outcome
        })
    })?;
    let mut called = work
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .called;
    called.failed.sort_unstable();
    Ok(called)
}

fn run(
    plan: &Plan,
    work: &Mutex<Work>,
    cached: &CachedModel<'_>,
    progress: &dyn Progress,
) -> Result<()> {
    loop {
        let positions = {
            let mut work = lock(work);
            if progress.interrupted() && work.called.stopped.is_none() {
                work.called.stopped = Some(Error::Interrupted);
            }
            if work.called.stopped.is_some() {
                work.called.left += work.queue.iter().map(Vec::len).sum::<usize>();
                work.queue.clear();
            }
            match work.queue.pop_front() {
                Some(positions) => positions,
                None => return Ok(()),
            }
        };
        if let [position] = positions[..] {
            one(plan, position, work, cached, progress)?;
        } else if together(plan, &positions, work, cached)? {
            // Each is looked at by itself, first of all, but not past a stop.
            let mut work = lock(work);
            for position in positions.into_iter().rev() {
                work.queue.push_front(vec![position]);
            }
        }
    }
}

/// Asks about several passages with one call. What became of each is looked at one by one, and one whose part of the
/// reply is of no use is asked about by itself. False when no more may be spent.
fn together(
    plan: &Plan,
    positions: &[usize],
    work: &Mutex<Work>,
    cached: &CachedModel<'_>,
) -> Result<bool> {
    let singles: Vec<(ChatRequest, &str)> = positions
        .iter()
        .map(|&at| (plan.request(&plan.items[at]), plan.items[at].uri.as_str()))
        .collect();
    let combine = |chosen: &[usize]| {
        let chosen: Vec<usize> = chosen.iter().map(|&at| positions[at]).collect();
        plan.together(&chosen)
    };
    match cached.ask_together(&singles, &combine) {
        // Each is asked about by itself then, and that says what is wrong.
        Ok(()) | Err(Error::Model(_)) => Ok(true),
        Err(error @ Error::BudgetReached { .. }) => {
            let mut work = lock(work);
            work.called.left += positions.len();
            work.called.stopped.get_or_insert(error);
            Ok(false)
        }
        Err(error) => {
            lock(work).called.stopped.get_or_insert(Error::Interrupted);
            Err(error)
        }
    }
}

/// Asks about one passage. Only a failure of the store ends the run.
fn one(
    plan: &Plan,
    position: usize,
    work: &Mutex<Work>,
    cached: &CachedModel<'_>,
    progress: &dyn Progress,
) -> Result<()> {
    let item = &plan.items[position];
    let look = |request: &ChatRequest, asked: Asked| -> Result<Looked> {
        let found = match asked {
            Asked::Alone => cached.try_ask(request, Some(&item.uri), &mut |_| {})?,
            Asked::Anyhow => cached.try_ask_any(request, Some(&item.uri))?,
        };
        Ok(found.map_or(Looked::Busy, Looked::Found))
    };
    let failed = |reason: String, text: String| FailedPassage {
        uri: item.uri.clone(),
        start: item.passage.parts[0].0.start,
        reason,
        text,
    };
    let derived = match plan.follow(item, &look) {
        // What was read counts by itself; what could not be is a failure like any other.
        Ok(Derived::Read {
            lack: Some(lack), ..
        }) => Ok(*lack),
        derived => derived,
    };
    let mut rejected = Vec::new();
    {
        let mut work = lock(work);
        match derived {
            Ok(Derived::Busy | Derived::Missing) => {
                work.queue.push_back(vec![position]);
                work.busy += 1;
                let is_all_busy = work.busy > work.queue.len();
                drop(work);
                if is_all_busy {
                    std::thread::sleep(BUSY_PAUSE);
                }
                return Ok(());
            }
            Ok(Derived::Read { is_repaired, .. }) => {
                work.called.extracted += 1;
                work.called.repaired += usize::from(is_repaired);
                work.silence.break_off();
            }
            Ok(Derived::Unreadable {
                reason,
                text,
                replies,
            }) => {
                rejected.extend(replies.into_iter().map(|id| (id, reason.clone())));
                work.silence.break_off();
                work.called.failed.push(failed(reason, text));
            }
            // On its way when the others were given up: nobody is there for it either.
            Err(Error::Model(_)) if matches!(work.called.stopped, Some(Error::Model(_))) => {
                work.called.left += 1;
            }
            Err(Error::Model(error)) => {
                let reason = error.message.clone();
                work.called.failed.push(failed(reason, String::new()));
                if work.silence.goes_on(error.kind) {
                    // Nothing is wrong with these passages: they were not asked about.
                    let count = work.silence.length();
                    let kept = work.called.failed.len() - count;
                    work.called.failed.truncate(kept);
                    work.called.left += count;
                    work.called.stopped.get_or_insert(Error::Model(error));
                }
            }
            Err(error @ Error::BudgetReached { .. }) => {
                work.called.left += 1;
                work.called.stopped.get_or_insert(error);
            }
            Err(error) => {
                work.called.stopped.get_or_insert(Error::Interrupted);
                return Err(error);
            }
        }
    }
    for (id, reason) in rejected {
        cached.cache().reject(id, &reason)?;
    }
    progress.advance(1);
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
