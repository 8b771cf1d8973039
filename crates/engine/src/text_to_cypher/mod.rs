//! Question → queries by a chat model → rows → answer; what is asked and how replies are read.
//!
//! [`Requests`] makes the requests from [`Prompts`], [`read_queries`] and [`read_sentences`] read what comes
//! back. Whatever comes from the store or the user stands between marks that say it is data.

mod prompt;
mod reply;
mod request;
mod unknown;

pub use prompt::Prompts;
pub use reply::{Sentence, read_queries, read_sentences};
pub use request::{Outcome, Requests};
pub use unknown::unknown;
