//! What a passage is known to say: the outcome of reading and checking.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::types::ClaimStatus;

/// What a passage is known to say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Extraction {
    pub entities: Vec<ExtractedEntity>,
    pub relations: Vec<ExtractedRelation>,
    #[serde(default)]
    pub claims: Vec<ExtractedClaim>,
    pub rejected: Vec<RejectedItem>,
    /// What was odd about the reply, in words.
    #[serde(default)]
    pub oddities: Vec<String>,
}

/// A thing that the passage names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

/// A claim that the passage makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtractedClaim {
    /// Positions in [`Extraction::entities`].
    pub subject: usize,
    pub object: Option<usize>,
    pub kind: String,
    pub status: ClaimStatus,
    pub description: String,
    /// Bytes of the passage that say it.
    pub quote: Range<usize>,
    /// The model gave the quote; otherwise it is the sentence that holds both names.
    pub is_quoted: bool,
    pub valid_from: Option<String>,
    pub valid_to: Option<String>,
}

/// An item that was not stored, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedItem {
    /// One of [`KINDS`].
    #[serde(deserialize_with = "kind")]
    pub kind: Kind,
    /// As the reply had it, in JSON.
    pub item: String,
    pub reason: String,
}

/// One of [`KINDS`]. (Under this name, since a derived reader takes a reference for a part of what it reads.)
pub(super) type Kind = &'static str;

/// What an item can be.
const KINDS: [Kind; 4] = ["entity", "relation", "claim", "item"];

fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Kind, D::Error> {
    let written = String::deserialize(deserializer)?;
    let known = KINDS.into_iter().find(|kind| *kind == written);
    known.ok_or_else(|| serde::de::Error::custom(format!("no kind of item: {written}")))
}
