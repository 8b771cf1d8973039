use super::{Context, Function, Gives, integer, number, on_value, wrong};
use crate::cypher::bind::Takes;
use crate::cypher::error::{CypherError, ErrorKind, Result};
use crate::cypher::value::Value;

/// A function from float to float.
macro_rules! of_float {
    ($name:literal, $run:expr) => {
        on_value(
            $name,
            (1, 1),
            &[Takes::Number],
            Gives::Float,
            |_, values| {
                let run: fn(f64) -> f64 = $run;
                Ok(Value::Float(run(number(&values[0])?)))
            },
        )
    };
}

/// A function without arguments.
const fn fixed(name: &'static str, run: super::Run) -> Function {
    Function {
        name,
        least: 0,
        most: 0,
        takes: &[],
        gives: Gives::Float,
        keeps_null: false,
        run,
    }
}

pub(super) const FUNCTIONS: &[Function] = &[
    on_value(
        "abs",
        (1, 1),
        &[Takes::Number],
        Gives::Same,
        |_, values| match &values[0] {
            Value::Integer(value) => value
                .checked_abs()
                .map(Value::Integer)
                .ok_or_else(too_large),
            value => Ok(Value::Float(number(value)?.abs())),
        },
    ),
    on_value(
        "sign",
        (1, 1),
        &[Takes::Number],
        Gives::Integer,
        |_, values| {
            let value = number(&values[0])?;
            let sign = if value == 0.0 || value.is_nan() {
                0
            } else {
                value.signum() as i64
            };
            Ok(Value::Integer(sign))
        },
    ),
    on_value(
        "isnan",
        (1, 1),
        &[Takes::Number],
        Gives::Boolean,
        |_, values| Ok(Value::Boolean(number(&values[0])?.is_nan())),
    ),
    of_float!("ceil", f64::ceil),
    of_float!("floor", f64::floor),
    on_value(
        "round",
        (1, 3),
        &[Takes::Number, Takes::Integer, Takes::String],
        Gives::Float,
        round,
    ),
    of_float!("sqrt", libm::sqrt),
    of_float!("exp", libm::exp),
    of_float!("log", libm::log),
    of_float!("log10", libm::log10),
    of_float!("sin", libm::sin),
    of_float!("cos", libm::cos),
    of_float!("tan", libm::tan),
    of_float!("cot", |value| 1.0 / libm::tan(value)),
    of_float!("asin", libm::asin),
    of_float!("acos", libm::acos),
    of_float!("atan", libm::atan),
    of_float!("sinh", libm::sinh),
    of_float!("cosh", libm::cosh),
    of_float!("tanh", libm::tanh),
    of_float!("degrees", f64::to_degrees),
    of_float!("radians", f64::to_radians),
    of_float!("haversin", |value| (1.0 - libm::cos(value)) / 2.0),
    on_value(
        "atan2",
        (2, 2),
        &[Takes::Number],
        Gives::Float,
        |_, values| {
            if values[1].is_null() {
                return Ok(Value::Null);
            }
            Ok(Value::Float(libm::atan2(
                number(&values[0])?,
                number(&values[1])?,
            )))
        },
    ),
    fixed("e", |_, _| Ok(Value::Float(std::f64::consts::E))),
    fixed("pi", |_, _| Ok(Value::Float(std::f64::consts::PI))),
    fixed("rand", |context, _| Ok(Value::Float(random(context)))),
];

/// `SplitMix64` from a fixed seed: a query gives the same rows each time.
fn random(context: &Context<'_>) -> f64 {
    let state = context.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    context.random.set(state);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn round(_: &Context<'_>, values: &[Value]) -> Result<Value> {
    let value = number(&values[0])?;
    let places = match values.get(1) {
        None => 0,
        Some(Value::Null) => return Ok(Value::Null),
        Some(places) => integer(places)?,
    };
    let mode = match values.get(2) {
        None => None,
        Some(mode) => Some(
            mode.as_text()
                .ok_or_else(|| wrong("a string", mode))?
                .to_uppercase(),
        ),
    };
    if !(-300..=300).contains(&places) {
        return Ok(Value::Float(value));
    }
    let scale = libm::pow(10.0, places as f64);
    let scaled = value * scale;
    let rounded = match mode.as_deref() {
        // Halves go up, towards the larger number.
        None => (scaled + 0.5).floor(),
        Some("UP") => scaled.abs().ceil() * scaled.signum(),
        Some("DOWN") => scaled.trunc(),
        Some("CEILING") => scaled.ceil(),
        Some("FLOOR") => scaled.floor(),
        Some("HALF_UP") => scaled.round(),
        Some("HALF_DOWN") => (scaled.abs() - 0.5).ceil() * scaled.signum(),
        Some("HALF_EVEN") => scaled.round_ties_even(),
        Some(other) => {
            return Err(CypherError::argument(format!(
                "{other} is no way to round: UP, DOWN, CEILING, FLOOR, HALF_UP, HALF_DOWN, HALF_EVEN"
            )));
        }
    };
    let result = rounded / scale;
    Ok(Value::Float(if result.is_finite() {
        result
    } else {
        value
    }))
}

fn too_large() -> CypherError {
    CypherError::runtime(
        ErrorKind::ArithmeticError,
        "IntegerOverflow",
        "the number does not fit into 64 bits",
    )
}
