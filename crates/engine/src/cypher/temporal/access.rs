use std::sync::Arc;

use super::calendar::{civil_of, iso_week, quarter_start, year_start};
use super::zone::offset_text;
use super::{Duration, NANOS_PER_SECOND, Temporal};
use crate::cypher::value::Value;

/// A part of a point in time or of a duration by name; `None` when it has no such part.
pub(in crate::cypher) fn component(value: &Value, name: &str) -> Option<Value> {
    match value {
        Value::Temporal(temporal) => of_temporal(temporal, name),
        Value::Duration(duration) => of_duration(duration, name).map(Value::Integer),
        _ => None,
    }
}

fn of_temporal(temporal: &Temporal, name: &str) -> Option<Value> {
    if let Some(days) = temporal.days()
        && let Some(part) = of_date(days, name)
    {
        return Some(Value::Integer(part));
    }
    if let Some(nanos) = temporal.nanos()
        && let Some(part) = of_time(nanos, name)
    {
        return Some(Value::Integer(part));
    }
    let offset = temporal.offset()?;
    if let Temporal::DateTime(full) = temporal {
        let utc = full.utc_nanos();
        match name {
            "epochSeconds" => {
                return Some(Value::Integer(
                    utc.div_euclid(i128::from(NANOS_PER_SECOND)) as i64
                ));
            }
            "epochMillis" => return Some(Value::Integer(utc.div_euclid(1_000_000) as i64)),
            "timezone" => {
                let zone = full.zone.clone();
                return Some(Value::String(
                    zone.unwrap_or_else(|| Arc::from(offset_text(offset))),
                ));
            }
            _ => {}
        }
    }
    match name {
        "timezone" | "offset" => Some(Value::string(offset_text(offset))),
        "offsetMinutes" => Some(Value::Integer(i64::from(offset / 60))),
        "offsetSeconds" => Some(Value::Integer(i64::from(offset))),
        _ => None,
    }
}

fn of_date(days: i64, name: &str) -> Option<i64> {
    let civil = civil_of(days);
    let quarter = (civil.month - 1) / 3 + 1;
    Some(match name {
        "year" => civil.year,
        "quarter" => quarter,
        "month" => civil.month,
        "day" => civil.day,
        "week" => iso_week(days).week,
        "weekYear" => iso_week(days).year,
        "weekDay" | "dayOfWeek" => iso_week(days).day,
        "ordinalDay" => days - year_start(civil.year) + 1,
        "dayOfQuarter" => days - quarter_start(civil.year, quarter) + 1,
        _ => return None,
    })
}

fn of_time(nanos: i64, name: &str) -> Option<i64> {
    let seconds = nanos / NANOS_PER_SECOND;
    let fraction = nanos % NANOS_PER_SECOND;
    Some(match name {
        "hour" => seconds / 3_600,
        "minute" => seconds / 60 % 60,
        "second" => seconds % 60,
        "millisecond" => fraction / 1_000_000,
        "microsecond" => fraction / 1_000,
        "nanosecond" => fraction,
        _ => return None,
    })
}

fn of_duration(duration: &Duration, name: &str) -> Option<i64> {
    let (seconds, nanos) = (duration.seconds, i64::from(duration.nanos));
    let scaled = |per_second: i64| {
        seconds
            .saturating_mul(per_second)
            .saturating_add(nanos / (NANOS_PER_SECOND / per_second))
    };
    Some(match name {
        "years" => duration.months / 12,
        "quarters" => duration.months / 3,
        "months" => duration.months,
        "weeks" => duration.days / 7,
        "days" => duration.days,
        "hours" => seconds / 3_600,
        "minutes" => seconds / 60,
        "seconds" => seconds,
        "milliseconds" => scaled(1_000),
        "microseconds" => scaled(1_000_000),
        "nanoseconds" => scaled(NANOS_PER_SECOND),
        "quartersOfYear" => duration.months / 3 % 4,
        "monthsOfQuarter" => duration.months % 3,
        "monthsOfYear" => duration.months % 12,
        "daysOfWeek" => duration.days % 7,
        "minutesOfHour" => seconds / 60 % 60,
        "secondsOfMinute" => seconds % 60,
        "millisecondsOfSecond" => nanos / 1_000_000,
        "microsecondsOfSecond" => nanos / 1_000,
        "nanosecondsOfSecond" => nanos,
        _ => return None,
    })
}
