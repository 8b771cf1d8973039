use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Context, Function, Gives, integer, text, wrong};
use crate::cypher::bind::Takes;
use crate::cypher::error::Result;
use crate::cypher::temporal::{
    self, Duration, Temporal, TemporalType, Unit, between, construct, convert, from_epoch,
    truncate, zone_of,
};
use crate::cypher::value::Value;

/// The constructor of a kind, with its clocks and its truncation.
macro_rules! kind_of_point {
    ($kind:ident, $name:literal, $transaction:literal, $statement:literal, $realtime:literal, $truncate:literal) => {
        [
            maker($name, |context, values| {
                make(context, values, TemporalType::$kind)
            }),
            maker($transaction, |context, values| {
                now(context, values, TemporalType::$kind)
            }),
            maker($statement, |context, values| {
                now(context, values, TemporalType::$kind)
            }),
            maker($realtime, |context, values| {
                now(context, values, TemporalType::$kind)
            }),
            Function {
                name: $truncate,
                least: 2,
                most: 3,
                takes: &[Takes::String, Takes::TemporalArgument, Takes::Anything],
                gives: Gives::Temporal,
                keeps_null: true,
                run: |_, values| truncated(values, TemporalType::$kind),
            },
        ]
    };
}

const fn maker(name: &'static str, run: super::Run) -> Function {
    Function {
        name,
        least: 0,
        most: 1,
        takes: &[Takes::TemporalArgument],
        gives: Gives::Temporal,
        keeps_null: true,
        run,
    }
}

const fn span_of(name: &'static str, run: super::Run) -> Function {
    Function {
        name,
        least: 2,
        most: 2,
        takes: &[Takes::TemporalArgument],
        gives: Gives::Duration,
        keeps_null: true,
        run,
    }
}

const DATES: [Function; 5] = kind_of_point!(
    Date,
    "date",
    "date.transaction",
    "date.statement",
    "date.realtime",
    "date.truncate"
);
const LOCAL_TIMES: [Function; 5] = kind_of_point!(
    LocalTime,
    "localtime",
    "localtime.transaction",
    "localtime.statement",
    "localtime.realtime",
    "localtime.truncate"
);
const TIMES: [Function; 5] = kind_of_point!(
    Time,
    "time",
    "time.transaction",
    "time.statement",
    "time.realtime",
    "time.truncate"
);
const LOCAL_DATE_TIMES: [Function; 5] = kind_of_point!(
    LocalDateTime,
    "localdatetime",
    "localdatetime.transaction",
    "localdatetime.statement",
    "localdatetime.realtime",
    "localdatetime.truncate"
);
const DATE_TIMES: [Function; 5] = kind_of_point!(
    DateTime,
    "datetime",
    "datetime.transaction",
    "datetime.statement",
    "datetime.realtime",
    "datetime.truncate"
);
const OTHERS: [Function; 7] = [
    Function {
        name: "datetime.fromepoch",
        least: 2,
        most: 2,
        takes: &[Takes::Number],
        gives: Gives::Temporal,
        keeps_null: true,
        run: |_, values| {
            let point = from_epoch(integer(&values[0])?, integer(&values[1])?)?;
            Ok(Value::Temporal(point))
        },
    },
    Function {
        name: "datetime.fromepochmillis",
        least: 1,
        most: 1,
        takes: &[Takes::Number],
        gives: Gives::Temporal,
        keeps_null: true,
        run: |_, values| {
            let millis = integer(&values[0])?;
            let point = from_epoch(
                millis.div_euclid(1_000),
                millis.rem_euclid(1_000) * 1_000_000,
            )?;
            Ok(Value::Temporal(point))
        },
    },
    Function {
        name: "duration",
        least: 1,
        most: 1,
        takes: &[Takes::TemporalArgument],
        gives: Gives::Duration,
        keeps_null: true,
        run: |_, values| {
            let duration = match &values[0] {
                Value::String(text) => Duration::parse(text)?,
                map @ Value::Map(_) => Duration::construct(map.as_map().expect("it is a map"))?,
                Value::Duration(duration) => **duration,
                other => return Err(wrong("a map or a string", other)),
            };
            Ok(Value::Duration(Arc::new(duration)))
        },
    },
    span_of("duration.between", |_, values| span(values, Unit::All)),
    span_of("duration.inmonths", |_, values| span(values, Unit::Months)),
    span_of("duration.indays", |_, values| span(values, Unit::Days)),
    span_of("duration.inseconds", |_, values| {
        span(values, Unit::Seconds)
    }),
];

