//! `[gate]`: when the links of notes are not followed.

use malha_engine::text::Language;
use malha_engine::types::{GateRule, GateSettings};
use serde::Deserialize;

/// The table, every key optional.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Gate {
    rules: Option<Vec<GateRule>>,
    tools: Option<Vec<String>>,
    capital_nouns: Option<Vec<String>>,
}

impl Gate {
    /// `self` with everything that `over` states.
    pub(super) fn overlaid_by(self, over: Self) -> Self {
        Self {
            rules: over.rules.or(self.rules),
            tools: over.tools.or(self.tools),
            capital_nouns: over.capital_nouns.or(self.capital_nouns),
        }
    }

    /// The value of a variable, a list with commas; `None` when there is no such setting.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Option<Result<(), String>> {
        let items = value
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty());
        match name {
            "RULES" => {
                let rules: Result<Vec<GateRule>, String> = items.map(rule).collect();
                return Some(rules.map(|rules| self.rules = Some(rules)));
            }
            "TOOLS" => self.tools = Some(items.map(str::to_owned).collect()),
            "CAPITAL_NOUNS" => self.capital_nouns = Some(items.map(str::to_owned).collect()),
            _ => return None,
        }
        Some(Ok(()))
    }

    /// Checks what the types do not.
    pub(super) fn check(self) -> Result<GateSettings, String> {
        const SET: &str = "the example file sets every key of the gate";
        let capital_nouns = self.capital_nouns.expect(SET);
        for name in &capital_nouns {
            name.parse::<Language>()
                .map_err(|error| format!("gate.capital_nouns: {error}"))?;
        }
        Ok(GateSettings {
            rules: self.rules.expect(SET),
            tools: self.tools.expect(SET),
            capital_nouns,
        })
    }
}

fn rule(name: &str) -> Result<GateRule, String> {
    let known = GateRule::ALL.into_iter().find(|rule| rule.as_str() == name);
    known.ok_or_else(|| {
        let names: Vec<&str> = GateRule::ALL.iter().map(|rule| rule.as_str()).collect();
        format!(
            "`{name}` is no rule of the gate; there are {}",
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::raw::defaults;
    use super::*;

    fn checked(changes: &[(&str, &str)]) -> Result<GateSettings, String> {
        let mut own = Gate::default();
        for (name, value) in changes {
            own.set(name, value).unwrap()?;
        }
        defaults().gate().clone().overlaid_by(own).check()
    }

    #[test]
    fn rules_and_languages_are_known_ones() {
        let default = checked(&[]).unwrap();
        assert_eq!(default.rules, GateRule::ALL);
        assert!(default.tools.contains(&"obsidian".to_owned()));
        let one = checked(&[("RULES", "tool, snake_case"), ("TOOLS", "")]).unwrap();
        assert_eq!(one.rules, [GateRule::Tool, GateRule::SnakeCase]);
        assert!(one.tools.is_empty());
        assert!(
            checked(&[("RULES", "tol")])
                .unwrap_err()
                .contains("snake_case")
        );
        assert!(
            checked(&[("CAPITAL_NOUNS", "klingon")])
                .unwrap_err()
                .contains("klingon")
        );
    }
}
