use std::sync::Arc;

use super::calendar::{
    Civil, days_in_month, days_in_year, days_of, quarter_start, week_year_start, weeks_in_year,
    year_start,
};
use super::duration::Amounts;
use super::zone::{Zone, parse_offset, zone_of};
use super::{
    Duration, LocalDateTime, NANOS_PER_DAY, NANOS_PER_SECOND, OffsetTime, Temporal, TemporalType,
    check_days,
};
use crate::cypher::error::{CypherError, ErrorKind, Result};

/// Reads a point in time of one kind in the forms of ISO 8601, extended or basic; a missing zone is UTC.
pub(in crate::cypher) fn parse(text: &str, kind: TemporalType) -> Result<Temporal> {
    let read = match kind {
        TemporalType::Date => date(text).map(Temporal::Date),
        TemporalType::LocalTime => time(text).map(Temporal::LocalTime),
        TemporalType::Time => {
            let (clock, zone) = split_zone(text);
            time(clock).and_then(|nanos| {
                let offset = match zone_in(zone)? {
                    Zone::Offset(offset) => offset,
                    Zone::Named(..) => return None,
                };
                Some(Temporal::Time(OffsetTime { nanos, offset }))
            })
        }
        TemporalType::LocalDateTime => local_date_time(text).map(Temporal::LocalDateTime),
        TemporalType::DateTime => return date_time(text),
    };
    read.ok_or_else(|| unreadable(text))
}

fn date_time(text: &str) -> Result<Temporal> {
    let (clock, suffix) = split_zone(text);
    let local = local_date_time(clock).ok_or_else(|| unreadable(text))?;
    let full = match suffix.split_once('[') {
        Some((offset, name)) => {
            let zone = zone_of(name.trim_end_matches(']'))?;
            let stated = match offset {
                "" => None,
                offset => Some(parse_offset(offset).ok_or_else(|| unreadable(text))?),
            };
            let full = zone.at_local(local)?;
            match stated {
                // Of an hour that comes twice the offset says which.
                Some(offset) if offset != full.offset => {
                    let instant =
                        local.total_nanos() - i128::from(offset) * i128::from(NANOS_PER_SECOND);
                    if zone.offset_at(instant)? != offset {
                        return Err(unreadable(text));
                    }
                    zone.at_instant(instant)?
                }
                _ => full,
            }
        }
        None => zone_in(suffix)
            .ok_or_else(|| unreadable(text))?
            .at_local(local)?,
    };
    Ok(Temporal::DateTime(Arc::new(full)))
}

fn unreadable(text: &str) -> CypherError {
    CypherError::runtime(
        ErrorKind::SyntaxError,
        "InvalidTemporalText",
        format!("\"{text}\" is no date or time that can be read here"),
    )
}

/// The clock and the suffix that names its zone.
fn split_zone(text: &str) -> (&str, &str) {
    let from = text.find('T').map_or(0, |place| place + 1);
    let start = text[from..]
        .find(['Z', 'z', '+', '-', '['])
        .map_or(text.len(), |place| from + place);
    text.split_at(start)
}

fn zone_in(suffix: &str) -> Option<Zone> {
    if suffix.is_empty() {
        return Some(Zone::UTC);
    }
    match suffix.split_once('[') {
        Some((_, name)) => zone_of(name.trim_end_matches(']')).ok(),
        None => parse_offset(suffix).map(Zone::Offset),
    }
}

fn local_date_time(text: &str) -> Option<LocalDateTime> {
    match text.split_once('T') {
        Some((day, clock)) => Some(LocalDateTime {
            days: date(day)?,
            nanos: time(clock)?,
        }),
        None => Some(LocalDateTime {
            days: date(text)?,
            nanos: 0,
        }),
    }
}

