//! Rerankers behind `/rerank`: Cohere, Jina and llama.cpp share a shape, Text Embeddings Inference has its own.

use std::time::Duration;

use malha_engine::language_model::{ModelError, Reranker};
use serde_json::{Value, json};

use crate::http::{self, Call, Http};
use crate::secret::Secret;

/// How a `/rerank` endpoint wants to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RerankShape {
    /// `documents`: Cohere, Jina, llama.cpp, vLLM.
    Documents,
    /// `texts`: Text Embeddings Inference.
    Texts,
}

/// A reranker and the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RerankSettings {
    /// The whole address, with its path.
    pub url: String,
    /// The provider's name of the model; may be empty where the endpoint has only one.
    pub model: String,
    pub shape: RerankShape,
    pub key: Secret,
    /// From the first byte sent to the last one read; then the order stays as it was.
    pub timeout: Duration,
    pub proxy: Option<String>,
}

/// A client of one endpoint. It does not try again: a search should not wait for a service that is in trouble.
#[derive(Debug)]
pub struct RemoteReranker {
    settings: RerankSettings,
    name: String,
    http: Http,
}

impl RemoteReranker {
    /// # Errors
    /// The proxy is no URL.
    pub fn new(settings: RerankSettings) -> Result<Self, ModelError> {
        let name = if settings.model.is_empty() {
            "reranker".to_owned()
        } else {
            settings.model.clone()
        };
        Ok(Self {
            http: Http::new(settings.proxy.as_deref())?,
            settings,
            name,
        })
    }
}

impl Reranker for RemoteReranker {
    fn name(&self) -> &str {
        &self.name
    }

    fn rerank(&self, question: &str, passages: &[&str]) -> Result<Vec<f32>, ModelError> {
        let RerankSettings {
            url, model, key, ..
        } = &self.settings;
        let body = match self.settings.shape {
            RerankShape::Documents => json!({
                "model": model,
                "query": question,
                "documents": passages,
                "top_n": passages.len(),
                "return_documents": false,
            }),
            RerankShape::Texts => json!({
                "query": question,
                "texts": passages,
                "truncate": true,
            }),
        };
        let call = Call {
            who: &self.name,
            timeout: self.settings.timeout,
            secrets: &[key.reveal(), http::password(url)],
        };
        let bearer = key.bearer();
        let headers = bearer
            .iter()
            .map(|bearer| ("authorization", bearer.as_str()));
        let headers: Vec<(&str, &str)> = headers.collect();
        let reply = call.json(self.http.post(url, &headers, &body, &call)?)?;
        scores(&reply, passages.len())
            .map_err(|reason| call.permanent(format!("the reply is not understood: {reason}")))
    }
}

/// The scores by index: `results` or `data` or the list itself; `relevance_score` or `score`.
fn scores(reply: &Value, count: usize) -> Result<Vec<f32>, String> {
    let list = [&reply["results"], &reply["data"], reply]
        .into_iter()
        .find_map(Value::as_array)
        .ok_or("there is no list of results")?;
    let mut scores = vec![None; count];
    for result in list {
        let index = result["index"].as_u64().ok_or("a result has no index")?;
        let score = [&result["relevance_score"], &result["score"]]
            .into_iter()
            .find_map(Value::as_f64)
            .ok_or("a result has no score")?;
        let slot = scores
            .get_mut(index as usize)
            .ok_or_else(|| format!("there is no passage {index}"))?;
        *slot = Some(score as f32);
    }
    scores
        .into_iter()
        .enumerate()
        .map(|(n, score)| score.ok_or_else(|| format!("passage {n} has no score")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_of_every_shape_are_read() {
        let check = |reply: Value, expected: Result<&[f32], &str>| {
            let got = scores(&reply, 2);
            match expected {
                Ok(expected) => assert_eq!(got.as_deref(), Ok(expected)),
                Err(reason) => assert!(got.is_err_and(|got| got.contains(reason)), "{reply}"),
            }
        };
        check(
            json!({"results": [
                {"index": 1, "relevance_score": 0.5},
                {"index": 0, "relevance_score": -2.0},
            ]}),
            Ok(&[-2.0, 0.5]),
        );
        check(
            json!([{"index": 0, "score": 1}, {"index": 1, "score": 0.25}]),
            Ok(&[1.0, 0.25]),
        );
        check(
            json!({"data": [{"index": 0, "score": 1}, {"index": 1, "relevance_score": 2}]}),
            Ok(&[1.0, 2.0]),
        );
        check(
            json!({"results": [{"index": 0, "score": 1}]}),
            Err("passage 1"),
        );
        check(
            json!({"results": [{"index": 7, "score": 1}]}),
            Err("no passage 7"),
        );
        check(json!({"results": [{"score": 1}]}), Err("no index"));
        check(json!({"results": [{"index": 0}]}), Err("no score"));
        check(json!({"message": "busy"}), Err("no list"));
    }
}
