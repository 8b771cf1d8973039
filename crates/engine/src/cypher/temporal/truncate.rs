use std::collections::BTreeMap;
use std::sync::Arc;

use super::calendar::{Civil, civil_of, days_of, iso_week, quarter_start, week_year_start};
use super::construct::{clock, date};
use super::zone::{Zone, zone_of};
use super::{LocalDateTime, NANOS_PER_SECOND, OffsetTime, Temporal, TemporalType, check_days};
use crate::cypher::error::{CypherError, Result};
use crate::cypher::value::Value;

/// The start of the millennium, century, …, microsecond that a point lies in, as another kind of point and
/// with the parts of `fields` changed.
pub(in crate::cypher) fn truncate(
    unit: &str,
    temporal: &Temporal,
    fields: &BTreeMap<Arc<str>, Value>,
    kind: TemporalType,
) -> Result<Temporal> {
    let nanos = temporal.nanos();
    let truncated_nanos = nanos.map_or(0, |nanos| truncate_nanos(unit, nanos));
    let days = match temporal.days() {
        Some(days) => Some(truncate_days(unit, days)?),
        None if time_unit(unit).is_none() && unit != "day" => return Err(no_unit(unit)),
        None => None,
    };
    if kind.has_date() && days.is_none() {
        return Err(CypherError::of_type(format!(
            "{} has no date to truncate",
            temporal.type_name()
        )));
    }
    if kind == TemporalType::Date && time_unit(unit).is_some() {
        return Err(no_unit(unit));
    }
    let days = days.map(|days| date(fields, Some(days))).transpose()?;
    let nanos = clock(fields, Some(truncated_nanos))?;
    let zone = match fields.get("timezone") {
        Some(Value::String(name)) => zone_of(name)?,
        _ => match temporal {
            Temporal::DateTime(full) => Zone::of_date_time(full)?,
            _ => Zone::Offset(temporal.offset().unwrap_or(0)),
        },
    };
    let local = LocalDateTime {
        days: days.unwrap_or(0),
        nanos,
    };
    Ok(match kind {
        TemporalType::Date => Temporal::Date(local.days),
        TemporalType::LocalTime => Temporal::LocalTime(nanos),
        TemporalType::LocalDateTime => Temporal::LocalDateTime(local),
        TemporalType::Time => Temporal::Time(OffsetTime {
            nanos,
            offset: match zone {
                Zone::Offset(offset) => offset,
                Zone::Named(..) => zone.at_local(local)?.offset,
            },
        }),
        TemporalType::DateTime => Temporal::DateTime(Arc::new(zone.at_local(local)?)),
    })
}

/// Nanoseconds of a unit shorter than a day.
fn time_unit(unit: &str) -> Option<i64> {
    Some(match unit {
        "hour" => 3_600 * NANOS_PER_SECOND,
        "minute" => 60 * NANOS_PER_SECOND,
        "second" => NANOS_PER_SECOND,
        "millisecond" => 1_000_000,
        "microsecond" => 1_000,
        _ => return None,
    })
}

fn truncate_nanos(unit: &str, nanos: i64) -> i64 {
    time_unit(unit).map_or(0, |length| nanos / length * length)
}

fn truncate_days(unit: &str, days: i64) -> Result<i64> {
    let civil = civil_of(days);
    let start = |year: i64, month: i64| {
        days_of(Civil {
            year,
            month,
            day: 1,
        })
    };
    let down = |length: i64| civil.year.div_euclid(length) * length;
    let truncated = match unit {
        "millennium" => start(down(1_000), 1),
        "century" => start(down(100), 1),
        "decade" => start(down(10), 1),
        "year" => start(civil.year, 1),
        "weekYear" => week_year_start(iso_week(days).year),
        "quarter" => quarter_start(civil.year, (civil.month - 1) / 3 + 1),
        "month" => start(civil.year, civil.month),
        "week" => days - (iso_week(days).day - 1),
        "day" => days,
        unit if time_unit(unit).is_some() => days,
        unit => return Err(no_unit(unit)),
    };
    check_days(truncated)
}

fn no_unit(unit: &str) -> CypherError {
    CypherError::argument(format!(
        "{unit} is no unit to truncate to here; there are millennium, century, decade, year, weekYear, \
         quarter, month, week, day and, for times, hour, minute, second, millisecond, microsecond"
    ))
}