fn digits(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

fn date(text: &str) -> Option<i64> {
    let (sign, body) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let is_signed = body.len() != text.len();
    let dash = body.find('-');
    let year_length = match dash {
        Some(dash) => dash,
        None if is_signed => body.len(),
        None => 4,
    };
    let year = sign * digits(body.get(..year_length)?)?;
    if !(4..=9).contains(&year_length) || (year_length > 4 && !is_signed) {
        return None;
    }
    let rest = &body[year_length..];
    let (rest, is_extended) = match rest.strip_prefix('-') {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    if rest.is_empty() {
        return (!is_extended).then(|| year_start(year));
    }
    let days = if let Some(week) = rest.strip_prefix('W') {
        let (week, day) = two_parts(week, 2, is_extended)?;
        let (week, day) = (digits(week)?, day.map_or(Some(1), digits)?);
        if !(1..=weeks_in_year(year)).contains(&week) || !(1..=7).contains(&day) {
            return None;
        }
        week_year_start(year) + (week - 1) * 7 + day - 1
    } else if let Some(quarter) = rest.strip_prefix('Q') {
        let (quarter, day) = two_parts(quarter, 1, is_extended)?;
        let (quarter, day) = (digits(quarter)?, day.map_or(Some(1), digits)?);
        if !(1..=4).contains(&quarter) || !(1..=92).contains(&day) {
            return None;
        }
        quarter_start(year, quarter) + day - 1
    } else if rest.len() == 3 && digits(rest).is_some() {
        let day = digits(rest)?;
        if !(1..=days_in_year(year)).contains(&day) {
            return None;
        }
        year_start(year) + day - 1
    } else {
        let (month, day) = two_parts(rest, 2, is_extended)?;
        let (month, day) = (digits(month)?, day.map_or(Some(1), digits)?);
        if !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
            return None;
        }
        days_of(Civil { year, month, day })
    };
    check_days(days).ok()
}

/// A part of fixed length and what follows it, behind a dash in the extended form.
fn two_parts(text: &str, length: usize, is_extended: bool) -> Option<(&str, Option<&str>)> {
    let (first, rest) = text.split_at_checked(length)?;
    if rest.is_empty() {
        return Some((first, None));
    }
    let rest = if is_extended {
        rest.strip_prefix('-')?
    } else {
        rest
    };
    Some((first, Some(rest)))
}

fn time(text: &str) -> Option<i64> {
    let (clock, fraction) = match text.split_once(['.', ',']) {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let parts: Vec<&str> = if clock.contains(':') {
        clock.split(':').collect()
    } else {
        (0..clock.len())
            .step_by(2)
            .map(|start| clock.get(start..start + 2))
            .collect::<Option<_>>()?
    };
    if parts.is_empty() || parts.len() > 3 || parts.iter().any(|part| part.len() != 2) {
        return None;
    }
    let part = |place: usize| parts.get(place).map_or(Some(0), |part| digits(part));
    let (hour, minute, second) = (part(0)?, part(1)?, part(2)?);
    let nanos = match fraction {
        None => 0,
        Some(_) if parts.len() < 3 => return None,
        Some(fraction) => fraction_nanos(fraction)?,
    };
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let total = (hour * 3_600 + minute * 60 + second) * NANOS_PER_SECOND + nanos;
    (total < NANOS_PER_DAY).then_some(total)
}

fn fraction_nanos(fraction: &str) -> Option<i64> {
    if fraction.len() > 9 {
        return None;
    }
    let scale = 10_i64.pow(9 - fraction.len() as u32);
    Some(digits(fraction)? * scale)
}

impl Duration {
    /// Reads `P1Y2M3W4DT5H6M7.8S`, parts of which may be negative or have a fraction, and
    /// `P2012-02-02T14:37:21.545`.
    pub fn parse(text: &str) -> Result<Self> {
        read_duration(text).unwrap_or_else(|| {
            Err(CypherError::runtime(
                ErrorKind::SyntaxError,
                "InvalidTemporalText",
                format!("\"{text}\" is no duration that can be read here"),
            ))
        })
    }
}

fn read_duration(text: &str) -> Option<Result<Duration>> {
    let (sign, body) = match text.strip_prefix('-') {
        Some(body) => (-1.0, body),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let body = body.strip_prefix('P')?;
    if let Some(amounts) = date_like(body) {
        return Some(Duration::from_amounts(amounts));
    }
    let mut amounts = Amounts::default();
    let mut in_time = false;
    let mut rest = body;
    let mut parts = 0;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('T') {
            if in_time || after.is_empty() {
                return None;
            }
            (in_time, rest) = (true, after);
            continue;
        }
        let length = rest.find(|letter: char| letter.is_ascii_alphabetic())?;
        let (number, unit) = (&rest[..length], rest.as_bytes()[length]);
        let amount: f64 = sign * number.replace(',', ".").parse::<f64>().ok()?;
        match (unit, in_time) {
            (b'Y', false) => amounts.months += amount * 12.0,
            (b'M', false) => amounts.months += amount,
            (b'W', false) => amounts.days += amount * 7.0,
            (b'D', false) => amounts.days += amount,
            (b'H', true) => amounts.seconds += amount * 3_600.0,
            (b'M', true) => amounts.seconds += amount * 60.0,
            (b'S', true) => exact_seconds(number, sign, &mut amounts)?,
            _ => return None,
        }
        parts += 1;
        rest = &rest[length + 1..];
    }
    (parts > 0).then(|| Duration::from_amounts(amounts))
}

/// Seconds keep each of their nine digits.
fn exact_seconds(number: &str, sign: f64, amounts: &mut Amounts) -> Option<()> {
    let (number, sign) = match number.strip_prefix('-') {
        Some(number) => (number, -sign),
        None => (number.strip_prefix('+').unwrap_or(number), sign),
    };
    let (whole, fraction) = number.split_once(['.', ',']).unwrap_or((number, "0"));
    let whole = if whole.is_empty() { 0 } else { digits(whole)? };
    let fraction = fraction_nanos(fraction.get(..9).unwrap_or(fraction))?;
    amounts.whole_seconds += whole * sign as i64;
    amounts.nanos += fraction * sign as i64;
    Some(())
}

fn date_like(body: &str) -> Option<Amounts> {
    let (day, clock) = match body.split_once('T') {
        Some((day, clock)) => (day, Some(clock)),
        None => (body, None),
    };
    let mut parts = day.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let nanos = match clock {
        Some(clock) => time(clock)?,
        None => 0,
    };
    Some(Amounts {
        months: (digits(year)? * 12 + digits(month)?) as f64,
        days: digits(day)? as f64,
        nanos,
        ..Amounts::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_every_form() {
        for text in [
            "2015-07-21",
            "20150721",
            "2015-W30-2",
            "2015W302",
            "2015-202",
            "2015202",
        ] {
            assert_eq!(
                parse(text, TemporalType::Date).unwrap().to_string(),
                "2015-07-21"
            );
        }
        for text in ["2015-13", "2015-02-30", "é", "2015-", "15", ""] {
            assert!(parse(text, TemporalType::Date).is_err(), "{text}");
        }
    }

    #[test]
    fn times_and_zones_are_read() {
        #[track_caller]
        fn check(kind: TemporalType, text: &str, expected: &str) {
            assert_eq!(parse(text, kind).unwrap().to_string(), expected);
        }
        check(TemporalType::LocalTime, "214032.142", "21:40:32.142");
        check(TemporalType::Time, "2140-00:30", "21:40-00:30");
        check(
            TemporalType::DateTime,
            "2015-07-21T21:40:32.142[Europe/London]",
            "2015-07-21T21:40:32.142+01:00[Europe/London]",
        );
        check(
            TemporalType::DateTime,
            "2015T214032-02",
            "2015-01-01T21:40:32-02:00",
        );
    }

    #[test]
    fn durations_are_read() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            assert_eq!(Duration::parse(text).unwrap().to_string(), expected);
        }
        check("P14DT16H12M", "P14DT16H12M");
        check("P5M1.5D", "P5M1DT12H");
        check("P0.75M", "P22DT19H51M49.5S");
        check("PT0.75M", "PT45S");
        check("P2.5W", "P17DT12H");
        check("P2012-02-02T14:37:21.545", "P2012Y2M2DT14H37M21.545S");
        assert!(Duration::parse("P").is_err());
        assert!(Duration::parse("1D").is_err());
    }
}
