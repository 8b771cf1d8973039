use std::fmt;

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(pub i64);

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC; a moment outside its years as milliseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => moment.fmt(f),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

/// The moment a question looks at, in both times. Nothing stated is the present.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// What held in the world then. Not stated: what held at `known_at`, or now.
    pub as_of: Option<Timestamp>,
    /// By what was recorded until then and not retracted. Not stated: by all that is known now.
    pub known_at: Option<Timestamp>,
}

impl Times {
    /// Whether a question looks at the present.
    pub fn is_present(self) -> bool {
        self == Self::default()
    }
}

/// When a relation held and when we knew of it: half-open, UTC in RFC 3339, and the dates as written, which
/// keep their precision and offset.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelationTimes {
    /// Open when nothing is known of the start.
    pub valid_from: Option<String>,
    pub valid_from_written: Option<String>,
    /// Open while it holds, or when nothing is known of the end.
    pub valid_to: Option<String>,
    pub valid_to_written: Option<String>,
    pub recorded_at: String,
    pub retracted_at: Option<String>,
    /// When its source was last seen to be fresh.
    pub observed_at: Option<String>,
}

/// Where "now" comes from; passed in, so that runs can be repeated.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// The clock of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(jiff::Timestamp::now().as_millisecond())
    }
}

/// How precisely a date was stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatePrecision {
    Year,
    Month,
    Day,
    Second,
}

/// A stated date: the instant its period starts, how precise it was, and the text as written
/// (which keeps the original offset).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValidDate {
    pub start: Timestamp,
    pub precision: DatePrecision,
    pub written: String,
}
