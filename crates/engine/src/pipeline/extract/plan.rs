//! Which passages there are, and what the stored replies say of them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use rusqlite::Connection;
use rustc_hash::{FxHashMap, FxHashSet};

use super::STEP;
use crate::extraction::{
    ExtractionSettings, Passage, PassageChunk, RawReply, Requests, Schema, Subject, Unreadable,
    group, read_reply, split,
};
use crate::graph::names::discover;
use crate::language_model::{ChatRequest, ModelErrorKind};
use crate::replies::{ReplyCache, StoredReply};
use crate::storage::{self, DocumentText};
use crate::text::{Language, count_tokens};
use crate::types::{ChunkId, DocumentId};
use crate::{Error, Result};

/// How often a passage that is too long is cut in two.
const DEEPEST_SPLIT: usize = 3;
/// Bytes of Latin text to a token, for sizes of passages: counting exactly would cost more than it saves.
const BYTES_PER_TOKEN: usize = 4;

/// All passages of a namespace, and all ways they were asked about.
pub(crate) struct Plan {
    pub(crate) items: Vec<Item>,
    /// The present one first.
    versions: Vec<Version>,
    /// Chunks whose passage the user wants no more of.
    dropped: FxHashSet<ChunkId>,
    /// What other programs found in documents, as replies about the whole of them.
    imported: FxHashMap<DocumentId, Vec<String>>,
    /// Of the store it was made from.
    pub(crate) generation: u64,
}

/// One passage.
pub(crate) struct Item {
    pub(crate) document: DocumentId,
    pub(crate) uri: String,
    pub(crate) passage: Passage,
    pub(super) language: Language,
    title: String,
    date: Option<String>,
    candidates: Vec<String>,
}

struct Version {
    model: String,
    settings: ExtractionSettings,
    requests: Requests,
}

/// What is known of a passage.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Derived {
    /// Nobody has asked yet.
    Missing,
    /// Another process is asking.
    Busy,
    /// No reply could be read.
    Unreadable {
        reason: String,
        text: String,
        replies: Vec<i64>,
    },
    Read {
        reply: Box<RawReply>,
        is_repaired: bool,
    },
}

/// What looking for a reply gives: the reply, nothing, or word that another process is asking.
pub(super) enum Looked {
    Found(StoredReply),
    Nothing,
    Busy,
}

impl Plan {
    /// Cuts every current document into passages. `model` and `settings` are the present ones; earlier ones
    /// of the store follow.
    pub(crate) fn load(
        connection: &Connection,
        namespace: i64,
        generation: u64,
        model: &str,
        settings: &ExtractionSettings,
    ) -> Result<Self> {
        let mut versions = vec![Version {
            model: model.to_owned(),
            settings: settings.clone(),
            requests: settings.requests()?,
        }];
        for (model, text) in storage::extraction_versions(connection, namespace)? {
            // Settings of a future version of this program are no use to us.
            let Ok(settings) = serde_json::from_str::<ExtractionSettings>(&text) else {
                continue;
            };
            let is_known = versions
                .iter()
                .any(|known| known.model == model && known.settings == settings);
            if !is_known && let Ok(requests) = settings.requests() {
                versions.push(Version {
                    model,
                    settings,
                    requests,
                });
            }
        }
        let mut imported: FxHashMap<DocumentId, Vec<String>> = FxHashMap::default();
        for (document, reply) in storage::imported(connection, namespace)? {
            imported.entry(document).or_default().push(reply);
        }
        let mut items = Vec::new();
        for document in storage::document_texts(connection, namespace)? {
            // Nobody has to be asked about it in pieces.
            let is_whole = imported.contains_key(&document.id);
            let tokens = if is_whole {
                usize::MAX
            } else {
                settings.passage_tokens
            };
            items.extend(passages_of(document, tokens));
        }
        Ok(Self {
            items,
            versions,
            dropped: storage::dropped_passages(connection, namespace)?,
            imported,
            generation,
        })
    }

    /// The present settings.
    pub(crate) fn settings(&self) -> &ExtractionSettings {
        &self.versions[0].settings
    }

    /// The name of the present model.
    pub(crate) fn model(&self) -> &str {
        &self.versions[0].model
    }

    /// What would be asked about a passage now.
    pub(crate) fn request(&self, item: &Item) -> ChatRequest {
        self.versions[0].extract(item, &item.passage)
    }

    /// Whether the user wants no more of a passage.
    pub(crate) fn is_dropped(&self, item: &Item) -> bool {
        self.dropped.contains(&item.passage.parts[0].0.id)
    }

