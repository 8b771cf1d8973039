//! Clients of language and embedding models: the only crate that opens outgoing connections.

pub mod http;
