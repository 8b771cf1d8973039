//! Confidence that fades with the age of what it rests on.

use crate::types::Timestamp;

const DAY_MS: f64 = 86_400_000.0;

/// `confidence · 2^(−age / half-life)`, age being the days from `observed_at` to `now`; what was observed later than
/// `now`, or does not fade, keeps its confidence.
pub(crate) fn faded(
    confidence: f64,
    observed_at: Timestamp,
    now: Timestamp,
    half_life_days: Option<f64>,
) -> f64 {
    let age = now.0.saturating_sub(observed_at.0) as f64 / DAY_MS;
    match half_life_days {
        Some(half_life) if age > 0.0 => confidence * libm::exp2(-age / half_life),
        _ => confidence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_halves_with_every_half_life() {
        let check = |days: f64, half_life: Option<f64>, expected: f64| {
            let now = Timestamp((days * DAY_MS) as i64);
            let found = faded(0.8, Timestamp(0), now, half_life);
            assert!((found - expected).abs() < 1e-9, "{days}: {found}");
        };
        check(0.0, Some(730.0), 0.8);
        check(730.0, Some(730.0), 0.4);
        check(1460.0, Some(730.0), 0.2);
        check(-5.0, Some(730.0), 0.8);
        check(9000.0, None, 0.8);
        let never = faded(1.0, Timestamp(i64::MIN), Timestamp(i64::MAX), Some(1.0));
        assert!((0.0..1e-9).contains(&never), "{never}");
    }
}