    /// The schema that what is said of a passage is checked against: other programs have none.
    pub(super) fn schema_of(&self, item: &Item) -> &Schema {
        static FREE: LazyLock<Schema> = LazyLock::new(Schema::default);
        if self.imported.contains_key(&item.document) {
            &FREE
        } else {
            &self.settings().schema
        }
    }

    /// What stored replies say of a passage: one to the present request, or one to an earlier request that
    /// asked for no less.
    pub(crate) fn derive(&self, replies: &ReplyCache<'_>, item: &Item) -> Result<Derived> {
        if let Some(imported) = self.imported.get(&item.document) {
            let mut whole = RawReply::default();
            for reply in imported.iter().filter_map(|text| read_reply(text).ok()) {
                whole.extend(reply);
            }
            return Ok(Derived::Read {
                reply: Box::new(whole),
                is_repaired: false,
            });
        }
        for (number, version) in self.versions.iter().enumerate() {
            let peek = |request: &ChatRequest| {
                let found = replies.peek(STEP, &version.model, request)?;
                Ok(found.map_or(Looked::Nothing, Looked::Found))
            };
            let derived = version.follow(item, &item.passage, 0, &peek)?;
            let Derived::Read { reply, .. } = &derived else {
                continue;
            };
            if number == 0 || version.serves(self.settings(), reply) {
                return Ok(derived);
            }
        }
        Ok(Derived::Missing)
    }

    /// What `look` finds about a passage, following up what has to be followed up: a reply that cannot be
    /// read, one that was cut off, a passage that is too long, a second pass.
    pub(super) fn follow(
        &self,
        item: &Item,
        look: &dyn Fn(&ChatRequest) -> Result<Looked>,
    ) -> Result<Derived> {
        self.versions[0].follow(item, &item.passage, 0, look)
    }
}

impl Version {
    fn extract(&self, item: &Item, passage: &Passage) -> ChatRequest {
        let subject = Subject {
            title: &item.title,
            date: item.date.as_deref(),
            candidates: &item.candidates,
        };
        self.requests.extract(&subject, passage)
    }

    fn follow(
        &self,
        item: &Item,
        passage: &Passage,
        depth: usize,
        look: &dyn Fn(&ChatRequest) -> Result<Looked>,
    ) -> Result<Derived> {
        let request = self.extract(item, passage);
        let reply = match look(&request) {
            Ok(Looked::Found(reply)) => reply,
            Ok(Looked::Busy) => return Ok(Derived::Busy),
            Ok(Looked::Nothing) => {
                return Ok(self
                    .halves(item, passage, depth, look)?
                    .unwrap_or(Derived::Missing));
            }
            Err(Error::Model(error)) if error.kind == ModelErrorKind::TooLong => {
                return match self.halves(item, passage, depth, look)? {
                    Some(derived) => Ok(derived),
                    None => Err(Error::Model(error)),
                };
            }
            Err(error) => return Err(error),
        };
        let read = read_reply(&reply.text);
        // A model that spent its room on thoughts gets more of it; one that had too much to say, less text.
        let is_spent = matches!(read, Err(Unreadable::Empty | Unreadable::OnlyThoughts));
        if reply.is_truncated
            && !is_spent
            && let Some(derived) = self.halves(item, passage, depth, look)?
        {
            return Ok(derived);
        }
        match read {
            Ok(read) => self.second_pass(&request, &reply, read, look),
            Err(reason) => self.repaired(&request, &reply, &reason.to_string(), look),
        }
    }

    /// Both halves of a passage that did not fit, as one.
    fn halves(
        &self,
        item: &Item,
        passage: &Passage,
        depth: usize,
        look: &dyn Fn(&ChatRequest) -> Result<Looked>,
    ) -> Result<Option<Derived>> {
        if depth == DEEPEST_SPLIT {
            return Ok(None);
        }
        let Some(halves) = split(passage) else {
            return Ok(None);
        };
        let mut whole = RawReply::default();
        let mut any_repaired = false;
        for half in &halves {
            match self.follow(item, half, depth + 1, look)? {
                Derived::Read { reply, is_repaired } => {
                    any_repaired |= is_repaired;
                    whole.extend_numbered(*reply);
                }
                other => return Ok(Some(other)),
            }
        }
        Ok(Some(Derived::Read {
            reply: Box::new(whole),
            is_repaired: any_repaired,
        }))
    }

