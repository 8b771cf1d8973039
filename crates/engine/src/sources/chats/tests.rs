use serde_json::json;

use super::super::zip_archive::writing::zip;
use super::*;

fn read(value: &Value) -> Conversations {
    read_conversations(value.to_string().as_bytes(), "conversations.json")
}

/// `speaker: text` of every turn of the only conversation.
fn said(found: &Conversations) -> Vec<String> {
    assert_eq!(found.found.len(), 1, "{found:?}");
    let turns = found.found[0].turns.iter();
    turns
        .map(|turn| format!("{}: {}", turn.speaker, turn.text))
        .collect()
}

fn chatgpt() -> Value {
    let message = |role: &str, kind: &str, parts: Value| {
        json!({"author": {"role": role}, "create_time": 1_714_550_400.5, "recipient": "all",
            "content": {"content_type": kind, "parts": parts}, "metadata": {}})
    };
    let node = |parent: Value, message: Value| json!({"parent": parent, "children": [], "message": message});
    json!([{
        "title": "Ropes", "conversation_id": "c-1", "current_node": "a2",
        "mapping": {
            "root": node(Value::Null, Value::Null),
            "sys": node(json!("root"), message("system", "text", json!(["be kind"]))),
            "q1": node(json!("sys"), message("user", "text", json!(["What is a bowline?"]))),
            "a1": node(json!("q1"), message("assistant", "text", json!(["A hitch."]))),
            "code": node(json!("q1"), message("assistant", "code", json!(["print(1)"]))),
            "a2": node(json!("code"), message("assistant", "multimodal_text",
                json!(["A knot.", {"content_type": "image_asset_pointer", "asset_pointer": "x"}]))),
        },
    }])
}

#[test]
fn chatgpt_keeps_the_branch_that_is_shown() {
    let found = read(&chatgpt());
    assert_eq!(
        said(&found),
        ["User: What is a bowline?", "ChatGPT: A knot."]
    );
    let conversation = &found.found[0];
    assert_eq!(
        (
            conversation.id.as_str(),
            conversation.title.as_str(),
            conversation.left_out
        ),
        ("chatgpt/c-1", "Ropes", 1)
    );
    assert_eq!(
        conversation.turns[0].time.as_deref(),
        Some("2024-05-01T08:00:00Z")
    );
    assert_eq!(conversation.turns[0].id, "q1");
}

#[test]
fn claude_reads_old_and_new_exports() {
    let message = |id: &str, sender: &str, text: &str| {
        json!({"uuid": id, "sender": sender, "text": text, "created_at": "2024-05-01T08:00:00.123456Z",
            "content": [{"type": "text", "text": text}, {"type": "tool_use", "name": "x"}], "attachments": []})
    };
    let conversation = |messages: Vec<Value>| json!([{"uuid": "u", "name": "Ropes", "chat_messages": messages, "account": {"uuid": "x"}}]);
    let mut asked = message("1", "human", "What is it?");
    asked["attachments"] = json!([{"file_name": "a.txt", "extracted_content": "A bowline."}]);
    let found = read(&conversation(vec![
        asked.clone(),
        message("2", "assistant", "A knot."),
    ]));
    assert_eq!(
        said(&found),
        ["User: What is it?\n\na.txt\nA bowline.", "Claude: A knot."]
    );
    assert_eq!(found.found[0].id, "claude/u");
    // With branches: the answer was made again.
    let mut messages = vec![
        asked,
        message("2", "assistant", "A hitch."),
        message("3", "assistant", "A knot."),
    ];
    messages[1]["parent_message_uuid"] = json!("1");
    messages[2]["parent_message_uuid"] = json!("1");
    messages[0]["parent_message_uuid"] = json!("00000000-0000-4000-8000-000000000000");
    let found = read(&conversation(messages));
    assert_eq!(said(&found)[1], "Claude: A knot.");
    assert_eq!(found.found[0].left_out, 1);
}

#[test]
fn gemini_is_read_by_day_and_other_products_are_not() {
    let item = |time: &str, title: &str, html: &str| {
        json!({"header": "Gemini Apps", "title": title, "time": time, "products": ["Gemini Apps"],
            "safeHtmlItem": [{"html": html}]})
    };
    let mut search = item("2024-05-01T10:00:00Z", "Searched for ropes", "");
    search["header"] = json!("Search");
    search["products"] = json!(["Search"]);
    let found = read(&json!([
        item(
            "2024-05-02T09:00:00.5Z",
            "Prompted And a hitch?",
            "<p>A <b>knot</b> too.</p>"
        ),
        search,
        item("2024-05-01T08:01:00Z", "Prompted second", ""),
        item("2024-05-01T08:00:00Z", "Prompted first", "<p>1</p>"),
    ]));
    assert!(found.failures.is_empty());
    let ids: Vec<&str> = found.found.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(ids, ["gemini/2024-05-01", "gemini/2024-05-02"]);
    let texts: Vec<&str> = found.found[0]
        .turns
        .iter()
        .map(|t| t.text.as_str())
        .collect();
    assert_eq!(texts, ["first", "1", "second"]);
    assert_eq!(found.found[1].turns[1].text, "A knot too.");
}

