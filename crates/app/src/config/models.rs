//! `[models]`: which chat model does what, and where it is reached.

use std::collections::BTreeMap;
use std::time::Duration;

use malha_engine::types::ModelPrice;
use malha_providers::{ChatSettings, JsonReplies, Protocol, ProviderLimits, RetryPolicy, Secret};
use serde::Deserialize;

use crate::exit::{Exit, Refusal};

/// `[models]`: what all tasks share, and a table for each task that overrides it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Models {
    provider: Option<String>,
    model: Option<String>,
    base_url: Option<String>,
    api_key_env: Option<String>,
    json: Option<String>,
    timeout_ms: Option<u64>,
    retries: Option<u32>,
    retry_pause_ms: Option<u64>,
    requests_per_minute: Option<u32>,
    tokens_per_minute: Option<u32>,
    concurrency: Option<usize>,
    context_tokens: Option<u32>,
    proxy: Option<String>,
    fallback: Option<Vec<String>>,
    extraction: Option<Box<Models>>,
    reports: Option<Box<Models>>,
    answers: Option<Box<Models>>,
    router: Option<Box<Models>>,
    price: Option<Vec<Price>>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Price {
    model: String,
    input_per_million: f64,
    output_per_million: f64,
}

/// What a chat model is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    Extraction,
    Reports,
    Answers,
    /// How a question is answered; only where it has a table of its own.
    Router,
}

impl Task {
    pub(crate) const ALL: [Self; 4] =
        [Self::Extraction, Self::Reports, Self::Answers, Self::Router];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Extraction => "extraction",
            Self::Reports => "reports",
            Self::Answers => "answers",
            Self::Router => "router",
        }
    }
}

/// The model of a task, checked; made into a client by [`TaskModel::connect`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskModel {
    /// The model itself, then those that step in for it.
    pub(crate) chain: Vec<ChatSettings>,
    pub(crate) limits: ProviderLimits,
}

/// All chat models, checked. A task without a model is not there.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TaskModels {
    pub(crate) extraction: Option<TaskModel>,
    pub(crate) reports: Option<TaskModel>,
    pub(crate) answers: Option<TaskModel>,
    pub(crate) router: Option<TaskModel>,
    pub(crate) prices: Vec<ModelPrice>,
}

impl TaskModels {
    /// The model of a task.
    pub(crate) const fn get(&self, task: Task) -> Option<&TaskModel> {
        match task {
            Task::Extraction => self.extraction.as_ref(),
            Task::Reports => self.reports.as_ref(),
            Task::Answers => self.answers.as_ref(),
            Task::Router => self.router.as_ref(),
        }
    }

    /// The client of a task's model.
    pub(crate) fn connect(
        &self,
        task: Task,
    ) -> anyhow::Result<std::sync::Arc<dyn malha_engine::language_model::ChatModel>> {
        let Some(model) = self.get(task) else {
            let message = format!("no chat model is configured for {}", task.as_str());
            let hint = "set `model` under [models] in malha.toml (malha.example.toml shows how), or \
                        MALHA_MODELS_MODEL";
            return Err(Refusal::new(Exit::Configuration, message).hint(hint).into());
        };
        malha_providers::connect(&model.chain, &model.limits)
            .map_err(|error| Refusal::new(Exit::Configuration, error.to_string()).into())
    }
}

impl Models {
    /// `self` with everything that `over` states.
    pub(super) fn overlaid_by(self, over: Self) -> Self {
        let task = |own: Option<Box<Self>>, over: Option<Box<Self>>| match (own, over) {
            (Some(own), Some(over)) => Some(Box::new(own.overlaid_by(*over))),
            (own, over) => over.or(own),
        };
        Self {
            provider: over.provider.or(self.provider),
            model: over.model.or(self.model),
            base_url: over.base_url.or(self.base_url),
            api_key_env: over.api_key_env.or(self.api_key_env),
            json: over.json.or(self.json),
            timeout_ms: over.timeout_ms.or(self.timeout_ms),
            retries: over.retries.or(self.retries),
            retry_pause_ms: over.retry_pause_ms.or(self.retry_pause_ms),
            requests_per_minute: over.requests_per_minute.or(self.requests_per_minute),
            tokens_per_minute: over.tokens_per_minute.or(self.tokens_per_minute),
            concurrency: over.concurrency.or(self.concurrency),
            context_tokens: over.context_tokens.or(self.context_tokens),
            proxy: over.proxy.or(self.proxy),
            fallback: over.fallback.or(self.fallback),
            extraction: task(self.extraction, over.extraction),
            reports: task(self.reports, over.reports),
            answers: task(self.answers, over.answers),
            router: task(self.router, over.router),
            price: over.price.or(self.price),
        }
    }

