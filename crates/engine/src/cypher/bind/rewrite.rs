use crate::cypher::plan::Expression;

/// Replaces each part, from the outside in, for which `replacement` has another expression.
pub(super) fn replace(
    expression: &mut Expression,
    replacement: &mut dyn FnMut(&Expression) -> Option<Expression>,
) {
    if let Some(other) = replacement(expression) {
        *expression = other;
        return;
    }
    for part in expression.parts_mut() {
        replace(part, replacement);
    }
}

/// The conditions that all have to hold.
pub(super) fn conjuncts(expression: Expression, out: &mut Vec<Expression>) {
    match expression {
        Expression::Logic(crate::cypher::plan::Logic::And, left, right) => {
            conjuncts(*left, out);
            conjuncts(*right, out);
        }
        other => out.push(other),
    }
}
