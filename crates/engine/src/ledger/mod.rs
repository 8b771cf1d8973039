//! Transcripts of coding agents → turns: what was asked, what was done and decided, and where in the
//! transcript it stands. No model.
//!
//! Agents write a JSON object a line. [`read_turns`] takes the lines of any format that an adapter knows
//! and needs no more memory than the longest line and one turn.

mod chat;
mod claude_code;
mod codex;
mod decision;
mod event;
mod turn_builder;

use std::io::{BufRead, Read};
use std::path::Path;

use serde_json::Value;

use event::Event;
use turn_builder::TurnBuilder;

use crate::types::Turn;
use crate::{Error, Result};

/// Longest line that is read: an agent's tool may print a whole file, but not more.
const MOST_LINE_BYTES: u64 = 64 << 20;

/// What earlier lines said that later ones do not repeat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    /// What the agent calls the conversation.
    pub session: String,
    /// Folder in which it works.
    pub folder: String,
}

/// How far a reading came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadTo {
    /// Where the last turn begins, which may go on later; the end when there is none.
    pub resume_at: u64,
    /// What was known there.
    pub context: Context,
    pub end: u64,
    /// Byte and reason of every line that is no JSON object.
    pub broken: Vec<(u64, String)>,
}

/// Hands over every turn of `input`, whose first byte is byte `start` of the transcript. A last line
/// without its line break that is not whole yet is left for the next time.
///
/// # Errors
/// Those of `each`, and [`Error::Io`] with `path` when `input` cannot be read.
pub fn read_turns(
    path: &Path,
    mut input: impl BufRead,
    start: u64,
    context: Context,
    mut each: impl FnMut(Turn) -> Result<()>,
) -> Result<ReadTo> {
    let io_error = |source| Error::Io {
        path: path.to_owned(),
        source,
    };
    let mut read = ReadTo {
        resume_at: start,
        context: context.clone(),
        end: start,
        broken: Vec::new(),
    };
    let mut builder = TurnBuilder::new(context);
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = input
            .by_ref()
            .take(MOST_LINE_BYTES)
            .read_until(b'\n', &mut line)
            .map_err(io_error)? as u64;
        if length == 0 {
            break;
        }
        let at = read.end;
        let is_whole = line.ends_with(b"\n");
        if !is_whole && length == MOST_LINE_BYTES {
            let rest = skip_line(&mut input).map_err(io_error)?;
            read.end += length + rest;
            let reason = format!("longer than {} MiB", MOST_LINE_BYTES >> 20);
            read.broken.push((at, reason));
            continue;
        }
        match serde_json::from_slice::<Value>(&line) {
            Ok(Value::Object(object)) => {
                let events = events(&Value::Object(object));
                if events
                    .iter()
                    .any(|event| matches!(event, Event::Question { .. }))
                {
                    if let Some(turn) = builder.finish() {
                        each(turn)?;
                    }
                    read.resume_at = at;
                    read.context = builder.context().clone();
                }
                for event in events {
                    builder.add(event, at, at + length);
                }
            }
            // The agent is still writing it.
            Err(_) if !is_whole => break,
            Ok(_) => read.broken.push((at, "it is no JSON object".to_owned())),
            Err(_) if line.trim_ascii().is_empty() => {}
            Err(error) => read.broken.push((at, format!("it is no JSON: {error}"))),
        }
        read.end += length;
    }
    if let Some(turn) = builder.finish() {
        each(turn)?;
    } else {
        read.resume_at = read.end;
        read.context = builder.context().clone();
    }
    Ok(read)
}

/// Passes over the rest of a line and returns its length.
fn skip_line(input: &mut impl BufRead) -> std::io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(skipped);
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let length = end.map_or(buffer.len(), |end| end + 1);
        input.consume(length);
        skipped += length as u64;
        if end.is_some() {
            return Ok(skipped);
        }
    }
}

/// What a line says, by the first adapter that knows its shape.
fn events(line: &Value) -> Vec<Event> {
    claude_code::events(line)
        .or_else(|| codex::events(line))
        .or_else(|| chat::events(line))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
