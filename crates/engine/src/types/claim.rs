use serde::{Deserialize, Serialize};

use super::{EvidenceView, PublicId, RelationTimes, Standing};

/// How a claim stands, as its source has it.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ClaimStatus {
    /// The source establishes it.
    True,
    /// The source refutes it.
    False,
    /// Somebody says so, and nobody has shown it.
    #[default]
    Suspected,
}

text_names!(ClaimStatus { True => "true", False => "false", Suspected => "suspected" });

/// A claim given directly, without a model. Who it is about is made if not known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GivenClaim {
    /// Who or what it is about.
    #[serde(alias = "from", alias = "source")]
    pub subject: String,
    /// Whom or what else it concerns.
    #[serde(alias = "to", alias = "target")]
    pub object: Option<String>,
    #[serde(rename = "type", alias = "claim_type")]
    pub kind: String,
    pub status: ClaimStatus,
    /// The claim as a sentence.
    pub description: String,
    /// A date as people write it.
    pub valid_from: Option<String>,
    pub valid_to: Option<String>,
}

/// A claim as shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimView {
    /// What it is corrected by: `malha correct --claim ID`. Fixed by what it says, so that versions share it.
    pub id: PublicId,
    pub subject: String,
    pub subject_id: PublicId,
    pub object: Option<String>,
    pub object_id: Option<PublicId>,
    pub claim_type: String,
    pub status: ClaimStatus,
    pub description: String,
    /// 0 to 1, as it was stated.
    pub confidence: f64,
    /// To the moment that was asked for.
    pub standing: Standing,
    #[serde(flatten)]
    pub times: RelationTimes,
    pub evidence: Vec<EvidenceView>,
}

/// A change of one claim.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClaimCorrection {
    /// [`ClaimView::id`]
    pub id: String,
    /// How it stands instead; nothing: it is only taken back.
    pub status: Option<ClaimStatus>,
    /// What is right, as a sentence; the present words where nothing is said.
    pub description: Option<String>,
}