    /// The value of `MALHA_MODELS_…`; `None` when there is no such setting.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Option<Result<(), String>> {
        for task in Task::ALL {
            let prefix = format!("{}_", task.as_str().to_uppercase());
            if let Some(rest) = name.strip_prefix(&prefix) {
                let own = match task {
                    Task::Extraction => &mut self.extraction,
                    Task::Reports => &mut self.reports,
                    Task::Answers => &mut self.answers,
                    Task::Router => &mut self.router,
                };
                return own.get_or_insert_default().set(rest, value);
            }
        }
        let text = Some(value.to_owned());
        match name {
            "PROVIDER" => self.provider = text,
            "MODEL" => self.model = text,
            "BASE_URL" => self.base_url = text,
            "API_KEY_ENV" => self.api_key_env = text,
            "JSON" => self.json = text,
            "PROXY" => self.proxy = text,
            "FALLBACK" => {
                let names = value
                    .split(',')
                    .map(str::trim)
                    .filter(|name| !name.is_empty());
                self.fallback = Some(names.map(str::to_owned).collect());
            }
            "TIMEOUT_MS" => return Some(number(value).map(|n| self.timeout_ms = Some(n))),
            "RETRIES" => return Some(number(value).map(|n| self.retries = Some(n))),
            "RETRY_PAUSE_MS" => return Some(number(value).map(|n| self.retry_pause_ms = Some(n))),
            "REQUESTS_PER_MINUTE" => {
                return Some(number(value).map(|n| self.requests_per_minute = Some(n)));
            }
            "TOKENS_PER_MINUTE" => {
                return Some(number(value).map(|n| self.tokens_per_minute = Some(n)));
            }
            "CONCURRENCY" => return Some(number(value).map(|n| self.concurrency = Some(n))),
            "CONTEXT_TOKENS" => return Some(number(value).map(|n| self.context_tokens = Some(n))),
            _ => return None,
        }
        Some(Ok(()))
    }

    /// Checks every task's model. `variables` are those of the environment, for addresses and keys.
    pub(super) fn check(
        mut self,
        variables: &BTreeMap<String, String>,
    ) -> Result<TaskModels, String> {
        let prices = self.price.take().unwrap_or_default();
        if let Some(price) = prices.iter().find(|price| {
            !(is_price(price.input_per_million) && is_price(price.output_per_million))
        }) {
            return Err(format!(
                "models.price of {:?}: a price is a number from 0 up",
                price.model
            ));
        }
        let prices = prices.into_iter().map(|price| ModelPrice {
            model: price.model,
            input_per_million: price.input_per_million,
            output_per_million: price.output_per_million,
        });
        let (extraction, reports, answers, router) = (
            self.extraction.take(),
            self.reports.take(),
            self.answers.take(),
            self.router.take(),
        );
        let of = |task: Task, own: Option<Box<Self>>| {
            let merged = match own {
                Some(own) => {
                    let place = format!("models.{}", task.as_str());
                    let tasks = [&own.extraction, &own.reports, &own.answers, &own.router];
                    if tasks.iter().any(|task| task.is_some()) {
                        return Err(format!("{place}: a task has no tasks of its own"));
                    }
                    if own.price.is_some() {
                        return Err(format!("{place}.price: prices stand in [[models.price]]"));
                    }
                    self.clone().overlaid_by(Self {
                        extraction: None,
                        reports: None,
                        answers: None,
                        router: None,
                        ..*own
                    })
                }
                None => self.clone(),
            };
            merged
                .task(task, variables)
                .map_err(|reason| format!("models.{}: {reason}", task.as_str()))
        };
        Ok(TaskModels {
            extraction: of(Task::Extraction, extraction)?,
            reports: of(Task::Reports, reports)?,
            answers: of(Task::Answers, answers)?,
            router: match router {
                Some(own) => of(Task::Router, Some(own))?,
                None => None,
            },
            prices: prices.collect(),
        })
    }

    /// The checked model of one task; `None` when no model is named.
    fn task(
        &self,
        task: Task,
        variables: &BTreeMap<String, String>,
    ) -> Result<Option<TaskModel>, String> {
        const SET: &str = "the example file sets every key of [models]";
        let model = self.model.as_deref().expect(SET);
        if model.is_empty() {
            return Ok(None);
        }
        let provider = self.provider.as_deref().expect(SET);
        let protocol = protocol(provider)?;
        let first = self.settings(protocol, model, task, variables)?;
        let mut chain = vec![first];
        for name in self.fallback.as_deref().expect(SET) {
            let (provider, model) = name
                .split_once(':')
                .ok_or_else(|| format!("fallback {name:?} is not of the form provider:model"))?;
            let protocol = self::protocol(provider)?;
            // The address and the key of the first model are those of its own provider.
            let shared = if protocol == chain[0].protocol {
                self.clone()
            } else {
                Self {
                    base_url: Some(String::new()),
                    api_key_env: Some(String::new()),
                    ..self.clone()
                }
            };
            chain.push(shared.settings(protocol, model, task, variables)?);
        }
        let concurrency = self.concurrency.expect(SET);
        if concurrency == 0 {
            return Err("concurrency is 0; at least 1 is needed".to_owned());
        }
        Ok(Some(TaskModel {
            chain,
            limits: ProviderLimits {
                requests_per_minute: self.requests_per_minute.expect(SET),
                tokens_per_minute: self.tokens_per_minute.expect(SET),
                concurrency,
                proxy: self.proxy.clone().filter(|proxy| !proxy.is_empty()),
            },
        }))
    }

    fn settings(
        &self,
        protocol: Protocol,
        model: &str,
        task: Task,
        variables: &BTreeMap<String, String>,
    ) -> Result<ChatSettings, String> {
        const SET: &str = "the example file sets every key of [models]";
        let variable = |name: &str| variables.get(name).filter(|value| !value.is_empty());
        let stated = self.base_url.as_deref().expect(SET);
        let base_url = if stated.is_empty() {
            let from_environment = match protocol {
                Protocol::OpenAi => variable("OPENAI_BASE_URL").cloned(),
                Protocol::Anthropic => variable("ANTHROPIC_BASE_URL").cloned(),
                Protocol::Ollama => variable("OLLAMA_HOST").map(|host| ollama_url(host)),
            };
            from_environment.unwrap_or_else(|| protocol.default_base_url().to_owned())
        } else {
            stated.to_owned()
        };
        if !(base_url.starts_with("http://") || base_url.starts_with("https://")) {
            // It may hold a password.
            return Err("base_url does not start with http:// or https://".to_owned());
        }
        let named = self.api_key_env.as_deref().expect(SET);
        let key = if named.is_empty() {
            match protocol {
                Protocol::OpenAi => variable("OPENAI_API_KEY"),
                Protocol::Anthropic => variable("ANTHROPIC_API_KEY"),
                Protocol::Ollama => None,
            }
        } else {
            Some(variable(named).ok_or_else(|| {
                format!("api_key_env names the variable {named}, which is not set")
            })?)
        };
        let json = match self.json.as_deref().expect(SET) {
            "schema" => JsonReplies::Schema,
            "mode" => JsonReplies::Mode,
            "plain" => JsonReplies::Plain,
            other => return Err(format!("json {other:?} is none of schema, mode, plain")),
        };
        Ok(ChatSettings {
            protocol,
            model: model.to_owned(),
            base_url: base_url.trim_end_matches('/').to_owned(),
            key: key.map(Secret::new).unwrap_or_default(),
            timeout: Duration::from_millis(self.timeout_ms.expect(SET)),
            stream: task == Task::Answers,
            json,
            context_tokens: self.context_tokens.expect(SET),
            retry: RetryPolicy {
                retries: self.retries.expect(SET),
                first_pause: Duration::from_millis(self.retry_pause_ms.expect(SET)),
                ..RetryPolicy::default()
            },
        })
    }
}

