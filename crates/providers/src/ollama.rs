//! Ollama's own `/api/chat`, which can hold any model to a JSON schema and says how long a prompt may be.

use std::sync::Arc;

use malha_engine::language_model::{
    ChatModel, ChatReply, ChatRequest, ModelError, ModelErrorKind, Role,
};
use serde_json::{Value, json};

use crate::exchange::{Dialect, Next, Question, exchange};
use crate::http::{Call, Http};
use crate::settings::{ChatSettings, JsonReplies};

/// Context that is reserved where the settings say nothing. Ollama's own default silently drops the
/// start of a longer prompt.
const DEFAULT_CONTEXT: u32 = 8192;

const DIALECT: Dialect = Dialect {
    whole,
    event: add_event,
};

/// A client of one model.
pub(crate) struct Ollama {
    settings: ChatSettings,
    http: Arc<Http>,
    url: String,
}

impl Ollama {
    pub(crate) fn new(settings: ChatSettings, http: Arc<Http>) -> Self {
        Self {
            url: format!("{}/api/chat", settings.base_url),
            settings,
            http,
        }
    }

    const fn context(&self) -> u32 {
        match self.settings.context_tokens {
            0 => DEFAULT_CONTEXT,
            tokens => tokens,
        }
    }

    fn body(&self, request: &ChatRequest) -> Value {
        let messages: Vec<Value> = request
            .messages
            .iter()
            .map(|message| {
                let role = match message.role {
                    Role::System => "system",
                    Role::User => "user",
                    Role::Assistant => "assistant",
                };
                json!({ "role": role, "content": message.text })
            })
            .collect();
        let mut body = json!({
            "model": self.settings.model,
            "messages": messages,
            "stream": self.settings.stream,
            "options": {
                "temperature": request.temperature,
                "num_predict": request.max_output_tokens,
                "num_ctx": self.context(),
            },
        });
        if let Some(schema) = &request.reply_schema {
            match self.settings.json {
                JsonReplies::Schema => body["format"] = schema.clone(),
                JsonReplies::Mode => body["format"] = "json".into(),
                JsonReplies::Plain => {}
            }
        }
        body
    }
}

impl ChatModel for Ollama {
    fn name(&self) -> &str {
        &self.settings.model
    }

    fn complete(
        &self,
        request: &ChatRequest,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, ModelError> {
        let call = Call {
            who: &self.settings.model,
            timeout: self.settings.timeout,
            secret: None,
        };
        // Six bytes a token is fewer tokens than any text has: what this refuses cannot fit.
        let bytes: usize = request.messages.iter().map(|one| one.text.len()).sum();
        let least = (bytes / 6) as u64 + u64::from(request.max_output_tokens.min(256));
        if least > u64::from(self.context()) {
            let message = format!(
                "a prompt of {bytes} bytes does not fit into context_tokens = {}",
                self.context()
            );
            return Err(call.error(ModelErrorKind::TooLong, message));
        }
        let question = Question {
            url: &self.url,
            headers: &[],
            body: &self.body(request),
            stream: self.settings.stream,
        };
        exchange(&self.http, &question, &call, &DIALECT, on_text)
    }
}

fn whole(value: &Value, call: &Call<'_>) -> Result<ChatReply, ModelError> {
    let mut reply = ChatReply {
        model: call.who.to_owned(),
        ..ChatReply::default()
    };
    match add_event(value, &mut reply, call)? {
        Next::End => Ok(reply),
        Next::More | Next::Rest => Err(call.transient("the reply broke off")),
    }
}

fn add_event(event: &Value, reply: &mut ChatReply, call: &Call<'_>) -> Result<Next, ModelError> {
    if let Some(message) = event["error"].as_str() {
        return Err(call.transient(message));
    }
    if let Some(text) = event["message"]["content"].as_str() {
        reply.text.push_str(text);
    }
    if event["done"] != true {
        return Ok(Next::More);
    }
    reply.input_tokens = event["prompt_eval_count"].as_u64();
    reply.output_tokens = event["eval_count"].as_u64();
    reply.is_truncated = event["done_reason"] == "length";
    Ok(Next::End)
}
