use super::{Context, Function, Gives, on_value, wrong};
use crate::cypher::bind::Takes;
use crate::cypher::error::Result;
use crate::cypher::value::{Value, equals};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "coalesce",
        least: 1,
        most: usize::MAX,
        takes: &[Takes::Anything],
        gives: Gives::Anything,
        keeps_null: false,
        run: |_, values| {
            let known = values.iter().find(|value| !value.is_null());
            Ok(known.cloned().unwrap_or_default())
        },
    },
    Function {
        name: "nullif",
        least: 2,
        most: 2,
        takes: &[Takes::Anything],
        gives: Gives::Anything,
        keeps_null: false,
        run: |_, values| {
            let is_same = equals(&values[0], &values[1]) == Some(true);
            Ok(if is_same {
                Value::Null
            } else {
                values[0].clone()
            })
        },
    },
    Function {
        name: "timestamp",
        least: 0,
        most: 0,
        takes: &[],
        gives: Gives::Integer,
        keeps_null: false,
        run: |context, _| Ok(Value::Integer((context.now / 1_000_000) as i64)),
    },
    on_value("size", (1, 1), &[Takes::Sized], Gives::Integer, size),
    on_value(
        "length",
        (1, 1),
        &[Takes::Path],
        Gives::Integer,
        |_, values| match &values[0] {
            Value::Path(path) => Ok(Value::Integer(path.relationships.len() as i64)),
            other => Err(wrong("a path", other)),
        },
    ),
    on_value(
        "isempty",
        (1, 1),
        &[Takes::Sized],
        Gives::Boolean,
        |context, values| Ok(Value::Boolean(size(context, values)? == Value::Integer(0))),
    ),
    on_value(
        "valuetype",
        (1, 1),
        &[Takes::Anything],
        Gives::String,
        |_, values| {
            Ok(Value::string(match &values[0] {
                Value::Boolean(_) => "BOOLEAN",
                Value::Integer(_) => "INTEGER",
                Value::Float(_) => "FLOAT",
                Value::String(_) => "STRING",
                Value::List(_) => "LIST",
                Value::Map(_) => "MAP",
                Value::Node(_) => "NODE",
                Value::Relationship(_) => "RELATIONSHIP",
                Value::Path(_) => "PATH",
                Value::Temporal(_) => "TEMPORAL",
                Value::Duration(_) => "DURATION",
                Value::Null => "NULL",
            }))
        },
    ),
];

fn size(_: &Context<'_>, values: &[Value]) -> Result<Value> {
    let size = match &values[0] {
        Value::String(text) => text.chars().count(),
        Value::List(_) => values[0].as_list().map_or(0, <[Value]>::len),
        Value::Map(_) => values[0]
            .as_map()
            .map_or(0, std::collections::BTreeMap::len),
        other => return Err(wrong("a string, a list or a map", other)),
    };
    Ok(Value::Integer(size as i64))
}
