use std::cell::Cell;
use std::time::{Duration, Instant};

use super::error::{CypherError, ErrorKind, Result};
use super::value::Value;
use crate::types::Cancel;

/// What a query may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Rows of the answer.
    pub rows: u64,
    pub time: Duration,
    /// Bytes of what is held back: groups, sorted rows, what `DISTINCT` has seen.
    pub memory: u64,
    /// Relationships of one walk.
    pub hops: u32,
    /// Ends it before its time.
    pub cancel: Cancel,
}

impl Default for Limits {
    /// 10,000 rows, 10 seconds, 256 MB, 64 hops.
    fn default() -> Self {
        Self {
            rows: 10_000,
            time: Duration::from_secs(10),
            memory: 256 << 20,
            hops: 64,
            cancel: Cancel::default(),
        }
    }
}

/// What is left of the limits.
#[derive(Debug)]
pub struct Budget {
    pub(super) limits: Limits,
    started: Instant,
    ticks: Cell<u32>,
    bytes: Cell<u64>,
    depth: Cell<u32>,
}

/// The clock is read once in so many steps.
const STEPS_BETWEEN_LOOKS: u32 = 64;
/// Clauses, parts of patterns and hops that are searched inside each other: each takes a part of the stack.
const MOST_DEPTH: u32 = 300;
/// Bytes that cost as much time as a step.
const BYTES_OF_A_STEP: u64 = 4_096;

impl Budget {
    /// All of it: the time begins now.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            started: Instant::now(),
            ticks: Cell::new(0),
            bytes: Cell::new(0),
            depth: Cell::new(0),
        }
    }

    /// Counts one step.
    ///
    /// # Errors
    /// The time is over, or someone asked to stop.
    pub fn tick(&self) -> Result<()> {
        self.spend(1)
    }

    /// Counts the work of making a value: one step, and more for a large one.
    pub(super) fn weigh(&self, value: &Value) -> Result<()> {
        self.spend(1 + steps_for(value.bytes()))
    }

    /// Goes one clause, part of a pattern or hop deeper; [`Budget::leave`] comes back.
    pub(super) fn enter(&self) -> Result<()> {
        let depth = self.depth.get() + 1;
        self.depth.set(depth);
        if depth > MOST_DEPTH {
            return Err(exceeded(
                "DepthLimit",
                format!(
                    "more than {MOST_DEPTH} clauses, parts of patterns and hops are searched inside each other"
                ),
            ));
        }
        Ok(())
    }

    /// See [`Budget::enter`]. After an error there is nothing to come back to.
    pub(super) fn leave(&self) {
        self.depth.set(self.depth.get() - 1);
    }

    /// Counts so many steps.
    pub(super) fn ticks(&self, steps: usize) -> Result<()> {
        self.spend(u32::try_from(steps).unwrap_or(u32::MAX))
    }

    /// Looks at the clock at once.
    ///
    /// # Errors
    /// Those of [`Budget::tick`].
    pub fn look(&self) -> Result<()> {
        self.spend(STEPS_BETWEEN_LOOKS)
    }

    fn spend(&self, steps: u32) -> Result<()> {
        let ticks = self.ticks.get().saturating_add(steps);
        if ticks < STEPS_BETWEEN_LOOKS {
            self.ticks.set(ticks);
            return Ok(());
        }
        self.ticks.set(0);
        self.limits.cancel.go_on()?;
        if self.started.elapsed() > self.limits.time {
            return Err(self.out_of_time());
        }
        Ok(())
    }

    /// The error for a query whose time is over.
    fn out_of_time(&self) -> CypherError {
        exceeded(
            "TimeLimit",
            format!(
                "the query took more than {} ms: start from a property or label that few nodes have, bound the \
                 hops, or allow more time",
                self.limits.time.as_millis()
            ),
        )
    }

    /// What reading the graph said, or the limit that it was stopped for.
    pub(crate) fn explained(&self, error: CypherError) -> CypherError {
        let is_stopped = matches!(error.cause.as_deref(), Some(crate::Error::Interrupted));
        if is_stopped && !self.limits.cancel.is_cancelled() {
            return self.out_of_time();
        }
        error
    }

    /// Whether work that can only be told to stop should: the time is over, or someone asked. May be asked from
    /// another thread.
    pub fn stop(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let until = self.started.checked_add(self.limits.time);
        let cancel = self.limits.cancel.clone();
        move || cancel.is_cancelled() || until.is_some_and(|until| Instant::now() > until)
    }

    /// Counts memory that is held until the query ends.
    ///
    /// # Errors
    /// There is no more, or those of [`Budget::tick`].
    pub fn hold(&self, bytes: u64) -> Result<()> {
        let held = self.bytes.get().saturating_add(bytes);
        self.bytes.set(held);
        if held > self.limits.memory {
            return Err(exceeded(
                "MemoryLimit",
                format!(
                    "the query holds more than {} MB: sort, group or collect fewer rows",
                    self.limits.memory >> 20
                ),
            ));
        }
        self.spend(steps_for(bytes))
    }

    /// Gives back memory that is held no more.
    pub(super) fn release(&self, bytes: u64) {
        self.bytes.set(self.bytes.get().saturating_sub(bytes));
    }

    /// The error for one row more than may be returned.
    pub(super) fn too_many_rows(&self) -> CypherError {
        exceeded(
            "RowLimit",
            format!(
                "there are more than {} rows: add LIMIT, or allow more",
                self.limits.rows
            ),
        )
    }

    /// The error for a walk that could go on.
    pub(super) fn too_many_hops(&self) -> CypherError {
        exceeded(
            "HopLimit",
            format!(
                "the pattern goes on past {} hops: bound it, as in [*..5], or allow more",
                self.limits.hops
            ),
        )
    }
}

fn steps_for(bytes: u64) -> u32 {
    u32::try_from(bytes / BYTES_OF_A_STEP).unwrap_or(STEPS_BETWEEN_LOOKS)
}

fn exceeded(detail: &'static str, message: String) -> CypherError {
    CypherError::runtime(ErrorKind::LimitExceeded, detail, message)
}
