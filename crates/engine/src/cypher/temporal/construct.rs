use std::collections::BTreeMap;
use std::sync::Arc;

use super::calendar::{
    Civil, civil_of, days_in_month, days_in_year, days_of, iso_week, quarter_start,
    week_year_start, weeks_in_year, year_start,
};
use super::duration::Amounts;
use super::zone::{Zone, zone_of};
use super::{
    DateTime, Duration, LocalDateTime, NANOS_PER_SECOND, OffsetTime, Temporal, TemporalType,
    check_days, out_of_range,
};
use crate::cypher::error::{CypherError, Result};
use crate::cypher::value::Value;

type Fields = BTreeMap<Arc<str>, Value>;

/// A point in time from parts by name: `date({year: 2015, week: 30})`, with parts of another one where it is
/// given as `date`, `time` or `datetime`. `today` is the day whose offset a named zone has in a `time`.
pub(in crate::cypher) fn construct(
    fields: &Fields,
    kind: TemporalType,
    today: i64,
) -> Result<Temporal> {
    let mut base = Base::of(fields)?;
    if !kind.has_date() {
        // Without a day a zone is what it was on the other one's day.
        base.zone = base.offset.map(Zone::Offset);
    }
    let zone = match fields.get("timezone") {
        Some(Value::String(name)) if kind.has_zone() => Some(zone_of(name)?),
        Some(Value::String(_)) | None => None,
        Some(other) => return Err(not_a("time zone", other)),
    };
    if !kind.has_date() && !has_any(fields, &["hour", "time", "datetime"]) {
        return Err(CypherError::argument("a time needs an hour"));
    }
    if kind.has_date() && !has_any(fields, &["year", "date", "datetime"]) {
        return Err(CypherError::argument("a date needs a year"));
    }
    let zone_of_base = base.zone.clone();
    let target = zone.clone().or(zone_of_base.clone()).unwrap_or(Zone::UTC);
    let mut days = base.days;
    let mut nanos = base.nanos;
    // Another clock shows the same instant otherwise; only then the parts that are given come in.
    if let (Some(given), Some(of_base), Some(base_nanos)) = (&zone, &zone_of_base, nanos) {
        let day = days.unwrap_or(today);
        let day = if kind.has_date() && !fields.contains_key("datetime") {
            date(fields, days).unwrap_or(day)
        } else {
            day
        };
        let from = of_base.at_local(LocalDateTime {
            days: day,
            nanos: base_nanos,
        })?;
        let moved = given.at_instant(from.utc_nanos())?.local;
        nanos = Some(moved.nanos);
        days = days.map(|_| moved.days);
    }
    Ok(match kind {
        TemporalType::Date => Temporal::Date(date(fields, days)?),
        TemporalType::LocalTime => Temporal::LocalTime(clock(fields, nanos)?),
        TemporalType::LocalDateTime => Temporal::LocalDateTime(LocalDateTime {
            days: date(fields, days)?,
            nanos: clock(fields, nanos)?,
        }),
        TemporalType::Time => {
            let nanos = clock(fields, nanos)?;
            let local = LocalDateTime {
                days: base.days.unwrap_or(today),
                nanos,
            };
            Temporal::Time(OffsetTime {
                nanos,
                offset: target.at_local(local)?.offset,
            })
        }
        TemporalType::DateTime => {
            let local = LocalDateTime {
                days: date(fields, days)?,
                nanos: clock(fields, nanos)?,
            };
            Temporal::DateTime(Arc::new(target.at_local(local)?))
        }
    })
}

/// A point in time as another kind: what it lacks is midnight or UTC; what it has too much is dropped.
pub(in crate::cypher) fn convert(temporal: &Temporal, kind: TemporalType) -> Result<Temporal> {
    let lacks =
        |what: &str| CypherError::of_type(format!("{} has no {what}", temporal.type_name()));
    let days = || temporal.days().ok_or_else(|| lacks("date"));
    Ok(match kind {
        TemporalType::Date => Temporal::Date(days()?),
        TemporalType::LocalTime => {
            Temporal::LocalTime(temporal.nanos().ok_or_else(|| lacks("time"))?)
        }
        TemporalType::Time => Temporal::Time(OffsetTime {
            nanos: temporal.nanos().ok_or_else(|| lacks("time"))?,
            offset: temporal.offset().unwrap_or(0),
        }),
        TemporalType::LocalDateTime => Temporal::LocalDateTime(LocalDateTime {
            days: days()?,
            nanos: temporal.nanos().unwrap_or(0),
        }),
        TemporalType::DateTime => match temporal {
            Temporal::DateTime(full) => Temporal::DateTime(Arc::clone(full)),
            _ => Temporal::DateTime(Arc::new(DateTime {
                local: LocalDateTime {
                    days: days()?,
                    nanos: temporal.nanos().unwrap_or(0),
                },
                offset: 0,
                zone: None,
            })),
        },
    })
}

