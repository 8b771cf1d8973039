//! Dates that are told from another one: "last year", "ontem", "三天前".

use jiff::tz::Offset;
use jiff::{Span, civil::Date};

use crate::text::fold;
use crate::types::{DatePrecision, Timestamp, ValidDate};

/// What a date is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Day,
    Month,
    Year,
}

/// Words for a whole date: how many units from the day of the document. Folded.
const WHOLE: &[(&str, i64, Unit)] = &[
    ("today", 0, Unit::Day),
    ("hoje", 0, Unit::Day),
    ("hoy", 0, Unit::Day),
    ("今天", 0, Unit::Day),
    ("yesterday", -1, Unit::Day),
    ("ontem", -1, Unit::Day),
    ("ayer", -1, Unit::Day),
    ("hier", -1, Unit::Day),
    ("gestern", -1, Unit::Day),
    ("昨天", -1, Unit::Day),
    ("anteontem", -2, Unit::Day),
    ("前天", -2, Unit::Day),
    ("tomorrow", 1, Unit::Day),
    ("amanha", 1, Unit::Day),
    ("manana", 1, Unit::Day),
    ("demain", 1, Unit::Day),
    ("morgen", 1, Unit::Day),
    ("明天", 1, Unit::Day),
    ("这个月", 0, Unit::Month),
    ("本月", 0, Unit::Month),
    ("上个月", -1, Unit::Month),
    ("下个月", 1, Unit::Month),
    ("今年", 0, Unit::Year),
    ("去年", -1, Unit::Year),
    ("前年", -2, Unit::Year),
    ("明年", 1, Unit::Year),
];

const UNITS: &[(Unit, &[&str])] = &[
    (
        Unit::Day,
        &[
            "day", "days", "dia", "dias", "jour", "jours", "tag", "tage", "tagen",
        ],
    ),
    (
        Unit::Month,
        &[
            "month", "months", "mes", "meses", "mois", "monat", "monate", "monaten",
        ],
    ),
    (
        Unit::Year,
        &[
            "year", "years", "ano", "anos", "annee", "annees", "ans", "jahr", "jahre", "jahren",
        ],
    ),
];

const LAST: &[&str] = &[
    "last", "previous", "passado", "passada", "pasado", "pasada", "ultimo", "ultima", "dernier",
    "derniere", "letzte", "letzten", "letztes", "letzter",
];
const THIS: &[&str] = &[
    "this", "este", "esta", "neste", "nesta", "ce", "cette", "dieses", "diese", "diesen",
];
const NEXT: &[&str] = &[
    "next",
    "proximo",
    "proxima",
    "vem",
    "prochain",
    "prochaine",
    "nachste",
    "nachsten",
    "nachstes",
];
const AGO: &[&str] = &["ago", "earlier", "atras", "ha", "hace", "vor"];
/// Words that say nothing here.
const FILLERS: &[&str] = &[
    "the", "o", "a", "no", "na", "que", "el", "la", "l", "y", "il", "em", "in", "an",
];
const NUMBERS: &[(&str, i64)] = &[
    ("one", 1),
    ("um", 1),
    ("uma", 1),
    ("un", 1),
    ("una", 1),
    ("une", 1),
    ("ein", 1),
    ("einem", 1),
    ("two", 2),
    ("dois", 2),
    ("duas", 2),
    ("dos", 2),
    ("deux", 2),
    ("zwei", 2),
    ("three", 3),
    ("tres", 3),
    ("trois", 3),
    ("drei", 3),
    ("four", 4),
    ("quatro", 4),
    ("cuatro", 4),
    ("five", 5),
    ("cinco", 5),
    ("six", 6),
    ("seis", 6),
    ("seven", 7),
    ("sete", 7),
    ("eight", 8),
    ("oito", 8),
    ("nine", 9),
    ("nove", 9),
    ("ten", 10),
    ("dez", 10),
];
/// Further back or ahead, it is no date that a text means.
const FURTHEST: i64 = 10_000;

/// The date that `text` names from the day `anchor`; `None` when it is told from no other date, or anything else.
pub(super) fn parse(text: &str, anchor: &ValidDate) -> Option<ValidDate> {
    let folded = fold(text.trim());
    let (count, unit) = whole(&folded)
        .or_else(|| chinese_count(&folded))
        .or_else(|| counted(&folded))?;
    // A document that knows its year only cannot say which day was yesterday.
    let is_too_fine = match anchor.precision {
        DatePrecision::Year => unit != Unit::Year,
        DatePrecision::Month => unit == Unit::Day,
        DatePrecision::Day | DatePrecision::Second => false,
    };
    if is_too_fine || count.abs() > FURTHEST {
        return None;
    }
    let day = Offset::UTC
        .to_datetime(jiff::Timestamp::from_millisecond(anchor.start.0).ok()?)
        .date();
    let (moved, precision) = match unit {
        Unit::Day => (day.checked_add(Span::new().days(count)), DatePrecision::Day),
        Unit::Month => (
            day.first_of_month().checked_add(Span::new().months(count)),
            DatePrecision::Month,
        ),
        Unit::Year => (
            Date::new(day.year(), 1, 1).and_then(|day| day.checked_add(Span::new().years(count))),
            DatePrecision::Year,
        ),
    };
    let moved = moved.ok()?;
    let start = Offset::UTC.to_timestamp(moved.at(0, 0, 0, 0)).ok()?;
    Some(ValidDate {
        start: Timestamp(start.as_millisecond()),
        precision,
        written: match precision {
            DatePrecision::Year => moved.strftime("%Y").to_string(),
            DatePrecision::Month => moved.strftime("%Y-%m").to_string(),
            _ => moved.to_string(),
        },
    })
}

