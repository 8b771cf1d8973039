//! Clients of language and embedding models: the only crate that opens outgoing connections.
//!
//! A chat client is made by [`connect`] from a chain of [`ChatSettings`]. In front of each model stand one
//! limiter a provider (requests and tokens a minute, calls at once) and retries at growing intervals;
//! errors come out sorted by what to do next ([`malha_engine::language_model::ModelErrorKind`]).

mod anthropic;
mod embeddings;
mod event_stream;
mod exchange;
mod fallback;
pub mod http;
mod limiter;
pub mod local;
mod ollama;
mod openai;
mod patience;
mod rerank;
mod secret;
mod settings;

pub use embeddings::{EmbeddingSettings, RemoteEmbedder};
pub use patience::RetryPolicy;
pub use rerank::{RemoteReranker, RerankSettings, RerankShape};
pub use secret::Secret;
pub use settings::{ChatSettings, JsonReplies, Protocol, ProviderLimits, connect};
