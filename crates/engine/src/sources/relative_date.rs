//! Dates that are told from another one: "last year", "ontem", "三天前".

use jiff::Span;
use jiff::civil::{Date, Weekday};
use jiff::tz::Offset;

use crate::text::fold;
use crate::types::{DatePrecision, Timestamp, ValidDate};

/// What a date is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Day,
    Week,
    Month,
    Year,
}

/// A date as a text tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// So many units from the day of the document; of months and years, the whole one.
    Units(i64, Unit),
    /// The Monday of a week, counted from that of the document: no date is as coarse as a week.
    Week(i64),
    /// A day of such a week.
    DayOfWeek(i64, Weekday),
    /// The nearest day of this name, before (-1) or after (1) the day of the document.
    Nearest(i32, Weekday),
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
    ("day before yesterday", -2, Unit::Day),
    ("the day before yesterday", -2, Unit::Day),
    ("anteontem", -2, Unit::Day),
    ("antes de ontem", -2, Unit::Day),
    ("anteayer", -2, Unit::Day),
    ("antes de ayer", -2, Unit::Day),
    ("antier", -2, Unit::Day),
    ("avant-hier", -2, Unit::Day),
    ("avant hier", -2, Unit::Day),
    ("vorgestern", -2, Unit::Day),
    ("前天", -2, Unit::Day),
    ("大前天", -3, Unit::Day),
    ("tomorrow", 1, Unit::Day),
    ("amanha", 1, Unit::Day),
    ("manana", 1, Unit::Day),
    ("demain", 1, Unit::Day),
    ("morgen", 1, Unit::Day),
    ("明天", 1, Unit::Day),
    ("day after tomorrow", 2, Unit::Day),
    ("the day after tomorrow", 2, Unit::Day),
    ("depois de amanha", 2, Unit::Day),
    ("pasado manana", 2, Unit::Day),
    ("apres-demain", 2, Unit::Day),
    ("apres demain", 2, Unit::Day),
    ("ubermorgen", 2, Unit::Day),
    ("后天", 2, Unit::Day),
    ("大后天", 3, Unit::Day),
    ("这个月", 0, Unit::Month),
    ("本月", 0, Unit::Month),
    ("上个月", -1, Unit::Month),
    ("上月", -1, Unit::Month),
    ("下个月", 1, Unit::Month),
    ("下月", 1, Unit::Month),
    ("今年", 0, Unit::Year),
    ("去年", -1, Unit::Year),
    ("前年", -2, Unit::Year),
    ("明年", 1, Unit::Year),
    ("后年", 2, Unit::Year),
];

