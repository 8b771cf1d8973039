//! One way of asking about passages, and what its stored replies say.

use std::collections::BTreeSet;

use super::STEP;
use super::plan::{Derived, Item};
use crate::extraction::{
    ExtractionSettings, Passage, RawReply, Requests, Subject, Unreadable, read_part, read_reply,
    split,
};
use crate::language_model::{ChatRequest, ModelErrorKind};
use crate::replies::{ReplyCache, StoredReply};
use crate::{Error, Result};

/// How often a passage that is too long is cut in two.
const DEEPEST_SPLIT: usize = 3;

/// A model and how it is asked.
pub(super) struct Version {
    pub model: String,
    pub settings: ExtractionSettings,
    pub requests: Requests,
}

/// What looking for a reply gives: the reply, nothing, or word that another process is asking.
pub(super) enum Looked {
    Found(StoredReply),
    Nothing,
    Busy,
}

/// Which replies to a request count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// Those to this request and no other.
    Alone,
    /// Those to several requests together too.
    Anyhow,
}

/// Looks for the reply to a request.
pub(super) type Look<'a> = &'a dyn Fn(&ChatRequest, Asked) -> Result<Looked>;

impl Version {
    /// All that its requests depend on.
    pub(super) fn as_text(&self) -> String {
        let settings = serde_json::to_string(&self.settings).expect("settings are plain data");
        format!("{}\n{settings}\n", self.model)
    }

    pub(super) fn extract(&self, item: &Item, passage: &Passage) -> ChatRequest {
        self.requests.extract(&item.subject(), passage)
    }

