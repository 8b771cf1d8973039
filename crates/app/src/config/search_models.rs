//! `[local_models]`, `[embedding]`, `[rerank]`: the models that a search may ask.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use malha_engine::{EmbedderSource, RerankerSource};
use malha_providers::local::{Hub, LocalEmbedder, LocalReranker, Models};
use malha_providers::{
    EmbeddingSettings, RemoteEmbedder, RemoteReranker, RerankSettings, RerankShape, RetryPolicy,
    Secret,
};
use serde::Deserialize;

use crate::locate;

/// All three tables, every key optional.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Raw {
    pub(super) local: LocalFolder,
    pub(super) embedding: Embedding,
    pub(super) rerank: Rerank,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct LocalFolder {
    pub(super) folder: Option<PathBuf>,
    hub: Option<String>,
    proxy: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Embedding {
    provider: Option<String>,
    model: Option<String>,
    base_url: Option<String>,
    api_key_env: Option<String>,
    dimensions: Option<usize>,
    query_prefix: Option<String>,
    passage_prefix: Option<String>,
    timeout_ms: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Rerank {
    provider: Option<String>,
    model: Option<String>,
    url: Option<String>,
    api_key_env: Option<String>,
    timeout_ms: Option<u64>,
}

/// The models, checked.
#[derive(Debug, Clone)]
pub(crate) struct SearchModels {
    /// The folder of local models.
    pub(crate) local: Models,
    /// Where `malha models pull` fetches from.
    pub(crate) hub: Hub,
    embedding: EmbeddingChoice,
    rerank: Option<RerankChoice>,
}

#[derive(Debug, Clone)]
enum EmbeddingChoice {
    Local(String),
    Remote(EmbeddingSettings),
}

#[derive(Debug, Clone)]
enum RerankChoice {
    Local(String),
    Remote(RerankSettings),
}

impl SearchModels {
    /// The local embedding model that is configured; `None` when the configured one is elsewhere.
    pub(crate) fn local_embedding_model(&self) -> Option<&str> {
        match &self.embedding {
            EmbeddingChoice::Local(name) => Some(name),
            EmbeddingChoice::Remote(_) => None,
        }
    }

    /// The embedder, loaded when it is asked for.
    pub(crate) fn embedder(&self) -> EmbedderSource {
        let (local, choice) = (self.local.clone(), self.embedding.clone());
        Box::new(move || {
            Ok(match &choice {
                EmbeddingChoice::Local(name) => Arc::new(LocalEmbedder::open(&local.find(name)?)?),
                EmbeddingChoice::Remote(settings) => {
                    Arc::new(RemoteEmbedder::new(settings.clone())?)
                }
            })
        })
    }

    /// The reranker, loaded when it is asked for; `None` when none is configured.
    pub(crate) fn reranker(&self) -> Option<RerankerSource> {
        let (local, choice) = (self.local.clone(), self.rerank.clone()?);
        Some(Box::new(move || {
            Ok(match &choice {
                RerankChoice::Local(name) => Arc::new(LocalReranker::open(&local.find(name)?)?),
                RerankChoice::Remote(settings) => Arc::new(RemoteReranker::new(settings.clone())?),
            })
        }))
    }
}

impl Raw {
    /// `self` with everything that `over` states.
    pub(super) fn overlaid_by(self, over: Self) -> Self {
        let (own, other) = (self.embedding, over.embedding);
        let (rerank, over_rerank) = (self.rerank, over.rerank);
        Self {
            local: LocalFolder {
                folder: over.local.folder.or(self.local.folder),
                hub: over.local.hub.or(self.local.hub),
                proxy: over.local.proxy.or(self.local.proxy),
            },
            embedding: Embedding {
                provider: other.provider.or(own.provider),
                model: other.model.or(own.model),
                base_url: other.base_url.or(own.base_url),
                api_key_env: other.api_key_env.or(own.api_key_env),
                dimensions: other.dimensions.or(own.dimensions),
                query_prefix: other.query_prefix.or(own.query_prefix),
                passage_prefix: other.passage_prefix.or(own.passage_prefix),
                timeout_ms: other.timeout_ms.or(own.timeout_ms),
            },
            rerank: Rerank {
                provider: over_rerank.provider.or(rerank.provider),
                model: over_rerank.model.or(rerank.model),
                url: over_rerank.url.or(rerank.url),
                api_key_env: over_rerank.api_key_env.or(rerank.api_key_env),
                timeout_ms: over_rerank.timeout_ms.or(rerank.timeout_ms),
            },
        }
    }

    /// The value of a variable; `None` when there is no such setting.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Option<Result<(), String>> {
        let text = Some(value.to_owned());
        let number = || {
            let parsed = value.trim().parse::<u64>();
            parsed.map_err(|_| format!("`{value}` is not a whole number"))
        };
        match name {
            "LOCAL_MODELS_HUB" => self.local.hub = text,
            "LOCAL_MODELS_PROXY" => self.local.proxy = text,
            "LOCAL_MODELS_FOLDER" => self.local.folder = Some(value.into()),
            "EMBEDDING_PROVIDER" => self.embedding.provider = text,
            "EMBEDDING_MODEL" => self.embedding.model = text,
            "EMBEDDING_BASE_URL" => self.embedding.base_url = text,
            "EMBEDDING_API_KEY_ENV" => self.embedding.api_key_env = text,
            "EMBEDDING_DIMENSIONS" => match number() {
                Ok(number) => self.embedding.dimensions = Some(number as usize),
                Err(reason) => return Some(Err(reason)),
            },
            "EMBEDDING_QUERY_PREFIX" => self.embedding.query_prefix = text,
            "EMBEDDING_PASSAGE_PREFIX" => self.embedding.passage_prefix = text,
            "EMBEDDING_TIMEOUT_MS" => match number() {
                Ok(number) => self.embedding.timeout_ms = Some(number),
                Err(reason) => return Some(Err(reason)),
            },
            "RERANK_PROVIDER" => self.rerank.provider = text,
            "RERANK_MODEL" => self.rerank.model = text,
            "RERANK_URL" => self.rerank.url = text,
            "RERANK_API_KEY_ENV" => self.rerank.api_key_env = text,
            "RERANK_TIMEOUT_MS" => match number() {
                Ok(number) => self.rerank.timeout_ms = Some(number),
                Err(reason) => return Some(Err(reason)),
            },
            _ => return None,
        }
        Some(Ok(()))
    }

    /// Checks what the types do not; an error says which key is wrong.
    pub(super) fn check(
        self,
        variables: &BTreeMap<String, String>,
    ) -> Result<SearchModels, String> {
        Ok(SearchModels {
            hub: Hub {
                base_url: self.local.hub.expect(SET).trim_end_matches('/').to_owned(),
                proxy: self.local.proxy.filter(|proxy| !proxy.is_empty()),
            },
            local: Models::new(self.local.folder.unwrap_or_else(locate::models_folder)),
            embedding: self.embedding.check(variables)?,
            rerank: self.rerank.check(variables)?,
        })
    }
}

const SET: &str = "the example file sets every key of these tables but the folder";

impl Embedding {
    fn check(self, variables: &BTreeMap<String, String>) -> Result<EmbeddingChoice, String> {
        let model = self.model.expect(SET);
        let provider = self.provider.expect(SET);
        if model.is_empty() {
            return Err("embedding.model is empty".to_owned());
        }
        match provider.as_str() {
            "local" => return Ok(EmbeddingChoice::Local(model)),
            "openai" => {}
            other => {
                return Err(format!(
                    "embedding.provider is `{other}`; \"local\" and \"openai\" are known"
                ));
            }
        }
        let dimensions = self.dimensions.expect(SET);
        if dimensions == 0 {
            return Err(
                "embedding.dimensions must say how many numbers a vector of this model has"
                    .to_owned(),
            );
        }
        let written = self.base_url.expect(SET);
        let from_environment = variables
            .get("OPENAI_BASE_URL")
            .filter(|url| !url.is_empty());
        let base_url = match (written.as_str(), from_environment) {
            ("", Some(url)) => url,
            ("", None) => "https://api.openai.com/v1",
            (written, _) => written,
        };
        Ok(EmbeddingChoice::Remote(EmbeddingSettings {
            base_url: base_url.trim_end_matches('/').to_owned(),
            model,
            dimensions,
            query_prefix: self.query_prefix.expect(SET),
            passage_prefix: self.passage_prefix.expect(SET),
            key: key(
                &self.api_key_env.expect(SET),
                Some("OPENAI_API_KEY"),
                variables,
                "embedding",
            )?,
            timeout: Duration::from_millis(self.timeout_ms.expect(SET)),
            retry: RetryPolicy::default(),
            proxy: None,
        }))
    }
}

impl Rerank {
    fn check(self, variables: &BTreeMap<String, String>) -> Result<Option<RerankChoice>, String> {
        let model = self.model.expect(SET);
        let url = self.url.expect(SET);
        let shape = match self.provider.expect(SET).as_str() {
            "none" => return Ok(None),
            "local" if model.is_empty() => return Err("rerank.model is empty".to_owned()),
            "local" => return Ok(Some(RerankChoice::Local(model))),
            "http" => RerankShape::Documents,
            "tei" => RerankShape::Texts,
            other => {
                return Err(format!(
                    "rerank.provider is `{other}`; \"none\", \"local\", \"http\" and \"tei\" are known"
                ));
            }
        };
        if url.is_empty() {
            return Err("rerank.url is empty; it is the whole address of the endpoint".to_owned());
        }
        Ok(Some(RerankChoice::Remote(RerankSettings {
            url,
            model,
            shape,
            key: key(&self.api_key_env.expect(SET), None, variables, "rerank")?,
            timeout: Duration::from_millis(self.timeout_ms.expect(SET)),
            proxy: None,
        })))
    }
}

/// The key in the variable that is named, else in the usual one.
fn key(
    named: &str,
    usual: Option<&str>,
    variables: &BTreeMap<String, String>,
    table: &str,
) -> Result<Secret, String> {
    if named.is_empty() {
        let value = usual.and_then(|usual| variables.get(usual));
        return Ok(value.map(Secret::new).unwrap_or_default());
    }
    variables
        .get(named)
        .map(Secret::new)
        .ok_or_else(|| format!("{table}.api_key_env names the variable {named}, which is not set"))
}

#[cfg(test)]
mod tests {
    use super::super::raw::defaults;
    use super::*;

    fn checked(changes: &[(&str, &str)]) -> Result<SearchModels, String> {
        let mut own = Raw::default();
        for (name, value) in changes {
            own.set(name, value).unwrap()?;
        }
        let variables = [("MY_KEY".to_owned(), "k".to_owned())].into();
        defaults()
            .search_models()
            .overlaid_by(own)
            .check(&variables)
    }

    #[test]
    fn models_are_here_or_elsewhere() {
        let models = checked(&[]).unwrap();
        assert_eq!(
            models.local_embedding_model(),
            Some("multilingual-e5-small")
        );
        assert!(models.reranker().is_none());
        let remote = [
            ("EMBEDDING_PROVIDER", "openai"),
            ("EMBEDDING_DIMENSIONS", "8"),
            ("EMBEDDING_API_KEY_ENV", "MY_KEY"),
            ("RERANK_PROVIDER", "tei"),
            ("RERANK_URL", "http://127.0.0.1:1/rerank"),
        ];
        let models = checked(&remote).unwrap();
        assert_eq!(models.embedder()().unwrap().space().dimensions, 8);
        assert_eq!(models.reranker().unwrap()().unwrap().name(), "reranker");
    }

    #[test]
    fn what_cannot_be_is_named() {
        let check = |changes: &[(&str, &str)], expected: &str| {
            let reason = checked(changes).unwrap_err();
            assert!(reason.contains(expected), "{reason}");
        };
        check(&[("EMBEDDING_PROVIDER", "cloud")], "embedding.provider");
        check(&[("EMBEDDING_PROVIDER", "openai")], "embedding.dimensions");
        check(&[("EMBEDDING_DIMENSIONS", "many")], "whole number");
        check(&[("EMBEDDING_MODEL", "")], "embedding.model");
        check(&[("RERANK_PROVIDER", "x")], "rerank.provider");
        check(&[("RERANK_PROVIDER", "http")], "rerank.url");
        check(&[("RERANK_PROVIDER", "local")], "rerank.model");
        let with_key = [
            ("RERANK_PROVIDER", "http"),
            ("RERANK_URL", "http://127.0.0.1:1"),
            ("RERANK_API_KEY_ENV", "NO_SUCH_KEY"),
        ];
        check(&with_key, "NO_SUCH_KEY");
    }
}
