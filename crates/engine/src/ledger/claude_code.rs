//! Claude Code: `{"type": "user" | "assistant", "sessionId", "cwd", "timestamp", "message": {"content"}}`.

use serde_json::Value;

use super::event::{Event, question, text_of, time, tool};

pub(super) fn events(line: &Value) -> Option<Vec<Event>> {
    let kind = line["type"].as_str()?;
    let session = line["sessionId"].as_str()?;
    let mut events = vec![Event::Context {
        session: Some(session.to_owned()),
        folder: line["cwd"].as_str().map(str::to_owned),
    }];
    let content = &line["message"]["content"];
    let at = time(&line["timestamp"]);
    // What helpers of the agent say to each other is neither a question nor the answer.
    let is_aside = line["isSidechain"] == true || line["isMeta"] == true;
    match kind {
        "user" if !is_aside => events.extend(question(text_of(content), at)),
        "assistant" => {
            let text = text_of(content);
            if !text.is_empty() && !is_aside {
                events.push(Event::Answer { text, at });
            }
            let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
            for part in parts.iter().filter(|part| part["type"] == "tool_use") {
                events.push(tool(
                    part["name"].as_str().unwrap_or_default(),
                    &part["input"],
                ));
            }
        }
        _ => {}
    }
    Some(events)
}
