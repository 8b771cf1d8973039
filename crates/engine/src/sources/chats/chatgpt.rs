//! `conversations.json` of `ChatGPT`: a tree of messages by id in `mapping`, and the node that is shown.

use serde_json::Value;

use super::tree::{Node, shown_branch};
use super::{ChatTurn, Conversation, USER, checked_id, text_of, time_of};

/// Kinds of content that are said; others are what tools and the model's own notes hold.
const SAID: [&str; 2] = ["text", "multimodal_text"];

pub(super) fn read(item: &Value) -> Option<Conversation> {
    let mapping = item["mapping"].as_object()?;
    let id = item["conversation_id"]
        .as_str()
        .or_else(|| item["id"].as_str())
        .unwrap_or_default();
    let nodes = mapping
        .iter()
        .map(|(id, node)| Node {
            id: id.clone(),
            parent: node["parent"].as_str().map(str::to_owned),
            turn: turn(id, &node["message"]),
        })
        .collect();
    let (turns, left_out) = shown_branch(nodes, item["current_node"].as_str());
    Some(Conversation {
        id: format!("chatgpt/{}", checked_id(id)),
        title: item["title"].as_str().unwrap_or_default().to_owned(),
        turns,
        left_out,
    })
}

fn turn(id: &str, message: &Value) -> Option<ChatTurn> {
    let speaker = match message["author"]["role"].as_str()? {
        "user" => USER,
        "assistant" => "ChatGPT",
        _ => return None,
    };
    let content = &message["content"];
    let is_said = content["content_type"]
        .as_str()
        .is_none_or(|kind| SAID.contains(&kind));
    let is_for_all = message["recipient"].as_str().is_none_or(|to| to == "all");
    let is_hidden = message["metadata"]["is_visually_hidden_from_conversation"] == true;
    if !is_said || !is_for_all || is_hidden {
        return None;
    }
    Some(ChatTurn {
        id: checked_id(id),
        speaker: speaker.to_owned(),
        time: time_of(message.get("create_time")),
        text: text_of(Some(content)),
    })
}
