//! Dates, times and durations of openCypher.
//!
//! Years reach from -999,999,999 to 999,999,999, so days are counted by our own calendar; named time zones
//! are `jiff`'s.

mod access;
mod arithmetic;
mod between;
mod calendar;
mod construct;
mod duration;
mod parse;
mod show;
mod truncate;
mod zone;

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub(super) use access::component;
pub(super) use arithmetic::{plus, scaled};
pub(super) use between::{Unit, between};
pub(super) use construct::{construct, convert, from_epoch};
pub use duration::Duration;
pub(super) use parse::parse;
pub(super) use truncate::truncate;
pub(super) use zone::zone_of;

pub(super) const NANOS_PER_SECOND: i64 = 1_000_000_000;
pub(super) const SECONDS_PER_DAY: i64 = 86_400;
pub(super) const NANOS_PER_DAY: i64 = NANOS_PER_SECOND * SECONDS_PER_DAY;
/// First and last day that a date can have.
const DAYS: std::ops::RangeInclusive<i64> = -365_243_219_162..=365_241_780_471;

/// A point in time, as far as it is stated.
#[derive(Debug, Clone, PartialEq)]
pub enum Temporal {
    Date(i64),
    /// Nanoseconds of the day.
    LocalTime(i64),
    Time(OffsetTime),
    LocalDateTime(LocalDateTime),
    DateTime(Arc<DateTime>),
}

/// A time of day with the seconds that its clock is ahead of UTC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OffsetTime {
    pub nanos: i64,
    pub offset: i32,
}

/// Days since 1970-01-01 and nanoseconds of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocalDateTime {
    pub days: i64,
    pub nanos: i64,
}

/// What a clock shows, how many seconds it is ahead of UTC, and the zone that says so.
#[derive(Debug, Clone, PartialEq)]
pub struct DateTime {
    pub local: LocalDateTime,
    pub offset: i32,
    /// Its name, for zones that have one.
    pub zone: Option<Arc<str>>,
}

/// A kind of [`Temporal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemporalType {
    Date,
    LocalTime,
    Time,
    LocalDateTime,
    DateTime,
}

impl TemporalType {
    /// Whether it says a day.
    pub(super) fn has_date(self) -> bool {
        matches!(self, Self::Date | Self::LocalDateTime | Self::DateTime)
    }

    /// Whether it says an offset.
    pub(super) fn has_zone(self) -> bool {
        matches!(self, Self::Time | Self::DateTime)
    }
}

impl Temporal {
    /// The instant that long after 1970 began, in UTC.
    pub fn from_millis(millis: i64) -> super::error::Result<Self> {
        from_epoch(
            millis.div_euclid(1_000),
            millis.rem_euclid(1_000) * 1_000_000,
        )
    }

    /// Its kind.
    pub fn kind(&self) -> TemporalType {
        match self {
            Self::Date(_) => TemporalType::Date,
            Self::LocalTime(_) => TemporalType::LocalTime,
            Self::Time(_) => TemporalType::Time,
            Self::LocalDateTime(_) => TemporalType::LocalDateTime,
            Self::DateTime(_) => TemporalType::DateTime,
        }
    }

    /// Name of its type, for messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Date(_) => "a date",
            Self::LocalTime(_) => "a local time",
            Self::Time(_) => "a time",
            Self::LocalDateTime(_) => "a local date and time",
            Self::DateTime(_) => "a date and time",
        }
    }

    /// Place of its type in the order of all values.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::DateTime(_) => 0,
            Self::LocalDateTime(_) => 1,
            Self::Date(_) => 2,
            Self::Time(_) => 3,
            Self::LocalTime(_) => 4,
        }
    }

    /// Its day.
    pub(super) fn days(&self) -> Option<i64> {
        match self {
            Self::Date(days) => Some(*days),
            Self::LocalDateTime(local) => Some(local.days),
            Self::DateTime(full) => Some(full.local.days),
            Self::LocalTime(_) | Self::Time(_) => None,
        }
    }

    /// Its nanoseconds of the day.
    pub(super) fn nanos(&self) -> Option<i64> {
        match self {
            Self::Date(_) => None,
            Self::LocalTime(nanos) => Some(*nanos),
            Self::Time(time) => Some(time.nanos),
            Self::LocalDateTime(local) => Some(local.nanos),
            Self::DateTime(full) => Some(full.local.nanos),
        }
    }

    /// Its offset.
    pub(super) fn offset(&self) -> Option<i32> {
        match self {
            Self::Time(time) => Some(time.offset),
            Self::DateTime(full) => Some(full.offset),
            _ => None,
        }
    }

    /// Equal instants have equal hashes.
    pub(super) fn hash_instant<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Date(days) => days.hash(state),
            Self::LocalTime(nanos) => nanos.hash(state),
            Self::Time(time) => time.utc_nanos().hash(state),
            Self::LocalDateTime(local) => (local.days, local.nanos).hash(state),
            Self::DateTime(full) => full.utc_nanos().hash(state),
        }
    }
}

impl OffsetTime {
    pub(super) fn utc_nanos(self) -> i64 {
        self.nanos - i64::from(self.offset) * NANOS_PER_SECOND
    }
}

impl LocalDateTime {
    /// Nanoseconds since 1970-01-01T00:00.
    pub(super) fn total_nanos(self) -> i128 {
        i128::from(self.days) * i128::from(NANOS_PER_DAY) + i128::from(self.nanos)
    }

    pub(super) fn from_nanos(nanos: i128) -> Self {
        let day = i128::from(NANOS_PER_DAY);
        Self {
            days: nanos.div_euclid(day) as i64,
            nanos: nanos.rem_euclid(day) as i64,
        }
    }

    pub(super) fn plus_seconds(self, seconds: i64) -> Self {
        Self::from_nanos(self.total_nanos() + i128::from(seconds) * i128::from(NANOS_PER_SECOND))
    }
}

impl DateTime {
    /// Nanoseconds since 1970-01-01T00:00Z.
    pub(super) fn utc_nanos(&self) -> i128 {
        self.local.total_nanos() - i128::from(self.offset) * i128::from(NANOS_PER_SECOND)
    }
}

/// `<` and `=`: `None` for values of different types.
pub(super) fn compare(left: &Temporal, right: &Temporal) -> Option<Ordering> {
    match (left, right) {
        (Temporal::Date(a), Temporal::Date(b))
        | (Temporal::LocalTime(a), Temporal::LocalTime(b)) => Some(a.cmp(b)),
        (Temporal::Time(a), Temporal::Time(b)) => Some(a.utc_nanos().cmp(&b.utc_nanos())),
        (Temporal::LocalDateTime(a), Temporal::LocalDateTime(b)) => Some(a.cmp(b)),
        (Temporal::DateTime(a), Temporal::DateTime(b)) => Some(a.utc_nanos().cmp(&b.utc_nanos())),
        _ => None,
    }
}

/// The order of `ORDER BY`.
pub(super) fn order(left: &Temporal, right: &Temporal) -> Ordering {
    compare(left, right).unwrap_or_else(|| left.rank().cmp(&right.rank()))
}

fn out_of_range(what: &str, value: impl std::fmt::Display) -> super::error::CypherError {
    super::error::CypherError::argument(format!("{value} is no {what}"))
}

fn check_days(days: i64) -> super::error::Result<i64> {
    if DAYS.contains(&days) {
        Ok(days)
    } else {
        Err(out_of_range("day of the calendar", days))
    }
}
