use serde::{Deserialize, Serialize};

use super::{Citation, PublicId, Spent};

/// A level of the hierarchy of communities. Every entity that is connected to anything has one community at each.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum CommunityLevel {
    /// The whole store in few communities.
    #[default]
    Coarse,
    Middle,
    Fine,
}

text_names!(CommunityLevel { Coarse => "coarse", Middle => "middle", Fine => "fine" });

impl CommunityLevel {
    /// From the coarsest to the finest.
    pub const ALL: [Self; 3] = [Self::Coarse, Self::Middle, Self::Fine];

    /// The number in the store: 0 is the coarsest.
    pub const fn number(self) -> usize {
        self as usize
    }
}

/// A community as people and agents see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommunityView {
    /// Kept while most of its members stay together.
    pub id: i64,
    /// The coarsest level that has it; one that is not split further stands in the finer ones too.
    pub level: CommunityLevel,
    pub parent: Option<i64>,
    /// Names of its central entities, or what a report calls it.
    pub title: String,
    /// Number of its entities.
    pub size: usize,
    /// Its best connected entities.
    pub members: Vec<CommunityMember>,
}

/// An entity of a community.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommunityMember {
    pub public_id: PublicId,
    pub name: String,
    /// Relations and mentions that tie it to the rest of the community.
    pub ties: usize,
}

/// What to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommunityRequest {
    pub level: CommunityLevel,
    /// Only the communities that an entity of this name, alias or public id is in, at every level.
    pub entity: Option<String>,
    /// Most communities listed, the largest first.
    pub limit: usize,
    /// Most members listed for each.
    pub members: usize,
}

/// The communities of a store.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CommunityList {
    pub communities: Vec<CommunityView>,
    /// Communities at the level asked for, listed or not.
    pub total: usize,
    /// The store changed since they were found and cannot be written now.
    pub is_stale: bool,
}

/// What a community is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommunityReport {
    pub community: i64,
    /// Names of its central entities, or what a model calls it.
    pub title: String,
    /// How large it is, its central entities and its most central sentence, or what a model says.
    pub summary: String,
    /// From 0 to 10, how much it matters; only a model rates.
    pub rating: Option<f64>,
    pub rating_reason: String,
    pub findings: Vec<Finding>,
    /// The chat model that wrote it; `None`: it is made of sentences of the documents.
    pub model: Option<String>,
    /// Why a model that was asked for it gave no usable one.
    pub failure: Option<String>,
}

impl CommunityReport {
    /// Every quote that its findings rest on.
    pub fn quotes(&self) -> impl Iterator<Item = &Citation> {
        self.findings.iter().flat_map(|finding| &finding.evidence)
    }
}

/// Something that a report says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// A sentence of the documents, or of a model.
    pub text: String,
    /// At least one.
    pub evidence: Vec<Citation>,
}

/// A report that a model should have written and did not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingReport {
    pub community: i64,
    pub title: String,
    pub reason: String,
}

/// What became of a run that writes reports.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ReportsWritten {
    /// Communities that have a report.
    pub communities: usize,
    /// Reports written now; the others were fresh or could not be written.
    pub written: usize,
    pub missing: Vec<MissingReport>,
    /// Some are missing because the limit of spending left no room.
    pub budget_reached: bool,
    pub spent: Spent,
}
