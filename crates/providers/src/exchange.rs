//! One question to a chat endpoint and its answer: the same for every provider but for how the pieces are read.
//!
//! Answers come in pieces wherever the server can: then a long one ends at no clock while it keeps coming. Whether
//! the pieces are passed on is another matter: what was passed on cannot be asked for again.

use malha_engine::language_model::{ChatReply, ChatRequest, ModelError, ModelErrorKind};
use malha_engine::text::count_tokens;
use serde_json::Value;

use crate::event_stream::{for_each_event, is_streamed};
use crate::http::{Call, Http};

/// Tokens of a reply without which a prompt is not worth sending.
const LEAST_REPLY: u32 = 256;

/// How the replies of a dialect are read.
pub(crate) struct Dialect {
    /// A reply that came as a whole.
    pub whole: fn(&Value, &Call<'_>) -> Result<ChatReply, ModelError>,
    /// Adds one event to what has come of a reply in pieces.
    pub event: fn(&Value, &mut Heard, &Call<'_>) -> Result<Next, ModelError>,
}

/// What has come of a reply.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub reply: ChatReply,
    /// What the model said in place of one.
    pub refusal: String,
}

/// What may follow an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// A stream that ends now was cut.
    More,
    /// All of the text is there; counts may follow.
    Rest,
    /// Nothing.
    End,
}

/// What is sent.
pub(crate) struct Question<'a> {
    pub url: &'a str,
    pub headers: &'a [(&'a str, &'a str)],
    pub body: &'a Value,
    /// The reply was asked for in pieces.
    pub streamed: bool,
    /// They are passed on as they come.
    pub pass_on: bool,
}

/// Sends a question and reads the answer; `on_text` hears its text, piece by piece where that is wanted.
pub(crate) fn exchange(
    http: &Http,
    question: &Question<'_>,
    call: &Call<'_>,
    dialect: &Dialect,
    on_text: &mut dyn FnMut(&str),
) -> Result<ChatReply, ModelError> {
    let response = if question.streamed {
        http.post_for_stream(question.url, question.headers, question.body, call)?
    } else {
        http.post(question.url, question.headers, question.body, call)?
    };
    let reply = if question.streamed && is_streamed(&response) {
        let mut heard = Heard::default();
        call.who.clone_into(&mut heard.reply.model);
        let mut is_complete = false;
        let mut is_failure = false;
        let was_ended = for_each_event(response, call, |event| {
            let known = heard.reply.text.len();
            let next =
                (dialect.event)(event, &mut heard, call).inspect_err(|_| is_failure = true)?;
            if question.pass_on && heard.reply.text.len() > known {
                on_text(&heard.reply.text[known..]);
            }
            is_complete |= next == Next::Rest;
            Ok(next != Next::End)
        });
        let was_ended = match was_ended {
            // What breaks off behind the end of a reply costs nothing of it.
            Err(_) if is_complete && !is_failure => true,
            ended => ended?,
        };
        if !heard.refusal.is_empty() {
            return Err(call.refused(&heard.refusal));
        }
        if !(was_ended || is_complete) {
            return Err(call.lost("the stream broke off"));
        }
        if question.pass_on {
            return Ok(heard.reply);
        }
        heard.reply
    } else {
        (dialect.whole)(&call.json(response)?, call)?
    };
    on_text(&reply.text);
    Ok(reply)
}

/// Refuses a request that prompt and reply have no room for together. Tokens are ours, which are near enough to those
/// of other vocabularies; 0 is no limit.
pub(crate) fn check_room(
    request: &ChatRequest,
    context_tokens: u32,
    call: &Call<'_>,
) -> Result<(), ModelError> {
    if context_tokens == 0 {
        return Ok(());
    }
    let texts = request.messages.iter().map(|message| &message.text);
    let prompt: usize = texts.map(|text| count_tokens(text)).sum();
    let reply = request.max_output_tokens.min(LEAST_REPLY);
    if prompt as u64 + u64::from(reply) <= u64::from(context_tokens) {
        return Ok(());
    }
    let message = format!(
        "a prompt of {prompt} tokens and a reply do not fit into context_tokens = {context_tokens}"
    );
    Err(call.error(ModelErrorKind::TooLong, message))
}
