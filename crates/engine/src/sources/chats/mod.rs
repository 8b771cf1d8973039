//! Conversations as chat products export them: `conversations.json` of `ChatGPT` and of Claude, the activity of Gemini
//! and its studio's prompts, Open `WebUI`, and lists of `{role, content}`; alone, in a folder, or in the ZIP that comes
//! by mail.
//!
//! Each reader turns one item of a file into a [`Conversation`]: the turns of the branch that is shown. Questions that
//! were edited and answers that were made again leave other branches behind; those are counted.

mod activity;
mod chatgpt;
mod claude;
mod each_item;
mod list;
mod tree;
mod webui;

use std::borrow::Cow;

use serde_json::Value;

use super::json::replace_lone_surrogates;
use super::zip_archive::ZipArchive;
use crate::types::ItemFailure;

/// Names of the files in an archive or folder that hold conversations.
const FILES: [&str; 3] = ["conversations", "myactivity", "chat-export"];
/// Letters of an id that are kept as they are.
const LONGEST_ID: usize = 80;

/// A conversation with somebody or something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversation {
    /// `chatgpt/…`: the product and its own id. Stays when the conversation goes on.
    pub id: String,
    pub title: String,
    /// Of the branch that is shown, first to last.
    pub turns: Vec<ChatTurn>,
    /// Turns of other branches.
    pub left_out: usize,
}

/// Something said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatTurn {
    /// Unique in its conversation, and the same in every export.
    pub id: String,
    /// `User`, or the product's name.
    pub speaker: String,
    /// In UTC, RFC 3339.
    pub time: Option<String>,
    pub text: String,
}

/// What a file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversations {
    /// In the order of the file.
    pub found: Vec<Conversation>,
    pub failures: Vec<ItemFailure>,
}

/// The name of somebody who uses a product.
pub(super) const USER: &str = "User";

/// Whether a file of this name is looked into when a folder or an archive is given.
pub fn is_chat_file(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name).to_lowercase();
    file.strip_suffix(".json").is_some() && FILES.iter().any(|start| file.starts_with(start))
}

/// Reads a file of conversations, or a ZIP archive with some. `name` is told in failures. Never panics.
pub fn read_conversations(bytes: &[u8], name: &str) -> Conversations {
    let mut all = Conversations::default();
    if !bytes.starts_with(b"PK\x03\x04") {
        read_file(bytes, name, &mut all);
        return all;
    }
    let mut archive = match ZipArchive::open(bytes) {
        Ok(archive) => archive,
        Err(reason) => {
            all.failures.push(failure(name, 0, reason));
            return all;
        }
    };
    let files: Vec<String> = archive
        .names()
        .filter(|file| is_chat_file(file))
        .map(str::to_owned)
        .collect();
    if files.is_empty() {
        let reason = "there is no conversations.json and no MyActivity.json in it";
        all.failures.push(failure(name, 0, reason.to_owned()));
    }
    for file in files {
        match archive.read(&file) {
            Some(Ok(content)) => read_file(&content, &format!("{name}/{file}"), &mut all),
            Some(Err(reason)) => all.failures.push(failure(name, 0, reason)),
            None => {}
        }
    }
    all
}

fn read_file(bytes: &[u8], name: &str, all: &mut Conversations) {
    // Byte order marks and halves of characters are no JSON.
    let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
    let text = replace_lone_surrogates(&text).map_or(text, Cow::Owned);
    let mut activity = activity::Days::default();
    let mut place = 0;
    let ended = each_item::read(&text, |item| {
        place += 1;
        if activity.take(&item) {
            return;
        }
        match conversation(&item, name) {
            Some(found) if found.turns.is_empty() => {}
            Some(found) => all.found.push(found),
            None => all.failures.push(failure(
                name,
                place,
                "no conversation of a known form".to_owned(),
            )),
        }
    });
    all.found.extend(activity.conversations());
    if let Err(reason) = ended {
        all.failures.push(failure(
            name,
            0,
            format!("after {place} items: {reason}; what was read before is kept"),
        ));
    }
}

fn conversation(item: &Value, name: &str) -> Option<Conversation> {
    let found = chatgpt::read(item)
        .or_else(|| claude::read(item))
        .or_else(|| webui::read(item))
        .or_else(|| list::read(item, name))?;
    Some(Conversation {
        turns: found
            .turns
            .into_iter()
            .filter(|turn| !turn.text.trim().is_empty())
            .collect(),
        ..found
    })
}

fn failure(name: &str, line: usize, reason: String) -> ItemFailure {
    ItemFailure {
        uri: name.to_owned(),
        line,
        reason,
    }
}

/// An id that may stand in a uri: as it is, or its hash when it is long or odd.
fn checked_id(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    if !id.is_empty() && id.len() <= LONGEST_ID && id.chars().all(is_plain) {
        id.to_owned()
    } else {
        crate::types::PublicId::new("", "chat", id).0
    }
}

/// Seconds since 1970, whole or not, or a text with a date, as RFC 3339 in UTC.
fn time_of(value: Option<&Value>) -> Option<String> {
    let moment = match value? {
        Value::Number(seconds) => {
            let seconds = seconds.as_f64()?;
            // Some products count milliseconds.
            let scale = if seconds.abs() > 1e11 { 1.0 } else { 1e3 };
            jiff::Timestamp::from_millisecond((seconds * scale) as i64).ok()?
        }
        Value::String(text) => {
            let date = super::parse_date(text)?;
            jiff::Timestamp::from_millisecond(date.start.0).ok()?
        }
        _ => return None,
    };
    let seconds = jiff::Timestamp::from_second(moment.as_second()).ok()?;
    Some(seconds.to_string())
}

/// The texts of a content in any of its forms, joined: a text, parts, or blocks with a `text`.
fn text_of(content: Option<&Value>) -> String {
    let mut texts: Vec<&str> = Vec::new();
    match content {
        Some(Value::String(text)) => texts.push(text),
        Some(Value::Array(parts)) => texts.extend(parts.iter().filter_map(|part| {
            let is_text = part["type"].as_str().is_none_or(|kind| kind == "text")
                && part["content_type"]
                    .as_str()
                    .is_none_or(|kind| kind == "audio_transcription" || kind == "text");
            part.as_str()
                .or_else(|| part["text"].as_str().filter(|_| is_text))
        })),
        Some(Value::Object(_)) => {
            let content = content.expect("matched");
            return text_of(content.get("parts").or_else(|| content.get("text")));
        }
        _ => {}
    }
    let kept: Vec<&str> = texts
        .into_iter()
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .collect();
    kept.join("\n\n")
}

#[cfg(test)]
mod tests;
