use super::{Context, Function, Gives, integer, on_value, wrong};
use crate::cypher::bind::Takes;
use crate::cypher::error::{CypherError, ErrorKind, Result};
use crate::cypher::value::{Value, check_items};

pub(super) const FUNCTIONS: &[Function] = &[
    on_value("head", (1, 1), &[Takes::List], Gives::Item, |_, values| {
        Ok(items(&values[0])?.first().cloned().unwrap_or_default())
    }),
    on_value("last", (1, 1), &[Takes::List], Gives::Item, |_, values| {
        Ok(items(&values[0])?.last().cloned().unwrap_or_default())
    }),
    on_value("tail", (1, 1), &[Takes::List], Gives::Same, |_, values| {
        Value::list(items(&values[0])?.iter().skip(1).cloned().collect())
    }),
    on_value(
        "reverse",
        (1, 1),
        &[Takes::StringOrList],
        Gives::Same,
        |_, values| match &values[0] {
            Value::String(text) => Ok(Value::string(text.chars().rev().collect::<String>())),
            list => Value::list(items(list)?.iter().rev().cloned().collect()),
        },
    ),
    Function {
        name: "range",
        least: 2,
        most: 3,
        takes: &[Takes::Anything],
        gives: Gives::Integers,
        keeps_null: false,
        run: range,
    },
];

fn items(value: &Value) -> Result<&[Value]> {
    value.as_list().ok_or_else(|| wrong("a list", value))
}

fn range(_: &Context<'_>, values: &[Value]) -> Result<Value> {
    let bound = |value: &Value| {
        integer(value).map_err(|_| {
            CypherError::runtime(
                ErrorKind::ArgumentError,
                "InvalidArgumentType",
                format!("range takes integers, not {}", value.type_name()),
            )
        })
    };
    let (start, end) = (bound(&values[0])?, bound(&values[1])?);
    let step = values.get(2).map_or(Ok(1), bound)?;
    if step == 0 {
        return Err(CypherError::argument("the step of range can not be 0"));
    }
    let length = (i128::from(end) - i128::from(start)) / i128::from(step) + 1;
    let is_empty = (step > 0 && start > end) || (step < 0 && start < end);
    if is_empty {
        return Value::list(Vec::new());
    }
    check_items(u64::try_from(length).unwrap_or(u64::MAX))?;
    let numbers = (0..length as i64).map(|place| Value::Integer(start + place * step));
    Value::list(numbers.collect())
}
