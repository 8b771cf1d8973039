//! `/chat/completions`, as `OpenAI` and most local servers speak it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use malha_engine::language_model::{
    ChatModel, ChatReply, ChatRequest, ModelError, ModelErrorKind, Role,
};
use serde_json::{Map, Value, json};

use crate::exchange::{Dialect, Heard, Next, Question, check_room, exchange};
use crate::http::{self, Call, Http};
use crate::settings::{ChatSettings, JsonReplies};

/// What this endpoint was found not to take.
const NO_SCHEMA: u8 = 1;
const NO_JSON_MODE: u8 = 2;
const NO_TEMPERATURE: u8 = 4;
const NEW_TOKEN_LIMIT: u8 = 8;
const NO_STREAM_USAGE: u8 = 16;
const NO_STREAM: u8 = 32;

/// What ends a reply that a filter of the provider took away.
const FILTERED: &str = "content_filter";

const DIALECT: Dialect = Dialect {
    whole,
    event: add_event,
};

/// A client of one model.
pub(crate) struct OpenAi {
    settings: ChatSettings,
    http: Arc<Http>,
    url: String,
    /// Servers of this protocol differ; what one refused is left out from then on.
    refused: AtomicU8,
}

impl OpenAi {
    pub(crate) fn new(settings: ChatSettings, http: Arc<Http>) -> Self {
        let refused = match settings.json {
            JsonReplies::Schema => 0,
            JsonReplies::Mode => NO_SCHEMA,
            JsonReplies::Plain => NO_SCHEMA | NO_JSON_MODE,
        };
        Self {
            url: format!("{}/chat/completions", settings.base_url),
            refused: AtomicU8::new(refused),
            settings,
            http,
        }
    }

    fn body(&self, request: &ChatRequest, refused: u8) -> Value {
        let messages: Vec<Value> = request
            .messages
            .iter()
            .map(|message| json!({ "role": role(message.role), "content": message.text }))
            .collect();
        let mut body = Map::new();
        body.insert("model".into(), self.settings.model.clone().into());
        body.insert("messages".into(), messages.into());
        if refused & NO_TEMPERATURE == 0 {
            body.insert("temperature".into(), json!(request.temperature));
        }
        let limit = if refused & NEW_TOKEN_LIMIT == 0 {
            "max_tokens"
        } else {
            "max_completion_tokens"
        };
        body.insert(limit.into(), request.max_output_tokens.into());
        if let Some(schema) = &request.reply_schema {
            let format = if refused & NO_SCHEMA == 0 {
                Some(json!({
                    "type": "json_schema",
                    "json_schema": { "name": "reply", "schema": schema },
                }))
            } else if refused & NO_JSON_MODE == 0 {
                Some(json!({ "type": "json_object" }))
            } else {
                None
            };
            if let Some(format) = format {
                body.insert("response_format".into(), format);
            }
        }
        if refused & NO_STREAM == 0 {
            body.insert("stream".into(), true.into());
            if refused & NO_STREAM_USAGE == 0 {
                body.insert("stream_options".into(), json!({ "include_usage": true }));
            }
        }
        Value::Object(body)
    }

    fn send(
        &self,
        request: &ChatRequest,
        refused: u8,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, ModelError> {
        let key = self.settings.key.reveal();
        let call = Call {
            who: &self.settings.model,
            timeout: self.settings.timeout,
            secrets: &[key, http::password(&self.settings.base_url)],
        };
        check_room(request, self.settings.context_tokens, &call)?;
        let bearer = self.settings.key.bearer();
        let headers = bearer
            .iter()
            .map(|bearer| ("authorization", bearer.as_str()));
        let headers: Vec<(&str, &str)> = headers.collect();
        let question = Question {
            url: &self.url,
            headers: &headers,
            body: &self.body(request, refused),
            streamed: refused & NO_STREAM == 0,
            pass_on: self.settings.stream,
        };
        exchange(&self.http, &question, &call, &DIALECT, on_text)
    }
}

impl ChatModel for OpenAi {
    fn name(&self) -> &str {
        &self.settings.model
    }

