//! Spans as OTLP's JSON has them.

use serde_json::{Value, json};

/// A span that ended.
#[derive(Debug)]
pub(super) struct Span {
    pub trace: u128,
    pub id: u64,
    pub parent: Option<u64>,
    pub name: &'static str,
    /// Nanoseconds since 1970.
    pub start: u64,
    pub end: u64,
    pub fields: Vec<(&'static str, Field)>,
}

/// A value of a field.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Field {
    Text(String),
    Whole(i64),
    Real(f64),
    Bool(bool),
}

impl Field {
    fn encode(&self) -> Value {
        match self {
            Self::Text(text) => json!({ "stringValue": text }),
            // 64-bit numbers are strings in the JSON encoding of protocol buffers.
            Self::Whole(number) => json!({ "intValue": number.to_string() }),
            Self::Real(number) => json!({ "doubleValue": number }),
            Self::Bool(is) => json!({ "boolValue": is }),
        }
    }
}

/// The body of a request.
pub(super) fn request(service: &str, spans: &[Span]) -> Value {
    let attribute =
        |key: &str, value: &str| json!({ "key": key, "value": { "stringValue": value } });
    json!({
        "resourceSpans": [{
            "resource": { "attributes": [
                attribute("service.name", service),
                attribute("service.version", env!("CARGO_PKG_VERSION")),
            ] },
            "scopeSpans": [{
                "scope": { "name": "malha", "version": env!("CARGO_PKG_VERSION") },
                "spans": spans.iter().map(encode).collect::<Vec<_>>(),
            }],
        }],
    })
}

fn encode(span: &Span) -> Value {
    let attributes: Vec<Value> = span
        .fields
        .iter()
        .map(|(key, value)| json!({ "key": key, "value": value.encode() }))
        .collect();
    let error = span.fields.iter().find_map(|(key, value)| match value {
        Field::Text(message) if *key == "error" => Some(message),
        _ => None,
    });
    let mut encoded = json!({
        "traceId": format!("{:032x}", span.trace),
        "spanId": format!("{:016x}", span.id),
        "name": span.name,
        // Internal.
        "kind": 1,
        "startTimeUnixNano": span.start.to_string(),
        "endTimeUnixNano": span.end.to_string(),
        "attributes": attributes,
        "status": error.map_or_else(|| json!({}), |message| json!({ "code": 2, "message": message })),
    });
    if let Some(parent) = span.parent {
        encoded["parentSpanId"] = format!("{parent:016x}").into();
    }
    encoded
}
