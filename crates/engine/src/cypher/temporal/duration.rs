use std::cmp::Ordering;

use super::{NANOS_PER_SECOND, SECONDS_PER_DAY};
use crate::cypher::error::{CypherError, ErrorKind, Result};

/// An amount of time in parts that do not convert exactly: months, days, and seconds with nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Duration {
    pub months: i64,
    pub days: i64,
    pub seconds: i64,
    /// Of the second, never negative.
    pub nanos: i32,
}

/// Of a mean month of the Gregorian calendar.
const SECONDS_PER_MONTH: i64 = 2_629_746;

/// Amounts as they are written, before parts of a unit move into the smaller ones.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Amounts {
    pub months: f64,
    pub days: f64,
    pub seconds: f64,
    /// Whole seconds, kept apart from the fraction so that nothing is rounded.
    pub whole_seconds: i64,
    pub nanos: i64,
}

impl Duration {
    /// From parts in which nanoseconds may be of any size and sign.
    pub(super) fn new(months: i64, days: i64, seconds: i128, nanos: i128) -> Result<Self> {
        let total = seconds * i128::from(NANOS_PER_SECOND) + nanos;
        Ok(Self {
            months,
            days,
            seconds: i64::try_from(total.div_euclid(i128::from(NANOS_PER_SECOND)))
                .map_err(|_| overflow())?,
            nanos: total.rem_euclid(i128::from(NANOS_PER_SECOND)) as i32,
        })
    }

    /// Parts of a month move into days and parts of a day into seconds.
    pub(super) fn from_amounts(amounts: Amounts) -> Result<Self> {
        let months = amounts.months.trunc();
        let days = (amounts.months - months) * SECONDS_PER_MONTH as f64 / SECONDS_PER_DAY as f64
            + amounts.days;
        let whole_days = days.trunc();
        let seconds = (days - whole_days) * SECONDS_PER_DAY as f64 + amounts.seconds;
        let whole_seconds = seconds.trunc();
        let nanos = ((seconds - whole_seconds) * 1e9).round();
        Self::new(
            whole(months)?,
            whole(whole_days)?,
            i128::from(whole(whole_seconds)?) + i128::from(amounts.whole_seconds),
            nanos as i128 + i128::from(amounts.nanos),
        )
    }

    pub(in crate::cypher) fn plus(&self, other: &Self) -> Result<Self> {
        Self::new(
            self.months.checked_add(other.months).ok_or_else(overflow)?,
            self.days.checked_add(other.days).ok_or_else(overflow)?,
            i128::from(self.seconds) + i128::from(other.seconds),
            i128::from(self.nanos) + i128::from(other.nanos),
        )
    }

    pub(in crate::cypher) fn negated(&self) -> Result<Self> {
        Self::new(
            self.months.checked_neg().ok_or_else(overflow)?,
            self.days.checked_neg().ok_or_else(overflow)?,
            -i128::from(self.seconds),
            -i128::from(self.nanos),
        )
    }

    /// Each part times a number.
    pub(super) fn times(&self, factor: f64) -> Result<Self> {
        let months = self.months as f64 * factor;
        let whole_months = months.trunc();
        let days = self.days as f64 * factor
            + (months - whole_months) * SECONDS_PER_MONTH as f64 / SECONDS_PER_DAY as f64;
        let whole_days = days.trunc();
        let seconds = self.seconds as f64 * factor + (days - whole_days) * SECONDS_PER_DAY as f64;
        let whole_seconds = seconds.trunc();
        let nanos = (seconds - whole_seconds) * 1e9 + f64::from(self.nanos) * factor;
        Self::new(
            whole(whole_months)?,
            whole(whole_days)?,
            i128::from(whole(whole_seconds)?),
            (nanos + nanos.signum() * 1e-4).trunc() as i128,
        )
    }

    /// By mean length, then by parts.
    pub fn order(&self, other: &Self) -> Ordering {
        let mean = |duration: &Self| {
            i128::from(duration.months) * i128::from(SECONDS_PER_MONTH)
                + i128::from(duration.days) * i128::from(SECONDS_PER_DAY)
                + i128::from(duration.seconds)
        };
        let parts = |duration: &Self| (duration.nanos, duration.months, duration.days);
        (mean(self), parts(self)).cmp(&(mean(other), parts(other)))
    }
}

fn whole(value: f64) -> Result<i64> {
    if value.is_finite() && value.abs() < 9.2e18 {
        Ok(value as i64)
    } else {
        Err(overflow())
    }
}

pub(super) fn overflow() -> CypherError {
    CypherError::runtime(
        ErrorKind::ArgumentError,
        "NumberOutOfRange",
        "the duration is too long",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_unit_move_into_the_smaller_ones() {
        #[track_caller]
        fn check(amounts: Amounts, expected: &str) {
            assert_eq!(
                Duration::from_amounts(amounts).unwrap().to_string(),
                expected
            );
        }
        let none = Amounts::default();
        check(
            Amounts {
                months: 0.75,
                ..none
            },
            "P22DT19H51M49.5S",
        );
        check(Amounts { days: 17.5, ..none }, "P17DT12H");
        check(
            Amounts {
                seconds: -1.25,
                ..none
            },
            "PT-1.25S",
        );
        check(
            Amounts {
                months: 12.0,
                nanos: -1,
                ..none
            },
            "P1YT-0.000000001S",
        );
    }
}
