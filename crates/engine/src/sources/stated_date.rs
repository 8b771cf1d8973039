//! Dates as people write them in front matter and file names.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;

use crate::types::{DatePrecision, Timestamp, ValidDate};

/// Order of day and month where both readings are possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DayOrder {
    /// `01/05/2024` is not understood.
    Unknown,
    /// `01/05/2024` is the first of May.
    DayFirst,
}

/// Reads a whole value as a date; `None` when it is anything else, or no real day.
///
/// Understood: `2024-05-01`, `2024/5/1`, `2024.05.01`, `20240501`, each with a time and an offset
/// after it if need be, `2024年5月1日`, `2024-05`, `2024`, `1 de maio de 2024`, `May 1, 2024`,
/// `1. Mai 2024`, `31/12/2024`, all in `[[…]]` too. A time without an offset is UTC.
pub(super) fn parse(text: &str, order: DayOrder) -> Option<ValidDate> {
    let written = text.trim();
    let bare = written
        .trim_start_matches("[[")
        .trim_end_matches("]]")
        .trim();
    let bare = bare.split_once('|').map_or(bare, |(target, _)| target);
    let numbers = numbers(bare);
    let (start, precision) = year_first(bare, &numbers)
        .or_else(|| compact(bare))
        .or_else(|| day_first(bare, &numbers, order))
        .or_else(|| named_month(bare))?;
    Some(ValidDate {
        start,
        precision,
        written: written.to_owned(),
    })
}

/// Finds the date in a file's stem: `2024-05-01 Standup`, `call_20240501`, `2024年5月1日`, and
/// `2024-05` when nothing else stands there.
pub(super) fn in_file_name(stem: &str) -> Option<ValidDate> {
    let bytes = stem.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if digits == 0 {
            at += 1;
            continue;
        }
        let length = match digits {
            4 => date_length(&stem[at..]),
            // A day, or a zettel's day and time.
            8 | 12 | 14 => 8,
            _ => 0,
        };
        if length > 0
            && let Some(date) = parse(&stem[at..at + length], DayOrder::Unknown)
            && date.precision == DatePrecision::Day
            && year_is_near(&stem[at..at + 4])
        {
            return Some(date);
        }
        at += digits;
    }
    parse(stem, DayOrder::Unknown)
        .filter(|date| date.precision == DatePrecision::Month && year_is_near(stem))
}

/// Eight digits may be any number; as a date they must lie near the present.
fn year_is_near(text: &str) -> bool {
    text.get(..4)
        .and_then(|year| year.parse::<i16>().ok())
        .is_some_and(|year| (1900..=2100).contains(&year))
}

/// Length of `yyyy-mm-dd` or `yyyy年m月d日` at the start of `text`; 0 when there is none.
fn date_length(text: &str) -> usize {
    let mut rest = &text[4..];
    for (marks, is_last) in [
        (&['-', '_', '.', '年'], false),
        (&['-', '_', '.', '月'], true),
    ] {
        let Some(after) = rest.strip_prefix(marks) else {
            return 0;
        };
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        if !(1..=2).contains(&digits) {
            return 0;
        }
        rest = &after[digits..];
        if is_last {
            rest = rest.strip_prefix('日').unwrap_or(rest);
        }
    }
    text.len() - rest.len()
}

/// The runs of digits with their places.
fn numbers(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(|letter: char| letter.is_ascii_digit()) {
        let start = at + start;
        let length = text[start..].bytes().take_while(u8::is_ascii_digit).count();
        found.push((start, &text[start..start + length]));
        at = start + length;
    }
    found
}

type Found = (Timestamp, DatePrecision);

fn at_day(date: Date, precision: DatePrecision) -> Option<Found> {
    instant(date.to_datetime(Time::midnight()), 0).map(|start| (start, precision))
}

fn instant(moment: DateTime, offset_seconds: i64) -> Option<Timestamp> {
    let utc = Offset::UTC.to_timestamp(moment).ok()?;
    Some(Timestamp(utc.as_millisecond() - offset_seconds * 1000))
}

fn date(year: &str, month: &str, day: &str) -> Option<Date> {
    let year: i16 = year.parse().ok()?;
    Date::new(year, month.parse().ok()?, day.parse().ok()?)
        .ok()
        .filter(|_| year > 0)
}

fn year_first(text: &str, numbers: &[(usize, &str)]) -> Option<Found> {
    let &(0, year) = numbers.first()? else {
        return None;
    };
    if year.len() != 4 {
        return None;
    }
    let between = |index: usize| {
        let end = |&(start, digits): &(usize, &str)| start + digits.len();
        let start = end(&numbers[index]);
        let stop = numbers.get(index + 1).map_or(text.len(), |next| next.0);
        text[start..stop].trim()
    };
    match between(0) {
        "" | "年" if numbers.len() == 1 => {
            return at_day(date(year, "1", "1")?, DatePrecision::Year);
        }
        "-" | "/" | "." | "_" | "年" => {}
        _ => return None,
    }
    let month = numbers.get(1).filter(|(_, month)| month.len() <= 2)?.1;
    match between(1) {
        "" | "月" if numbers.len() == 2 => {
            return at_day(date(year, month, "1")?, DatePrecision::Month);
        }
        "-" | "/" | "." | "_" | "月" => {}
        _ => return None,
    }
    let &(place, day) = numbers.get(2).filter(|(_, day)| day.len() <= 2)?;
    let date = date(year, month, day)?;
    let rest = text[place + day.len()..].trim_start_matches('日');
    with_time(date, rest)
}