const UNITS: &[(Unit, &[&str])] = &[
    (
        Unit::Day,
        &[
            "day", "days", "dia", "dias", "jour", "jours", "tag", "tage", "tagen",
        ],
    ),
    (
        Unit::Week,
        &[
            "week", "weeks", "semana", "semanas", "semaine", "semaines", "woche", "wochen",
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
/// Of these, "next Friday" may be the coming one or the one after it.
const UNSURE_NEXT: &[&str] = &["next", "nachste", "nachsten", "nachstes"];
/// "earlier" and "later" count from what the text spoke of before.
const AGO: &[&str] = &["ago", "atras", "ha", "faz", "hace", "vor"];
const AHEAD: &[&str] = &["in", "daqui", "dentro", "dans"];
const WEEKDAYS: &[(Weekday, &[&str])] = &[
    (
        Weekday::Monday,
        &["monday", "segunda", "lunes", "lundi", "montag"],
    ),
    (
        Weekday::Tuesday,
        &["tuesday", "terca", "martes", "mardi", "dienstag"],
    ),
    (
        Weekday::Wednesday,
        &["wednesday", "quarta", "miercoles", "mercredi", "mittwoch"],
    ),
    (
        Weekday::Thursday,
        &["thursday", "quinta", "jueves", "jeudi", "donnerstag"],
    ),
    (
        Weekday::Friday,
        &["friday", "sexta", "viernes", "vendredi", "freitag"],
    ),
    (
        Weekday::Saturday,
        &["saturday", "sabado", "samedi", "samstag"],
    ),
    (
        Weekday::Sunday,
        &["sunday", "domingo", "dimanche", "sonntag"],
    ),
];
/// Words that say nothing here.
const FILLERS: &[&str] = &[
    "the", "o", "a", "no", "na", "que", "el", "la", "l", "y", "il", "em", "an", "am", "on", "de",
    "feira",
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
    let told = whole(&folded)
        .or_else(|| chinese_week(&folded))
        .or_else(|| chinese_count(&folded))
        .or_else(|| counted(&folded))?;
    let day = Offset::UTC
        .to_datetime(jiff::Timestamp::from_millisecond(anchor.start.0).ok()?)
        .date();
    // A document that knows its year only cannot say which day was yesterday.
    let (moved, precision) = match (told, anchor.precision) {
        (Told::Units(count, _), _) if count.abs() > FURTHEST => return None,
        (Told::Units(count, Unit::Year), _) => {
            let first = Date::new(day.year(), 1, 1).ok()?;
            (
                first.checked_add(Span::new().years(count)),
                DatePrecision::Year,
            )
        }
        (_, DatePrecision::Year) => return None,
        (Told::Units(count, Unit::Month), _) => {
            let first = day.first_of_month();
            (
                first.checked_add(Span::new().months(count)),
                DatePrecision::Month,
            )
        }
        (_, DatePrecision::Month) => return None,
        (told, _) => (day_told(told, day), DatePrecision::Day),
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

/// The day that is meant where days and weeks are told.
fn day_told(told: Told, day: Date) -> Result<Date, jiff::Error> {
    let of_week = |weeks: i64, offset: i8| {
        let monday = day.checked_sub(Span::new().days(day.weekday().to_monday_zero_offset()))?;
        monday.checked_add(Span::new().days(weeks * 7 + i64::from(offset)))
    };
    match told {
        Told::Units(count, Unit::Week) => day.checked_add(Span::new().weeks(count)),
        Told::Units(count, _) => day.checked_add(Span::new().days(count)),
        Told::Week(weeks) => of_week(weeks, 0),
        Told::DayOfWeek(weeks, weekday) => of_week(weeks, weekday.to_monday_zero_offset()),
        Told::Nearest(direction, weekday) => day.nth_weekday(direction, weekday),
    }
}

fn whole(folded: &str) -> Option<Told> {
    let found = WHOLE.iter().find(|(words, ..)| *words == folded);
    found.map(|&(_, count, unit)| Told::Units(count, unit))
}

/// `上周`, `下个星期五`.
fn chinese_week(folded: &str) -> Option<Told> {
    const WEEKS: [(&str, i64); 4] = [("上", -1), ("下", 1), ("这", 0), ("本", 0)];
    const DAYS: [(&str, Weekday); 8] = [
        ("一", Weekday::Monday),
        ("二", Weekday::Tuesday),
        ("三", Weekday::Wednesday),
        ("四", Weekday::Thursday),
        ("五", Weekday::Friday),
        ("六", Weekday::Saturday),
        ("日", Weekday::Sunday),
        ("天", Weekday::Sunday),
    ];
    let (rest, weeks) = WEEKS
        .iter()
        .find_map(|(word, weeks)| Some((folded.strip_prefix(word)?, *weeks)))?;
    let rest = rest.strip_prefix('个').unwrap_or(rest);
    let names = ["周", "星期", "礼拜"];
    let day = names.iter().find_map(|name| rest.strip_prefix(name))?;
    if day.is_empty() {
        return Some(Told::Week(weeks));
    }
    let (_, weekday) = DAYS.iter().find(|(name, _)| *name == day)?;
    Some(Told::DayOfWeek(weeks, *weekday))
}

/// `三天前`, `3年前`, `两周后`.
fn chinese_count(folded: &str) -> Option<Told> {
    let (rest, direction) = [("前", -1), ("后", 1)]
        .iter()
        .find_map(|(word, direction)| Some((folded.strip_suffix(word)?, *direction)))?;
    let rest = rest.strip_suffix(['以', '之']).unwrap_or(rest);
    let (number, unit) = [
        ("个月", Unit::Month),
        ("月", Unit::Month),
        ("个星期", Unit::Week),
        ("星期", Unit::Week),
        ("周", Unit::Week),
        ("天", Unit::Day),
        ("年", Unit::Year),
    ]
    .iter()
    .find_map(|(word, unit)| Some((rest.strip_suffix(word)?.trim(), *unit)))?;
    let number = number.parse().ok().or_else(|| chinese_number(number))?;
    Some(Told::Units(direction * number, unit))
}

/// A number below a hundred: `两`, `十二`, `三十`.
fn chinese_number(text: &str) -> Option<i64> {
    let digit = |text: &str| {
        let mut characters = text.chars();
        let (Some(one), None) = (characters.next(), characters.next()) else {
            return None;
        };
        let place = "一二三四五六七八九".chars().position(|known| known == one);
        place
            .map(|place| place as i64 + 1)
            .or((one == '两').then_some(2))
    };
    let Some((tens, ones)) = text.split_once('十') else {
        return digit(text);
    };
    let tens = if tens.is_empty() { 1 } else { digit(tens)? };
    let ones = if ones.is_empty() { 0 } else { digit(ones)? };
    Some(tens * 10 + ones)
}

/// `last year`, `há três meses`, `5 days ago`, `daqui a dois anos`, `sexta-feira passada`.
fn counted(folded: &str) -> Option<Told> {
    let (mut unit, mut number, mut direction, mut weekday) = (None, None, None, None);
    let mut ago = folded.starts_with("il y a ");
    let from_now = folded.strip_suffix(" from now");
    let mut ahead = from_now.is_some();
    let mut is_sure_next = true;
    let words = from_now
        .unwrap_or(folded)
        .split(|c: char| !c.is_alphanumeric());
    for word in words.filter(|word| !word.is_empty()) {
        if let Some((found, _)) = UNITS.iter().find(|(_, names)| names.contains(&word)) {
            unit = Some(*found);
        } else if let Some((found, _)) = WEEKDAYS.iter().find(|(_, names)| names.contains(&word)) {
            weekday = Some(*found);
        } else if AGO.contains(&word) {
            ago = true;
        } else if AHEAD.contains(&word) {
            ahead = true;
        } else if LAST.contains(&word) {
            direction = Some(-1);
        } else if THIS.contains(&word) {
            direction = Some(0);
        } else if NEXT.contains(&word) {
            direction = Some(1);
            is_sure_next = !UNSURE_NEXT.contains(&word);
        } else if let Ok(digits) = word.parse::<i64>() {
            number = Some(digits);
        } else if let Some((_, named)) = NUMBERS.iter().find(|(name, _)| *name == word) {
            number = Some(*named);
        } else if !FILLERS.contains(&word) {
            return None;
        }
    }
    match (unit, weekday, number, direction) {
        (Some(unit), None, number, None) if ago => Some(Told::Units(-number.unwrap_or(1), unit)),
        (Some(unit), None, Some(number), None) if ahead => Some(Told::Units(number, unit)),
        (Some(Unit::Week), None, None, Some(direction)) if !ago => Some(Told::Week(direction)),
        (Some(unit), None, None, Some(direction)) if !ago => Some(Told::Units(direction, unit)),
        (None, Some(weekday), None, Some(-1)) if !ago => Some(Told::Nearest(-1, weekday)),
        (None, Some(weekday), None, Some(1)) if !ago && is_sure_next => {
            Some(Told::Nearest(1, weekday))
        }
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
        check("antes de ontem", day, Some("2024-02-28"));
        check("the day after tomorrow", day, Some("2024-03-03"));
        check("avant-hier", day, Some("2024-02-28"));
        check("十二天前", day, Some("2024-02-18"));
        check("二十三天前", day, Some("2024-02-07"));
        check("两年后", day, Some("2026"));
        check("三个月之后", day, Some("2024-06"));
        check("daqui a dois anos", day, Some("2026"));
        check("in 3 days", day, Some("2024-03-04"));
        check("two years from now", day, Some("2026"));
        check("dentro de dos meses", day, Some("2024-05"));
        check("in zwei Jahren", day, Some("2026"));
        // It was a Friday. A week is told by its Monday.
        check("last week", day, Some("2024-02-19"));
        check("semana que vem", day, Some("2024-03-04"));
        check("this week", day, Some("2024-02-26"));
        check("上周", day, Some("2024-02-19"));
        check("2 weeks ago", day, Some("2024-02-16"));
        check("há duas semanas", day, Some("2024-02-16"));
        check("两周前", day, Some("2024-02-16"));
        check("in three weeks", day, Some("2024-03-22"));
        check("last Friday", day, Some("2024-02-23"));
        check("last Thursday", day, Some("2024-02-29"));
        check("sexta-feira passada", day, Some("2024-02-23"));
        check("na última segunda-feira", day, Some("2024-02-26"));
        check("el lunes pasado", day, Some("2024-02-26"));
        check("vendredi prochain", day, Some("2024-03-08"));
        check("sábado que vem", day, Some("2024-03-02"));
        check("letzten Dienstag", day, Some("2024-02-27"));
        check("上周五", day, Some("2024-02-23"));
        check("下个星期天", day, Some("2024-03-10"));
        check("本周一", day, Some("2024-02-26"));
        // What the document cannot tell, and what is no such date.
        check("last week", "2024-03", None);
        check("last Friday", "2024", None);
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
            // From what the text spoke of before, which is not known.
            "two years earlier",
            "two years later",
            "dois anos depois",
            // The coming one, or the one after it; the last one, or the coming one.
            "next Friday",
            "nächsten Freitag",
            "Friday",
            "this Friday",
            "last Friday in May",
            "a segunda semana",
            "十十天前",
            "99999999 years ago",
        ] {
            check(text, day, None);
        }
    }
}
