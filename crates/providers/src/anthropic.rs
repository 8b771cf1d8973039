//! `/v1/messages`. A JSON schema becomes the input of a tool that the model has to call.

use std::sync::Arc;

use malha_engine::language_model::{ChatModel, ChatReply, ChatRequest, ModelError, Role};
use serde_json::{Value, json};

use crate::exchange::{Dialect, Heard, Next, Question, check_room, exchange};
use crate::http::{self, Call, Http};
use crate::settings::{ChatSettings, JsonReplies};

const VERSION: &str = "2023-06-01";
/// What ends a reply that the model will not give.
const REFUSAL: &str = "refusal";
/// Name of the tool whose input is the reply.
const TOOL: &str = "reply";

const DIALECT: Dialect = Dialect {
    whole,
    event: add_event,
};

/// A client of one model.
pub(crate) struct Anthropic {
    settings: ChatSettings,
    http: Arc<Http>,
    url: String,
}

impl Anthropic {
    pub(crate) fn new(settings: ChatSettings, http: Arc<Http>) -> Self {
        Self {
            url: format!("{}/v1/messages", settings.base_url.trim_end_matches("/v1")),
            settings,
            http,
        }
    }

    fn body(&self, request: &ChatRequest) -> Value {
        let of_role = |wanted: Role| {
            request
                .messages
                .iter()
                .filter(move |message| message.role == wanted)
        };
        let system: Vec<&str> = of_role(Role::System).map(|m| m.text.as_str()).collect();
        let turns: Vec<Value> = request
            .messages
            .iter()
            .filter_map(|message| {
                let role = match message.role {
                    Role::System => return None,
                    Role::User => "user",
                    Role::Assistant => "assistant",
                };
                Some(json!({ "role": role, "content": message.text }))
            })
            .collect();
        let mut body = json!({
            "model": self.settings.model,
            "max_tokens": request.max_output_tokens,
            "temperature": request.temperature,
            "messages": turns,
            "stream": true,
        });
        if !system.is_empty() {
            body["system"] = system.join("\n\n").into();
        }
        if let (Some(schema), JsonReplies::Schema) = (&request.reply_schema, self.settings.json) {
            body["tools"] = json!([{
                "name": TOOL,
                "description": "The reply.",
                "input_schema": schema,
            }]);
            body["tool_choice"] = json!({ "type": "tool", "name": TOOL });
        }
        body
    }
}

impl ChatModel for Anthropic {
    fn name(&self) -> &str {
        &self.settings.model
    }

    fn complete(
        &self,
        request: &ChatRequest,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, ModelError> {
        let key = self.settings.key.reveal();
        let call = Call {
            who: &self.settings.model,
            timeout: self.settings.timeout,
            secrets: &[key, http::password(&self.settings.base_url)],
        };
        check_room(request, self.settings.context_tokens, &call)?;
        let headers = [("x-api-key", key), ("anthropic-version", VERSION)];
        let question = Question {
            url: &self.url,
            headers: &headers,
            body: &self.body(request),
            streamed: true,
            pass_on: self.settings.stream,
        };
        exchange(&self.http, &question, &call, &DIALECT, on_text)
    }
}

fn whole(value: &Value, call: &Call<'_>) -> Result<ChatReply, ModelError> {
    let Some(blocks) = value["content"].as_array() else {
        return Err(call.lost("the reply has no content"));
    };
    if value["stop_reason"] == REFUSAL {
        return Err(call.refused(REFUSAL));
    }
    let mut text = String::new();
    for block in blocks {
        match block["type"].as_str() {
            Some("text") => text.push_str(block["text"].as_str().unwrap_or_default()),
            Some("tool_use") => text.push_str(&block["input"].to_string()),
            _ => {}
        }
    }
    Ok(ChatReply {
        text,
        model: call.who.to_owned(),
        input_tokens: input_tokens(&value["usage"]),
        output_tokens: value["usage"]["output_tokens"].as_u64(),
        is_truncated: value["stop_reason"] == "max_tokens",
        ..ChatReply::default()
    })
}

/// Tokens of the prompt, those read from the provider's cache and written to it included.
fn input_tokens(usage: &Value) -> Option<u64> {
    let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"]
        .iter()
        .filter_map(|field| usage[field].as_u64())
        .sum::<u64>();
    usage["input_tokens"].as_u64().map(|fresh| fresh + cached)
}

fn add_event(event: &Value, heard: &mut Heard, call: &Call<'_>) -> Result<Next, ModelError> {
    let reply = &mut heard.reply;
    match event["type"].as_str() {
        Some("message_start") => {
            reply.input_tokens = input_tokens(&event["message"]["usage"]);
        }
        Some("content_block_delta") => {
            let delta = &event["delta"];
            let text = delta["text"].as_str().or(delta["partial_json"].as_str());
            reply.text.push_str(text.unwrap_or_default());
        }
        Some("message_delta") => {
            if event["delta"]["stop_reason"] == REFUSAL {
                return Err(call.refused(REFUSAL));
            }
            reply.output_tokens = event["usage"]["output_tokens"].as_u64();
            reply.is_truncated = event["delta"]["stop_reason"] == "max_tokens";
        }
        Some("message_stop") => return Ok(Next::End),
        Some("error") => {
            let message = event["error"]["message"]
                .as_str()
                .unwrap_or("unknown error");
            return Err(call.lost(message));
        }
        _ => {}
    }
    Ok(Next::More)
}
