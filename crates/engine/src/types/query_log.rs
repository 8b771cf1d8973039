use serde::{Deserialize, Serialize};

use super::{GateDecision, Mode};

/// What kind of thing a question asks for, by its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryClass {
    /// A subject, to read around in.
    Topic,
    /// One thing by its name.
    Name,
    /// How things hang together.
    Relation,
    /// One fact.
    Point,
}

text_names!(QueryClass {
    Topic => "topic",
    Name => "name",
    Relation => "relation",
    Point => "point",
});

/// A search as it is logged.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedQuery {
    pub question: String,
    pub mode: Mode,
    pub class: QueryClass,
    pub gate: GateDecision,
    /// Results shown.
    pub results: usize,
    pub search_us: u64,
    /// `None` where the mode has no graph, or where asking twice would have taken too long.
    pub comparison: Option<GraphComparison>,
}

/// What the graph was good for, in documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphComparison {
    /// Results wanted.
    pub shown: usize,
    /// Candidates that only the graph brought.
    pub added: usize,
    /// Uris of those among the results that would not be there without the graph.
    pub entered: Vec<String>,
    /// How many of these were no candidates at all without it.
    pub by_graph: usize,
    pub with_us: u64,
    pub without_us: u64,
}

/// What the graph was good for lately.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GraphReport {
    /// Days looked at.
    pub days: u32,
    /// By class and gate.
    pub rows: Vec<GraphReportRow>,
    /// What the rows speak for.
    pub suggestions: Vec<String>,
    /// The statement that made the rows.
    pub sql: String,
}

/// Questions of one class that the gate decided the same about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GraphReportRow {
    pub class: String,
    /// `open`, or the rule that closed it.
    pub gate: String,
    pub queries: usize,
    /// Candidates that only the graph brought, on average.
    pub added: f64,
    /// Documents that the graph brought among the results.
    pub entered: usize,
    pub by_graph: usize,
    /// Percentage of questions where it brought any.
    pub helped: f64,
    /// Mean time of the search, and what the graph added to it.
    pub search_ms: f64,
    pub graph_ms: f64,
}
