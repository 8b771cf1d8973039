//! What the lines of a transcript say, whatever the agent.

use serde_json::Value;

use crate::types::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// The conversation's name or folder.
    Context {
        session: Option<String>,
        folder: Option<String>,
    },
    Question {
        text: String,
        at: Option<Timestamp>,
    },
    Answer {
        text: String,
        at: Option<Timestamp>,
    },
    Tool {
        name: String,
        files: Vec<String>,
        commands: Vec<String>,
    },
}

/// Members of a tool's arguments that name a file.
const FILE_MEMBERS: [&str; 9] = [
    "file_path",
    "filepath",
    "filePath",
    "path",
    "notebook_path",
    "target_file",
    "relative_path",
    "filename",
    "file",
];
/// Tools whose `path` is where they look, not what they touch.
const LOOKING_TOOLS: [&str; 8] = [
    "glob",
    "grep",
    "ls",
    "list_dir",
    "list_directory",
    "search",
    "search_files",
    "find",
];
/// Before the names of files in a patch.
const PATCH_LINES: [&str; 4] = [
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

/// A call of a tool with its arguments.
pub(super) fn tool(name: &str, arguments: &Value) -> Event {
    let mut files = Vec::new();
    let mut commands = Vec::new();
    if !LOOKING_TOOLS.contains(&name.to_lowercase().as_str()) {
        let named = FILE_MEMBERS
            .iter()
            .filter_map(|member| arguments[*member].as_str());
        files.extend(named.map(str::to_owned));
    }
    for member in ["command", "cmd"] {
        match &arguments[member] {
            Value::String(command) => commands.push(command.clone()),
            Value::Array(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                commands.push(words.join(" "));
            }
            _ => {}
        }
    }
    let patches = ["input", "patch"].map(|member| arguments[member].as_str());
    let patches = patches.into_iter().flatten().chain(arguments.as_str());
    let patches = patches.chain(commands.iter().map(String::as_str));
    for line in patches.flat_map(str::lines) {
        let file = PATCH_LINES
            .iter()
            .find_map(|start| line.strip_prefix(start));
        files.extend(file.map(|file| file.trim().to_owned()));
    }
    Event::Tool {
        name: name.to_owned(),
        files,
        commands,
    }
}

/// The text of a message: a string, or the text parts of a list.
pub(super) fn text_of(content: &Value) -> String {
    let parts: Vec<&str> = match content {
        Value::String(text) => vec![text],
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => Vec::new(),
    };
    parts.join("\n").trim().to_owned()
}

/// A question, unless the text is what a program put between: settings, output of its own commands.
pub(super) fn question(text: String, at: Option<Timestamp>) -> Option<Event> {
    const OF_PROGRAMS: [&str; 8] = [
        "<system-reminder>",
        "<local-command",
        "<command-name>",
        "<command-message>",
        "<environment_context>",
        "<user_instructions>",
        "<task-notification>",
        "[Request interrupted",
    ];
    let is_of_program = OF_PROGRAMS.iter().any(|start| text.starts_with(start));
    (!text.is_empty() && !is_of_program).then_some(Event::Question { text, at })
}

/// A time as ISO 8601, or as seconds or milliseconds since 1970.
pub(super) fn time(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => {
            let time: jiff::Timestamp = text.parse().ok()?;
            Some(Timestamp(time.as_millisecond()))
        }
        Value::Number(number) => {
            let number = number.as_f64()?;
            let ms = if number.abs() < 1e11 {
                number * 1000.0
            } else {
                number
            };
            Some(Timestamp(ms as i64))
        }
        _ => None,
    }
}
