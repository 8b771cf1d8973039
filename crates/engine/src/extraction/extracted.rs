//! What a passage is known to say: the outcome of reading and checking.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::{Map, Value};

/// What a passage is known to say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extraction {
    pub entities: Vec<ExtractedEntity>,
    pub relations: Vec<ExtractedRelation>,
    pub rejected: Vec<RejectedItem>,
}

/// A thing that the passage names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExtractedEntity {
    pub name: String,
    /// Other ways the passage writes it.
    pub aliases: Vec<String>,
    /// Declared types, or any where types are free.
    pub kinds: BTreeSet<String>,
    pub description: Option<String>,
    pub properties: Map<String, Value>,
    /// Where the passage names it, in bytes of its text.
    pub places: Vec<Range<usize>>,
}

/// A tie that the passage states.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtractedRelation {
    /// Positions in [`Extraction::entities`].
    pub source: usize,
    pub target: usize,
    pub kind: String,
    pub fact: Option<String>,
    /// Bytes of the passage that say it.
    pub quote: Range<usize>,
    /// The model gave the quote; otherwise it is the sentence that holds both names.
    pub is_quoted: bool,
    pub is_implied: bool,
    pub is_exclusive: bool,
    pub valid_from: Option<String>,
    pub valid_to: Option<String>,
    pub properties: Map<String, Value>,
}

/// An item that was not stored, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedItem {
    /// `entity` or `relation`.
    pub kind: &'static str,
    /// As the reply had it, in JSON.
    pub item: String,
    pub reason: String,
}