fn compact(text: &str) -> Option<Found> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (date_digits, rest) = text.split_at_checked(8)?;
    if digits != 8 {
        return None;
    }
    let date = date(&date_digits[..4], &date_digits[4..6], &date_digits[6..])?;
    with_time(date, rest)
}

/// The time after a day, if one follows.
fn with_time(date: Date, rest: &str) -> Option<Found> {
    let rest = rest.trim();
    if rest.is_empty() {
        return at_day(date, DatePrecision::Day);
    }
    // A weekday (`Tue`, `quarta`, `周三`) may stand between day and time.
    let rest = rest.trim_start_matches(|letter: char| {
        letter.is_alphabetic() || letter.is_whitespace() || matches!(letter, ',' | '(' | ')' | '-')
    });
    if rest.is_empty() {
        return at_day(date, DatePrecision::Day);
    }
    let clock_end = rest
        .find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, ':' | '.' | ','))
        .unwrap_or(rest.len());
    let mut parts = rest[..clock_end].split([':', '.', ',']);
    let mut next = || parts.next().filter(|part| !part.is_empty());
    let hour = next()?;
    if hour.len() > 2 {
        return None;
    }
    let minute = next()?;
    let second = next().unwrap_or("0");
    let time = Time::new(
        hour.parse().ok()?,
        minute.parse().ok()?,
        second.parse().ok()?,
        0,
    )
    .ok()?;
    let offset = offset_seconds(rest[clock_end..].trim())?;
    let start = instant(date.to_datetime(time), offset)?;
    Some((start, DatePrecision::Second))
}

