//! The vocabulary: one noun a file.

/// Gives a field-less enum its stable text form: the one in the store, in JSON and on the command line.
macro_rules! text_names {
    ($name:ty { $($variant:ident => $text:literal),+ $(,)? }) => {
        impl $name {
            /// The stable text form.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// The value with this text form.
            pub fn parse(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

mod alias;
mod answer;
mod cancel;
mod chats;
mod chunk;
mod claim;
mod community;
mod confidence;
mod context;
mod cypher;
mod cypher_error;
mod document;
mod document_view;
mod embedding;
mod entity;
mod extract;
mod filter;
mod foreign;
mod forget;
mod gate;
mod graph_answer;
mod graph_view;
mod ids;
mod link;
mod memory;
mod mention;
mod merge;
mod namespace;
mod progress;
mod query_log;
mod report;
mod review;
mod search;
mod settings;
mod stats;
mod time;
mod timeline;
mod turn;
mod usage;

pub use alias::{Alias, AliasSource};
pub use answer::{Answer, AnswerSentence, AskMode, AskRequest, CommunitySelection, Sections};
pub use cancel::Cancel;
pub use chats::ChatReport;
pub use chunk::ChunkDraft;
pub use claim::{ClaimCorrection, ClaimStatus, ClaimView, GivenClaim};
pub use community::{
    CommunityLevel, CommunityList, CommunityMember, CommunityReport, CommunityRequest,
    CommunityView, Finding, MissingReport, ReportsWritten,
};
pub use confidence::HalfLives;
pub use context::{
    Budget, BudgetUnit, Citation, Context, ContextItem, ContextKind, ContextRequest, Cut,
};
pub use cypher::{CypherRequest, CypherRows};
pub use cypher_error::{CypherError, CypherErrorKind, CypherPhase};
pub use document::{
    DateSource, DocumentKind, Heading, LinkConvention, ParsedDocument, Skipped, TextOrigin, Warning,
};
pub use document_view::DocumentView;
pub use embedding::{EmbedReport, EmbeddingState};
pub use entity::{Entity, EntityKind};
pub use extract::{ExtractEstimate, ExtractReport, QuarantineItem, RunRecord};
pub use filter::{DocumentCounts, DocumentFilter};
pub use foreign::ForeignReport;
pub use forget::{Absence, ForgetReport, ForgetRequest, FoundTrace, PurgeState};
pub use gate::{GateDecision, GateRule, GateSettings};
pub use graph_answer::{GraphAnswer, GraphNode, GraphQuery, GraphRelation, GraphRow};
pub use graph_view::{
    Direction, EntityView, EvidenceView, HeadingView, NeighborRequest, NeighborView, Neighborhood,
    OpenLink, PathView, RelationView,
};
pub use ids::{ChunkId, ClaimId, DocumentId, EntityId, PublicId, RelationId, RelationTypeId};
pub(crate) use link::scheme;
pub use link::{LinkDraft, LinkKind, LinkStatus, Resolution, ResolutionRule};
pub use memory::{
    ConflictPolicy, Correction, Description, GivenEntity, GivenFact, Memory, MemoryReport, Near,
    NearBy, OperationView, RecallRequest, Recalled, RecalledClaim, RecalledEntity, RecalledPassage,
    RecalledRelation,
};
pub use mention::{Mention, MentionHow};
pub use merge::{MergeRule, MergeStatus, MergeView};
pub use namespace::Namespace;
pub use progress::{Progress, Stage};
pub use query_log::{GraphComparison, GraphReport, GraphReportRow, LoggedQuery, QueryClass};
pub use report::{IngestReport, ItemFailure};
pub use review::{ReviewFact, TypePrecision};
pub use search::{
    Connection, EntryEntity, Evidence, Lane, LaneRecord, LaneStatus, Mode, SearchRequest,
    SearchResponse,
};
pub use settings::{ChunkUnit, DocumentInput, EngineConfig, Likeness, SourceSpec};
pub use stats::{Issue, IssueSeverity, SqlRows, Stats};
pub use time::{Clock, DatePrecision, RelationTimes, SystemClock, Times, Timestamp, ValidDate};
pub use timeline::{GraphDiff, Standing, Timeline, TimelineEntry, TimelineRequest};
pub use turn::{BrokenLine, Decision, LedgerReport, LedgerStats, Turn, TurnView};
pub use usage::{ModelPrice, ReplyPart, SpendingLimit, Spent, UsageKey, UsageLine};
