//! What a query computes with.

mod compare;
mod show;

use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) use compare::compare;
pub use compare::{Group, equals, order};
pub(super) use show::float_text;

use super::error::{CypherError, ErrorKind, Result};
use super::temporal::{Duration, Temporal};

/// A node of a graph; what the number means is the graph's own affair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u64);

/// A relationship of a graph; what the number means is the graph's own affair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelationshipId(pub u64);

/// A value of openCypher.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Value {
    #[default]
    Null,
    Boolean(bool),
    Integer(i64),
    Float(f64),
    String(Arc<str>),
    List(Arc<List>),
    Map(Arc<Map>),
    Node(NodeId),
    Relationship(RelationshipId),
    Path(Arc<Path>),
    Temporal(Temporal),
    Duration(Arc<Duration>),
}

/// A list, which knows how large and how deep it is: parts are shared, so that a small query could
/// otherwise name a list that no memory holds.
#[derive(Debug, PartialEq)]
pub struct List {
    items: Vec<Value>,
    extent: Extent,
}

/// A map, which knows how large and how deep it is.
#[derive(Debug, PartialEq)]
pub struct Map {
    entries: BTreeMap<Arc<str>, Value>,
    extent: Extent,
}

/// Size of a value with all that it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Extent {
    bytes: u64,
    depth: u32,
}

/// A walk: one more node than relationships.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    pub nodes: Vec<NodeId>,
    pub relationships: Vec<RelationshipId>,
}

/// Most bytes of one value.
const MOST_BYTES: u64 = 64 << 20;
/// Most lists inside each other.
const MOST_DEPTH: u32 = 200;
/// What a value takes in a row, whatever it is.
const SLOT: u64 = 24;

impl Extent {
    fn of<'a>(values: impl Iterator<Item = &'a Value>) -> Result<Self> {
        let mut extent = Self {
            bytes: SLOT,
            depth: 1,
        };
        for value in values {
            extent.bytes = extent.bytes.saturating_add(value.bytes());
            let inner = match value {
                Value::List(list) => list.extent.depth,
                Value::Map(map) => map.extent.depth,
                _ => 0,
            };
            extent.depth = extent.depth.max(inner + 1);
        }
        check_bytes(extent.bytes)?;
        if extent.depth > MOST_DEPTH {
            return Err(too_large(format!(
                "lists and maps may be nested {MOST_DEPTH} deep"
            )));
        }
        Ok(extent)
    }
}

/// Refuses to make a value of that many bytes.
pub(super) fn check_bytes(bytes: u64) -> Result<()> {
    if bytes > MOST_BYTES {
        return Err(too_large(format!(
            "one value may take {} MB at most",
            MOST_BYTES >> 20
        )));
    }
    Ok(())
}

/// Refuses to make a list of that many items.
pub(super) fn check_items(items: u64) -> Result<()> {
    check_bytes(items.saturating_mul(SLOT))
}

fn too_large(message: String) -> CypherError {
    CypherError::runtime(ErrorKind::LimitExceeded, "ValueTooLarge", message)
}

impl Value {
    /// A string.
    pub fn string(text: impl Into<Arc<str>>) -> Self {
        Self::String(text.into())
    }

    /// A list, or an error when it is too large.
    pub fn list(items: Vec<Value>) -> Result<Self> {
        let extent = Extent::of(items.iter())?;
        Ok(Self::List(Arc::new(List { items, extent })))
    }

    /// A map, or an error when it is too large.
    pub fn map(entries: BTreeMap<Arc<str>, Value>) -> Result<Self> {
        let mut extent = Extent::of(entries.values())?;
        extent.bytes += entries.keys().map(|key| key.len() as u64).sum::<u64>();
        check_bytes(extent.bytes)?;
        Ok(Self::Map(Arc::new(Map { entries, extent })))
    }

    /// Whether there is no value.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Roughly how much memory it takes.
    pub fn bytes(&self) -> u64 {
        SLOT + match self {
            Self::String(text) => text.len() as u64,
            Self::List(list) => list.extent.bytes,
            Self::Map(map) => map.extent.bytes,
            Self::Path(path) => (path.nodes.len() + path.relationships.len()) as u64 * 8,
            Self::Duration(_) => 32,
            _ => 0,
        }
    }

    /// Name of its type, for messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a float",
            Self::String(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Node(_) => "a node",
            Self::Relationship(_) => "a relationship",
            Self::Path(_) => "a path",
            Self::Temporal(temporal) => temporal.type_name(),
            Self::Duration(_) => "a duration",
        }
    }

    /// Its items, when it is a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Self::List(list) => Some(&list.items),
            _ => None,
        }
    }

    /// Its entries, when it is a map.
    pub fn as_map(&self) -> Option<&BTreeMap<Arc<str>, Value>> {
        match self {
            Self::Map(map) => Some(&map.entries),
            _ => None,
        }
    }

    /// Its text, when it is a string.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Its number as a float, when it is a number.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Integer(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// The value of a JSON document: what a parameter holds.
    pub fn from_json(json: &serde_json::Value) -> Result<Self> {
        Ok(match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Boolean(*value),
            serde_json::Value::Number(number) => match number.as_i64() {
                Some(integer) => Self::Integer(integer),
                None => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            serde_json::Value::String(text) => Self::string(text.as_str()),
            serde_json::Value::Array(items) => {
                Self::list(items.iter().map(Self::from_json).collect::<Result<_>>()?)?
            }
            serde_json::Value::Object(entries) => Self::map(
                entries
                    .iter()
                    .map(|(key, value)| Ok((Arc::from(key.as_str()), Self::from_json(value)?)))
                    .collect::<Result<_>>()?,
            )?,
        })
    }
}

impl Path {
    /// The path of one node.
    pub fn of_node(node: NodeId) -> Self {
        Self {
            nodes: vec![node],
            relationships: Vec::new(),
        }
    }
}
