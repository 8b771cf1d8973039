use crate::cypher::value::Value;

/// What is known of a value's type before the query runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Any,
    Null,
    Boolean,
    Integer,
    Float,
    String,
    List(Box<Kind>),
    Map,
    Node,
    Relationship,
    Path,
    Temporal,
    Duration,
}

/// Types that an operator or a function takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cypher) enum Takes {
    Anything,
    Boolean,
    Number,
    Integer,
    String,
    List,
    Node,
    Relationship,
    Path,
    NodeOrRelationship,
    /// Node, relationship or map.
    HasProperties,
    StringOrList,
    /// String, list or map.
    Sized,
    TemporalArgument,
}

impl Kind {
    pub(super) fn list_of(kind: Kind) -> Self {
        Self::List(Box::new(kind))
    }

    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Boolean(_) => Self::Boolean,
            Value::Integer(_) => Self::Integer,
            Value::Float(_) => Self::Float,
            Value::String(_) => Self::String,
            Value::List(_) => Self::list_of(Self::Any),
            Value::Map(_) => Self::Map,
            Value::Node(_) => Self::Node,
            Value::Relationship(_) => Self::Relationship,
            Value::Path(_) => Self::Path,
            Value::Temporal(_) => Self::Temporal,
            Value::Duration(_) => Self::Duration,
        }
    }

    /// What is known of a value that is of this kind or of the other.
    pub(super) fn or(self, other: Kind) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (Self::Null, other) | (other, Self::Null) => other,
            (Self::List(a), Self::List(b)) => Self::list_of(a.or(*b)),
            _ => Self::Any,
        }
    }

    pub(super) fn is_known(&self) -> bool {
        !matches!(self, Self::Any | Self::Null)
    }

    /// Whether a value of this kind may be given where `takes` is asked for.
    pub(super) fn fits(&self, takes: Takes) -> bool {
        match self {
            Self::Any | Self::Null => true,
            _ => match takes {
                Takes::Anything => true,
                Takes::Boolean => *self == Self::Boolean,
                Takes::Number => matches!(self, Self::Integer | Self::Float),
                Takes::Integer => *self == Self::Integer,
                Takes::String => *self == Self::String,
                Takes::List => matches!(self, Self::List(_)),
                Takes::Node => *self == Self::Node,
                Takes::Relationship => *self == Self::Relationship,
                Takes::Path => *self == Self::Path,
                Takes::NodeOrRelationship => matches!(self, Self::Node | Self::Relationship),
                Takes::HasProperties => {
                    matches!(self, Self::Node | Self::Relationship | Self::Map)
                }
                Takes::StringOrList => matches!(self, Self::String | Self::List(_)),
                Takes::Sized => matches!(self, Self::String | Self::List(_) | Self::Map),
                Takes::TemporalArgument => {
                    matches!(
                        self,
                        Self::String | Self::Map | Self::Temporal | Self::Duration
                    )
                }
            },
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Any => "any value",
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Float => "a float",
            Self::String => "a string",
            Self::List(_) => "a list",
            Self::Map => "a map",
            Self::Node => "a node",
            Self::Relationship => "a relationship",
            Self::Path => "a path",
            Self::Temporal => "a point in time",
            Self::Duration => "a duration",
        }
    }
}

impl Takes {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Anything => "any value",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::Integer => "an integer",
            Self::String => "a string",
            Self::List => "a list",
            Self::Node => "a node",
            Self::Relationship => "a relationship",
            Self::Path => "a path",
            Self::NodeOrRelationship => "a node or a relationship",
            Self::HasProperties => "a node, a relationship or a map",
            Self::StringOrList => "a string or a list",
            Self::Sized => "a string, a list or a map",
            Self::TemporalArgument => "a string, a map or a point in time",
        }
    }
}
