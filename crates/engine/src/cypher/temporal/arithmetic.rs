use std::sync::Arc;

use super::calendar::plus_months;
use super::duration::overflow;
use super::zone::Zone;
use super::{
    Duration, LocalDateTime, NANOS_PER_DAY, NANOS_PER_SECOND, OffsetTime, SECONDS_PER_DAY,
    Temporal, check_days,
};
use crate::cypher::error::Result;

/// A point in time moved by a duration, or back by it: months first, then days, then seconds.
pub(in crate::cypher) fn plus(
    temporal: &Temporal,
    duration: &Duration,
    back: bool,
) -> Result<Temporal> {
    let duration = if back { duration.negated()? } else { *duration };
    Ok(match temporal {
        Temporal::Date(days) => {
            // A date has no hours, so only whole days of them count.
            let extra = duration.seconds / SECONDS_PER_DAY;
            Temporal::Date(plus_days(*days, &duration, extra)?)
        }
        Temporal::LocalTime(nanos) => Temporal::LocalTime(plus_nanos(*nanos, &duration)),
        Temporal::Time(time) => Temporal::Time(OffsetTime {
            nanos: plus_nanos(time.nanos, &duration),
            offset: time.offset,
        }),
        Temporal::LocalDateTime(local) => {
            let moved = LocalDateTime {
                days: plus_days(local.days, &duration, 0)?,
                nanos: local.nanos,
            };
            let moved = LocalDateTime::from_nanos(moved.total_nanos() + exact_nanos(&duration));
            check_days(moved.days)?;
            Temporal::LocalDateTime(moved)
        }
        Temporal::DateTime(full) => {
            let zone = Zone::of_date_time(full)?;
            let mut moved = full.as_ref().clone();
            if duration.months != 0 || duration.days != 0 {
                moved = zone.at_local(LocalDateTime {
                    days: plus_days(full.local.days, &duration, 0)?,
                    nanos: full.local.nanos,
                })?;
            }
            let moved = zone.at_instant(moved.utc_nanos() + exact_nanos(&duration))?;
            check_days(moved.local.days)?;
            Temporal::DateTime(Arc::new(moved))
        }
    })
}

/// A duration times a number.
pub(in crate::cypher) fn scaled(duration: &Duration, factor: f64) -> Result<Duration> {
    duration.times(factor)
}

fn plus_days(days: i64, duration: &Duration, extra: i64) -> Result<i64> {
    const MOST_MONTHS: i64 = 24_000_000_000;
    if duration.months.abs() > MOST_MONTHS {
        return Err(overflow());
    }
    let days = plus_months(days, duration.months);
    let moved = days
        .checked_add(duration.days)
        .and_then(|days| days.checked_add(extra));
    check_days(moved.ok_or_else(overflow)?)
}

fn plus_nanos(nanos: i64, duration: &Duration) -> i64 {
    let total = i128::from(nanos) + exact_nanos(duration);
    total.rem_euclid(i128::from(NANOS_PER_DAY)) as i64
}

fn exact_nanos(duration: &Duration) -> i128 {
    i128::from(duration.seconds) * i128::from(NANOS_PER_SECOND) + i128::from(duration.nanos)
}
