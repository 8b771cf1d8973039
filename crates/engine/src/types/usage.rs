use serde::{Deserialize, Serialize};

/// What a model costs, in any one currency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelPrice {
    pub model: String,
    /// For a million tokens of prompts.
    pub input_per_million: f64,
    /// For a million tokens of replies.
    pub output_per_million: f64,
}

impl ModelPrice {
    /// What so many tokens cost.
    pub fn cost(&self, input_tokens: u64, output_tokens: u64) -> f64 {
        (input_tokens as f64 * self.input_per_million
            + output_tokens as f64 * self.output_per_million)
            / 1e6
    }
}

/// How much may be spent at most; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SpendingLimit {
    pub calls: Option<u64>,
    /// Prompts and replies together.
    pub tokens: Option<u64>,
    /// In the currency of the price table.
    pub cost: Option<f64>,
}

/// What was spent since the limit was set, calls in flight at their estimate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    pub calls: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cost: f64,
    /// Replies that came from the store.
    pub cache_hits: u64,
    pub retries: u64,
    pub waited_ms: u64,
    pub failed: u64,
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, more: Self) {
        self.calls += more.calls;
        self.input_tokens += more.input_tokens;
        self.output_tokens += more.output_tokens;
        self.cost += more.cost;
        self.cache_hits += more.cache_hits;
        self.retries += more.retries;
        self.waited_ms += more.waited_ms;
        self.failed += more.failed;
    }
}

/// By what the bill is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageKey {
    Step,
    Model,
    Document,
    /// UTC.
    Day,
}

text_names!(UsageKey { Step => "step", Model => "model", Document => "document", Day => "day" });

/// One line of the bill.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UsageLine {
    /// The step, model, document or day; empty for calls about no document.
    pub name: String,
    /// Calls that came back, failed ones too.
    pub calls: u64,
    pub failed: u64,
    /// Replies that could not be used.
    pub rejected: u64,
    /// Times that a stored reply served instead of a call.
    pub cache_hits: u64,
    pub retries: u64,
    pub waited_ms: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Of the calls whose model had a price.
    pub cost: f64,
    /// Calls whose model had none.
    pub unpriced: u64,
}

/// A part of a reply to several requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyPart {
    /// From 1.
    pub number: usize,
    /// How many requests were asked together.
    pub of: usize,
}
