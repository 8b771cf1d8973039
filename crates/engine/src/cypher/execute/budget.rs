use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::cypher::error::{CypherError, ErrorKind, Result};
use crate::cypher::value::Value;

/// What a query may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Rows of the answer.
    pub rows: u64,
    pub time: Duration,
    /// Bytes of what is held back: groups, sorted rows, what `DISTINCT` has seen.
    pub memory: u64,
    /// Relationships of one walk.
    pub hops: u32,
}

impl Default for Limits {
    /// 10,000 rows, 10 seconds, 256 MB, 64 hops.
    fn default() -> Self {
        Self {
            rows: 10_000,
            time: Duration::from_secs(10),
            memory: 256 << 20,
            hops: 64,
        }
    }
}

/// What is left of the limits.
pub(super) struct Budget {
    pub limits: Limits,
    started: Instant,
    ticks: Cell<u32>,
    bytes: Cell<u64>,
}

/// The clock is read once in so many steps.
const STEPS_BETWEEN_LOOKS: u32 = 64;
/// Bytes that cost as much time as a step.
const BYTES_OF_A_STEP: u64 = 4_096;

impl Budget {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            started: Instant::now(),
            ticks: Cell::new(0),
            bytes: Cell::new(0),
        }
    }

    /// Counts one step.
    pub(super) fn tick(&self) -> Result<()> {
        self.spend(1)
    }

    /// Counts the work of making a value: one step, and more for a large one.
    pub(super) fn weigh(&self, value: &Value) -> Result<()> {
        self.spend(1 + steps_for(value.bytes()))
    }

    /// Looks at the clock at once.
    pub(super) fn look(&self) -> Result<()> {
        self.spend(STEPS_BETWEEN_LOOKS)
    }

    fn spend(&self, steps: u32) -> Result<()> {
        let ticks = self.ticks.get().saturating_add(steps);
        if ticks < STEPS_BETWEEN_LOOKS {
            self.ticks.set(ticks);
            return Ok(());
        }
        self.ticks.set(0);
        if self.started.elapsed() > self.limits.time {
            return Err(exceeded(
                "TimeLimit",
                format!(
                    "the query took more than {} ms: start from a property or label that few nodes have, \
                     bound the hops, or allow more time",
                    self.limits.time.as_millis()
                ),
            ));
        }
        Ok(())
    }

    /// Counts memory that is held until the query ends.
    pub(super) fn hold(&self, bytes: u64) -> Result<()> {
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
