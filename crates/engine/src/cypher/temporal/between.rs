use super::calendar::{civil_of, plus_months};
use super::zone::{Zone, zone_of};
use super::{DateTime, Duration, LocalDateTime, NANOS_PER_SECOND, Temporal};
use crate::cypher::error::Result;

/// What a duration between two points is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cypher) enum Unit {
    /// Months, then days, then seconds.
    All,
    Months,
    Days,
    Seconds,
}

/// How long it is from one point to another. What one of them lacks it takes from the other: the day, the
/// offset; a missing time of day is midnight.
pub(in crate::cypher) fn between(from: &Temporal, to: &Temporal, unit: Unit) -> Result<Duration> {
    let (start, end) = aligned(from, to)?;
    let have_days = from.days().is_some() && to.days().is_some();
    match unit {
        Unit::Months | Unit::Days if !have_days => Ok(Duration::default()),
        Unit::Months => Duration::new(start.months_until(&end), 0, 0, 0),
        Unit::Days => Duration::new(0, start.days_until(&end), 0, 0),
        Unit::Seconds => Duration::new(0, 0, 0, start.nanos_until(&end)),
        Unit::All if !have_days => Duration::new(0, 0, 0, start.nanos_until(&end)),
        Unit::All => {
            let months = start.months_until(&end);
            let start = start.moved(plus_months(start.local.days, months))?;
            let days = start.days_until(&end);
            let start = start.moved(start.local.days + days)?;
            Duration::new(months, days, 0, start.nanos_until(&end))
        }
    }
}

/// A point with all its parts; without a zone it stands in UTC.
struct Point {
    local: LocalDateTime,
    offset: i32,
    zone: Option<Zone>,
}

impl Point {
    fn moved(&self, days: i64) -> Result<Self> {
        let local = LocalDateTime {
            days,
            nanos: self.local.nanos,
        };
        Ok(match &self.zone {
            None => Self {
                local,
                offset: 0,
                zone: None,
            },
            Some(zone) => {
                let full = zone.at_local(local)?;
                Self {
                    local: full.local,
                    offset: full.offset,
                    zone: Some(zone.clone()),
                }
            }
        })
    }

    fn utc_nanos(&self) -> i128 {
        self.local.total_nanos() - i128::from(self.offset) * i128::from(NANOS_PER_SECOND)
    }

    fn nanos_until(&self, end: &Self) -> i128 {
        end.utc_nanos() - self.utc_nanos()
    }

    /// What the end's clock shows where this one stands.
    fn same_clock(&self, end: &Self) -> LocalDateTime {
        match &self.zone {
            Some(zone) => zone
                .at_instant(end.utc_nanos())
                .map_or(end.local, |full| full.local),
            None => end.local,
        }
    }

    fn days_until(&self, end: &Self) -> i64 {
        let end = self.same_clock(end);
        let days = end.days - self.local.days;
        if days > 0 && end.nanos < self.local.nanos {
            days - 1
        } else if days < 0 && end.nanos > self.local.nanos {
            days + 1
        } else {
            days
        }
    }

    fn months_until(&self, end: &Self) -> i64 {
        let end = self.same_clock(end);
        let (a, b) = (civil_of(self.local.days), civil_of(end.days));
        let months = (b.year - a.year) * 12 + b.month - a.month;
        let rest = (b.day, end.nanos).cmp(&(a.day, self.local.nanos));
        if months > 0 && rest.is_lt() {
            months - 1
        } else if months < 0 && rest.is_gt() {
            months + 1
        } else {
            months
        }
    }
}

fn aligned(from: &Temporal, to: &Temporal) -> Result<(Point, Point)> {
    let (from_days, to_days) = (from.days(), to.days());
    let (from_zone, to_zone) = (zone_in(from)?, zone_in(to)?);
    let start = point(
        from,
        from_days.or(to_days),
        from_zone.clone().or_else(|| to_zone.clone()),
    )?;
    let end = point(to, to_days.or(from_days), to_zone.or(from_zone))?;
    Ok((start, end))
}

fn zone_in(temporal: &Temporal) -> Result<Option<Zone>> {
    Ok(match temporal {
        Temporal::Time(time) => Some(Zone::Offset(time.offset)),
        Temporal::DateTime(full) => match &full.zone {
            Some(name) => Some(zone_of(name)?),
            None => Some(Zone::Offset(full.offset)),
        },
        _ => None,
    })
}

fn point(temporal: &Temporal, days: Option<i64>, zone: Option<Zone>) -> Result<Point> {
    let local = LocalDateTime {
        days: days.unwrap_or(0),
        nanos: temporal.nanos().unwrap_or(0),
    };
    if let Temporal::DateTime(full) = temporal {
        let DateTime { local, offset, .. } = **full;
        return Ok(Point {
            local,
            offset,
            zone,
        });
    }
    match zone {
        None => Ok(Point {
            local,
            offset: 0,
            zone: None,
        }),
        Some(zone) => {
            let full = zone.at_local(local)?;
            Ok(Point {
                local: full.local,
                offset: full.offset,
                zone: Some(zone),
            })
        }
    }
}
