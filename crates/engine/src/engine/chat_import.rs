//! Conversations of chat products as episodes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::Engine;
use super::memory::{EPISODES, Remembered};
use crate::memory::compose;
use crate::pipeline;
use crate::sources::{ChatTurn, Conversation, is_chat_file, read_conversations};
use crate::storage;
use crate::types::{ChatReport, ConflictPolicy, ItemFailure, Memory};
use crate::{Error, Result};

impl Engine {
    /// Takes in what a chat product exports: a file of conversations, the archive with it, or a folder. Each turn is
    /// an episode of a session that bears the product's and the conversation's id; of an export that was taken in
    /// before, only the turns that are new are read, and those that the shown branch has no more are closed. A
    /// conversation that the export does not have stays.
    ///
    /// # Errors
    /// A path that cannot be read, a busy or read-only store. What is wrong with a part of the export is in the
    /// report.
    pub fn import_chats(&self, path: &Path) -> Result<ChatReport> {
        let mut report = ChatReport::default();
        let mut conversations: BTreeMap<String, Conversation> = BTreeMap::new();
        for file in files_of(path)? {
            let name = file
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            let bytes = std::fs::read(&file).map_err(|source| Error::Io {
                path: file.clone(),
                source,
            })?;
            let read = read_conversations(&bytes, &name);
            report.failures.extend(read.failures);
            for conversation in read.found {
                conversations.insert(conversation.id.clone(), conversation);
            }
        }
        let known = self.known_turns()?;
        let mut memories = Vec::new();
        let mut closed = Vec::new();
        for conversation in conversations.values() {
            report.conversations += 1;
            report.turns += conversation.turns.len();
            report.left_out += conversation.left_out;
            let paths: BTreeSet<String> = conversation
                .turns
                .iter()
                .map(|turn| path_of(conversation, turn))
                .collect();
            let start = format!("{}/", conversation.id);
            let of_conversation = known
                .range(start.clone()..)
                .take_while(|(path, _)| path.starts_with(&start));
            closed.extend(
                of_conversation
                    .map(|(path, _)| path.clone())
                    .filter(|path| !paths.contains(path)),
            );
            for turn in &conversation.turns {
                let memory = memory_of(conversation, turn);
                // One that is too long is told of when it is stored.
                let hash = compose(&memory).map(|composed| pipeline::episode_hash(&composed.text));
                let path = memory.id.as_deref().unwrap_or_default();
                if hash.is_err() || known.get(path) != hash.as_ref().ok() {
                    memories.push(memory);
                }
            }
        }
        report.turns_closed = closed.len();
        if memories.is_empty() && closed.is_empty() {
            return Ok(report);
        }
        let stored = self.remember_and_close(
            &Remembered {
                by: "malha import",
                memories: &memories,
                closed,
            },
            ConflictPolicy::Close,
        )?;
        report.turns_added = stored.episodes.len();
        report.operation = stored.operation;
        report
            .failures
            .extend(stored.failed.into_iter().map(|failed| {
                let memory = memories.get(failed.line.saturating_sub(1));
                ItemFailure {
                    uri: memory
                        .and_then(|memory| memory.id.clone())
                        .unwrap_or_default(),
                    line: 0,
                    reason: failed.reason,
                }
            }));
        Ok(report)
    }

    /// Content hashes of the episodes that are there, by path.
    fn known_turns(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        let store = self.store();
        match store.namespace(&self.namespace)? {
            Some(namespace) => storage::file_hashes(store.connection(), namespace.0, EPISODES),
            None => Ok(BTreeMap::new()),
        }
    }
}

fn files_of(path: &Path) -> Result<Vec<PathBuf>> {
    let failed = |source| Error::Io {
        path: path.to_owned(),
        source,
    };
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.is_file() && is_chat_file(&file.to_string_lossy()) {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(Error::Usage(format!(
            "{}: there is no conversations.json and no MyActivity.json in it",
            path.display()
        )));
    }
    Ok(files)
}

fn path_of(conversation: &Conversation, turn: &ChatTurn) -> String {
    format!("{}/{}", conversation.id, turn.id)
}

fn memory_of(conversation: &Conversation, turn: &ChatTurn) -> Memory {
    Memory {
        text: turn.text.clone(),
        speaker: Some(turn.speaker.clone()),
        time: turn.time.clone(),
        session: Some(conversation.id.clone()),
        id: Some(path_of(conversation, turn)),
        ..Memory::default()
    }
}
