//! Evidence to an answer: which sentences, whether they are supported, and how to refuse.
//!
//! Without a model an answer is made of sentences of the documents, each with its place. Nothing is put into words
//! that nobody wrote.

mod extract;
mod refusal;
mod support;

pub use extract::{Piece, extract};
pub use refusal::refusal;
pub use support::is_supported;
