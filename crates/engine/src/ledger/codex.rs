//! Codex: `{"timestamp", "type": "response_item" | "session_meta" | …, "payload": {…}}`, and the older
//! form in which the payload stands alone.

use serde_json::Value;

use super::event::{Event, question, text_of, time, tool};

pub(super) fn events(line: &Value) -> Option<Vec<Event>> {
    let at = time(&line["timestamp"]);
    let payload = match &line["payload"] {
        Value::Null => line,
        payload => payload,
    };
    let kind = match line["type"].as_str()? {
        kind @ ("session_meta" | "turn_context") => kind,
        _ => payload["type"].as_str()?,
    };
    let mut events = Vec::new();
    match kind {
        "session_meta" | "turn_context" => events.push(Event::Context {
            session: payload["id"].as_str().map(str::to_owned),
            folder: payload["cwd"].as_str().map(str::to_owned),
        }),
        "message" => {
            let text = text_of(&payload["content"]);
            match payload["role"].as_str()? {
                "user" => events.extend(question(text, at)),
                "assistant" if !text.is_empty() => events.push(Event::Answer { text, at }),
                _ => {}
            }
        }
        "function_call" | "custom_tool_call" => {
            let name = payload["name"].as_str().unwrap_or_default();
            let arguments = payload["arguments"]
                .as_str()
                .map(|text| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)));
            let arguments = arguments.unwrap_or_else(|| payload["input"].clone());
            events.push(tool(name, &arguments));
        }
        "local_shell_call" => events.push(tool("shell", &payload["action"])),
        // What else it notes repeats these.
        _ if line["payload"].is_object() => {}
        _ => return None,
    }
    Some(events)
}