fn whole(folded: &str) -> Option<(i64, Unit)> {
    let found = WHOLE.iter().find(|(words, ..)| *words == folded);
    found.map(|&(_, count, unit)| (count, unit))
}

/// `三天前`, `3年前`.
fn chinese_count(folded: &str) -> Option<(i64, Unit)> {
    let rest = folded.strip_suffix('前')?;
    let rest = rest.strip_suffix('个').unwrap_or(rest);
    let (number, unit) = [
        ("个月", Unit::Month),
        ("月", Unit::Month),
        ("天", Unit::Day),
        ("年", Unit::Year),
    ]
    .iter()
    .find_map(|(word, unit)| Some((rest.strip_suffix(word)?.trim(), *unit)))?;
    let number = number.parse().ok().or_else(|| {
        let digits = "一二三四五六七八九十";
        let at = digits.chars().position(|digit| number == digit.to_string());
        at.map(|at| at as i64 + 1)
            .or_else(|| (number == "两").then_some(2))
    })?;
    Some((-number, unit))
}

/// `last year`, `há três meses`, `5 days ago`.
fn counted(folded: &str) -> Option<(i64, Unit)> {
    let (mut unit, mut number, mut direction) = (None, None, None);
    let mut ago = folded.starts_with("il y a ");
    let words = folded.split(|c: char| !c.is_alphanumeric());
    for word in words.filter(|word| !word.is_empty()) {
        if let Some((found, _)) = UNITS.iter().find(|(_, names)| names.contains(&word)) {
            unit = Some(*found);
        } else if AGO.contains(&word) {
            ago = true;
        } else if LAST.contains(&word) {
            direction = Some(-1);
        } else if THIS.contains(&word) {
            direction = Some(0);
        } else if NEXT.contains(&word) {
            direction = Some(1);
        } else if let Ok(digits) = word.parse::<i64>() {
            number = Some(digits);
        } else if let Some((_, named)) = NUMBERS.iter().find(|(name, _)| *name == word) {
            number = Some(*named);
        } else if !FILLERS.contains(&word) {
            return None;
        }
    }
    let unit = unit?;
    match (number, direction, ago) {
        (number, None, true) => Some((-number.unwrap_or(1), unit)),
        (None, Some(direction), false) => Some((direction, unit)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse_date;
    use super::*;

    #[test]
    fn dates_are_told_from_the_day_of_the_document() {
        let check = |text: &str, anchor: &str, expected: Option<&str>| {
            let anchor = parse_date(anchor).unwrap();
            let found = parse(text, &anchor).map(|date| date.written);
            assert_eq!(found.as_deref(), expected, "{text} from {anchor:?}");
        };
        let day = "2024-03-01";
        check("yesterday", day, Some("2024-02-29"));
        check("Ontem", day, Some("2024-02-29"));
        check("amanhã", day, Some("2024-03-02"));
        check("昨天", day, Some("2024-02-29"));
        check("last year", day, Some("2023"));
        check("the previous year", day, Some("2023"));
        check("this year", day, Some("2024"));
        check("next month", day, Some("2024-04"));
        check("no ano passado", day, Some("2023"));
        check("no mês que vem", day, Some("2024-04"));
        check("l'année dernière", day, Some("2023"));
        check("letztes Jahr", day, Some("2023"));
        check("去年", day, Some("2023"));
        check("上个月", day, Some("2024-02"));
        check("5 days ago", day, Some("2024-02-25"));
        check("two years ago", day, Some("2022"));
        check("há três meses", day, Some("2023-12"));
        check("hace dos años", day, Some("2022"));
        check("il y a deux ans", day, Some("2022"));
        check("a year ago", day, Some("2023"));
        check("vor drei Jahren", day, Some("2021"));
        check("三年前", day, Some("2021"));
        check("2个月前", day, Some("2024-01"));
        // What the document cannot tell, and what is no such date.
        check("yesterday", "2024", None);
        check("last year", "2024", Some("2023"));
        check("last month", "2024-03", Some("2024-02"));
        check("yesterday", "2024-03", None);
        for text in [
            "",
            "soon",
            "last",
            "year",
            "5",
            "the last ship",
            "last year in May",
            // A week is no precision that dates have.
            "last week",
            "2 weeks ago",
            "上周",
            "99999999 years ago",
        ] {
            check(text, day, None);
        }
    }
}
