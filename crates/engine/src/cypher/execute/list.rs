//! Items of lists, by place and by likeness.

use crate::cypher::error::{CypherError, ErrorKind, Result};
use crate::cypher::value::{Value, equals};

pub(super) fn type_error(message: String) -> CypherError {
    CypherError::runtime(ErrorKind::TypeError, "InvalidArgumentType", message)
}

pub(super) fn items_of(list: &Value) -> Result<Option<&[Value]>> {
    match list {
        Value::Null => Ok(None),
        Value::List(_) => Ok(list.as_list()),
        other => Err(type_error(format!(
            "this takes a list, not {}",
            other.type_name()
        ))),
    }
}

pub(super) fn contains(list: &Value, item: &Value) -> Result<Value> {
    let Some(items) = items_of(list)? else {
        return Ok(Value::Null);
    };
    let mut is_unknown = false;
    for known in items {
        match equals(known, item) {
            Some(true) => return Ok(Value::Boolean(true)),
            None => is_unknown = true,
            Some(false) => {}
        }
    }
    Ok(if is_unknown {
        Value::Null
    } else {
        Value::Boolean(false)
    })
}

/// A place counted from the start, or from the end when it is negative.
pub(super) fn place_in(place: i64, length: usize) -> Option<usize> {
    let place = if place < 0 {
        place + length as i64
    } else {
        place
    };
    usize::try_from(place).ok()
}

pub(super) fn slice(list: &Value, lower: Option<Value>, upper: Option<Value>) -> Result<Value> {
    let Some(items) = items_of(list)? else {
        return Ok(Value::Null);
    };
    let bound = |value: Option<Value>, missing: usize| -> Result<Option<usize>> {
        match value {
            None => Ok(Some(missing)),
            Some(Value::Null) => Ok(None),
            Some(Value::Integer(place)) => {
                let place = if place < 0 {
                    place.saturating_add(items.len() as i64).max(0)
                } else {
                    place
                };
                Ok(Some((place as usize).min(items.len())))
            }
            Some(other) => Err(type_error(format!(
                "a place in a list is an integer, not {}",
                other.type_name()
            ))),
        }
    };
    match (bound(lower, 0)?, bound(upper, items.len())?) {
        (Some(lower), Some(upper)) if lower < upper => Value::list(items[lower..upper].to_vec()),
        (Some(_), Some(_)) => Value::list(Vec::new()),
        _ => Ok(Value::Null),
    }
}
