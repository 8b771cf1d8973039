//! Exports of Open `WebUI`: a tree of messages in `chat.history`.

use serde_json::Value;

use super::tree::{Node, shown_branch};
use super::{ChatTurn, Conversation, USER, checked_id, text_of, time_of};

pub(super) fn read(item: &Value) -> Option<Conversation> {
    let chat = item.get("chat").unwrap_or(item);
    let messages = chat["history"]["messages"].as_object()?;
    let nodes = messages
        .iter()
        .map(|(id, message)| Node {
            id: id.clone(),
            parent: message["parentId"].as_str().map(str::to_owned),
            turn: turn(id, message),
        })
        .collect();
    let (turns, left_out) = shown_branch(nodes, chat["history"]["currentId"].as_str());
    let id = item["id"].as_str().unwrap_or_default();
    let title = item["title"].as_str().or_else(|| chat["title"].as_str());
    Some(Conversation {
        id: format!("open-webui/{}", checked_id(id)),
        title: title.unwrap_or_default().to_owned(),
        turns,
        left_out,
    })
}

fn turn(id: &str, message: &Value) -> Option<ChatTurn> {
    let speaker = match message["role"].as_str()? {
        "user" => USER,
        "assistant" => message["modelName"].as_str().unwrap_or("Assistant"),
        _ => return None,
    };
    Some(ChatTurn {
        id: checked_id(id),
        speaker: speaker.to_owned(),
        time: time_of(message.get("timestamp")),
        text: text_of(message.get("content")),
    })
}
