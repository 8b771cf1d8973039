use std::fmt;

use super::calendar::civil_of;
use super::zone::offset_text;
use super::{Duration, NANOS_PER_SECOND, Temporal};

/// As ISO 8601 writes it, without seconds that are zero.
impl fmt::Display for Temporal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Date(days) => formatter.write_str(&date_text(*days)),
            Self::LocalTime(nanos) => formatter.write_str(&time_text(*nanos)),
            Self::Time(time) => {
                write!(
                    formatter,
                    "{}{}",
                    time_text(time.nanos),
                    offset_text(time.offset)
                )
            }
            Self::LocalDateTime(local) => {
                write!(
                    formatter,
                    "{}T{}",
                    date_text(local.days),
                    time_text(local.nanos)
                )
            }
            Self::DateTime(full) => {
                let (date, time) = (date_text(full.local.days), time_text(full.local.nanos));
                write!(formatter, "{date}T{time}{}", offset_text(full.offset))?;
                match &full.zone {
                    Some(zone) => write!(formatter, "[{zone}]"),
                    None => Ok(()),
                }
            }
        }
    }
}

fn date_text(days: i64) -> String {
    let civil = civil_of(days);
    let year = match civil.year {
        year if year > 9_999 => format!("+{year}"),
        year if year < 0 => format!("-{:04}", -year),
        year => format!("{year:04}"),
    };
    format!("{year}-{:02}-{:02}", civil.month, civil.day)
}

fn time_text(nanos: i64) -> String {
    let (seconds, fraction) = (nanos / NANOS_PER_SECOND, nanos % NANOS_PER_SECOND);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if second == 0 && fraction == 0 {
        format!("{hour:02}:{minute:02}")
    } else {
        format!(
            "{hour:02}:{minute:02}:{second:02}{}",
            fraction_text(fraction)
        )
    }
}

fn fraction_text(nanos: i64) -> String {
    if nanos == 0 {
        return String::new();
    }
    format!(".{}", format!("{nanos:09}").trim_end_matches('0'))
}

impl fmt::Display for Duration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::default() {
            return formatter.write_str("PT0S");
        }
        formatter.write_str("P")?;
        let parts = [
            (self.months / 12, 'Y'),
            (self.months % 12, 'M'),
            (self.days, 'D'),
        ];
        for (amount, unit) in parts {
            if amount != 0 {
                write!(formatter, "{amount}{unit}")?;
            }
        }
        if self.seconds == 0 && self.nanos == 0 {
            return Ok(());
        }
        formatter.write_str("T")?;
        let total =
            i128::from(self.seconds) * i128::from(NANOS_PER_SECOND) + i128::from(self.nanos);
        let size = total.unsigned_abs();
        let sign = if total < 0 { "-" } else { "" };
        let seconds = size / NANOS_PER_SECOND as u128;
        let fraction = (size % NANOS_PER_SECOND as u128) as i64;
        let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        if hours != 0 {
            write!(formatter, "{sign}{hours}H")?;
        }
        if minutes != 0 {
            write!(formatter, "{sign}{minutes}M")?;
        }
        if seconds != 0 || fraction != 0 {
            write!(formatter, "{sign}{seconds}{}S", fraction_text(fraction))?;
        }
        Ok(())
    }
}
