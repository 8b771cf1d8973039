use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use super::Value;
use crate::cypher::temporal;

/// `=`: `None` is null, for what cannot be known.
pub fn equals(left: &Value, right: &Value) -> Option<bool> {
    match (left, right) {
        (Value::Null, _) | (_, Value::Null) => None,
        (Value::List(a), Value::List(b)) => {
            if a.items.len() != b.items.len() {
                return Some(false);
            }
            all_equal(a.items.iter().zip(&b.items))
        }
        (Value::Map(a), Value::Map(b)) => {
            if !a.entries.keys().eq(b.entries.keys()) {
                return Some(false);
            }
            all_equal(a.entries.values().zip(b.entries.values()))
        }
        (Value::Integer(_) | Value::Float(_), Value::Integer(_) | Value::Float(_)) => {
            Some(number_order(left, right) == Some(Ordering::Equal))
        }
        (Value::Temporal(a), Value::Temporal(b)) => {
            Some(temporal::compare(a, b) == Some(Ordering::Equal))
        }
        _ => Some(left == right),
    }
}

fn all_equal<'a>(pairs: impl Iterator<Item = (&'a Value, &'a Value)>) -> Option<bool> {
    let mut known = Some(true);
    for (a, b) in pairs {
        match equals(a, b) {
            Some(false) => return Some(false),
            None => known = None,
            Some(true) => {}
        }
    }
    known
}

/// `<` and its kin: `None` is null, for values of types that are not comparable.
pub(in crate::cypher) fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Integer(_) | Value::Float(_), Value::Integer(_) | Value::Float(_)) => {
            number_order(left, right)
        }
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Boolean(a), Value::Boolean(b)) => Some(a.cmp(b)),
        (Value::Temporal(a), Value::Temporal(b)) => temporal::compare(a, b),
        (Value::List(a), Value::List(b)) => {
            for (x, y) in a.items.iter().zip(&b.items) {
                if equals(x, y)? {
                    continue;
                }
                return compare(x, y);
            }
            Some(a.items.len().cmp(&b.items.len()))
        }
        _ => None,
    }
}

/// Exact, also where a 64-bit integer has no float of its value; `None` with NaN.
fn number_order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Integer(a), Value::Integer(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Integer(a), Value::Float(b)) => integer_to_float(*a, *b),
        (Value::Float(a), Value::Integer(b)) => integer_to_float(*b, *a).map(Ordering::reverse),
        _ => None,
    }
}

fn integer_to_float(integer: i64, float: f64) -> Option<Ordering> {
    const PAST_INTEGERS: f64 = 9_223_372_036_854_775_808.0;
    if float.is_nan() {
        None
    } else if float >= PAST_INTEGERS {
        Some(Ordering::Less)
    } else if float < -PAST_INTEGERS {
        Some(Ordering::Greater)
    } else {
        let whole = float.trunc();
        let by_whole = integer.cmp(&(whole as i64));
        Some(by_whole.then_with(|| 0.0.partial_cmp(&(float - whole)).expect("neither is NaN")))
    }
}

