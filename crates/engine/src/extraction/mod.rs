//! Passages → what a chat model says about them → what may be stored.
//!
//! [`group`] joins neighbouring chunks, [`Prompts`] and a [`Schema`] make the request, [`read_reply`]
//! reads what comes back as generously as it can, and [`check_reply`] keeps only what the schema allows
//! and the passage says.

mod checked;
mod checked_claim;
mod claim;
mod ddl;
mod delimited;
mod extracted;
mod grounding;
mod infer;
mod judge;
mod nameless;
mod passage;
mod prompt;
mod raw;
mod reply;
mod reply_item;
mod request;
mod schema;
mod settings;
mod several;
mod summary;
mod written_triples;

pub use checked::check_reply;
pub use claim::ClaimType;
pub use ddl::schema_of_ddl;
pub use extracted::{ExtractedClaim, ExtractedEntity, ExtractedRelation, Extraction, RejectedItem};
pub use infer::{infer_request, read_schema_reply};
pub use judge::{JudgedName, judge_request, read_verdicts};
pub use passage::{Passage, PassageChunk, group, split};
pub use prompt::Prompts;
pub use raw::{RawClaim, RawEntity, RawRelation, RawReply};
pub use reply::{Unreadable, read_reply};
pub use request::{Requests, Subject, reply_schema};
pub use schema::{EntityType, PropertyLabels, RelationType, Schema, SchemaFindings};
pub use settings::ExtractionSettings;
pub use several::read_part;
pub use summary::summary_request;