    fn second_pass(
        &self,
        request: &ChatRequest,
        reply: &StoredReply,
        mut read: RawReply,
        look: &dyn Fn(&ChatRequest) -> Result<Looked>,
    ) -> Result<Derived> {
        if self.settings.second_pass {
            match look(&self.requests.again(request, &reply.text))? {
                Looked::Found(second) => match read_reply(&second.text) {
                    Ok(second) => read.extend_numbered(second),
                    // The first pass stands on its own.
                    Err(_) => read.oddities.push("a second pass that could not be read"),
                },
                Looked::Busy => return Ok(Derived::Busy),
                Looked::Nothing => return Ok(Derived::Missing),
            }
        }
        Ok(Derived::Read {
            reply: Box::new(read),
            is_repaired: false,
        })
    }

    fn repaired(
        &self,
        request: &ChatRequest,
        reply: &StoredReply,
        reason: &str,
        look: &dyn Fn(&ChatRequest) -> Result<Looked>,
    ) -> Result<Derived> {
        let repair = self.requests.repair(request, reason, reply.is_truncated);
        let second = match look(&repair) {
            Ok(Looked::Found(second)) => second,
            Ok(Looked::Busy) => return Ok(Derived::Busy),
            Ok(Looked::Nothing) => return Ok(Derived::Missing),
            Err(Error::Model(error)) => {
                return Ok(Derived::Unreadable {
                    reason: format!("{reason}; asking again: {}", error.message),
                    text: reply.text.clone(),
                    replies: vec![reply.id],
                });
            }
            Err(error) => return Err(error),
        };
        Ok(match read_reply(&second.text) {
            Ok(read) => Derived::Read {
                reply: Box::new(read),
                is_repaired: true,
            },
            Err(again) => Derived::Unreadable {
                reason: again.to_string(),
                text: second.text,
                replies: vec![reply.id, second.id],
            },
        })
    }

    /// Whether a reply to this version's request holds all that `wanted` asks for.
    fn serves(&self, wanted: &ExtractionSettings, reply: &RawReply) -> bool {
        let own = &self.settings;
        let found: BTreeSet<String> = reply
            .entities
            .iter()
            .filter_map(|entity| own.schema.entity_type(entity.kind.as_deref()?))
            .map(str::to_owned)
            .collect();
        own.prompts == wanted.prompts
            && own.language == wanted.language
            && own.passage_tokens == wanted.passage_tokens
            && own.second_pass == wanted.second_pass
            && own.schema.covers(&wanted.schema, &found)
    }
}

fn passages_of(document: DocumentText, tokens: usize) -> Vec<Item> {
    let mut names: FxHashMap<ChunkId, Vec<String>> = FxHashMap::default();
    let mut chunks = Vec::with_capacity(document.chunks.len());
    for chunk in document.chunks {
        let found = discover(&chunk.text, document.language);
        names.insert(
            chunk.id,
            found.into_iter().map(|name| name.written).collect(),
        );
        chunks.push(PassageChunk {
            id: chunk.id,
            start: chunk.start,
            end: chunk.end,
            tokens: rough_tokens(&chunk.text),
            text: chunk.text,
            heading_path: chunk.heading_path,
        });
    }
    let passages = group(chunks, tokens);
    let item = |passage: Passage| {
        let mut seen = FxHashSet::default();
        let candidates = passage
            .parts
            .iter()
            .flat_map(|(chunk, _)| names.get(&chunk.id).into_iter().flatten())
            .filter(|name| seen.insert(name.to_lowercase()))
            .cloned()
            .collect();
        Item {
            document: document.id,
            uri: document.uri.clone(),
            language: document.language,
            title: document.title.clone(),
            date: document.date.clone(),
            passage,
            candidates,
        }
    };
    passages.into_iter().map(item).collect()
}

/// Tokens of a passage, near enough to keep it within its size: exact for scripts without spaces, where
/// four bytes a token would be far off.
fn rough_tokens(text: &str) -> usize {
    if text.is_ascii() {
        text.len() / BYTES_PER_TOKEN
    } else {
        count_tokens(text)
    }
}

/// How a namespace was extracted last: the model's name and the settings.
pub(crate) fn last_version(
    connection: &Connection,
    namespace: i64,
) -> Result<Option<(String, ExtractionSettings)>> {
    let versions = storage::extraction_versions(connection, namespace)?;
    let Some((model, settings)) = versions.into_iter().next() else {
        return Ok(None);
    };
    let settings = serde_json::from_str(&settings)
        .map_err(|error| Error::Usage(format!("the stored settings of extraction: {error}")))?;
    Ok(Some((model, settings)))
}
