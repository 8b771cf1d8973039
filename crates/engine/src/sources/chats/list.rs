//! Messages in a list, `{"messages": [{"role", "content"}]}`, as many programs keep them, and the prompts of Gemini's
//! studio, `{"chunkedPrompt": {"chunks": [{"role", "text"}]}}`.

use serde_json::Value;

use super::{ChatTurn, Conversation, USER, checked_id, text_of, time_of};

pub(super) fn read(item: &Value, file: &str) -> Option<Conversation> {
    let (product, assistant, messages) = match item["chunkedPrompt"]["chunks"].as_array() {
        Some(chunks) => ("gemini-studio", "Gemini", chunks),
        None => ("chat", "Assistant", item["messages"].as_array()?),
    };
    let id = ["id", "uuid", "conversation_id", "conversationId"]
        .iter()
        .find_map(|name| item[*name].as_str());
    // Without an id of its own a conversation goes by its file, and a title where there is one.
    let title = item["title"].as_str().unwrap_or_default();
    let id = id.map_or_else(|| format!("{file} {title}"), str::to_owned);
    let turns = messages
        .iter()
        .enumerate()
        .filter_map(|(number, message)| turn(number, message, assistant))
        .collect();
    Some(Conversation {
        id: format!("{product}/{}", checked_id(&id)),
        title: title.to_owned(),
        turns,
        left_out: 0,
    })
}

fn turn(number: usize, message: &Value, assistant: &str) -> Option<ChatTurn> {
    let role = message["role"]
        .as_str()
        .or_else(|| message["sender"].as_str())?;
    let speaker = match role.to_lowercase().as_str() {
        "user" | "human" => USER,
        "assistant" | "model" | "ai" | "bot" => assistant,
        _ => return None,
    };
    // What a model thought is not what it said.
    if message["isThought"] == true {
        return None;
    }
    let id = ["id", "uuid", "messageId"]
        .iter()
        .find_map(|name| message[*name].as_str());
    let time = [
        "create_time",
        "created_at",
        "createdAt",
        "createTime",
        "timestamp",
        "time",
    ]
    .iter()
    .find_map(|name| time_of(message.get(*name)));
    Some(ChatTurn {
        id: id.map_or_else(|| format!("{number:06}"), checked_id),
        speaker: speaker.to_owned(),
        time,
        text: text_of(message.get("content").or_else(|| message.get("text"))),
    })
}
