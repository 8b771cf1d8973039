//! Embedders behind an OpenAI-compatible `/embeddings`: `OpenAI`, llama.cpp, vLLM, LM Studio, Ollama and more.

use std::time::Duration;

use malha_engine::language_model::{
    Embedder, EmbeddingSpace, ModelError, ModelErrorKind, TextRole,
};
use serde_json::{Value, json};

use crate::http::{self, Call, Http};
use crate::patience::RetryPolicy;
use crate::secret::Secret;

/// Texts sent at once.
const BATCH: usize = 64;

/// An embedding model and the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingSettings {
    /// Without a slash at its end; `/embeddings` is added.
    pub base_url: String,
    pub model: String,
    /// Numbers of a vector, which every reply is checked against.
    pub dimensions: usize,
    pub query_prefix: String,
    pub passage_prefix: String,
    pub key: Secret,
    /// For one try, from the first byte sent to the last one read.
    pub timeout: Duration,
    pub retry: RetryPolicy,
    pub proxy: Option<String>,
}

/// A client of one endpoint.
#[derive(Debug)]
pub struct RemoteEmbedder {
    settings: EmbeddingSettings,
    space: EmbeddingSpace,
    http: Http,
}

impl RemoteEmbedder {
    /// Opens no connection.
    ///
    /// # Errors
    /// The proxy is no URL.
    pub fn new(settings: EmbeddingSettings) -> Result<Self, ModelError> {
        Ok(Self {
            http: Http::new(settings.proxy.as_deref())?,
            space: EmbeddingSpace {
                model: settings.model.clone(),
                dimensions: settings.dimensions,
                query_prefix: settings.query_prefix.clone(),
                passage_prefix: settings.passage_prefix.clone(),
                pooling: "provider".to_owned(),
                is_normalized: false,
            },
            settings,
        })
    }

    fn embed_once(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        let settings = &self.settings;
        let body = json!({ "model": settings.model, "input": texts });
        let call = Call {
            who: &settings.model,
            timeout: settings.timeout,
            secrets: &[settings.key.reveal(), http::password(&settings.base_url)],
        };
        let bearer = settings.key.bearer();
        let headers = bearer
            .iter()
            .map(|bearer| ("authorization", bearer.as_str()));
        let headers: Vec<(&str, &str)> = headers.collect();
        let url = format!("{}/embeddings", settings.base_url);
        let reply = call.json(self.http.post(&url, &headers, &body, &call)?)?;
        vectors(&reply).ok_or_else(|| {
            call.permanent("the reply is not understood: there is no list of embeddings")
        })
    }
}

impl Embedder for RemoteEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    fn embed(&self, texts: &[&str], role: TextRole) -> Result<Vec<Vec<f32>>, ModelError> {
        let prefix = match role {
            TextRole::Query => &self.space.query_prefix,
            TextRole::Passage => &self.space.passage_prefix,
        };
        // Somebody waits for the answer to a question: what may pass is not waited for.
        let most_retries = match role {
            TextRole::Query => 0,
            TextRole::Passage => self.settings.retry.retries,
        };
        let mut all = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let batch: Vec<String> = batch.iter().map(|text| format!("{prefix}{text}")).collect();
            let mut retries = 0;
            loop {
                match self.embed_once(&batch) {
                    Ok(vectors) => {
                        all.extend(vectors);
                        break;
                    }
                    Err(error) => {
                        let ModelErrorKind::Transient { retry_after } = error.kind else {
                            return Err(error);
                        };
                        let policy = &self.settings.retry;
                        let pause = policy.pause(retries + 1, retry_after, u64::MAX);
                        let Some(pause) = pause.filter(|_| retries < most_retries) else {
                            return Err(error);
                        };
                        retries += 1;
                        std::thread::sleep(pause);
                    }
                }
            }
        }
        Ok(all)
    }
}

/// The vectors in the order of their indices. What is no number stays visible as one that is none, so that the
/// vector is refused and its neighbours are not.
fn vectors(reply: &Value) -> Option<Vec<Vec<f32>>> {
    let list = reply["data"].as_array()?;
    let mut indexed: Vec<(u64, Vec<f32>)> = list
        .iter()
        .enumerate()
        .map(|(place, entry)| {
            let numbers = entry["embedding"].as_array()?;
            let vector = numbers
                .iter()
                .map(|number| number.as_f64().map_or(f32::NAN, |number| number as f32))
                .collect();
            Some((entry["index"].as_u64().unwrap_or(place as u64), vector))
        })
        .collect::<Option<_>>()?;
    indexed.sort_by_key(|entry| entry.0);
    Some(indexed.into_iter().map(|entry| entry.1).collect())
}
