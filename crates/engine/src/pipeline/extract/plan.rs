//! Which passages there are, and what the stored replies say of them.

use std::sync::{LazyLock, OnceLock};

use rusqlite::Connection;
use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest as _, Sha256};

use super::version::{Look, Version};
use crate::extraction::{
    ExtractionSettings, Passage, PassageChunk, RawReply, Schema, Subject, group, read_reply,
};
use crate::graph::names::discover;
use crate::language_model::ChatRequest;
use crate::replies::ReplyCache;
use crate::storage::{self, Derivation, DocumentText, PassageAside, PassageHash};
use crate::text::{Language, count_tokens};
use crate::types::DocumentId;
use crate::{Error, Result};

/// Passages of one call at most: a model that is asked about more forgets some.
const MOST_TOGETHER: usize = 12;
/// What stands around a passage in a call about several: its number, its document, names seen in it.
const TOKENS_AROUND: usize = 40;
/// Bytes of Latin text to a token, for sizes of passages: counting exactly would cost more than it saves.
const BYTES_PER_TOKEN: usize = 4;

/// Changes with what reading and checking a reply makes of it: what earlier versions of this program found is then
/// found anew, where the reply is found.
const DERIVATION: &str = concat!("3 ", env!("CARGO_PKG_VERSION"));

/// All passages of a namespace, and all ways they were asked about.
pub(crate) struct Plan {
    pub(crate) items: Vec<Item>,
    /// The present one first.
    versions: Vec<Version>,
    /// All of them as text.
    basis: String,
    /// Passages that earlier runs put aside.
    aside: FxHashMap<PassageHash, PassageAside>,
    /// What other programs found in documents, as replies about the whole of them.
    imported: FxHashMap<DocumentId, Vec<String>>,
    /// What passages were found to say by earlier runs: its fingerprint, and what it says, as JSON.
    derivations: FxHashMap<(DocumentId, usize), Derivation>,
    /// Of the store it was made from.
    pub(crate) generation: u64,
}

/// What a passage's findings follow from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint {
    /// The passage, what it stands in, and all ways it was asked about.
    asked: [u8; 32],
    /// The program that read and checked the reply.
    read_by: [u8; 32],
}

impl Fingerprint {
    /// As the store has it.
    pub(super) fn as_bytes(&self) -> Vec<u8> {
        [self.asked, self.read_by].concat()
    }
}

/// One passage.
pub(crate) struct Item {
    pub(crate) document: DocumentId,
    pub(crate) uri: String,
    pub(crate) passage: Passage,
    pub(super) language: Language,
    title: String,
    /// The day it speaks from, as it states it.
    pub(super) date: Option<String>,
    candidates: OnceLock<Vec<String>>,
}

impl Item {
    /// What a request says besides the passage.
    pub(super) fn subject(&self) -> Subject<'_> {
        Subject {
            title: &self.title,
            date: self.date.as_deref(),
            candidates: self.candidates.get_or_init(|| self.discovered()),
        }
    }

    /// Names that are found in it without a model, each once.
    fn discovered(&self) -> Vec<String> {
        let mut seen = FxHashSet::default();
        self.passage
            .parts
            .iter()
            .flat_map(|(chunk, _)| discover(&chunk.text, self.language))
            .map(|name| name.written)
            .filter(|name| seen.insert(name.to_lowercase()))
            .collect()
    }

    /// What it is known by among the passages of its document.
    pub(super) fn start(&self) -> usize {
        self.passage.parts[0].0.start
    }

    /// What it is known by, wherever it stands.
    pub(super) fn hash(&self) -> PassageHash {
        storage::passage_hash(&self.uri, &self.passage.text)
    }

    fn tokens(&self) -> usize {
        self.passage
            .parts
            .iter()
            .map(|(chunk, _)| chunk.tokens)
            .sum()
    }
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
        /// Why it is not all that is wanted: a part that nobody has asked about, or that could not be read. It counts
        /// as it is, and the passage is asked about again.
        lack: Option<Box<Derived>>,
    },
}

