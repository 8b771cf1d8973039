//! `conversations.json` of Claude: messages in a list, each with the one it answers where there are branches.

use serde_json::Value;

use super::tree::{Node, shown_branch};
use super::{ChatTurn, Conversation, USER, checked_id, text_of, time_of};

pub(super) fn read(item: &Value) -> Option<Conversation> {
    let messages = item["chat_messages"].as_array()?;
    let mut nodes: Vec<Node> = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        let id = message["uuid"]
            .as_str()
            .map_or_else(|| number.to_string(), str::to_owned);
        // Older exports do not tell: there every message answers the one before.
        let parent = message["parent_message_uuid"]
            .as_str()
            .map(str::to_owned)
            .or_else(|| nodes.last().map(|last| last.id.clone()));
        nodes.push(Node {
            turn: turn(&id, message),
            id,
            parent,
        });
    }
    let (turns, left_out) = shown_branch(nodes, item["current_leaf_message_uuid"].as_str());
    let id = item["uuid"].as_str().unwrap_or_default();
    Some(Conversation {
        id: format!("claude/{}", checked_id(id)),
        title: item["name"].as_str().unwrap_or_default().to_owned(),
        turns,
        left_out,
    })
}

fn turn(id: &str, message: &Value) -> Option<ChatTurn> {
    let speaker = match message["sender"].as_str()? {
        "human" => USER,
        "assistant" => "Claude",
        _ => return None,
    };
    let mut text = text_of(message.get("content"));
    if text.is_empty() {
        text = text_of(message.get("text"));
    }
    // What was attached as a file is part of what was said.
    for attached in message["attachments"].as_array().into_iter().flatten() {
        let content = text_of(attached.get("extracted_content"));
        if !content.is_empty() {
            let name = attached["file_name"].as_str().unwrap_or_default();
            text.push_str("\n\n");
            text.push_str(format!("{name}\n{content}").trim());
        }
    }
    let text = text.trim_start().to_owned();
    Some(ChatTurn {
        id: checked_id(id),
        speaker: speaker.to_owned(),
        time: time_of(message.get("created_at")),
        text,
    })
}
