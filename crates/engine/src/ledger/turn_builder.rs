//! Events of a transcript → turns.

use super::Context;
use super::decision::decisions;
use super::event::Event;
use crate::types::{Decision, Turn};

/// Letters that are kept of a question and of an answer: a ledger is not a copy.
const QUESTION_LETTERS: usize = 4_000;
const ANSWER_LETTERS: usize = 1_500;
const COMMAND_LETTERS: usize = 500;
/// Items that are kept of each list of a turn.
const MOST_ITEMS: usize = 500;

/// Collects what follows a question until the next one.
pub(super) struct TurnBuilder {
    context: Context,
    turn: Option<Turn>,
}

impl TurnBuilder {
    pub(super) fn new(context: Context) -> Self {
        Self {
            context,
            turn: None,
        }
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// What stands in the line of the bytes from `start` to `end`. A question begins a turn: take the one
    /// before it first, by [`TurnBuilder::finish`].
    pub(super) fn add(&mut self, event: Event, start: u64, end: u64) {
        match event {
            Event::Context { session, folder } => {
                if let Some(session) = session {
                    self.context.session = session;
                }
                if let Some(folder) = folder {
                    self.context.folder = folder;
                }
            }
            Event::Question { text, at } => {
                self.turn = Some(Turn {
                    session: self.context.session.clone(),
                    asked_at: at,
                    question: cut(&text, QUESTION_LETTERS),
                    start,
                    end,
                    ..Turn::default()
                });
            }
            Event::Answer { text, at } => {
                if let Some(turn) = &mut self.turn {
                    for text in decisions(&text) {
                        if turn.decisions.len() < MOST_ITEMS {
                            turn.decisions.push(Decision { text, start, end });
                        }
                    }
                    turn.answer = cut(&text, ANSWER_LETTERS);
                    turn.answered_at = at.or(turn.answered_at);
                }
            }
            Event::Tool {
                name,
                files,
                commands,
            } => {
                if let Some(turn) = &mut self.turn {
                    push_new(&mut turn.tools, name);
                    for file in files {
                        push_new(&mut turn.files, absolute(&self.context.folder, &file));
                    }
                    for command in commands {
                        push_new(&mut turn.commands, cut(&command, COMMAND_LETTERS));
                    }
                }
            }
        }
        if let Some(turn) = &mut self.turn {
            turn.end = end;
        }
    }

    pub(super) fn finish(&mut self) -> Option<Turn> {
        self.turn.take()
    }
}

fn push_new(list: &mut Vec<String>, item: String) {
    if !item.is_empty() && list.len() < MOST_ITEMS && !list.contains(&item) {
        list.push(item);
    }
}

fn cut(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The path below the folder in which the agent works, without `.` and `..`, with `/`.
fn absolute(folder: &str, file: &str) -> String {
    let file = file.replace('\\', "/");
    let is_absolute = file.starts_with('/') || file.as_bytes().get(1) == Some(&b':');
    let whole = if is_absolute || folder.is_empty() {
        file
    } else {
        format!("{}/{file}", folder.replace('\\', "/"))
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "." => {}
            ".." => match parts.last() {
                // Above the root is the root.
                Some(&"") => {}
                Some(&last) if last != ".." => {
                    parts.pop();
                }
                _ => parts.push(part),
            },
            "" if !parts.is_empty() => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_absolute_where_the_folder_is_known() {
        let check = |folder, file, expected| assert_eq!(absolute(folder, file), expected);
        check("/home/ana/notes", "a/b.md", "/home/ana/notes/a/b.md");
        check("/home/ana/notes", "./x/../b.md", "/home/ana/notes/b.md");
        check("/home", "/etc//hosts", "/etc/hosts");
        check("C:\\notes", "src\\main.rs", "C:/notes/src/main.rs");
        check("", "b.md", "b.md");
        check("/a", "../../b", "/b");
    }
}