impl Derived {
    /// A reply that is all that is wanted.
    pub(super) fn read(reply: RawReply) -> Self {
        Self::Read {
            reply: Box::new(reply),
            is_repaired: false,
            lack: None,
        }
    }
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
        let settings = settings.clone().with_prompts();
        let mut versions = vec![Version {
            model: model.to_owned(),
            requests: settings.requests()?,
            settings,
        }];
        for (model, text) in storage::extraction_versions(connection, namespace)? {
            // Settings of a future version of this program are no use to us.
            let Ok(settings) = serde_json::from_str::<ExtractionSettings>(&text) else {
                continue;
            };
            let settings = settings.with_prompts();
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
                versions[0].settings.passage_tokens
            };
            items.extend(passages_of(document, tokens));
        }
        let basis = versions.iter().map(Version::as_text).collect();
        Ok(Self {
            items,
            versions,
            basis,
            aside: storage::passages_aside(connection, namespace)?,
            imported,
            derivations: storage::derivations(connection, namespace)?,
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

    /// Over all that decides what a passage is known to say, but for whether there is a reply.
    pub(super) fn fingerprint(&self, item: &Item) -> Fingerprint {
        let mut hash = Sha256::new();
        let mut field = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        if let Some(imported) = self.imported.get(&item.document) {
            for reply in imported {
                field(reply);
            }
        } else {
            field(&self.basis);
            field(&item.title);
            field(item.date.as_deref().unwrap_or_default());
            field(item.language.as_str());
            for heading in item.passage.heading_path() {
                field(heading);
            }
        }
        for (chunk, part) in &item.passage.parts {
            field(&chunk.text);
            field(&part.len().to_string());
        }
        Fingerprint {
            asked: hash.finalize().into(),
            read_by: Sha256::digest(DERIVATION).into(),
        }
    }

    /// What an earlier run found a passage to say, if nothing has changed in what was asked.
    pub(super) fn derivation(&self, item: &Item, fingerprint: &Fingerprint) -> Option<&Derivation> {
        let known = self.derivations.get(&(item.document, item.start()))?;
        known
            .fingerprint
            .starts_with(&fingerprint.asked)
            .then_some(known)
    }

    /// The passages that earlier runs found something about: those that are gone too.
    pub(super) fn derived(&self) -> impl Iterator<Item = (DocumentId, usize)> {
        self.derivations.keys().copied()
    }

    /// Whether other programs said what a passage says.
    pub(super) fn is_imported(&self, item: &Item) -> bool {
        self.imported.contains_key(&item.document)
    }

    /// Whether the user wants no more of a passage.
    pub(crate) fn is_dropped(&self, item: &Item) -> bool {
        self.aside(item).is_some_and(|aside| aside.dropped)
    }

    /// Why an earlier run put a passage aside.
    pub(super) fn aside(&self, item: &Item) -> Option<&PassageAside> {
        if self.aside.is_empty() {
            return None;
        }
        self.aside.get(&item.hash())
    }

    /// The schema that what is said of a passage is checked against: other programs have none.
    pub(super) fn schema_of(&self, item: &Item) -> &Schema {
        static FREE: LazyLock<Schema> = LazyLock::new(Schema::default);
        if self.is_imported(item) {
            &FREE
        } else {
            &self.settings().schema
        }
    }

    /// What would be asked for what the first reply missed.
    pub(super) fn again(&self, request: &ChatRequest, reply: &str) -> ChatRequest {
        self.versions[0].requests.again(request, reply)
    }

    /// One request about several passages.
    pub(super) fn together(&self, positions: &[usize]) -> ChatRequest {
        let items: Vec<&Item> = positions.iter().map(|&at| &self.items[at]).collect();
        self.versions[0].together(&items)
    }

    /// So many of these positions, spread evenly over them.
    pub(crate) fn sample(wanted: &[usize], size: usize) -> Vec<usize> {
        let size = size.min(wanted.len());
        (0..size)
            .map(|number| wanted[number * wanted.len() / size])
            .collect()
    }

    /// Cuts positions into what one call each is about: small passages that follow one another share a call.
    pub(crate) fn calls(&self, wanted: &[usize]) -> Vec<Vec<usize>> {
        let settings = self.settings();
        // A second pass shows the model its first reply, and asks about one passage.
        let room = if settings.second_pass {
            0
        } else {
            settings.together_tokens
        };
        let mut calls: Vec<Vec<usize>> = Vec::new();
        let mut size = usize::MAX;
        for &at in wanted {
            let tokens = self.items[at].tokens() + TOKENS_AROUND;
            match calls.last_mut() {
                Some(call) if size.saturating_add(tokens) <= room && call.len() < MOST_TOGETHER => {
                    call.push(at);
                    size += tokens;
                }
                _ => {
                    calls.push(vec![at]);
                    size = tokens;
                }
            }
        }
        calls
    }

    /// What stored replies say of a passage: one to the present request, or one to an earlier request that
    /// asked for no less.
    pub(crate) fn derive(&self, replies: &ReplyCache<'_>, item: &Item) -> Result<Derived> {
        if let Some(imported) = self.imported.get(&item.document) {
            let mut whole = RawReply::default();
            for reply in imported.iter().filter_map(|text| read_reply(text).ok()) {
                whole.extend(reply);
            }
            return Ok(Derived::read(whole));
        }
        let mut part = Derived::Missing;
        for (number, version) in self.versions.iter().enumerate() {
            let mut derived = version.stored(replies, item)?;
            let Derived::Read { reply, lack, .. } = &mut derived else {
                continue;
            };
            if number > 0 {
                if !version.serves(self.settings(), reply) {
                    continue;
                }
                // It may have more room now.
                if reply.is_cut {
                    lack.get_or_insert_with(|| Box::new(Derived::Missing));
                }
            }
            if lack.is_none() {
                return Ok(derived);
            }
            if part == Derived::Missing {
                part = derived;
            }
        }
        Ok(part)
    }

    /// Whether the present model's reply to the present request is stored, or nobody has to be asked.
    pub(super) fn is_answered(&self, replies: &ReplyCache<'_>, item: &Item) -> Result<bool> {
        Ok(self.is_imported(item)
            || matches!(
                self.versions[0].stored(replies, item)?,
                Derived::Read { lack: None, .. }
            ))
    }

    /// What `look` finds about a passage, following up what has to be followed up: a reply that cannot be
    /// read, one that was cut off, a passage that is too long, a second pass.
    pub(super) fn follow(&self, item: &Item, look: Look<'_>) -> Result<Derived> {
        self.versions[0].follow(item, &item.passage, 0, look)
    }
}

fn passages_of(document: DocumentText, tokens: usize) -> Vec<Item> {
    let chunks = document.chunks.into_iter().map(|chunk| PassageChunk {
        id: chunk.id,
        start: chunk.start,
        end: chunk.end,
        tokens: rough_tokens(&chunk.text),
        text: chunk.text,
        heading_path: chunk.heading_path,
    });
    let item = |passage: Passage| Item {
        document: document.id,
        uri: document.uri.clone(),
        language: document.language,
        title: document.title.clone(),
        date: document.date.clone(),
        passage,
        candidates: OnceLock::new(),
    };
    group(chunks.collect(), tokens)
        .into_iter()
        .map(item)
        .collect()
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
