//! Ollama's own `/api/chat`, which can hold any model to a JSON schema and says how long a prompt may be.

use std::sync::Arc;

use malha_engine::language_model::{
    ChatModel, ChatReply, ChatRequest, ModelError, ModelErrorKind, Role,
};
use serde_json::{Value, json};

use crate::exchange::{Dialect, Heard, Next, Question, check_room, exchange};
use crate::http::{self, Call, Http};
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
            "stream": true,
            // Newer servers then say what does not fit, in place of leaving out the start of it.
            "truncate": false,
            "shift": false,
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
            secrets: &[
                self.settings.key.reveal(),
                http::password(&self.settings.base_url),
            ],
        };
        check_room(request, self.context(), &call)?;
        let bearer = self.settings.key.bearer();
        let headers = bearer
            .iter()
            .map(|bearer| ("authorization", bearer.as_str()));
        let headers: Vec<(&str, &str)> = headers.collect();
        let question = Question {
            url: &self.url,
            headers: &headers,
            body: &self.body(request),
            streamed: true,
            pass_on: self.settings.stream,
        };
        let reply = exchange(&self.http, &question, &call, &DIALECT, on_text)?;
        // Older servers leave out what does not fit, and the rest then fills the context.
        let context = u64::from(self.context());
        if reply.input_tokens.is_some_and(|tokens| tokens >= context) {
            let message = format!("the prompt filled context_tokens = {context} and was cut");
            let mut error = call.error(ModelErrorKind::TooLong, message);
            error.effort.lost = 1;
            return Err(error);
        }
        Ok(reply)
    }
}

fn whole(value: &Value, call: &Call<'_>) -> Result<ChatReply, ModelError> {
    let mut heard = Heard::default();
    call.who.clone_into(&mut heard.reply.model);
    match add_event(value, &mut heard, call)? {
        Next::End => Ok(heard.reply),
        Next::More | Next::Rest => Err(call.lost("the reply broke off")),
    }
}

fn add_event(event: &Value, heard: &mut Heard, call: &Call<'_>) -> Result<Next, ModelError> {
    let reply = &mut heard.reply;
    if let Some(message) = event["error"].as_str() {
        return Err(call.lost(message));
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
