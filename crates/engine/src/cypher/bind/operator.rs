use open_cypher::ast::{BinaryOperator, Expr, ExprKind, UnaryOperator};

use super::expression::{Typed, mismatch};
use super::kind::{Kind, Takes};
use super::literal::literal;
use super::{Binder, unsupported};
use crate::cypher::error::Result;
use crate::cypher::plan::{Arithmetic, Comparison, Expression, Logic, TextTest};

impl Binder<'_> {
    pub(super) fn unary(&mut self, operator: UnaryOperator, operand: &Expr) -> Result<Typed> {
        match operator {
            UnaryOperator::Not => {
                let inner = self.condition_value(operand)?;
                Ok((Expression::Not(Box::new(inner)), Kind::Boolean))
            }
            UnaryOperator::Minus => {
                if let ExprKind::Literal(value) = &operand.kind
                    && matches!(value.kind, open_cypher::ast::LiteralKind::Integer(_))
                {
                    return literal(value, true);
                }
                let (inner, kind) = self.expression(operand)?;
                if !kind.fits(Takes::Number) && kind != Kind::Duration {
                    return Err(mismatch(Takes::Number, &kind, operand));
                }
                Ok((Expression::Negate(Box::new(inner)), kind))
            }
            _ => self.typed(operand, Takes::Number),
        }
    }

    /// The operand of a logical operator that is itself a value: patterns count in conditions only.
    fn condition_value(&mut self, operand: &Expr) -> Result<Expression> {
        Ok(self.typed(operand, Takes::Boolean)?.0)
    }

    pub(super) fn binary(
        &mut self,
        whole: &Expr,
        left: &Expr,
        operator: BinaryOperator,
        right: &Expr,
    ) -> Result<Typed> {
        if let Some(logic) = logic_of(operator) {
            let (left, right) = (self.condition_value(left)?, self.condition_value(right)?);
            let bound = Expression::Logic(logic, Box::new(left), Box::new(right));
            return Ok((bound, Kind::Boolean));
        }
        if let Some(comparison) = comparison_of(operator) {
            return self.comparison(left, comparison, right);
        }
        let text = match operator {
            BinaryOperator::StartsWith => Some(TextTest::StartsWith),
            BinaryOperator::EndsWith => Some(TextTest::EndsWith),
            BinaryOperator::Contains => Some(TextTest::Contains),
            BinaryOperator::RegexMatch => Some(TextTest::Matches),
            _ => None,
        };
        let (left_bound, left_kind) = self.expression(left)?;
        let (right_bound, right_kind) = self.expression(right)?;
        let boxes = (Box::new(left_bound), Box::new(right_bound));
        if let Some(text) = text {
            return Ok((Expression::Text(text, boxes.0, boxes.1), Kind::Boolean));
        }
        if operator == BinaryOperator::In {
            if !right_kind.fits(Takes::List) {
                return Err(mismatch(Takes::List, &right_kind, right));
            }
            return Ok((Expression::In(boxes.0, boxes.1), Kind::Boolean));
        }
        let Some(arithmetic) = arithmetic_of(operator) else {
            return Err(unsupported("this operator", whole.span));
        };
        let kind = arithmetic_kind(arithmetic, (&left_kind, left), (&right_kind, right))?;
        Ok((Expression::Arithmetic(arithmetic, boxes.0, boxes.1), kind))
    }

    /// `1 < x < 3` is `1 < x AND x < 3`.
    fn comparison(&mut self, left: &Expr, comparison: Comparison, right: &Expr) -> Result<Typed> {
        let (right_bound, _) = self.expression(right)?;
        if let ExprKind::Binary {
            operator,
            right: middle,
            ..
        } = &left.kind
            && comparison_of(operator.kind).is_some()
        {
            let (first, _) = self.expression(left)?;
            let (middle, _) = self.expression(middle)?;
            let second = Expression::Compare(comparison, Box::new(middle), Box::new(right_bound));
            let both = Expression::Logic(Logic::And, Box::new(first), Box::new(second));
            return Ok((both, Kind::Boolean));
        }
        let (left_bound, _) = self.expression(left)?;
        let bound = Expression::Compare(comparison, Box::new(left_bound), Box::new(right_bound));
        Ok((bound, Kind::Boolean))
    }
}

pub(super) fn logic_of(operator: BinaryOperator) -> Option<Logic> {
    match operator {
        BinaryOperator::And => Some(Logic::And),
        BinaryOperator::Or => Some(Logic::Or),
        BinaryOperator::Xor => Some(Logic::Xor),
        _ => None,
    }
}

fn comparison_of(operator: BinaryOperator) -> Option<Comparison> {
    match operator {
        BinaryOperator::Equal => Some(Comparison::Equal),
        BinaryOperator::NotEqual => Some(Comparison::NotEqual),
        BinaryOperator::Less => Some(Comparison::Less),
        BinaryOperator::LessEqual => Some(Comparison::LessOrEqual),
        BinaryOperator::Greater => Some(Comparison::Greater),
        BinaryOperator::GreaterEqual => Some(Comparison::GreaterOrEqual),
        _ => None,
    }
}

fn arithmetic_of(operator: BinaryOperator) -> Option<Arithmetic> {
    match operator {
        BinaryOperator::Add => Some(Arithmetic::Add),
        BinaryOperator::Subtract => Some(Arithmetic::Subtract),
        BinaryOperator::Multiply => Some(Arithmetic::Multiply),
        BinaryOperator::Divide => Some(Arithmetic::Divide),
        BinaryOperator::Remainder => Some(Arithmetic::Remainder),
        BinaryOperator::Power => Some(Arithmetic::Power),
        BinaryOperator::Concat => Some(Arithmetic::Concatenate),
        _ => None,
    }
}

fn arithmetic_kind(
    arithmetic: Arithmetic,
    (left, left_expr): (&Kind, &Expr),
    (right, right_expr): (&Kind, &Expr),
) -> Result<Kind> {
    if matches!(arithmetic, Arithmetic::Add | Arithmetic::Concatenate) {
        return Ok(match (left, right) {
            (Kind::Integer, Kind::Integer) => Kind::Integer,
            (Kind::Integer | Kind::Float, Kind::Integer | Kind::Float) => Kind::Float,
            (Kind::String, Kind::String) => Kind::String,
            (Kind::List(a), Kind::List(b)) => Kind::list_of((**a).clone().or((**b).clone())),
            _ => Kind::Any,
        });
    }
    for (kind, expr) in [(left, left_expr), (right, right_expr)] {
        let has_time = matches!(kind, Kind::Temporal | Kind::Duration);
        if !kind.fits(Takes::Number) && !has_time {
            return Err(mismatch(Takes::Number, kind, expr));
        }
    }
    Ok(match (left, right) {
        (Kind::Integer, Kind::Integer) if arithmetic != Arithmetic::Power => Kind::Integer,
        (Kind::Integer | Kind::Float, Kind::Integer | Kind::Float) => Kind::Float,
        _ => Kind::Any,
    })
}