/// The instant that long after 1970 began, in UTC.
pub(in crate::cypher) fn from_epoch(seconds: i64, nanos: i64) -> Result<Temporal> {
    let total = i128::from(seconds) * i128::from(NANOS_PER_SECOND) + i128::from(nanos);
    let local = LocalDateTime::from_nanos(total);
    check_days(local.days)?;
    Ok(Temporal::DateTime(Arc::new(DateTime {
        local,
        offset: 0,
        zone: None,
    })))
}

/// What the fields `date`, `time` and `datetime` give.
#[derive(Default)]
struct Base {
    days: Option<i64>,
    nanos: Option<i64>,
    zone: Option<Zone>,
    offset: Option<i32>,
}

impl Base {
    fn of(fields: &Fields) -> Result<Self> {
        let mut base = Self::default();
        for (name, wants_date, wants_time) in [
            ("date", true, false),
            ("time", false, true),
            ("datetime", true, true),
        ] {
            let temporal = match fields.get(name) {
                Some(Value::Temporal(temporal)) => temporal,
                Some(Value::Null) | None => continue,
                Some(other) => return Err(not_a("point in time", other)),
            };
            if wants_date {
                let days = temporal.days();
                base.days = Some(days.ok_or_else(|| {
                    CypherError::of_type(format!("{} has no date", temporal.type_name()))
                })?);
            }
            if wants_time {
                base.nanos = temporal.nanos();
                if base.nanos.is_none() {
                    return Err(CypherError::of_type(format!(
                        "{} has no time",
                        temporal.type_name()
                    )));
                }
                base.offset = temporal.offset();
                base.zone = match temporal {
                    Temporal::DateTime(full) => Some(Zone::of_date_time(full)?),
                    Temporal::Time(time) => Some(Zone::Offset(time.offset)),
                    _ => None,
                };
            }
        }
        Ok(base)
    }
}

/// The day that the fields say; what they leave out comes from `base`.
pub(super) fn date(fields: &Fields, base: Option<i64>) -> Result<i64> {
    let field = |name: &str| integer(fields, name);
    let days = if has_any(fields, &["week", "dayOfWeek"]) {
        let base = base.map(iso_week);
        let year = field("year")?
            .or(base.map(|week| week.year))
            .unwrap_or(1970);
        let week = field("week")?.or(base.map(|week| week.week)).unwrap_or(1);
        let day = field("dayOfWeek")?
            .or(base.map(|week| week.day))
            .unwrap_or(1);
        check_year(year)?;
        within("week", week, 1, weeks_in_year(year))?;
        within("day of a week", day, 1, 7)?;
        week_year_start(year) + (week - 1) * 7 + day - 1
    } else {
        let civil = base.map(civil_of);
        let year = field("year")?
            .or(civil.map(|civil| civil.year))
            .unwrap_or(1970);
        check_year(year)?;
        if let Some(day) = field("ordinalDay")? {
            within("day of a year", day, 1, days_in_year(year))?;
            year_start(year) + day - 1
        } else if has_any(fields, &["quarter", "dayOfQuarter"]) {
            let base_quarter = civil.map(|civil| (civil.month - 1) / 3 + 1);
            let quarter = field("quarter")?.or(base_quarter).unwrap_or(1);
            within("quarter", quarter, 1, 4)?;
            let base_day = match (base, civil, base_quarter) {
                (Some(days), Some(civil), Some(quarter)) => {
                    Some(days - quarter_start(civil.year, quarter) + 1)
                }
                _ => None,
            };
            let day = field("dayOfQuarter")?.or(base_day).unwrap_or(1);
            let length = if quarter == 4 {
                92
            } else {
                quarter_start(year, quarter + 1) - quarter_start(year, quarter)
            };
            within("day of a quarter", day, 1, length)?;
            quarter_start(year, quarter) + day - 1
        } else {
            let month = field("month")?
                .or(civil.map(|civil| civil.month))
                .unwrap_or(1);
            within("month", month, 1, 12)?;
            let day = field("day")?.or(civil.map(|civil| civil.day)).unwrap_or(1);
            within("day of a month", day, 1, days_in_month(year, month))?;
            days_of(Civil { year, month, day })
        }
    };
    check_days(days)
}