fn is_price(price: f64) -> bool {
    price.is_finite() && price >= 0.0
}

fn protocol(name: &str) -> Result<Protocol, String> {
    Protocol::parse(name)
        .ok_or_else(|| format!("provider {name:?} is none of openai, anthropic, ollama"))
}

/// `OLLAMA_HOST` as Ollama itself reads it: often only a host, a port or both, and often the address that a server
/// listens on, which means any of this machine.
fn ollama_url(host: &str) -> String {
    let host = host.trim();
    // With a scheme the port is the scheme's own.
    let (scheme, rest, port) = match host.split_once("://") {
        Some((scheme, rest)) => (scheme, rest, ""),
        None => ("http", host, ":11434"),
    };
    let (address, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (user, address) = address.split_at(address.rfind('@').map_or(0, |at| at + 1));
    let at = match address.rfind(':') {
        // Colons of IPv6 are no sign of a port.
        Some(at) if address.parse::<std::net::Ipv6Addr>().is_err() && !address.ends_with(']') => at,
        _ => address.len(),
    };
    let (name, stated) = address.split_at(at);
    let name = match name.trim_matches(['[', ']']) {
        "" | "0.0.0.0" => "127.0.0.1".to_owned(),
        "::" => "[::1]".to_owned(),
        six if six.contains(':') => format!("[{six}]"),
        name => name.to_owned(),
    };
    let port = if stated.is_empty() { port } else { stated };
    format!("{scheme}://{user}{name}{port}{path}")
}

fn number<N: std::str::FromStr>(value: &str) -> Result<N, String> {
    value
        .trim()
        .parse()
        .map_err(|_| format!("`{value}` is not a whole number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str, variables: &[(&str, &str)]) -> Result<TaskModels, String> {
        #[derive(Deserialize)]
        struct File {
            models: Models,
        }
        let defaults: File = toml::from_str(&toml_of_defaults()).unwrap();
        let own: Models = toml::from_str(text).unwrap();
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        defaults.models.overlaid_by(own).check(&variables)
    }

    fn toml_of_defaults() -> String {
        let example = include_str!("../../../../malha.example.toml");
        let at = example.find("[models]").unwrap();
        let rest = &example[at..];
        let end = rest[1..].find("\n[").map_or(rest.len(), |end| end + 1);
        rest[..end].to_owned()
    }

    #[test]
    fn without_a_model_there_is_none() {
        assert_eq!(checked("", &[]).unwrap(), TaskModels::default());
    }

    #[test]
    fn a_task_overrides_what_all_share() {
        let models = checked(
            "model = 'small'\nbase_url = 'http://h/v1/'\n[answers]\nmodel = 'large'\nprovider = 'anthropic'\nbase_url = ''",
            &[("ANTHROPIC_API_KEY", "k")],
        )
        .unwrap();
        let extraction = &models.extraction.unwrap().chain[0];
        assert_eq!(extraction.base_url, "http://h/v1");
        assert!(extraction.key.is_empty() && !extraction.stream);
        let answers = &models.answers.unwrap().chain[0];
        assert_eq!(answers.protocol, Protocol::Anthropic);
        assert_eq!(answers.base_url, "https://api.anthropic.com");
        assert!(!answers.key.is_empty() && answers.stream);
    }

    #[test]
    fn the_environment_gives_addresses_and_keys() {
        let address = |text, variables: &[_]| {
            checked(text, variables).unwrap().reports.unwrap().chain[0]
                .base_url
                .clone()
        };
        let openai = [("OPENAI_BASE_URL", "http://127.0.0.1:8/v1")];
        assert_eq!(address("model = 'm'", &openai), "http://127.0.0.1:8/v1");
        let ollama = [("OLLAMA_HOST", "127.0.0.1:9")];
        assert_eq!(
            address("model = 'm'\nprovider = 'ollama'", &ollama),
            "http://127.0.0.1:9"
        );
        assert_eq!(address("model = 'm'", &[]), "https://api.openai.com/v1");
    }

    #[test]
    fn ollama_host_is_read_as_ollama_reads_it() {
        let check = |host, expected| assert_eq!(ollama_url(host), expected, "{host}");
        check("0.0.0.0", "http://127.0.0.1:11434");
        check("192.168.1.5", "http://192.168.1.5:11434");
        check("box.local:9", "http://box.local:9");
        check(":9", "http://127.0.0.1:9");
        check("0.0.0.0:9/api", "http://127.0.0.1:9/api");
        check("::1", "http://[::1]:11434");
        check("[::]", "http://[::1]:11434");
        check("[::1]:9", "http://[::1]:9");
        check("https://h.example", "https://h.example");
        check("http://0.0.0.0", "http://127.0.0.1");
        check("http://ana:pw@box:9", "http://ana:pw@box:9");
    }

    #[test]
    fn a_fallback_of_another_provider_has_its_own_address_and_key() {
        let models = checked(
            "model = 'm'\nbase_url = 'http://h/v1'\nfallback = ['openai:n', 'ollama:q:7b']",
            &[],
        )
        .unwrap();
        let chain = models.extraction.unwrap().chain;
        let shown: Vec<_> = chain
            .iter()
            .map(|one| (one.model.as_str(), one.base_url.as_str()))
            .collect();
        assert_eq!(
            shown,
            [
                ("m", "http://h/v1"),
                ("n", "http://h/v1"),
                ("q:7b", "http://127.0.0.1:11434")
            ]
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let check = |text, expected: &str| {
            let error = checked(text, &[]).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check("model = 'm'\nprovider = 'x'", "none of openai");
        check(
            "model = 'm'\napi_key_env = 'MY_KEY'",
            "MY_KEY, which is not set",
        );
        check("model = 'm'\nbase_url = 'h'", "does not start with http");
        check("model = 'm'\nconcurrency = 0", "concurrency");
        check("model = 'm'\njson = 'yes'", "schema, mode, plain");
        check("model = 'm'\nfallback = ['n']", "provider:model");
        check(
            "price = [{model = 'm', input_per_million = inf, output_per_million = 1}]",
            "a number from 0 up",
        );
        check("[reports.answers]\nmodel = 'm'", "no tasks of its own");
    }
}
