//! Days of the proleptic Gregorian calendar, counted from 1970-01-01, for years past what `jiff` holds.

/// Year, month from 1, day from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Civil {
    pub year: i64,
    pub month: i64,
    pub day: i64,
}

/// A week of ISO 8601: its year, number from 1, and the day in it from Monday = 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IsoWeek {
    pub year: i64,
    pub week: i64,
    pub day: i64,
}

/// Days from 1970-01-01 (Hinnant, "chrono-compatible low-level date algorithms").
pub(super) fn days_of(civil: Civil) -> i64 {
    let year = if civil.month <= 2 {
        civil.year - 1
    } else {
        civil.year
    };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((civil.month + 9) % 12) + 2) / 5 + civil.day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The inverse of [`days_of`].
pub(super) fn civil_of(days: i64) -> Civil {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    Civil {
        year: era * 400 + year_of_era + i64::from(month <= 2),
        month,
        day: day_of_year - (153 * shifted_month + 2) / 5 + 1,
    }
}

pub(super) fn is_leap(year: i64) -> bool {
    year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0)
}

pub(super) fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

pub(super) fn days_in_year(year: i64) -> i64 {
    if is_leap(year) { 366 } else { 365 }
}

/// First day of a year.
pub(super) fn year_start(year: i64) -> i64 {
    days_of(Civil {
        year,
        month: 1,
        day: 1,
    })
}

/// Day in the week from Monday = 1.
pub(super) fn weekday(days: i64) -> i64 {
    (days + 3).rem_euclid(7) + 1
}

/// Monday of the first ISO week of a year.
pub(super) fn week_year_start(year: i64) -> i64 {
    let fourth = year_start(year) + 3;
    fourth - (weekday(fourth) - 1)
}

pub(super) fn iso_week(days: i64) -> IsoWeek {
    let thursday = days - weekday(days) + 4;
    let year = civil_of(thursday).year;
    IsoWeek {
        year,
        week: (thursday - year_start(year)) / 7 + 1,
        day: weekday(days),
    }
}

pub(super) fn weeks_in_year(year: i64) -> i64 {
    (week_year_start(year + 1) - week_year_start(year)) / 7
}

/// First day of a quarter from 1.
pub(super) fn quarter_start(year: i64, quarter: i64) -> i64 {
    days_of(Civil {
        year,
        month: quarter * 3 - 2,
        day: 1,
    })
}

/// The day that many months later, or the last of its month when that has no such day.
pub(super) fn plus_months(days: i64, months: i64) -> i64 {
    let civil = civil_of(days);
    let count = civil.year * 12 + civil.month - 1 + months;
    let (year, month) = (count.div_euclid(12), count.rem_euclid(12) + 1);
    days_of(Civil {
        year,
        month,
        day: civil.day.min(days_in_month(year, month)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_inverse() {
        for days in [
            -400_000_000_000,
            -719_529,
            -1,
            0,
            59,
            11_016,
            19_782,
            365_000_000_000,
        ] {
            assert_eq!(days_of(civil_of(days)), days);
        }
        let civil = civil_of(19_782);
        assert_eq!((civil.year, civil.month, civil.day), (2024, 2, 29));
    }

    #[test]
    fn weeks_follow_iso_8601() {
        #[track_caller]
        fn check((year, month, day): (i64, i64, i64), expected: (i64, i64, i64)) {
            let week = iso_week(days_of(Civil { year, month, day }));
            assert_eq!((week.year, week.week, week.day), expected);
        }
        check((1984, 1, 1), (1983, 52, 7));
        check((2015, 7, 21), (2015, 30, 2));
        check((2020, 12, 31), (2020, 53, 4));
        assert_eq!((weeks_in_year(2020), weeks_in_year(2021)), (53, 52));
    }
}