/// The time of day that the fields say; what they leave out comes from `base`.
pub(super) fn clock(fields: &Fields, base: Option<i64>) -> Result<i64> {
    let base = base.unwrap_or(0);
    let (seconds, fraction) = (base / NANOS_PER_SECOND, base % NANOS_PER_SECOND);
    let part = |name: &str, base: i64, most: i64| -> Result<i64> {
        let value = integer(fields, name)?;
        let value = value.unwrap_or(base);
        within(name, value, 0, most)?;
        Ok(value)
    };
    let hour = part("hour", seconds / 3_600, 23)?;
    let minute = part("minute", seconds / 60 % 60, 59)?;
    let second = part("second", seconds % 60, 59)?;
    let (milli, micro, nano) = (
        integer(fields, "millisecond")?,
        integer(fields, "microsecond")?,
        integer(fields, "nanosecond")?,
    );
    // The finest unit that is given may be as large as the coarser ones that are not.
    let nanos = if let (None, None, None) = (milli, micro, nano) {
        fraction
    } else {
        let milli_part = match milli {
            Some(value) => {
                within("millisecond", value, 0, 999)?;
                value
            }
            None if micro.is_some_and(|value| value > 999) => 0,
            None if micro.is_none() && nano.is_some_and(|value| value > 999) => 0,
            None => fraction / 1_000_000,
        };
        let micro_part = match micro {
            Some(value) => {
                within(
                    "microsecond",
                    value,
                    0,
                    if milli.is_some() { 999 } else { 999_999 },
                )?;
                value
            }
            None if milli.is_some() || nano.is_some_and(|value| value > 999) => 0,
            None => fraction / 1_000 % 1_000,
        };
        let nano_part = match nano {
            Some(value) => {
                let most = match (milli, micro) {
                    (_, Some(_)) => 999,
                    (Some(_), None) => 999_999,
                    (None, None) => 999_999_999,
                };
                within("nanosecond", value, 0, most)?;
                value
            }
            None => 0,
        };
        milli_part * 1_000_000 + micro_part * 1_000 + nano_part
    };
    Ok((hour * 3_600 + minute * 60 + second) * NANOS_PER_SECOND + nanos)
}

impl Duration {
    /// From amounts by name: `{days: 14, hours: 16.5}`.
    pub fn construct(fields: &Fields) -> Result<Self> {
        let mut amounts = Amounts::default();
        for (name, value) in fields {
            if value.is_null() {
                continue;
            }
            let Some(amount) = value.as_number() else {
                return Err(not_a("number", value));
            };
            match &**name {
                "years" => amounts.months += amount * 12.0,
                "quarters" => amounts.months += amount * 3.0,
                "months" => amounts.months += amount,
                "weeks" => amounts.days += amount * 7.0,
                "days" => amounts.days += amount,
                "hours" => amounts.seconds += amount * 3_600.0,
                "minutes" => amounts.seconds += amount * 60.0,
                "seconds" => match value {
                    Value::Integer(seconds) => amounts.whole_seconds = *seconds,
                    _ => amounts.seconds += amount,
                },
                "milliseconds" => amounts.nanos += nanos_of(amount, 1e6)?,
                "microseconds" => amounts.nanos += nanos_of(amount, 1e3)?,
                "nanoseconds" => amounts.nanos += nanos_of(amount, 1.0)?,
                other => {
                    return Err(CypherError::argument(format!(
                        "a duration has no {other}; it has years, quarters, months, weeks, days, \
                         hours, minutes, seconds, milliseconds, microseconds, nanoseconds"
                    )));
                }
            }
        }
        Self::from_amounts(amounts)
    }
}

fn nanos_of(amount: f64, scale: f64) -> Result<i64> {
    let nanos = amount * scale;
    if nanos.abs() < 4e18 {
        Ok(nanos as i64)
    } else {
        Err(out_of_range("amount of time", amount))
    }
}

fn has_any(fields: &Fields, names: &[&str]) -> bool {
    names
        .iter()
        .any(|name| fields.get(*name).is_some_and(|value| !value.is_null()))
}

fn integer(fields: &Fields, name: &str) -> Result<Option<i64>> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Integer(value)) => Ok(Some(*value)),
        Some(other) => Err(not_a(name, other)),
    }
}

fn within(what: &str, value: i64, least: i64, most: i64) -> Result<()> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(out_of_range(what, value))
    }
}

fn check_year(year: i64) -> Result<()> {
    within("year", year, -999_999_999, 999_999_999)
}

fn not_a(what: &str, value: &Value) -> CypherError {
    CypherError::of_type(format!("{} is no {what}", value.type_name()))
}
