use open_cypher::ast::{IntegerLiteral, IntegerRadix, Literal, LiteralKind};

use super::kind::Kind;
use super::span;
use crate::cypher::error::{CypherError, Result};
use crate::cypher::plan::Expression;
use crate::cypher::value::Value;

/// A literal's value; `is_negative` for the smallest integer, which has no positive twin.
pub(super) fn literal(literal: &Literal, is_negative: bool) -> Result<(Expression, Kind)> {
    let value = match &literal.kind {
        LiteralKind::Null => Value::Null,
        LiteralKind::Boolean(value) => Value::Boolean(*value),
        LiteralKind::Integer(number) => {
            integer(number, is_negative).map_err(|error| error.at(span(literal.span)))?
        }
        LiteralKind::Float(number) => {
            let value: f64 = match number.text.to_ascii_uppercase().as_str() {
                "INF" | "INFINITY" => f64::INFINITY,
                "NAN" => f64::NAN,
                text => {
                    let value = text.replace('_', "").parse().unwrap_or(f64::INFINITY);
                    if !f64::is_finite(value) {
                        return Err(CypherError::syntax(
                            "FloatingPointOverflow",
                            format!("{} is too large for a float", number.text),
                        )
                        .at(span(literal.span)));
                    }
                    value
                }
            };
            Value::Float(if is_negative { -value } else { value })
        }
        LiteralKind::String(text) => Value::string(text.value.as_str()),
        _ => {
            return Err(
                CypherError::syntax("UnexpectedSyntax", "this literal is not offered")
                    .at(span(literal.span)),
            );
        }
    };
    let kind = Kind::of(&value);
    Ok((Expression::Constant(value), kind))
}

fn integer(literal: &IntegerLiteral, is_negative: bool) -> Result<Value> {
    let digits = literal.text.replace('_', "");
    let (digits, radix) = match literal.radix {
        IntegerRadix::Hexadecimal => (digits.get(2..).unwrap_or_default(), 16),
        IntegerRadix::Octal => {
            let lower = digits.strip_prefix("0o").or(digits.strip_prefix("0O"));
            (lower.unwrap_or(&digits), 8)
        }
        _ => (digits.as_str(), 10),
    };
    if digits.is_empty() {
        return Err(CypherError::syntax(
            "InvalidNumberLiteral",
            format!("{} is no number", literal.text),
        ));
    }
    let value =
        i128::from_str_radix(digits, radix).map(|value| if is_negative { -value } else { value });
    match value.map(i64::try_from) {
        Ok(Ok(value)) => Ok(Value::Integer(value)),
        _ => Err(CypherError::syntax(
            "IntegerOverflow",
            format!("{} is too large for an integer", literal.text),
        )),
    }
}