    /// One request about several passages.
    pub(super) fn together(&self, items: &[&Item]) -> ChatRequest {
        let passages: Vec<(Subject<'_>, &Passage)> = items
            .iter()
            .map(|item| (item.subject(), &item.passage))
            .collect();
        self.requests.together(&passages)
    }

    /// What the stored replies to its requests say of a passage.
    pub(super) fn stored(&self, replies: &ReplyCache<'_>, item: &Item) -> Result<Derived> {
        let peek = |request: &ChatRequest, asked: Asked| {
            let found = match asked {
                Asked::Alone => replies.peek(STEP, &self.model, request)?,
                Asked::Anyhow => replies.peek_any(STEP, &self.model, request)?,
            };
            Ok(found.map_or(Looked::Nothing, Looked::Found))
        };
        self.follow(item, &item.passage, 0, &peek)
    }

    /// What `look` finds about a passage, following up what has to be followed up.
    pub(super) fn follow(
        &self,
        item: &Item,
        passage: &Passage,
        depth: usize,
        look: Look<'_>,
    ) -> Result<Derived> {
        let request = self.extract(item, passage);
        let mut looked = look(&request, Asked::Anyhow);
        if let Ok(Looked::Found(reply)) = &looked
            && let Some(part) = reply.part
        {
            if let Ok(read) = read_part(&reply.text, part.number, part.of, reply.is_truncated) {
                return Ok(Derived::read(read));
            }
            looked = look(&request, Asked::Alone);
        }
        let reply = match looked {
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
        let mut read = read_reply(&reply.text);
        if let Ok(read) = &mut read {
            read.is_cut |= reply.is_truncated;
        }
        // A model that spent its room on thoughts gets more of it; one that had too much to say, less text.
        let is_spent = matches!(read, Err(Unreadable::Empty | Unreadable::OnlyThoughts));
        let is_stuck = read.as_ref().is_ok_and(RawReply::goes_round);
        let is_cut = read.as_ref().map_or(reply.is_truncated, |read| read.is_cut);
        let halves = if is_cut && !is_spent && !is_stuck {
            self.halves(item, passage, depth, look)?
        } else {
            None
        };
        match (halves, read) {
            (
                Some(Derived::Read {
                    reply: mut whole,
                    is_repaired,
                    lack,
                }),
                read,
            ) => {
                // Halves may part what belongs together: what it said before it was cut counts too.
                if let Ok(mut read) = read {
                    read.is_cut = false;
                    whole.extend_numbered(read);
                }
                Ok(Derived::Read {
                    reply: whole,
                    is_repaired,
                    lack,
                })
            }
            (Some(Derived::Busy), _) => Ok(Derived::Busy),
            (Some(lack), Ok(read)) => Ok(Derived::Read {
                reply: Box::new(read),
                is_repaired: false,
                lack: Some(Box::new(lack)),
            }),
            (Some(lack), Err(_)) => Ok(lack),
            (None, Ok(read)) => self.second_pass(&request, &reply, read, look),
            (None, Err(reason)) => self.repaired(&request, &reply, &reason, look),
        }
    }

    /// Both halves of a passage that did not fit, as one. What one of them says counts without the other.
    fn halves(
        &self,
        item: &Item,
        passage: &Passage,
        depth: usize,
        look: Look<'_>,
    ) -> Result<Option<Derived>> {
        if depth == DEEPEST_SPLIT {
            return Ok(None);
        }
        let Some(halves) = split(passage) else {
            return Ok(None);
        };
        let mut whole: Option<RawReply> = None;
        let mut any_repaired = false;
        let mut lacks: Option<Box<Derived>> = None;
        for half in &halves {
            // Of a passage that nobody has asked about, only the first halves are looked for all the way down.
            let depth = match lacks.as_deref() {
                Some(Derived::Missing) => DEEPEST_SPLIT,
                _ => depth + 1,
            };
            let lack = match self.follow(item, half, depth, look)? {
                Derived::Busy => return Ok(Some(Derived::Busy)),
                Derived::Read {
                    reply,
                    is_repaired,
                    lack,
                } => {
                    any_repaired |= is_repaired;
                    whole.get_or_insert_default().extend_numbered(*reply);
                    lack
                }
                lack => Some(Box::new(lack)),
            };
            lacks = lacks.or(lack);
        }
        Ok(match (whole, lacks) {
            (Some(whole), lack) => Some(Derived::Read {
                reply: Box::new(whole),
                is_repaired: any_repaired,
                lack,
            }),
            (None, lack) => lack.map(|lack| *lack),
        })
    }

    fn second_pass(
        &self,
        request: &ChatRequest,
        reply: &StoredReply,
        mut read: RawReply,
        look: Look<'_>,
    ) -> Result<Derived> {
        if self.settings.second_pass {
            match look(&self.requests.again(request, &reply.text), Asked::Alone)? {
                Looked::Found(second) => match read_reply(&second.text) {
                    Ok(mut more) => {
                        more.is_cut |= second.is_truncated;
                        read.extend_numbered(more);
                    }
                    // The first pass stands on its own.
                    Err(_) => read.oddities.push("a second pass that could not be read"),
                },
                Looked::Busy => return Ok(Derived::Busy),
                // So it does until there is a second one.
                Looked::Nothing => {
                    return Ok(Derived::Read {
                        reply: Box::new(read),
                        is_repaired: false,
                        lack: Some(Box::new(Derived::Missing)),
                    });
                }
            }
        }
        Ok(Derived::read(read))
    }

    fn repaired(
        &self,
        request: &ChatRequest,
        reply: &StoredReply,
        reason: &Unreadable,
        look: Look<'_>,
    ) -> Result<Derived> {
        // Thoughts that left no answer want more room, whatever the server says of it.
        let is_short = reply.is_truncated || *reason == Unreadable::OnlyThoughts;
        let reason = &reason.to_string();
        let repair = self.requests.repair(request, reason, is_short);
        let second = match look(&repair, Asked::Alone) {
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
            Ok(mut read) => {
                read.is_cut |= second.is_truncated;
                Derived::Read {
                    reply: Box::new(read),
                    is_repaired: true,
                    lack: None,
                }
            }
            Err(again) => Derived::Unreadable {
                reason: again.to_string(),
                text: second.text,
                replies: vec![reply.id, second.id],
            },
        })
    }

    /// Whether a reply to this version's request holds all that `wanted` asks for.
    pub(super) fn serves(&self, wanted: &ExtractionSettings, reply: &RawReply) -> bool {
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
