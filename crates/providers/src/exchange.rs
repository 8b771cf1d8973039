//! One question to a chat endpoint and its answer, in pieces or as a whole: the same for every provider but for how
//! the pieces are read.

use malha_engine::language_model::{ChatReply, ModelError};
use serde_json::Value;

use crate::event_stream::{for_each_event, is_streamed};
use crate::http::{Call, Http};

/// How the replies of a dialect are read.
pub(crate) struct Dialect {
    /// A reply that came as a whole.
    pub whole: fn(&Value, &Call<'_>) -> Result<ChatReply, ModelError>,
    /// Adds one event to what has come of a reply in pieces.
    pub event: fn(&Value, &mut ChatReply, &Call<'_>) -> Result<Next, ModelError>,
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
    pub stream: bool,
}

/// Sends a question and reads the answer; `on_text` sees its text as it comes.
pub(crate) fn exchange(
    http: &Http,
    question: &Question<'_>,
    call: &Call<'_>,
    dialect: &Dialect,
    on_text: &mut dyn FnMut(&str),
) -> Result<ChatReply, ModelError> {
    let response = http.post(question.url, question.headers, question.body, call)?;
    if !(question.stream && is_streamed(&response)) {
        let reply = (dialect.whole)(&call.json(response)?, call)?;
        on_text(&reply.text);
        return Ok(reply);
    }
    let mut reply = ChatReply {
        model: call.who.to_owned(),
        ..ChatReply::default()
    };
    let mut is_complete = false;
    let was_ended = for_each_event(response, call, |event| {
        let known = reply.text.len();
        let next = (dialect.event)(event, &mut reply, call)?;
        if reply.text.len() > known {
            on_text(&reply.text[known..]);
        }
        is_complete |= next == Next::Rest;
        Ok(next != Next::End)
    })?;
    if was_ended || is_complete {
        Ok(reply)
    } else {
        Err(call.transient("the stream broke off"))
    }
}
