use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Citation, CypherRows, PublicId};

/// What the graph says about a question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphAnswer {
    pub question: String,
    /// The model that wrote the queries; none: they come from templates.
    pub model: Option<String>,
    /// Queries in the order in which they were run, those with a mistake too. Empty when the question names nothing
    /// that the graph knows.
    pub queries: Vec<GraphQuery>,
    /// What the rows of all queries rest on, numbered on from 1.
    pub rows: Vec<GraphRow>,
    /// Passages that state the relations of the rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Citation>,
}

/// One query and what became of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphQuery {
    pub query: String,
    /// Values of its `$name`: public ids.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub parameters: BTreeMap<String, serde_json::Value>,
    pub answer: CypherRows,
    /// There were more rows.
    pub is_cut: bool,
    /// Why it has no answer.
    pub error: Option<String>,
}

/// A row as the ground of what is said: its nodes and relations, and the passages that state them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphRow {
    /// Number in [`GraphAnswer::queries`], from 1.
    pub query: usize,
    /// Its columns and values as text.
    pub text: String,
    pub nodes: Vec<GraphNode>,
    pub relations: Vec<GraphRelation>,
    /// Numbers in [`GraphAnswer::evidence`], from 1.
    pub evidence: Vec<usize>,
}

/// An entity that a row holds or names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphNode {
    pub public_id: PublicId,
    pub name: String,
}

/// A relation that a row holds, or that joins what it names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphRelation {
    pub source: String,
    pub relation: String,
    pub target: String,
}

impl GraphAnswer {
    /// Whether any query found something.
    pub fn knows(&self) -> bool {
        !self.rows.is_empty()
    }
}
