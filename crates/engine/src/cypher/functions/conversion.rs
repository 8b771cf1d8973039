use super::{Context, Function, Gives, on_value, wrong};
use crate::cypher::bind::Takes;
use crate::cypher::error::Result;
use crate::cypher::value::{Value, float_text};

pub(super) const FUNCTIONS: &[Function] = &[
    on_value(
        "tointeger",
        (1, 1),
        &[Takes::Anything],
        Gives::Integer,
        to_integer,
    ),
    on_value(
        "toint",
        (1, 1),
        &[Takes::Anything],
        Gives::Integer,
        to_integer,
    ),
    on_value(
        "tofloat",
        (1, 1),
        &[Takes::Anything],
        Gives::Float,
        to_float,
    ),
    on_value(
        "toboolean",
        (1, 1),
        &[Takes::Anything],
        Gives::Boolean,
        to_boolean,
    ),
    on_value(
        "tostring",
        (1, 1),
        &[Takes::Anything],
        Gives::String,
        to_string,
    ),
    on_value(
        "tointegerornull",
        (1, 1),
        &[Takes::Anything],
        Gives::Integer,
        |context, values| Ok(to_integer(context, values).unwrap_or_default()),
    ),
    on_value(
        "tofloatornull",
        (1, 1),
        &[Takes::Anything],
        Gives::Float,
        |context, values| Ok(to_float(context, values).unwrap_or_default()),
    ),
    on_value(
        "tobooleanornull",
        (1, 1),
        &[Takes::Anything],
        Gives::Boolean,
        |context, values| Ok(to_boolean(context, values).unwrap_or_default()),
    ),
    on_value(
        "tostringornull",
        (1, 1),
        &[Takes::Anything],
        Gives::String,
        |context, values| Ok(to_string(context, values).unwrap_or_default()),
    ),
    on_value(
        "tointegerlist",
        (1, 1),
        &[Takes::List],
        Gives::Integers,
        |context, values| each(context, &values[0], to_integer),
    ),
    on_value(
        "tofloatlist",
        (1, 1),
        &[Takes::List],
        Gives::List,
        |context, values| each(context, &values[0], to_float),
    ),
    on_value(
        "tobooleanlist",
        (1, 1),
        &[Takes::List],
        Gives::List,
        |context, values| each(context, &values[0], to_boolean),
    ),
    on_value(
        "tostringlist",
        (1, 1),
        &[Takes::List],
        Gives::Strings,
        |context, values| each(context, &values[0], to_string),
    ),
];

/// Of each item; what can not be converted is null.
fn each(context: &Context<'_>, list: &Value, convert: super::Run) -> Result<Value> {
    let Some(items) = list.as_list() else {
        return Err(wrong("a list", list));
    };
    let converted = items.iter().map(|item| {
        context.budget.tick()?;
        Ok(convert(context, std::slice::from_ref(item)).unwrap_or_default())
    });
    Value::list(converted.collect::<Result<_>>()?)
}

fn to_integer(_: &Context<'_>, values: &[Value]) -> Result<Value> {
    Ok(match &values[0] {
        Value::Integer(number) => Value::Integer(*number),
        Value::Float(number) => from_float(*number),
        Value::String(text) => {
            let text = text.trim();
            match text.parse::<i64>() {
                Ok(number) => Value::Integer(number),
                Err(_) => plain_float(text).map_or(Value::Null, from_float),
            }
        }
        Value::Boolean(value) => Value::Integer(i64::from(*value)),
        Value::Null => Value::Null,
        other => return Err(wrong("a number, a string or a boolean", other)),
    })
}

fn from_float(number: f64) -> Value {
    if number.is_finite() && number.abs() < 9.3e18 {
        Value::Integer(number as i64)
    } else {
        Value::Null
    }
}

/// Numbers only: `inf` and `nan` are no numbers here.
fn plain_float(text: &str) -> Option<f64> {
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    if is_plain { text.parse().ok() } else { None }
}

fn to_float(_: &Context<'_>, values: &[Value]) -> Result<Value> {
    Ok(match &values[0] {
        Value::Integer(number) => Value::Float(*number as f64),
        Value::Float(number) => Value::Float(*number),
        Value::String(text) => plain_float(text.trim()).map_or(Value::Null, Value::Float),
        Value::Null => Value::Null,
        other => return Err(wrong("a number or a string", other)),
    })
}

fn to_boolean(_: &Context<'_>, values: &[Value]) -> Result<Value> {
    Ok(match &values[0] {
        Value::Boolean(value) => Value::Boolean(*value),
        Value::Integer(number) => Value::Boolean(*number != 0),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Value::Boolean(true),
            "false" => Value::Boolean(false),
            _ => Value::Null,
        },
        Value::Null => Value::Null,
        other => return Err(wrong("a string, an integer or a boolean", other)),
    })
}

fn to_string(_: &Context<'_>, values: &[Value]) -> Result<Value> {
    Ok(match &values[0] {
        Value::String(text) => Value::String(text.clone()),
        Value::Float(number) => Value::string(float_text(*number)),
        value @ (Value::Integer(_)
        | Value::Boolean(_)
        | Value::Temporal(_)
        | Value::Duration(_)) => Value::string(value.to_string()),
        Value::Null => Value::Null,
        other => return Err(wrong("a number, a string, a boolean or a time", other)),
    })
}
