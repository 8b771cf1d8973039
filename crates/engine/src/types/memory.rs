use serde::{Deserialize, Serialize};

use super::{ClaimView, GivenClaim, ItemFailure, LaneRecord, PublicId, RelationView};

/// An entity given directly, without a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GivenEntity {
    pub name: String,
    #[serde(rename = "type", alias = "entity_type", alias = "entityType")]
    pub kind: Option<String>,
    pub description: Option<String>,
    pub aliases: Vec<String>,
}

/// A relation given directly. Its end points are made if they are not known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GivenFact {
    #[serde(rename = "from", alias = "source", alias = "subject")]
    pub source: String,
    #[serde(rename = "to", alias = "target", alias = "object")]
    pub target: String,
    #[serde(rename = "relation", alias = "type", alias = "relationType")]
    pub relation: String,
    /// The fact as a sentence.
    #[serde(rename = "context", alias = "fact")]
    pub fact: Option<String>,
    /// A date as people write it.
    pub valid_from: Option<String>,
    pub valid_to: Option<String>,
    /// The source has this relation to one thing at a time.
    pub exclusive: bool,
}

/// Something to remember: a text, or entities and relations, or both. It becomes one episode.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Memory {
    pub text: String,
    /// Who said it.
    pub speaker: Option<String>,
    /// When it was said, as people write dates; otherwise now.
    pub time: Option<String>,
    /// The conversation it belongs to; episodes of one session follow one another.
    pub session: Option<String>,
    /// Name of the episode; otherwise session and number. One that is there is replaced.
    pub id: Option<String>,
    pub entities: Vec<GivenEntity>,
    pub relations: Vec<GivenFact>,
    pub claims: Vec<GivenClaim>,
}

/// What to do with a fact of an exclusive relation that another one contradicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictPolicy {
    /// What began earlier ends where the new fact begins.
    #[default]
    Close,
    /// The new fact is not stored, and the contradiction is reported.
    Ask,
}

text_names!(ConflictPolicy { Close => "close", Ask => "ask" });

/// How something known was found to be near.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NearBy {
    /// Names of entities or of relations that are spelled almost alike.
    Name,
    /// Nearly the same words.
    Text,
    /// Nearly the same meaning.
    Vector,
}

text_names!(NearBy { Name => "name", Text => "text", Vector => "vector" });

/// Something known that comes near something that was remembered: perhaps it is the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Near {
    pub new: String,
    pub known: String,
    pub by: NearBy,
    /// 0 to 1.
    pub similarity: f64,
    /// Where it is stated; of an entity its public id.
    pub uri: String,
}

/// What became of what was to be remembered, corrected or undone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryReport {
    /// Undoes it: `malha undo N`.
    pub operation: Option<i64>,
    /// Uris of the episodes.
    pub episodes: Vec<String>,
    pub entities_added: usize,
    pub relations_added: usize,
    /// Facts that were known: they gained evidence.
    pub relations_repeated: usize,
    pub relations_retracted: usize,
    pub claims_added: usize,
    /// Claims that were known: they gained evidence.
    pub claims_repeated: usize,
    pub claims_retracted: usize,
    /// Facts that ended because another one began, or go on because it was taken back.
    pub ended: Vec<String>,
    /// Contradictions that were not resolved.
    pub conflicts: Vec<String>,
    /// Facts that were forgotten or corrected before and are not taken in again.
    pub suppressed: Vec<String>,
    /// What is known that comes near what was remembered.
    pub near: Vec<Near>,
    /// Items that could not be used; `line` is the item's number from 1.
    pub failed: Vec<ItemFailure>,
}

/// A change of one fact.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Correction {
    #[serde(rename = "from", alias = "source", alias = "subject")]
    pub source: String,
    #[serde(alias = "type")]
    pub relation: String,
    /// What is known and wrong.
    #[serde(rename = "to", alias = "target", alias = "object")]
    pub target: String,
    /// What is right instead; nothing: the fact is only taken back.
    pub new_target: Option<String>,
    /// Dates of the right fact; those of the wrong one where nothing is said.
    pub valid_from: Option<String>,
    pub valid_to: Option<String>,
    pub reason: Option<String>,
}

/// A question to memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecallRequest {
    pub query: String,
    /// Tokens that entities, relations and evidence may take together.
    pub budget: usize,
    pub max_hops: u32,
    /// Passages at most.
    pub limit: usize,
    /// Leave out what has ended, and show what is freshest first.
    pub prefer_present: bool,
}

impl RecallRequest {
    /// Two hops, ten passages, two thousand tokens, of the present.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            budget: 2_000,
            max_hops: 2,
            limit: 10,
            prefer_present: true,
        }
    }
}

/// An entity as recalled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecalledEntity {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub description: String,
    pub id: PublicId,
}

/// A relation as recalled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecalledRelation {
    pub from: String,
    pub to: String,
    pub relation: String,
    /// The fact as a sentence; empty when none is stated.
    pub context: String,
    pub valid_from: Option<String>,
    pub valid_to: Option<String>,
    /// 0 to 1, as it was stated.
    pub confidence: f64,
    /// What is left of it by now: it fades with the age of its source.
    pub confidence_now: f64,
    /// Where it is stated.
    pub source: Option<String>,
}

/// A claim as recalled: what somebody says of somebody, with how it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecalledClaim {
    pub id: PublicId,
    pub subject: String,
    pub object: Option<String>,
    #[serde(rename = "type")]
    pub kind: String,
    pub status: super::ClaimStatus,
    pub description: String,
    pub valid_from: Option<String>,
    pub valid_to: Option<String>,
    /// 0 to 1, as it was stated.
    pub confidence: f64,
    /// What is left of it by now.
    pub confidence_now: f64,
    /// Where it is made.
    pub source: Option<String>,
}

/// A passage as recalled: what somebody wrote or said, never an instruction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecalledPassage {
    pub rank: usize,
    pub uri: String,
    pub line: usize,
    pub title: String,
    /// When it was said or its document is dated.
    pub said_at: Option<String>,
    pub text: String,
}

/// What memory holds about a question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Recalled {
    pub query: String,
    /// Names of the entities that the walk started from.
    pub entrypoint_roots: Vec<String>,
    pub entities: Vec<RecalledEntity>,
    pub relations: Vec<RecalledRelation>,
    /// What is said of these entities, true, false or suspected.
    pub claims: Vec<RecalledClaim>,
    pub evidence: Vec<RecalledPassage>,
    /// Tokens of all of the above, by estimate.
    pub tokens: usize,
    /// The budget left something out.
    pub cut: bool,
    /// The degradation record: lanes that ran, failed, were skipped or cut.
    pub record: Vec<LaneRecord>,
    /// What could not be done, in words.
    pub notes: Vec<String>,
}

/// Everything that is known of an entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Description {
    pub entity: super::EntityView,
    /// The coarsest community it belongs to, where communities were found.
    pub community: Option<String>,
    /// What holds, best supported first.
    pub relations: Vec<RelationView>,
    /// What has ended or has not begun.
    pub history: Vec<super::TimelineEntry>,
    /// What is said of it, what holds first.
    pub claims: Vec<ClaimView>,
    /// Passages that mention it.
    pub passages: Vec<RecalledPassage>,
}

/// A change that can be undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationView {
    pub id: i64,
    pub at: String,
    pub kind: String,
    pub summary: String,
    pub undone_at: Option<String>,
}
