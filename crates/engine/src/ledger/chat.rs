//! Messages as most others write them: `{"role", "content", "tool_calls"}`, alone or as `message`.

use serde_json::Value;

use super::event::{Event, question, text_of, time, tool};

pub(super) fn events(line: &Value) -> Option<Vec<Event>> {
    let message = if line["message"].is_object() {
        &line["message"]
    } else {
        line
    };
    let role = message["role"].as_str().or_else(|| line["role"].as_str())?;
    let at = ["timestamp", "created_at", "time"]
        .iter()
        .find_map(|name| time(&line[*name]).or_else(|| time(&message[*name])));
    let mut events = Vec::new();
    let session = ["session_id", "sessionId", "conversation_id"]
        .iter()
        .find_map(|name| line[*name].as_str());
    if session.is_some() || line["cwd"].is_string() {
        events.push(Event::Context {
            session: session.map(str::to_owned),
            folder: line["cwd"].as_str().map(str::to_owned),
        });
    }
    let text = text_of(&message["content"]);
    match role {
        "user" | "human" => events.extend(question(text, at)),
        "assistant" | "model" | "ai" => {
            if !text.is_empty() {
                events.push(Event::Answer { text, at });
            }
            let calls = message["tool_calls"].as_array().map(Vec::as_slice);
            for call in calls.unwrap_or_default() {
                let function = &call["function"];
                let arguments = match &function["arguments"] {
                    Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
                    other => other.clone(),
                };
                events.push(tool(
                    function["name"].as_str().unwrap_or_default(),
                    &arguments,
                ));
            }
            let parts = message["content"].as_array().map(Vec::as_slice);
            for part in parts.unwrap_or_default() {
                if matches!(part["type"].as_str(), Some("tool_use" | "tool-call")) {
                    let name = part["name"].as_str().or_else(|| part["toolName"].as_str());
                    let input = if part["input"].is_null() {
                        &part["args"]
                    } else {
                        &part["input"]
                    };
                    events.push(tool(name.unwrap_or_default(), input));
                }
            }
        }
        _ => {}
    }
    Some(events)
}
