use crate::types::{Times, Timestamp};

/// A point in both times: what held in the world at `valid`, as far as was known at `known`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub valid: Timestamp,
    pub known: Timestamp,
}

impl Moment {
    /// What holds now, by everything recorded and not retracted. `known` is the end of time, so a clock that
    /// was set back hides nothing.
    pub fn present(now: Timestamp) -> Self {
        Self {
            valid: now,
            known: Timestamp(i64::MAX - 1),
        }
    }

    /// The moment that `times` name when it is `now`. Asked only what was known at a time, the question is
    /// about what held then.
    pub fn of(times: Times, now: Timestamp) -> Self {
        Self {
            valid: times.as_of.or(times.known_at).unwrap_or(now),
            known: times.known_at.unwrap_or(Self::present(now).known),
        }
    }
}

/// The four times of a relation version as two half-open windows; an open start is `i64::MIN`, an open end
/// `i64::MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Window {
    pub valid_from: i64,
    pub valid_to: i64,
    pub recorded_at: i64,
    pub retracted_at: i64,
}

impl Window {
    /// From the columns of the store, where nothing means open.
    pub fn new(
        valid_from: Option<Timestamp>,
        valid_to: Option<Timestamp>,
        recorded_at: Timestamp,
        retracted_at: Option<Timestamp>,
    ) -> Self {
        Self {
            valid_from: valid_from.map_or(i64::MIN, |time| time.0),
            valid_to: valid_to.map_or(i64::MAX, |time| time.0),
            recorded_at: recorded_at.0,
            retracted_at: retracted_at.map_or(i64::MAX, |time| time.0),
        }
    }

    /// The four times in the order of the fields.
    pub(super) fn times(self) -> [i64; 4] {
        [
            self.valid_from,
            self.valid_to,
            self.recorded_at,
            self.retracted_at,
        ]
    }

    /// What [`Window::times`] gave.
    pub(super) fn from_times([valid_from, valid_to, recorded_at, retracted_at]: [i64; 4]) -> Self {
        Self {
            valid_from,
            valid_to,
            recorded_at,
            retracted_at,
        }
    }

    /// All of both times.
    pub(super) const ALWAYS: Self = Self {
        valid_from: i64::MIN,
        valid_to: i64::MAX,
        recorded_at: i64::MIN,
        retracted_at: i64::MAX,
    };

    /// What lies in both windows.
    pub(super) fn intersect(self, other: Self) -> Self {
        Self {
            valid_from: self.valid_from.max(other.valid_from),
            valid_to: self.valid_to.min(other.valid_to),
            recorded_at: self.recorded_at.max(other.recorded_at),
            retracted_at: self.retracted_at.min(other.retracted_at),
        }
    }

    /// Whether the relation held and was known at `at`: starts count, ends do not.
    pub fn contains(&self, at: Moment) -> bool {
        self.valid_from <= at.valid.0
            && at.valid.0 < self.valid_to
            && self.recorded_at <= at.known.0
            && at.known.0 < self.retracted_at
    }
}