/// `Z`, `-03:00`, `+0100`, `+01`; a zone name in brackets after it is left out. Nothing means UTC.
fn offset_seconds(text: &str) -> Option<i64> {
    let text = text.split('[').next().unwrap_or(text).trim();
    if text.is_empty() || text.eq_ignore_ascii_case("z") || text.eq_ignore_ascii_case("utc") {
        return Some(0);
    }
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let digits = digits.replace(':', "");
    let (hours, minutes) = match digits.len() {
        2 => (digits.as_str(), "0"),
        4 => digits.split_at(2),
        _ => return None,
    };
    let hours: i64 = hours.parse().ok()?;
    let minutes: i64 = minutes.parse().ok()?;
    (hours <= 14 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn day_first(text: &str, numbers: &[(usize, &str)], order: DayOrder) -> Option<Found> {
    let &[(0, day), (month_at, month), (year_at, year)] = numbers else {
        return None;
    };
    if year.len() != 4 || day.len() > 2 || month.len() > 2 || year_at + 4 != text.len() {
        return None;
    }
    let mark = &text[day.len()..month_at];
    if mark != &text[month_at + month.len()..year_at] {
        return None;
    }
    let is_clear = match mark {
        "." => true,
        "/" | "-" => order == DayOrder::DayFirst || day.parse::<u8>().is_ok_and(|day| day > 12),
        _ => false,
    };
    is_clear
        .then(|| date(year, month, day))
        .flatten()
        .and_then(|date| at_day(date, DatePrecision::Day))
}

/// `1 de maio de 2024`, `May 1st, 2024`, `1. Mai 2024`, `mai 2024`.
fn named_month(text: &str) -> Option<Found> {
    let (mut day, mut month, mut year) = (None, None, None);
    for word in text
        .split([' ', ',', '\u{a0}'])
        .filter(|word| !word.is_empty())
    {
        let lower = word.trim_end_matches('.').to_lowercase();
        let digits = lower.bytes().take_while(u8::is_ascii_digit).count();
        let (number, ending) = lower.split_at(digits);
        match (digits, ending) {
            (4, "") if year.is_none() => year = Some(number.to_owned()),
            (1 | 2, "" | "st" | "nd" | "rd" | "th" | "º" | "er") if day.is_none() => {
                day = Some(number.to_owned());
            }
            (0, "de" | "del" | "of") => {}
            (0, name) if month.is_none() => {
                month =
                    Some((MONTHS.iter().position(|names| names.contains(&name))? + 1).to_string());
            }
            _ => return None,
        }
    }
    let (month, year) = (month?, year?);
    match day {
        Some(day) => at_day(date(&year, &month, &day)?, DatePrecision::Day),
        None => at_day(date(&year, &month, "1")?, DatePrecision::Month),
    }
}

/// English, Portuguese, Spanish, French and German.
const MONTHS: [&[&str]; 12] = [
    &[
        "january", "jan", "janeiro", "enero", "ene", "janvier", "januar", "janv",
    ],
    &[
        "february",
        "feb",
        "fevereiro",
        "fev",
        "febrero",
        "février",
        "févr",
        "februar",
    ],
    &["march", "mar", "março", "marzo", "mars", "märz"],
    &["april", "apr", "abril", "abr", "avril", "avr"],
    &["may", "maio", "mai", "mayo"],
    &["june", "jun", "junho", "junio", "juin", "juni"],
    &["july", "jul", "julho", "julio", "juillet", "juil", "juli"],
    &["august", "aug", "agosto", "ago", "août"],
    &[
        "september",
        "sep",
        "sept",
        "setembro",
        "set",
        "septiembre",
        "septembre",
    ],
    &[
        "october", "oct", "outubro", "out", "octubre", "octobre", "oktober", "okt",
    ],
    &["november", "nov", "novembro", "noviembre", "novembre"],
    &[
        "december",
        "dec",
        "dezembro",
        "dez",
        "diciembre",
        "dic",
        "décembre",
        "déc",
        "dezember",
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(date: Option<ValidDate>) -> Option<String> {
        let date = date?;
        let moment = jiff::Timestamp::from_millisecond(date.start.0).expect("in range");
        Some(format!("{moment} {:?}", date.precision))
    }

    #[test]
    fn values() {
        let check = |text: &str, expected: &str| {
            assert_eq!(
                shown(parse(text, DayOrder::Unknown)).as_deref(),
                (!expected.is_empty()).then_some(expected),
                "{text}"
            );
        };
        check("2024-05-01", "2024-05-01T00:00:00Z Day");
        check(" 2024/5/1 ", "2024-05-01T00:00:00Z Day");
        check("2024.05.01", "2024-05-01T00:00:00Z Day");
        check("20240501", "2024-05-01T00:00:00Z Day");
        check("[[2024-05-01]]", "2024-05-01T00:00:00Z Day");
        check("2024年5月1日", "2024-05-01T00:00:00Z Day");
        check("2024年5月", "2024-05-01T00:00:00Z Month");
        check("2024-05", "2024-05-01T00:00:00Z Month");
        check("2024", "2024-01-01T00:00:00Z Year");
        check("0001-01-01", "0001-01-01T00:00:00Z Day");
        check("2025-03-30T01:30", "2025-03-30T01:30:00Z Second");
        check("2025-03-30T01:30:00Z", "2025-03-30T01:30:00Z Second");
        check(
            "2025-03-30T01:30:00.123-03:00",
            "2025-03-30T04:30:00Z Second",
        );
        check("2025-03-30 01:30:00 +0100", "2025-03-30T00:30:00Z Second");
        check("2022-10-25 Tue 14:30:12", "2022-10-25T14:30:12Z Second");
        check("2022-10-25 周二", "2022-10-25T00:00:00Z Day");
        check("1 de maio de 2024", "2024-05-01T00:00:00Z Day");
        check("May 1st, 2024", "2024-05-01T00:00:00Z Day");
        check("1. Mai 2024", "2024-05-01T00:00:00Z Day");
        check("mar 2024", "2024-03-01T00:00:00Z Month");
        check("31/12/2024", "2024-12-31T00:00:00Z Day");
        check("1.5.2024", "2024-05-01T00:00:00Z Day");
        check("01/05/2024", "");
        check("2024-13-01", "");
        check("2023-02-29", "");
        check("0000-01-01", "");
        check("2024-05-01T25:00", "");
        check("not a date", "");
        check("{{date}}", "");
        check("12", "");
        check("", "");
    }

    #[test]
    fn day_first_keys() {
        assert_eq!(
            shown(parse("01/05/2024", DayOrder::DayFirst)).as_deref(),
            Some("2024-05-01T00:00:00Z Day")
        );
    }

    #[test]
    fn file_names() {
        let check = |stem: &str, expected: &str| {
            assert_eq!(
                shown(in_file_name(stem)).as_deref(),
                (!expected.is_empty()).then_some(expected),
                "{stem}"
            );
        };
        check("2024-05-01", "2024-05-01T00:00:00Z Day");
        check("2024-05-01 Standup", "2024-05-01T00:00:00Z Day");
        check("Ata 2024_05_01", "2024-05-01T00:00:00Z Day");
        check("call-20240501", "2024-05-01T00:00:00Z Day");
        check("202405011230", "2024-05-01T00:00:00Z Day");
        check("2024年5月1日 会议", "2024-05-01T00:00:00Z Day");
        check("2024-05", "2024-05-01T00:00:00Z Month");
        check("Model 12345678", "");
        check("2024", "");
        check("Top 2024", "");
        check("RFC 2119-01-01", "");
        check("v2024-99-99", "");
    }
}
