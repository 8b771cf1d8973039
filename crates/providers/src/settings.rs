//! What a chat model is reached by, checked, and the client made from it.

use std::sync::Arc;
use std::time::Duration;

use malha_engine::language_model::{ChatModel, ModelError, ModelErrorKind};

use crate::anthropic::Anthropic;
use crate::fallback::Fallback;
use crate::http::Http;
use crate::limiter::Limiter;
use crate::ollama::Ollama;
use crate::openai::OpenAi;
use crate::patience::{Patient, RetryPolicy};
use crate::secret::Secret;

/// Which protocol a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// `/chat/completions`: `OpenAI`, llama.cpp, vLLM, LM Studio and many more.
    OpenAi,
    /// `/v1/messages`.
    Anthropic,
    /// `/api/chat`, which can hold a model to any JSON schema.
    Ollama,
}

impl Protocol {
    /// Its name in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    /// The protocol of this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::OpenAi, Self::Anthropic, Self::Ollama]
            .into_iter()
            .find(|protocol| protocol.as_str() == name)
    }

    /// Where its maker serves it.
    pub const fn default_base_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Ollama => "http://127.0.0.1:11434",
        }
    }
}

/// How an OpenAI-compatible endpoint is asked for JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum JsonReplies {
    /// `response_format` with a JSON schema; an endpoint that refuses it is asked for less from then on.
    Schema,
    /// `response_format` `json_object`.
    Mode,
    /// The prompt alone asks for it.
    Plain,
}

/// One chat model and the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatSettings {
    pub protocol: Protocol,
    /// The provider's name of the model.
    pub model: String,
    /// Without a slash at its end.
    pub base_url: String,
    pub key: Secret,
    /// How long a model may be silent in one try. Where it does not answer in pieces: how long the answer may take.
    pub timeout: Duration,
    /// Pass the text on as it arrives. What was passed on is not asked for again when the rest does not come.
    pub stream: bool,
    pub json: JsonReplies,
    /// Tokens that prompt and reply have room for together; 0 when unknown. Longer requests are not
    /// sent. Ollama reserves this much.
    pub context_tokens: u32,
    pub retry: RetryPolicy,
}

/// What all models of one provider share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderLimits {
    /// 0 is no limit.
    pub requests_per_minute: u32,
    /// Prompt and reply together; 0 is no limit.
    pub tokens_per_minute: u32,
    /// Calls at once, at most.
    pub concurrency: usize,
    pub proxy: Option<String>,
}

/// The client of a chain of models: the first one answers, the others step in, in order, when those
/// before them cannot. All clients of one address share its limits, whoever connects them.
///
/// # Errors
/// The proxy is no URL, or the chain is empty.
pub fn connect(
    chain: &[ChatSettings],
    limits: &ProviderLimits,
) -> Result<Arc<dyn ChatModel>, ModelError> {
    let http = Arc::new(Http::new(limits.proxy.as_deref())?);
    let mut models: Vec<Box<dyn ChatModel>> = Vec::with_capacity(chain.len());
    for settings in chain {
        let limiter = Limiter::of(&settings.base_url, limits);
        let http = Arc::clone(&http);
        let settings = settings.clone();
        let retry = settings.retry.clone();
        let client: Box<dyn ChatModel> = match settings.protocol {
            Protocol::OpenAi => Box::new(OpenAi::new(settings, http)),
            Protocol::Anthropic => Box::new(Anthropic::new(settings, http)),
            Protocol::Ollama => Box::new(Ollama::new(settings, http)),
        };
        models.push(Box::new(Patient::new(client, limiter, retry)));
    }
    match models.len() {
        0 => Err(ModelError::new(
            ModelErrorKind::Permanent,
            "models",
            "no chat model is configured",
        )),
        1 => Ok(Arc::from(models.remove(0))),
        _ => Ok(Arc::new(Fallback::new(models))),
    }
}
