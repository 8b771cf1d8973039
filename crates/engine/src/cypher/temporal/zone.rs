use std::sync::{Arc, OnceLock};

use super::calendar::{Civil, civil_of, days_of};
use super::{DateTime, LocalDateTime, NANOS_PER_SECOND, out_of_range};
use crate::cypher::error::{CypherError, Result};

/// The zones that come with the program, not those of the machine.
static ZONES: OnceLock<jiff::tz::TimeZoneDatabase> = OnceLock::new();

/// Where a clock stands.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cypher) enum Zone {
    /// Seconds ahead of UTC.
    Offset(i32),
    /// A zone of the IANA database.
    Named(Arc<str>, jiff::tz::TimeZone),
}

/// The zone that a text names: `Z`, `+01:00`, `-0330`, `Europe/Stockholm`.
pub(in crate::cypher) fn zone_of(text: &str) -> Result<Zone> {
    if let Some(offset) = parse_offset(text) {
        return Ok(Zone::Offset(offset));
    }
    let zone = ZONES
        .get_or_init(jiff::tz::TimeZoneDatabase::bundled)
        .get(text)
        .map_err(|_| CypherError::argument(format!("{text} is no time zone")))?;
    let name = zone.iana_name().unwrap_or(text).to_owned();
    Ok(Zone::Named(Arc::from(name), zone))
}

/// Seconds of `Z`, `+hh`, `+hhmm`, `+hh:mm`, `+hh:mm:ss`.
pub(super) fn parse_offset(text: &str) -> Option<i32> {
    if matches!(text, "Z" | "z") {
        return Some(0);
    }
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let digits: String = rest.chars().filter(|letter| *letter != ':').collect();
    let has_colons = rest.contains(':');
    let is_regular = match digits.len() {
        2 => !has_colons,
        4 => !has_colons || rest.as_bytes()[2] == b':',
        6 => !has_colons || (rest.as_bytes()[2] == b':' && rest.as_bytes().get(5) == Some(&b':')),
        _ => false,
    };
    if !is_regular || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |range: std::ops::Range<usize>| {
        digits
            .get(range)
            .and_then(|part| part.parse::<i32>().ok())
            .unwrap_or(0)
    };
    let (hours, minutes, seconds) = (part(0..2), part(2..4), part(4..6));
    let total = hours * 3_600 + minutes * 60 + seconds;
    (minutes < 60 && seconds < 60 && total <= 18 * 3_600).then_some(sign * total)
}

/// `+01:00`, with seconds where there are some; `Z` for none.
pub(super) fn offset_text(offset: i32) -> String {
    if offset == 0 {
        return "Z".to_owned();
    }
    let sign = if offset < 0 { '-' } else { '+' };
    let size = offset.abs();
    let (hours, minutes, seconds) = (size / 3_600, size / 60 % 60, size % 60);
    if seconds == 0 {
        format!("{sign}{hours:02}:{minutes:02}")
    } else {
        format!("{sign}{hours:02}:{minutes:02}:{seconds:02}")
    }
}

impl Zone {
    /// UTC.
    pub(in crate::cypher) const UTC: Self = Self::Offset(0);

    /// The clock of this zone that shows `local`. In a gap it is moved on, of a repeated hour the first counts.
    pub(super) fn at_local(&self, local: LocalDateTime) -> Result<DateTime> {
        match self {
            Self::Offset(offset) => Ok(DateTime {
                local,
                offset: *offset,
                zone: None,
            }),
            Self::Named(name, zone) => {
                let (civil, shift) = to_jiff(local)?;
                let zoned = zone
                    .to_ambiguous_zoned_datetime(civil)
                    .compatible()
                    .map_err(|error| CypherError::argument(error.to_string()))?;
                Ok(DateTime {
                    local: from_jiff(zoned.datetime(), shift),
                    offset: zoned.offset().seconds(),
                    zone: Some(Arc::clone(name)),
                })
            }
        }
    }