    fn complete(
        &self,
        request: &ChatRequest,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, ModelError> {
        loop {
            let refused = self.refused.load(Ordering::Relaxed);
            match self.send(request, refused, on_text) {
                Err(error) if error.kind == ModelErrorKind::Permanent => {
                    let more = newly_refused(&error.message, refused, request);
                    if more == 0 {
                        return Err(error);
                    }
                    tracing::debug!(model = self.name(), more, "{}", error.message);
                    self.refused.fetch_or(more, Ordering::Relaxed);
                }
                result => return result,
            }
        }
    }
}

/// Reads from a refusal (HTTP 400) which part of the request this server does not know. Each is left
/// out at most once, so the loop ends.
fn newly_refused(message: &str, refused: u8, request: &ChatRequest) -> u8 {
    if !(message.starts_with("HTTP 400") || message.starts_with("HTTP 422")) {
        return 0;
    }
    let message = message.to_lowercase();
    let about_format = [
        "response_format",
        "json_schema",
        "json_object",
        "schema",
        "grammar",
    ]
    .iter()
    .any(|word| message.contains(word));
    let found = if message.contains("max_completion_tokens") {
        NEW_TOKEN_LIMIT
    } else if message.contains("temperature") {
        NO_TEMPERATURE
    } else if message.contains("stream_options") {
        NO_STREAM_USAGE
    } else if about_format && request.reply_schema.is_some() {
        if refused & NO_SCHEMA == 0 {
            NO_SCHEMA
        } else {
            NO_JSON_MODE
        }
    } else if is_word_of("stream", &message) {
        NO_STREAM
    } else {
        0
    };
    found & !refused
}

/// Whether a word stands in a text by itself: "upstream" is none about streams.
fn is_word_of(word: &str, text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|part| part == word)
}

const fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

/// What a server says of its own failure, in words or in an object that holds them.
fn failure(value: &Value, call: &Call<'_>) -> Option<ModelError> {
    let error = value.get("error").filter(|error| !error.is_null())?;
    let words = error["message"].as_str().or_else(|| error.as_str());
    Some(call.lost(words.map_or_else(|| error.to_string(), str::to_owned)))
}

fn whole(value: &Value, call: &Call<'_>) -> Result<ChatReply, ModelError> {
    // Some gateways answer 200 with an error inside.
    if let Some(error) = failure(value, call) {
        return Err(error);
    }
    let choice = &value["choices"][0];
    if choice.is_null() {
        return Err(call.lost("the reply has no choices"));
    }
    let message = &choice["message"];
    if let Some(refusal) = message["refusal"].as_str().filter(|text| !text.is_empty()) {
        return Err(call.refused(refusal));
    }
    if choice["finish_reason"] == FILTERED {
        return Err(call.refused(FILTERED));
    }
    Ok(ChatReply {
        text: text_of(&message["content"]),
        model: call.who.to_owned(),
        input_tokens: value["usage"]["prompt_tokens"].as_u64(),
        output_tokens: value["usage"]["completion_tokens"].as_u64(),
        is_truncated: choice["finish_reason"] == "length",
        ..ChatReply::default()
    })
}

/// The text of a message, which may come in parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}

fn add_event(event: &Value, heard: &mut Heard, call: &Call<'_>) -> Result<Next, ModelError> {
    if let Some(error) = failure(event, call) {
        return Err(error);
    }
    let Heard { reply, refusal } = heard;
    if let Some(usage) = event.get("usage").filter(|usage| usage.is_object()) {
        reply.input_tokens = usage["prompt_tokens"].as_u64();
        reply.output_tokens = usage["completion_tokens"].as_u64();
    }
    let choice = &event["choices"][0];
    reply.text.push_str(&text_of(&choice["delta"]["content"]));
    refusal.push_str(choice["delta"]["refusal"].as_str().unwrap_or_default());
    let Some(reason) = choice["finish_reason"].as_str() else {
        return Ok(Next::More);
    };
    if reason == FILTERED {
        return Err(call.refused(FILTERED));
    }
    reply.is_truncated = reason == "length";
    Ok(Next::Rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_tells_what_to_leave_out() {
        let request = ChatRequest {
            messages: Vec::new(),
            max_output_tokens: 1,
            temperature: 0.0,
            reply_schema: Some(json!({})),
        };
        let check = |message: &str, refused, expected| {
            assert_eq!(
                newly_refused(message, refused, &request),
                expected,
                "{message}"
            );
        };
        check("HTTP 400: response_format is not supported", 0, NO_SCHEMA);
        check("HTTP 400: json_object is unknown", NO_SCHEMA, NO_JSON_MODE);
        check(
            "HTTP 400: json_object is unknown",
            NO_SCHEMA | NO_JSON_MODE,
            0,
        );
        check(
            "HTTP 400: use 'max_completion_tokens' instead",
            0,
            NEW_TOKEN_LIMIT,
        );
        check("HTTP 400: temperature must be 1", 0, NO_TEMPERATURE);
        check("HTTP 400: temperature must be 1", NO_TEMPERATURE, 0);
        check("HTTP 400: stream_options is unknown", 0, NO_STREAM_USAGE);
        check("HTTP 400: you may not stream this model", 0, NO_STREAM);
        check(
            "HTTP 400: upstream: response_format is not supported",
            0,
            NO_SCHEMA,
        );
        check("HTTP 401: response_format", 0, 0);
    }

    #[test]
    fn content_may_come_in_parts() {
        assert_eq!(text_of(&json!("a")), "a");
        assert_eq!(text_of(&json!([{"text": "a"}, {"text": "b"}])), "ab");
        assert_eq!(text_of(&Value::Null), "");
    }
}
