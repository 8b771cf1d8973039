use std::sync::Arc;

use crate::cypher::error::{CypherError, ErrorKind, Result};
use crate::cypher::plan::Arithmetic;
use crate::cypher::temporal::{Duration, plus, scaled};
use crate::cypher::value::{Value, check_bytes, check_items, float_text};

/// An operator on two values; null when one of them is.
pub(super) fn arithmetic(operator: Arithmetic, left: &Value, right: &Value) -> Result<Value> {
    if left.is_null() || right.is_null() {
        return Ok(Value::Null);
    }
    match operator {
        Arithmetic::Add | Arithmetic::Concatenate => add(left, right),
        Arithmetic::Subtract => subtract(left, right),
        Arithmetic::Multiply => multiply(left, right),
        Arithmetic::Divide => divide(left, right),
        Arithmetic::Remainder => match (left, right) {
            (Value::Integer(_), Value::Integer(0)) => Err(by_zero()),
            (Value::Integer(a), Value::Integer(b)) => Ok(Value::Integer(a.wrapping_rem(*b))),
            _ => floats(left, right, libm::fmod),
        },
        Arithmetic::Power => floats(left, right, libm::pow),
    }
}

pub(super) fn add(left: &Value, right: &Value) -> Result<Value> {
    match (left, right) {
        (Value::Integer(a), Value::Integer(b)) => integer(a.checked_add(*b)),
        (Value::List(_), Value::List(_)) => concatenated(
            left.as_list().unwrap_or_default(),
            right.as_list().unwrap_or_default(),
        ),
        (Value::List(_), item) => concatenated(
            left.as_list().unwrap_or_default(),
            std::slice::from_ref(item),
        ),
        (item, Value::List(_)) => concatenated(
            std::slice::from_ref(item),
            right.as_list().unwrap_or_default(),
        ),
        (Value::String(_), _) | (_, Value::String(_)) => {
            let (Some(a), Some(b)) = (as_text(left), as_text(right)) else {
                return Err(no_operator("+", left, right));
            };
            check_bytes((a.len() + b.len()) as u64)?;
            Ok(Value::string(a + &b))
        }
        (Value::Temporal(point), Value::Duration(duration))
        | (Value::Duration(duration), Value::Temporal(point)) => {
            Ok(Value::Temporal(plus(point, duration, false)?))
        }
        (Value::Duration(a), Value::Duration(b)) => Ok(of_duration(a.plus(b)?)),
        _ => floats_or(left, right, |a, b| a + b, || no_operator("+", left, right)),
    }
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_string()),
        Value::Float(number) => Some(float_text(*number)),
        Value::Integer(_) | Value::Boolean(_) | Value::Temporal(_) | Value::Duration(_) => {
            Some(value.to_string())
        }
        _ => None,
    }
}

fn concatenated(left: &[Value], right: &[Value]) -> Result<Value> {
    check_items((left.len() + right.len()) as u64)?;
    Value::list(left.iter().chain(right).cloned().collect())
}

fn subtract(left: &Value, right: &Value) -> Result<Value> {
    match (left, right) {
        (Value::Integer(a), Value::Integer(b)) => integer(a.checked_sub(*b)),
        (Value::Temporal(point), Value::Duration(duration)) => {
            Ok(Value::Temporal(plus(point, duration, true)?))
        }
        (Value::Duration(a), Value::Duration(b)) => Ok(of_duration(a.plus(&b.negated()?)?)),
        _ => floats_or(left, right, |a, b| a - b, || no_operator("-", left, right)),
    }
}

fn multiply(left: &Value, right: &Value) -> Result<Value> {
    match (left, right) {
        (Value::Integer(a), Value::Integer(b)) => integer(a.checked_mul(*b)),
        (Value::Duration(duration), factor) | (factor, Value::Duration(duration))
            if factor.as_number().is_some() =>
        {
            let factor = factor.as_number().unwrap_or(1.0);
            Ok(of_duration(scaled(duration, factor)?))
        }
        _ => floats_or(left, right, |a, b| a * b, || no_operator("*", left, right)),
    }
}

fn divide(left: &Value, right: &Value) -> Result<Value> {
    match (left, right) {
        (Value::Integer(_), Value::Integer(0)) => Err(by_zero()),
        (Value::Integer(a), Value::Integer(b)) => integer(a.checked_div(*b)),
        (Value::Duration(duration), divisor) if divisor.as_number().is_some() => {
            let divisor = divisor.as_number().unwrap_or(1.0);
            Ok(of_duration(scaled(duration, 1.0 / divisor)?))
        }
        _ => floats_or(left, right, |a, b| a / b, || no_operator("/", left, right)),
    }
}

/// `-x`.
pub(super) fn negate(value: &Value) -> Result<Value> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Integer(number) => integer(number.checked_neg()),
        Value::Float(number) => Ok(Value::Float(-number)),
        Value::Duration(duration) => Ok(of_duration(duration.negated()?)),
        other => Err(CypherError::of_type(format!(
            "{} has no negative",
            other.type_name()
        ))),
    }
}

fn of_duration(duration: Duration) -> Value {
    Value::Duration(Arc::new(duration))
}

fn integer(result: Option<i64>) -> Result<Value> {
    result.map(Value::Integer).ok_or_else(|| {
        CypherError::runtime(
            ErrorKind::ArithmeticError,
            "IntegerOverflow",
            "the number does not fit into 64 bits",
        )
    })
}

fn by_zero() -> CypherError {
    CypherError::runtime(
        ErrorKind::ArithmeticError,
        "DivisionByZero",
        "division by zero",
    )
}

fn floats(left: &Value, right: &Value, run: impl Fn(f64, f64) -> f64) -> Result<Value> {
    floats_or(left, right, run, || {
        no_operator("this operator", left, right)
    })
}

fn floats_or(
    left: &Value,
    right: &Value,
    run: impl Fn(f64, f64) -> f64,
    error: impl Fn() -> CypherError,
) -> Result<Value> {
    match (left.as_number(), right.as_number()) {
        (Some(a), Some(b)) => Ok(Value::Float(run(a, b))),
        _ => Err(error()),
    }
}

fn no_operator(name: &str, left: &Value, right: &Value) -> CypherError {
    CypherError::of_type(format!(
        "{name} is not defined between {} and {}",
        left.type_name(),
        right.type_name()
    ))
}
