//! The time for which a fact says that it holds.

use jiff::tz::Offset;

use crate::sources::parse_date;
use crate::types::{DatePrecision, Timestamp, ValidDate};

const DAY_MS: i64 = 86_400_000;

/// A stated period, half-open; an end that is not stated, or not understood, is open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Period {
    pub(crate) from: Option<(Timestamp, String)>,
    pub(crate) to: Option<(Timestamp, String)>,
    /// Dates that were not understood, as written. The fact keeps an open end there.
    pub(crate) unknown: Vec<String>,
}

impl Period {
    /// Reads both ends. The error says why the fact cannot be kept.
    pub(crate) fn new(from: Option<&str>, to: Option<&str>) -> Result<Self, String> {
        let mut period = Self::default();
        let mut read = |text: Option<&str>| {
            let text = text?;
            let date = parse_date(text);
            if date.is_none() {
                period.unknown.push(text.trim().to_owned());
            }
            date
        };
        let (from, to) = (read(from), read(to));
        period.from = from.map(|date| (date.start, date.written));
        period.to = to.map(|date| (end_of(&date), date.written));
        match (&period.from, &period.to) {
            (Some((from, from_written)), Some((to, to_written))) if from >= to => Err(format!(
                "it starts ({from_written}) when it has ended ({to_written})"
            )),
            _ => Ok(period),
        }
    }
}

/// The first moment after the period that the date names: "until 2006" ends with 2007.
fn end_of(date: &ValidDate) -> Timestamp {
    let next = |months: i64| {
        let start = jiff::Timestamp::from_millisecond(date.start.0).ok()?;
        let moved = Offset::UTC
            .to_datetime(start)
            .checked_add(jiff::Span::new().months(months))
            .ok()?;
        Some(Offset::UTC.to_timestamp(moved).ok()?.as_millisecond())
    };
    let end = match date.precision {
        DatePrecision::Year => next(12),
        DatePrecision::Month => next(1),
        DatePrecision::Day => Some(date.start.0 + DAY_MS),
        DatePrecision::Second => Some(date.start.0),
    };
    Timestamp(end.unwrap_or(date.start.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(at: Option<(Timestamp, String)>) -> String {
        at.map_or("open".to_owned(), |(at, _)| {
            jiff::Timestamp::from_millisecond(at.0).unwrap().to_string()
        })
    }

    #[test]
    fn ends_are_exclusive_and_unknown_ones_open() {
        let check = |from: &str, to: &str, expected: &str| {
            let period = Period::new(Some(from), Some(to)).unwrap();
            let found = format!("{} {}", shown(period.from), shown(period.to));
            assert_eq!(found, expected, "{from} {to}");
        };
        check("2001", "2006", "2001-01-01T00:00:00Z 2007-01-01T00:00:00Z");
        check(
            "2001-02",
            "2001-12",
            "2001-02-01T00:00:00Z 2002-01-01T00:00:00Z",
        );
        check(
            "2025-03-30",
            "2025-03-30",
            "2025-03-30T00:00:00Z 2025-03-31T00:00:00Z",
        );
        check(
            "2025-03-30T01:30:00-03:00",
            "not a date",
            "2025-03-30T04:30:00Z open",
        );
        let period = Period::new(None, Some("not a date")).unwrap();
        assert_eq!(period.unknown, ["not a date"]);
        assert!(Period::new(Some("2007"), Some("2006")).is_err());
        assert!(Period::new(Some("2007"), Some("2007")).is_ok());
    }
}
