use serde::{Deserialize, Serialize};

use super::{DocumentId, EntryEntity, LaneRecord, Mode};

/// What a budget counts.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum BudgetUnit {
    /// Of the vocabulary cl100k, near enough to what most models bill.
    #[default]
    Tokens,
    Characters,
    /// Runs of letters and digits.
    Words,
}

text_names!(BudgetUnit { Tokens => "tokens", Characters => "characters", Words => "words" });

/// How long a context may be. It counts everything that stands in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    pub amount: usize,
    pub unit: BudgetUnit,
}

impl Budget {
    /// So many tokens.
    pub const fn tokens(amount: usize) -> Self {
        Self {
            amount,
            unit: BudgetUnit::Tokens,
        }
    }
}

/// What a piece of context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextKind {
    Entity,
    Relation,
    /// About the question's entities: true, false or suspected.
    Claim,
    /// Of a community that the question's entities are in.
    Report,
    Passage,
}

text_names!(ContextKind {
    Entity => "entity",
    Relation => "relation",
    Claim => "claim",
    Report => "report",
    Passage => "passage",
});

/// Where a text stands: `quote` is `document[start..end]`, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    pub document: DocumentId,
    pub uri: String,
    pub title: String,
    /// From 1; 0 where it is not known.
    pub line: usize,
    pub start: usize,
    pub end: usize,
    pub quote: String,
}

/// One piece of context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextItem {
    pub kind: ContextKind,
    /// As it stands in the context.
    pub text: String,
    /// Higher is better; comparable within its kind.
    pub score: f64,
    /// Of passages: where they stand.
    pub citation: Option<Citation>,
}

/// What did not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    pub kind: ContextKind,
    pub left_out: usize,
}

/// A question that wants all that belongs to it within a budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextRequest {
    pub query: String,
    pub mode: Mode,
    pub budget: Budget,
    /// Only these documents; `None` for all.
    pub documents: Option<Vec<DocumentId>>,
    /// Entities and relations too, not passages alone.
    pub with_graph: bool,
}

impl ContextRequest {
    /// Everything about a question within a budget.
    pub fn new(query: impl Into<String>, budget: Budget) -> Self {
        Self {
            query: query.into(),
            mode: Mode::Auto,
            budget,
            documents: None,
            with_graph: true,
        }
    }
}

/// Evidence for a question that fits its budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Context {
    pub query: String,
    /// Entities, relations, claims, reports, then passages, each best first.
    pub items: Vec<ContextItem>,
    pub budget: Budget,
    /// How much of it the items take, in its unit.
    pub used: usize,
    pub cut: Vec<Cut>,
    pub entry_entities: Vec<EntryEntity>,
    /// The degradation record of the search.
    pub record: Vec<LaneRecord>,
    pub notes: Vec<String>,
}

impl Context {
    /// The items, one a line: what the budget counts.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.items.iter().map(|item| item.text.as_str()).collect();
        texts.join("\n")
    }

    /// The passages, best first.
    pub fn passages(&self) -> impl Iterator<Item = &Citation> {
        self.items.iter().filter_map(|item| item.citation.as_ref())
    }
}
