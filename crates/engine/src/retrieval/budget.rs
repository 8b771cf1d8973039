use crate::text::count_tokens;
use crate::types::BudgetUnit;

/// Length of a text in a unit.
pub(super) fn measure(text: &str, unit: BudgetUnit) -> usize {
    match unit {
        BudgetUnit::Tokens => count_tokens(text),
        BudgetUnit::Characters => text.chars().count(),
        BudgetUnit::Words => {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            text.split(|c: char| !is_word(c))
                .filter(|word| !word.is_empty())
                .count()
        }
    }
}

/// Most that joining a piece to what is there adds beside its own length.
pub(super) const fn joint(unit: BudgetUnit) -> usize {
    match unit {
        BudgetUnit::Tokens | BudgetUnit::Characters => 1,
        BudgetUnit::Words => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_in_every_unit() {
        let check = |text, unit, expected| assert_eq!(measure(text, unit), expected, "{text}");
        check("Não há, sim", BudgetUnit::Characters, 11);
        check("Não há, sim", BudgetUnit::Words, 3);
        check("x_1 -- y", BudgetUnit::Words, 2);
        check("hello world", BudgetUnit::Tokens, 2);
        check("", BudgetUnit::Words, 0);
    }
}
