//! `[memory]`: how fast confidence in facts fades.

use std::collections::BTreeMap;

use malha_engine::types::HalfLives;
use serde::Deserialize;

/// The table, every key optional.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Memory {
    half_life_days: Option<f64>,
    half_lives: Option<BTreeMap<String, f64>>,
}

impl Memory {
    /// `self` with everything that `over` states.
    pub(super) fn overlaid_by(self, over: Self) -> Self {
        Self {
            half_life_days: over.half_life_days.or(self.half_life_days),
            half_lives: over.half_lives.or(self.half_lives),
        }
    }

    /// The value of a variable; `None` when there is no such setting.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Option<Result<(), String>> {
        if name != "HALF_LIFE_DAYS" {
            return None;
        }
        let days = value.trim().parse();
        Some(
            days.map(|days| self.half_life_days = Some(days))
                .map_err(|_| format!("`{value}` is no number of days")),
        )
    }

    /// Checks what the types do not.
    pub(super) fn check(self) -> Result<HalfLives, String> {
        const SET: &str = "the example file sets every key of the memory";
        let checked = |name: &str, days: f64| {
            if days.is_finite() && days >= 0.0 {
                Ok(days)
            } else {
                Err(format!(
                    "memory.{name}: {days} days; write a number from 0 (never) up"
                ))
            }
        };
        let of = self.half_lives.expect(SET).into_iter().map(|(kind, days)| {
            Ok((
                kind.to_lowercase(),
                checked(&format!("half_lives.{kind}"), days)?,
            ))
        });
        Ok(HalfLives {
            of: of.collect::<Result<_, String>>()?,
            days: checked("half_life_days", self.half_life_days.expect(SET))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::raw::defaults;
    use super::*;

    #[test]
    fn half_lives_are_days_that_can_be() {
        let checked = |text: &str| {
            let own: Memory = toml::from_str(text).unwrap();
            defaults().memory().clone().overlaid_by(own).check()
        };
        assert_eq!(checked("").unwrap(), HalfLives::default());
        let own = checked("half_life_days = 30\nhalf_lives = { \"Born in\" = 0 }").unwrap();
        assert_eq!((own.of("works at"), own.of("BORN IN")), (Some(30.0), None));
        for bad in [
            "half_life_days = -1.0",
            "half_life_days = nan",
            "half_lives = { x = inf }",
        ] {
            assert!(checked(bad).unwrap_err().contains("memory."), "{bad}");
        }
        assert!(toml::from_str::<Memory>("half_life = 3").is_err());
        assert!(
            Memory::default()
                .set("HALF_LIFE_DAYS", "x")
                .unwrap()
                .is_err()
        );
    }
}