pub(super) const FUNCTIONS: &[Function] = &joined();

/// All of them in one table.
const fn joined() -> [Function; 32] {
    let [a0, a1, a2, a3, a4] = DATES;
    let [b0, b1, b2, b3, b4] = LOCAL_TIMES;
    let [c0, c1, c2, c3, c4] = TIMES;
    let [d0, d1, d2, d3, d4] = LOCAL_DATE_TIMES;
    let [e0, e1, e2, e3, e4] = DATE_TIMES;
    let [f0, f1, f2, f3, f4, f5, f6] = OTHERS;
    [
        a0, a1, a2, a3, a4, b0, b1, b2, b3, b4, c0, c1, c2, c3, c4, d0, d1, d2, d3, d4, e0, e1, e2,
        e3, e4, f0, f1, f2, f3, f4, f5, f6,
    ]
}

fn make(context: &Context<'_>, values: &[Value], kind: TemporalType) -> Result<Value> {
    let Some(value) = values.first() else {
        return now(context, &[], kind);
    };
    let temporal = match value {
        Value::String(text) => temporal::parse(text, kind)?,
        Value::Temporal(temporal) => convert(temporal, kind)?,
        map @ Value::Map(_) => {
            let fields = map.as_map().expect("it is a map");
            if fields.len() == 1
                && let Some(Value::String(zone)) = fields.get("timezone")
            {
                return at_now(context, Some(zone), kind);
            }
            if let (TemporalType::DateTime, Some(point)) = (kind, of_epoch(fields)?) {
                return Ok(Value::Temporal(point));
            }
            construct(fields, kind, today(context))?
        }
        other => return Err(wrong("a map, a string or a point in time", other)),
    };
    Ok(Value::Temporal(temporal))
}

fn of_epoch(fields: &BTreeMap<Arc<str>, Value>) -> Result<Option<Temporal>> {
    let nanos = match fields.get("nanosecond") {
        Some(nanos) => integer(nanos)?,
        None => 0,
    };
    if let Some(seconds) = fields.get("epochSeconds") {
        return Ok(Some(from_epoch(integer(seconds)?, nanos)?));
    }
    let Some(millis) = fields.get("epochMillis") else {
        return Ok(None);
    };
    let millis = integer(millis)?;
    let nanos = millis.rem_euclid(1_000) * 1_000_000 + nanos;
    Ok(Some(from_epoch(millis.div_euclid(1_000), nanos)?))
}

/// Days since 1970 began, in UTC.
fn today(context: &Context<'_>) -> i64 {
    context.now.div_euclid(i128::from(temporal::NANOS_PER_DAY)) as i64
}

fn now(context: &Context<'_>, values: &[Value], kind: TemporalType) -> Result<Value> {
    let zone = values.first().map(text).transpose()?;
    at_now(context, zone, kind)
}

/// The query's clock, which shows UTC unless a zone is named.
fn at_now(context: &Context<'_>, zone: Option<&str>, kind: TemporalType) -> Result<Value> {
    let zone = zone_of(zone.unwrap_or("Z"))?;
    let full = Temporal::DateTime(Arc::new(zone.at_instant(context.now)?));
    Ok(Value::Temporal(convert(&full, kind)?))
}

fn truncated(values: &[Value], kind: TemporalType) -> Result<Value> {
    let temporal = match &values[1] {
        Value::Temporal(temporal) => temporal,
        Value::Null => return Ok(Value::Null),
        other => return Err(wrong("a point in time", other)),
    };
    let none = BTreeMap::new();
    let fields = match values.get(2) {
        None | Some(Value::Null) => &none,
        Some(map) => map.as_map().ok_or_else(|| wrong("a map", map))?,
    };
    Ok(Value::Temporal(truncate(
        text(&values[0])?,
        temporal,
        fields,
        kind,
    )?))
}

fn span(values: &[Value], unit: Unit) -> Result<Value> {
    let point = |value: &Value| match value {
        Value::Temporal(temporal) => Ok(Some(temporal.clone())),
        Value::Null => Ok(None),
        other => Err(wrong("a point in time", other)),
    };
    match (point(&values[0])?, point(&values[1])?) {
        (Some(from), Some(to)) => Ok(Value::Duration(Arc::new(between(&from, &to, unit)?))),
        _ => Ok(Value::Null),
    }
}