/// The order of `ORDER BY`, `min` and `max`: total over all values. Maps come first, then nodes,
/// relationships, lists, paths, times, durations, strings, booleans, numbers, NaN, null.
pub fn order(left: &Value, right: &Value) -> Ordering {
    let (a, b) = (rank(left), rank(right));
    if a != b {
        return a.cmp(&b);
    }
    match (left, right) {
        (Value::Map(a), Value::Map(b)) => {
            let keys = a.entries.keys().cmp(b.entries.keys());
            keys.then_with(|| by_items(a.entries.values(), b.entries.values()))
        }
        (Value::List(a), Value::List(b)) => by_items(a.items.iter(), b.items.iter()),
        (Value::Node(a), Value::Node(b)) => a.cmp(b),
        (Value::Relationship(a), Value::Relationship(b)) => a.cmp(b),
        (Value::Path(a), Value::Path(b)) => a.cmp(b),
        (Value::Temporal(a), Value::Temporal(b)) => temporal::order(a, b),
        (Value::Duration(a), Value::Duration(b)) => a.order(b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
        _ => number_order(left, right).unwrap_or(Ordering::Equal),
    }
}

fn by_items<'a>(
    left: impl Iterator<Item = &'a Value>,
    mut right: impl Iterator<Item = &'a Value>,
) -> Ordering {
    for a in left {
        let Some(b) = right.next() else {
            return Ordering::Greater;
        };
        let by_item = order(a, b);
        if by_item != Ordering::Equal {
            return by_item;
        }
    }
    if right.next().is_some() {
        Ordering::Less
    } else {
        Ordering::Equal
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Map(_) => 0,
        Value::Node(_) => 1,
        Value::Relationship(_) => 2,
        Value::List(_) => 3,
        Value::Path(_) => 4,
        Value::Temporal(temporal) => 5 + temporal.rank(),
        Value::Duration(_) => 10,
        Value::String(_) => 11,
        Value::Boolean(_) => 12,
        Value::Float(number) if number.is_nan() => 14,
        Value::Integer(_) | Value::Float(_) => 13,
        Value::Null => 15,
    }
}

/// Values under equivalence, which unlike `=` finds null equal to null and NaN to NaN: what `DISTINCT` and
/// grouping go by.
#[derive(Debug, Clone)]
pub struct Group(pub Vec<Value>);

impl PartialEq for Group {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self
                .0
                .iter()
                .zip(&other.0)
                .all(|(a, b)| order(a, b) == Ordering::Equal)
    }
}

impl Eq for Group {}

impl Hash for Group {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for value in &self.0 {
            hash_value(value, state);
        }
    }
}

fn hash_value<H: Hasher>(value: &Value, state: &mut H) {
    rank(value).hash(state);
    match value {
        Value::Null => {}
        Value::Boolean(value) => value.hash(state),
        Value::Integer(number) => (*number as f64).to_bits().hash(state),
        Value::Float(number) if number.is_nan() => {}
        // Zero has two signs and one value.
        Value::Float(number) => (number + 0.0).to_bits().hash(state),
        Value::String(text) => text.hash(state),
        Value::List(list) => list.items.iter().for_each(|item| hash_value(item, state)),
        Value::Map(map) => {
            for (key, value) in &map.entries {
                key.hash(state);
                hash_value(value, state);
            }
        }
        Value::Node(id) => id.hash(state),
        Value::Relationship(id) => id.hash(state),
        Value::Path(path) => path.hash(state),
        Value::Temporal(temporal) => temporal.hash_instant(state),
        Value::Duration(duration) => duration.hash(state),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_has_three_values() {
        #[track_caller]
        fn check(left: &Value, right: &Value, expected: Option<bool>) {
            assert_eq!(equals(left, right), expected);
        }
        let list = |items: &[Value]| Value::list(items.to_vec()).unwrap();
        let (one, null) = (Value::Integer(1), Value::Null);
        check(&one, &Value::Float(1.0), Some(true));
        check(&one, &Value::string("1"), Some(false));
        check(&one, &null, None);
        check(
            &Value::Float(f64::NAN),
            &Value::Float(f64::NAN),
            Some(false),
        );
        check(
            &list(std::slice::from_ref(&one)),
            &list(std::slice::from_ref(&null)),
            None,
        );
        check(
            &list(&[one.clone(), null.clone()]),
            &list(&[null]),
            Some(false),
        );
        check(
            &Value::Integer(i64::MAX),
            &Value::Float(9_223_372_036_854_775_807.0),
            Some(false),
        );
    }

    #[test]
    fn the_order_is_total_and_null_comes_last() {
        let mut values = [
            Value::Null,
            Value::Float(f64::NAN),
            Value::Integer(2),
            Value::Float(1.5),
            Value::Boolean(false),
            Value::string("b"),
            Value::list(vec![]).unwrap(),
        ];
        values.sort_by(order);
        let ranks: Vec<u8> = values.iter().map(rank).collect();
        assert_eq!(ranks, [3, 11, 12, 13, 13, 14, 15]);
        assert_eq!(values[3], Value::Float(1.5));
    }
}
