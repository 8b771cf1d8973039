//! Evidence to an answer: which sentences, whether they are supported, and how to refuse.
//!
//! Without a model an answer is made of sentences of the documents, each with its place. Nothing is put into words
//! that nobody wrote. With a model, [`offer`] shows it numbered evidence, [`drafts`] reads what it wrote, and
//! [`is_supported`] says whether what it cites holds what it says.

mod draft;
mod evidence;
mod extract;
mod follow_up;
mod prompt;
mod refusal;
mod reply;
mod request;
mod settings;
mod support;

pub use draft::{Draft, drafts, is_no_evidence, settled};
pub use evidence::{Offer, Source, offer};
pub use extract::{Piece, extract};
pub use follow_up::standalone;
pub use prompt::AnswerPrompts;
pub use refusal::refusal;
pub use reply::{
    Point, Points, ReportDraft, read_follow_ups, read_points, read_report, read_route,
};
pub use request::{
    answer_request, map_request, primer_request, repaired, report_request, route_request,
};
pub use settings::AnswerSettings;
pub use support::{is_supported, narrowed, numbers_stand};
