//! Arguments of a call, checked: a wrong one is named, never ignored.

use malha_engine::types::{Cancel, Times};
use malha_engine::{Engine, parse_times};
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Longest text of an argument that is a question or a name, in bytes.
const LONGEST: usize = 20_000;

/// What is wrong with a call, in words for the one who made it.
#[derive(Debug)]
pub(super) struct Refused(pub(super) String);

impl<E: std::error::Error> From<E> for Refused {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// Items before these are on no page: whoever wants more asks a narrower question.
const DEEPEST: usize = 100_000;

/// Some items of a long list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) start: usize,
    pub(super) length: usize,
}

impl Page {
    /// The place that a cursor names.
    pub(super) fn start_of(cursor: &str) -> Result<usize, Refused> {
        let start = cursor.strip_prefix("at-").and_then(|at| at.parse().ok());
        start
            .filter(|start| (1..=DEEPEST).contains(start))
            .ok_or_else(|| Refused(format!("{cursor:?} is no cursor of a page before")))
    }

    /// The place after the last item.
    pub(super) const fn end(self) -> usize {
        self.start + self.length
    }

    /// The cursor of the next page, after so many items of this one.
    pub(super) fn next(self, shown: usize, has_more: bool) -> Option<String> {
        let next = self.start + shown;
        (has_more && shown > 0 && next <= DEEPEST).then(|| format!("at-{next}"))
    }
}

/// The arguments of one call.
pub(super) struct Arguments {
    pub(super) given: JsonObject,
    /// Told when nobody waits for the answer any more.
    pub(super) cancel: Cancel,
}

impl Arguments {
    pub(super) fn new(given: JsonObject) -> Self {
        Self {
            given,
            cancel: Cancel::default(),
        }
    }

    /// Refuses names that the tool does not have.
    pub(super) fn known(&self, schema: &Value) -> Result<(), Refused> {
        let properties = schema["properties"].as_object();
        let unknown = self
            .given
            .keys()
            .find(|name| properties.is_none_or(|known| !known.contains_key(*name)));
        match unknown {
            Some(name) => Err(Refused(format!(
                "unknown argument {name:?}; known are {}",
                properties
                    .map(|known| known.keys().cloned().collect::<Vec<_>>().join(", "))
                    .unwrap_or_default()
            ))),
            None => Ok(()),
        }
    }

    pub(super) fn text(&self, name: &str) -> Result<String, Refused> {
        self.maybe_text(name)?
            .ok_or_else(|| Refused(format!("the argument {name:?} is missing")))
    }

    pub(super) fn maybe_text(&self, name: &str) -> Result<Option<String>, Refused> {
        match self.given.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.len() > LONGEST => Err(Refused(format!(
                "{name:?} has {} bytes; at most {LONGEST} are taken",
                text.len()
            ))),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(Refused(format!("{name:?} is no text: {}", kind(other)))),
        }
    }

    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, Refused> {
        match self.given.get(name) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(vec![text.clone()]),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| match item {
                    Value::String(text) => Ok(text.clone()),
                    other => Err(Refused(format!("{name:?} holds {}", kind(other)))),
                })
                .collect(),
            Some(other) => Err(Refused(format!("{name:?} is no list: {}", kind(other)))),
        }
    }

    /// A whole number within bounds.
    pub(super) fn number(&self, name: &str, default: usize, most: usize) -> Result<usize, Refused> {
        match self.given.get(name) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => match value.as_u64() {
                Some(number) if (1..=most as u64).contains(&number) => Ok(number as usize),
                _ => Err(Refused(format!(
                    "{name:?} must be a number from 1 to {most}"
                ))),
            },
        }
    }

    /// The page that `limit` and `cursor` name.
    pub(super) fn page(&self, default: usize, most: usize) -> Result<Page, Refused> {
        let length = self.number("limit", default, most)?;
        let start = match self.maybe_text("cursor")? {
            None => 0,
            Some(cursor) => Page::start_of(&cursor)?,
        };
        Ok(Page { start, length })
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, Refused> {
        match self.given.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(Refused(format!(
                "{name:?} is neither true nor false: {}",
                kind(other)
            ))),
        }
    }

    /// All arguments, or one of them, as a type of the engine's.
    pub(super) fn read<T: DeserializeOwned>(&self, name: Option<&str>) -> Result<T, Refused> {
        let value = match name {
            Some(name) => self.given.get(name).cloned().unwrap_or_default(),
            None => Value::Object(self.given.clone()),
        };
        Ok(serde_json::from_value(value)?)
    }

    /// The engine at the moment that `as_of` and `known_at` name.
    pub(super) fn at(&self, engine: &Engine) -> Result<Engine, Refused> {
        let times: Times = parse_times(
            self.maybe_text("as_of")?.as_deref(),
            self.maybe_text("known_at")?.as_deref(),
        )?;
        Ok(engine.at(times))
    }

    /// Whether it names no moment.
    pub(super) fn is_of_the_present(&self) -> bool {
        ["as_of", "known_at"]
            .iter()
            .all(|name| self.maybe_text(name).is_ok_and(|moment| moment.is_none()))
    }
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_lead_on_and_are_checked() {
        let page = |start, length| Page { start, length };
        assert_eq!(page(0, 10).next(10, true).as_deref(), Some("at-10"));
        assert_eq!(page(10, 10).next(4, true).as_deref(), Some("at-14"));
        assert_eq!(page(0, 10).next(10, false), None);
        assert_eq!(
            page(0, 10).next(0, true),
            None,
            "a page of nothing leads nowhere"
        );
        assert_eq!(Page::start_of("at-14").unwrap(), 14);
        for bad in [
            "",
            "14",
            "at-",
            "at-0",
            "at--1",
            "at-99999999999999999999",
            "at-100001",
        ] {
            assert!(Page::start_of(bad).is_err(), "{bad}");
        }
    }
}
