use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A query in openCypher.
#[derive(Debug, Clone, PartialEq)]
pub struct CypherRequest {
    pub query: String,
    /// Values of `$name`.
    pub parameters: BTreeMap<String, serde_json::Value>,
    /// A query with more rows is an error.
    pub max_rows: u64,
    pub timeout: Duration,
}

impl CypherRequest {
    /// Without parameters, at most 10,000 rows in 10 seconds.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            parameters: BTreeMap::new(),
            max_rows: 10_000,
            timeout: Duration::from_secs(10),
        }
    }
}

/// Answer of a [`CypherRequest`]. A node is an object with `id`, `labels` and `properties`, a relationship one
/// with `type`, `source`, `target` and `properties`, a path one with `nodes` and `relationships`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CypherRows {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<serde_json::Value>>,
    /// What binding and running it took, in milliseconds; not the loading of the graph.
    #[serde(skip)]
    pub elapsed_ms: f64,
}