#[test]
fn other_programs_keep_lists_and_trees() {
    let check = |value: Value, id: &str, expected: &[&str]| {
        let found = read(&value);
        assert_eq!(said(&found), expected);
        assert_eq!(found.found[0].id, id);
    };
    check(
        json!({"id": "m", "messages": [{"role": "system", "content": "x"}, {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [{"type": "text", "text": "Hello"}]}]}),
        "chat/m",
        &["User: Hi", "Assistant: Hello"],
    );
    check(
        json!({"id": "s", "chunkedPrompt": {"chunks": [{"role": "user", "text": "Hi"},
            {"role": "model", "text": "hm", "isThought": true}, {"role": "model", "text": "Hello"}]}}),
        "gemini-studio/s",
        &["User: Hi", "Gemini: Hello"],
    );
    check(
        json!([{"id": "w", "title": "t", "chat": {"history": {"currentId": "2", "messages": {
            "1": {"id": "1", "parentId": null, "role": "user", "content": "Hi", "timestamp": 1_714_550_400},
            "2": {"id": "2", "parentId": "1", "role": "assistant", "content": "Hello", "modelName": "Qwen"}}}}}]),
        "open-webui/w",
        &["User: Hi", "Qwen: Hello"],
    );
}

#[test]
fn rubbish_costs_only_itself() {
    let mut export = chatgpt();
    export.as_array_mut().unwrap().insert(0, json!({"x": 1}));
    export.as_array_mut().unwrap().insert(0, json!(7));
    let text = export.to_string();
    let found = read_conversations(text.as_bytes(), "f");
    assert_eq!((found.found.len(), found.failures.len()), (1, 2));
    assert_eq!(found.failures[0].line, 1);
    // Cut off after the first good conversation.
    let two = format!("{},{}", &text[..text.len() - 1], "{\"mapping\": {");
    let found = read_conversations(two.as_bytes(), "f");
    assert_eq!(found.found.len(), 1);
    let last = &found.failures.last().unwrap().reason;
    assert!(last.contains("after 3 items"), "{last}");
    // Half a character, a byte order mark, bytes that are no text.
    let odd = text.replace("What is a bowline?", "a\\ud83d");
    let found = read_conversations(format!("\u{feff}{odd}").as_bytes(), "f");
    assert_eq!(found.found[0].turns[0].text, "a\u{fffd}");
    for bytes in [
        b"".as_slice(),
        b"\xff\xfe\0",
        b"PK\x03\x04broken",
        b"[[[[",
        b"null",
        b"\"x\"",
        b"12",
    ] {
        let found = read_conversations(bytes, "f");
        assert_eq!(
            (found.found.len(), found.failures.len()),
            (0, 1),
            "{bytes:?}"
        );
    }
    assert_eq!(read_conversations(b"[]", "f"), Conversations::default());
    let deep = "[".repeat(100_000);
    assert_eq!(read_conversations(deep.as_bytes(), "f").failures.len(), 1);
}

#[test]
fn an_archive_is_looked_into() {
    let text = chatgpt().to_string();
    let archive = zip(&[
        ("user.json", b"{}".as_slice()),
        ("export/conversations.json", text.as_bytes()),
        ("chat.html", b"<p>"),
    ]);
    let found = read_conversations(&archive, "export.zip");
    assert_eq!((found.found.len(), found.failures.len()), (1, 0));
    let none = read_conversations(&zip(&[("a.json", b"[]".as_slice())]), "export.zip");
    assert!(none.failures[0].reason.contains("conversations.json"));
    let broken = zip(&[("conversations.json", b"[{\"mapping\"".as_slice())]);
    assert_eq!(read_conversations(&broken, "e").failures.len(), 1);
}

#[test]
fn ids_stay_within_a_uri() {
    let check = |id: &str, kept: bool| {
        let found = checked_id(id);
        assert_eq!(found == id, kept, "{id:?}");
        assert!(!found.is_empty() && found.len() <= LONGEST_ID);
        assert_eq!(found, checked_id(id));
    };
    check("0a1b-2c3d.e_f:9", true);
    check("", false);
    check("a/../b", false);
    check("日本", false);
    check(&"x".repeat(81), false);
}
