//! Ports to models: what the engine asks of a chat model, an embedding model and a reranker.
//! The clients live in the `providers` crate; tests hand in models that replay.
//!
//! Calls block the thread that makes them. Stages that wait for many replies run a bounded number of
//! threads, so that the engine needs no asynchronous runtime.
//!
//! Beside the ports stands what every user of a chat model needs: prompts with places ([`Template`]), and
//! reading replies that are nearly what was asked for.

mod fence;
pub(crate) mod lenient_json;
mod prompt_files;
mod template;
mod thoughts;

pub use fence::fenced;
pub(crate) use prompt_files::PromptFiles;
pub use template::Template;
pub(crate) use thoughts::without_thoughts;

use std::time::Duration;

/// A model that continues a conversation.
pub trait ChatModel: Send + Sync {
    /// What the provider calls it; part of every cache key.
    fn name(&self) -> &str;

    /// Names of all models that may answer: of a fallback chain more than one. The first is [`ChatModel::name`].
    fn names(&self) -> Vec<&str> {
        vec![self.name()]
    }

    /// How many calls at once the provider may be asked for. Fewer may really run: a client slows
    /// down when the provider says so.
    fn concurrency(&self) -> usize {
        1
    }

    /// The whole reply. `on_text` hears the text as it arrives, where the provider can stream.
    fn complete(
        &self,
        request: &ChatRequest,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, ModelError>;
}

/// A model that turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// The space its vectors live in; vectors of two spaces are never compared.
    fn space(&self) -> &EmbeddingSpace;

    /// One vector a text, in order, each of [`EmbeddingSpace::dimensions`] numbers.
    fn embed(&self, texts: &[&str], role: TextRole) -> Result<Vec<Vec<f32>>, ModelError>;
}

/// A model that scores how well passages answer a question.
pub trait Reranker: Send + Sync {
    /// What results say ran.
    fn name(&self) -> &str;

    /// One score a passage, in order; higher is better.
    fn rerank(&self, question: &str, passages: &[&str]) -> Result<Vec<f32>, ModelError>;
}

/// A question to a chat model.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// In the order of the conversation.
    pub messages: Vec<Message>,
    /// Upper bound of the reply, in the model's tokens.
    pub max_output_tokens: u32,
    /// 0 is as deterministic as the provider can be.
    pub temperature: f32,
    /// JSON schema that the reply should follow, where the provider can hold a model to one.
    pub reply_schema: Option<serde_json::Value>,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub role: Role,
    pub text: String,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    System,
    User,
    Assistant,
}

/// What a chat model answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatReply {
    pub text: String,
    /// The model that answered: of a fallback chain not always the first.
    pub model: String,
    /// As the provider counted them; `None` where it does not say.
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    /// The reply ended because it was as long as allowed.
    pub is_truncated: bool,
    /// What it took to get it.
    pub effort: Effort,
}

/// What a client went through until it had a reply, or gave up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effort {
    /// Tries after the first one.
    pub retries: u32,
    /// Time spent waiting for rate limits and between tries.
    pub waited: Duration,
    /// Tries that reached the model and whose answer was lost: their prompts may be on the provider's bill.
    pub lost: u32,
}

impl Effort {
    /// Adds what came before.
    pub fn add(&mut self, more: Self) {
        self.retries += more.retries;
        self.waited += more.waited;
        self.lost += more.lost;
    }
}

/// What makes vectors comparable: all of it must be equal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EmbeddingSpace {
    pub model: String,
    pub dimensions: usize,
    /// Put before a question and before a passage.
    pub query_prefix: String,
    pub passage_prefix: String,
    /// How token vectors become one: `mean`, `cls`, or `provider` when it happens elsewhere.
    pub pooling: String,
    /// Whether vectors have length 1.
    pub is_normalized: bool,
}

/// Which side of the search a text is on; asymmetric models treat them differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRole {
    Query,
    Passage,
}

/// Why a model gave no usable answer, sorted by what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{model}: {message}")]
pub struct ModelError {
    pub kind: ModelErrorKind,
    /// Model or endpoint, never with a secret in it.
    pub model: String,
    pub message: String,
    /// What it took to learn that.
    pub effort: Effort,
}

impl ModelError {
    /// A failure that cost nothing.
    pub fn new(kind: ModelErrorKind, model: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind,
            model: model.into(),
            message: message.into(),
            effort: Effort::default(),
        }
    }
}

/// What to do about a [`ModelError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// Try again, not before `retry_after` where the provider said so.
    Transient { retry_after: Option<Duration> },
    /// Trying again cannot help, nor asking something else: a wrong key, an unknown model, a spent quota.
    Permanent,
    /// This model will not answer this; it may answer something else.
    Refused,
    /// The input does not fit: split it.
    TooLong,
}
