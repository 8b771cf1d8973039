use super::{Context, Function, Gives, integer, on_value, text};
use crate::cypher::bind::Takes;
use crate::cypher::error::{CypherError, Result};
use crate::cypher::value::{Value, check_bytes, check_items};

/// A function from text to text.
macro_rules! of_text {
    ($name:literal, $run:expr) => {
        on_value(
            $name,
            (1, 1),
            &[Takes::String],
            Gives::String,
            |_, values| {
                let run: fn(&str) -> String = $run;
                Ok(Value::string(run(text(&values[0])?)))
            },
        )
    };
}

pub(super) const FUNCTIONS: &[Function] = &[
    of_text!("tolower", str::to_lowercase),
    of_text!("lower", str::to_lowercase),
    of_text!("toupper", str::to_uppercase),
    of_text!("upper", str::to_uppercase),
    of_text!("trim", |text| text.trim().to_owned()),
    of_text!("btrim", |text| text.trim().to_owned()),
    of_text!("ltrim", |text| text.trim_start().to_owned()),
    of_text!("rtrim", |text| text.trim_end().to_owned()),
    on_value(
        "char_length",
        (1, 1),
        &[Takes::String],
        Gives::Integer,
        length,
    ),
    on_value(
        "character_length",
        (1, 1),
        &[Takes::String],
        Gives::Integer,
        length,
    ),
    on_value(
        "left",
        (2, 2),
        &[Takes::String, Takes::Integer],
        Gives::String,
        |_, values| {
            if values[1].is_null() {
                return Ok(Value::Null);
            }
            let count = count(&values[1])?;
            Ok(Value::string(
                text(&values[0])?.chars().take(count).collect::<String>(),
            ))
        },
    ),
    on_value(
        "right",
        (2, 2),
        &[Takes::String, Takes::Integer],
        Gives::String,
        |_, values| {
            if values[1].is_null() {
                return Ok(Value::Null);
            }
            let (text, count) = (text(&values[0])?, count(&values[1])?);
            let skipped = text.chars().count().saturating_sub(count);
            Ok(Value::string(
                text.chars().skip(skipped).collect::<String>(),
            ))
        },
    ),
    on_value(
        "substring",
        (2, 3),
        &[Takes::String, Takes::Integer],
        Gives::String,
        |_, values| {
            if values.iter().any(Value::is_null) {
                return Ok(Value::Null);
            }
            let rest = text(&values[0])?.chars().skip(count(&values[1])?);
            let part: String = match values.get(2) {
                Some(length) => rest.take(count(length)?).collect(),
                None => rest.collect(),
            };
            Ok(Value::string(part))
        },
    ),
    on_value(
        "replace",
        (3, 3),
        &[Takes::String],
        Gives::String,
        |_, values| {
            if values.iter().any(Value::is_null) {
                return Ok(Value::Null);
            }
            let (whole, from, to) = (text(&values[0])?, text(&values[1])?, text(&values[2])?);
            let times = if from.is_empty() {
                whole.chars().count() + 1
            } else {
                whole.matches(from).count()
            };
            check_bytes((whole.len() + times * to.len()) as u64)?;
            Ok(Value::string(whole.replace(from, to)))
        },
    ),
    on_value(
        "split",
        (2, 2),
        &[Takes::String, Takes::Anything],
        Gives::Strings,
        split,
    ),
];

fn length(_: &Context<'_>, values: &[Value]) -> Result<Value> {
    Ok(Value::Integer(text(&values[0])?.chars().count() as i64))
}

fn count(value: &Value) -> Result<usize> {
    usize::try_from(integer(value)?)
        .map_err(|_| CypherError::argument("a number of letters can not be negative"))
}

fn split(context: &Context<'_>, values: &[Value]) -> Result<Value> {
    let whole = text(&values[0])?;
    let separators: Vec<&str> = match &values[1] {
        Value::Null => return Ok(Value::Null),
        list @ Value::List(_) => {
            let items = list.as_list().unwrap_or_default();
            items.iter().map(text).collect::<Result<_>>()?
        }
        one => vec![text(one)?],
    };
    let mut parts: Vec<&str> = vec![whole];
    for separator in separators {
        let mut cut = Vec::new();
        for part in parts {
            if separator.is_empty() {
                let letters = part.char_indices();
                let letters = letters.map(|(start, c)| &part[start..start + c.len_utf8()]);
                add_parts(context, letters, &mut cut)?;
            } else {
                add_parts(context, part.split(separator), &mut cut)?;
            }
        }
        parts = cut;
    }
    Value::list(parts.into_iter().map(Value::string).collect())
}

fn add_parts<'t>(
    context: &Context<'_>,
    parts: impl Iterator<Item = &'t str>,
    out: &mut Vec<&'t str>,
) -> Result<()> {
    for part in parts {
        context.budget.tick()?;
        out.push(part);
        check_items(out.len() as u64)?;
    }
    Ok(())
}