    /// The same instant as `nanos` since 1970-01-01T00:00Z, on a clock of this zone.
    pub(in crate::cypher) fn at_instant(&self, nanos: i128) -> Result<DateTime> {
        let utc = LocalDateTime::from_nanos(nanos);
        match self {
            Self::Offset(offset) => Ok(DateTime {
                local: utc.plus_seconds(i64::from(*offset)),
                offset: *offset,
                zone: None,
            }),
            Self::Named(name, zone) => {
                let (civil, _) = to_jiff(utc)?;
                let instant = jiff::tz::TimeZone::UTC
                    .to_timestamp(civil)
                    .map_err(|error| CypherError::argument(error.to_string()))?;
                let offset = zone.to_offset(instant).seconds();
                Ok(DateTime {
                    local: utc.plus_seconds(i64::from(offset)),
                    offset,
                    zone: Some(Arc::clone(name)),
                })
            }
        }
    }

    /// Its name, or its offset as text.
    pub(super) fn of_date_time(full: &DateTime) -> Result<Self> {
        match &full.zone {
            Some(name) => zone_of(name),
            None => Ok(Self::Offset(full.offset)),
        }
    }

    /// Seconds ahead of UTC at an instant.
    pub(super) fn offset_at(&self, utc_nanos: i128) -> Result<i32> {
        Ok(self.at_instant(utc_nanos)?.offset)
    }
}

/// As `jiff` has it. Zones repeat their rules every 400 years, so years past its range are moved into it;
/// the second value is by how many days.
fn to_jiff(local: LocalDateTime) -> Result<(jiff::civil::DateTime, i64)> {
    const CYCLE_DAYS: i64 = 146_097;
    let civil = civil_of(local.days);
    let cycles = if (-9_000..=9_000).contains(&civil.year) {
        0
    } else {
        (civil.year - 2_000).div_euclid(400)
    };
    let shift = cycles * CYCLE_DAYS;
    let civil = civil_of(local.days - shift);
    let seconds = local.nanos / NANOS_PER_SECOND;
    let date_time = jiff::civil::DateTime::new(
        civil.year as i16,
        civil.month as i8,
        civil.day as i8,
        (seconds / 3_600) as i8,
        (seconds / 60 % 60) as i8,
        (seconds % 60) as i8,
        (local.nanos % NANOS_PER_SECOND) as i32,
    );
    date_time
        .map(|date_time| (date_time, shift))
        .map_err(|_| out_of_range("date of the calendar", civil.year))
}

fn from_jiff(date_time: jiff::civil::DateTime, shift: i64) -> LocalDateTime {
    let days = days_of(Civil {
        year: i64::from(date_time.year()),
        month: i64::from(date_time.month()),
        day: i64::from(date_time.day()),
    });
    let seconds = i64::from(date_time.hour()) * 3_600
        + i64::from(date_time.minute()) * 60
        + i64::from(date_time.second());
    LocalDateTime {
        days: days + shift,
        nanos: seconds * NANOS_PER_SECOND + i64::from(date_time.subsec_nanosecond()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_read_and_written() {
        #[track_caller]
        fn check(text: &str, expected: Option<i32>, written: &str) {
            assert_eq!(parse_offset(text), expected);
            if let Some(offset) = expected {
                assert_eq!(offset_text(offset), written);
            }
        }
        check("Z", Some(0), "Z");
        check("+01:00", Some(3_600), "+01:00");
        check("-0330", Some(-12_600), "-03:30");
        check("+02:05:59", Some(7_559), "+02:05:59");
        check("+1", None, "");
        check("+é1", None, "");
        check("+25:00", None, "");
    }

    #[test]
    fn named_zones_know_summer_time() {
        let zone = zone_of("Europe/Stockholm").unwrap();
        for (month, expected) in [(1, 3_600), (7, 7_200)] {
            let days = days_of(Civil {
                year: 2015,
                month,
                day: 21,
            });
            let full = zone.at_local(LocalDateTime { days, nanos: 0 }).unwrap();
            assert_eq!(full.offset, expected);
        }
        assert!(zone_of("Nowhere/Land").is_err());
    }
}
