use serde::Serialize;

use super::Timestamp;

/// One question to an agent and all that it did until the next one, as its transcript tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Turn {
    /// What the agent calls the conversation; empty when the transcript does not say.
    pub session: String,
    pub asked_at: Option<Timestamp>,
    pub answered_at: Option<Timestamp>,
    pub question: String,
    /// The last text of the agent, cut to a summary's length.
    pub answer: String,
    /// Files that its tools read or changed, absolute where the transcript tells the folder.
    pub files: Vec<String>,
    pub tools: Vec<String>,
    pub commands: Vec<String>,
    pub decisions: Vec<Decision>,
    /// Bytes of the transcript, from the question's line to the end of the last one.
    pub start: u64,
    pub end: u64,
}

/// A sentence in which the agent says what it decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    pub text: String,
    /// Bytes of the transcript's line that holds it.
    pub start: u64,
    pub end: u64,
}

/// A line of a transcript that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BrokenLine {
    pub path: String,
    /// Byte at which it begins.
    pub offset: u64,
    pub reason: String,
}

/// What an ingest did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LedgerReport {
    pub transcripts: usize,
    pub bytes: u64,
    pub turns_added: usize,
    /// Turns that were there and have grown or moved.
    pub turns_updated: usize,
    pub broken: Vec<BrokenLine>,
}

/// A stored turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TurnView {
    pub id: i64,
    pub session: String,
    pub transcript: String,
    /// None when the transcript was rewritten and does not hold the turn any more.
    pub start: Option<u64>,
    pub end: Option<u64>,
    /// As ISO 8601.
    pub asked_at: Option<String>,
    pub question: String,
    pub answer: String,
    pub files: Vec<String>,
    pub tools: Vec<String>,
    pub commands: Vec<String>,
    pub decisions: Vec<Decision>,
    /// Of a search: why it was found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found_by: Vec<String>,
}

/// Counts of the ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LedgerStats {
    pub transcripts: u64,
    pub sessions: u64,
    pub turns: u64,
    pub decisions: u64,
    /// Files touched, each counted once.
    pub files: u64,
    /// Files touched that are documents of the store.
    pub documents: u64,
    /// Failures of hooks.
    pub failures: u64,
    /// The failures last logged, newest first.
    pub last_failures: Vec<String>,
    /// Tools by number of turns that used them, the most used first.
    pub tools: Vec<(String, u64)>,
}
