//! Calls of chat models through the store: every reply is kept before anything reads it, no question is
//! paid for twice, and spending stops where the user said.
//!
//! [`ReplyCache`] is the store's side, [`CachedModel`] a model behind it; the latter is itself a
//! [`ChatModel`](crate::language_model::ChatModel).

mod ask_all;
mod cached_model;
mod reply_cache;
mod silence;
mod spending;

pub use ask_all::ask_all;
pub use cached_model::{CachedModel, StoredReply};
pub use reply_cache::ReplyCache;
pub(crate) use silence::Silence;
