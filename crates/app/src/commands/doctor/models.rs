//! Which chat models are configured, and whether they answer.

use malha_engine::language_model::{ChatRequest, Message, Role};
use malha_providers::http;

use super::{Finding, bad, good};
use crate::config::{Settings, Task};

/// Names every task's model; nothing is sent.
pub(super) fn configured(settings: &Settings) -> Finding {
    let models: Vec<String> = Task::ALL
        .into_iter()
        .filter_map(|task| {
            let first = settings.models.get(task)?.chain.first()?;
            let origin = http::origin(&first.base_url);
            Some(format!("{} by {} at {origin}", task.as_str(), first.model))
        })
        .collect();
    let message = if models.is_empty() {
        "no chat model: everything but extraction, reports and answers works without one".to_owned()
    } else {
        models.join(", ")
    };
    good("models", message)
}

/// Asks every configured model for one word.
pub(super) fn answering(settings: &Settings) -> Vec<Finding> {
    let configured = Task::ALL
        .into_iter()
        .filter(|task| settings.models.get(*task).is_some());
    configured.map(|task| ask(settings, task)).collect()
}

fn ask(settings: &Settings, task: Task) -> Finding {
    let request = ChatRequest {
        messages: vec![Message {
            role: Role::User,
            text: "Answer with the one word: ready".to_owned(),
        }],
        max_output_tokens: 64,
        temperature: 0.0,
        reply_schema: None,
    };
    let what = task.as_str();
    let model = match settings.models.connect(task) {
        Ok(model) => model,
        Err(error) => return bad(what, format!("{error:#}"), ""),
    };
    match model.complete(&request, &mut |_| {}) {
        Ok(reply) => {
            let words: String = reply.text.trim().chars().take(60).collect();
            good(what, format!("{} answers: {words}", reply.model))
        }
        Err(error) => {
            let advice = "check [models] in malha.toml: address, model, the variable of the key";
            bad(what, error.to_string(), advice)
        }
    }
}
