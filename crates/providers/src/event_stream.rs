//! Replies that arrive in pieces: server-sent events, or one JSON value a line.

use std::io::{BufRead, BufReader, Read};

use malha_engine::language_model::ModelError;
use serde_json::Value;
use ureq::{Body, http};

use crate::http::{Call, LONGEST_REPLY};

/// Longest line of a stream.
const LONGEST_LINE: u64 = 4 << 20;

/// Whether a reply comes in pieces: some servers answer as a whole although they were asked to stream, and what stands
/// between us and them answers with pages.
pub(crate) fn is_streamed(response: &http::Response<Body>) -> bool {
    const WHOLE: [&[u8]; 2] = [b"application/json", b"text/html"];
    let kind = response.headers().get("content-type");
    !kind.is_some_and(|kind| WHOLE.iter().any(|whole| kind.as_bytes().starts_with(whole)))
}

/// Calls `each` with the JSON value of every line, `data: ` or bare, until it returns false or the stream
/// ends. True when `each` ended it: a stream that ends by itself was cut.
pub(crate) fn for_each_event(
    response: http::Response<Body>,
    call: &Call<'_>,
    mut each: impl FnMut(&Value) -> Result<bool, ModelError>,
) -> Result<bool, ModelError> {
    let mut reader = BufReader::new(
        response
            .into_body()
            .into_with_config()
            .limit(LONGEST_REPLY)
            .reader(),
    );
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut reader)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)
            .map_err(|error| call.stopped(&error))?;
        if read == 0 {
            return Ok(false);
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        let data = text.strip_prefix("data:").map_or(text, str::trim_start);
        if data == "[DONE]" {
            return Ok(true);
        }
        // Comments, event names and blank lines.
        if !data.starts_with('{') {
            continue;
        }
        let value: Value = serde_json::from_str(data)
            .map_err(|error| call.lost(format!("an event is no JSON: {error}")))?;
        if !each(&value)? {
            return Ok(true);
        }
    }
}
