//! What the stored replies say of all passages, checked and joined by name.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use rusqlite::Connection;

use super::STEP;
use super::gather::Gathered;
use super::identity::{Identity, Known};
use super::opinion::{LongDescription, SUMMARY};
use super::plan::{Derived, Fingerprint, Item, Plan};
use crate::Result;
use crate::extraction::{Extraction, RawReply, check_reply};
use crate::replies::ReplyCache;
use crate::storage::{self, Buried, Derivation};

/// Cosine from which the names of two things are near: models of vectors put most names at 0.8.
const NEAR: f64 = 0.93;

/// What the stored replies say of every passage of a plan.
pub(crate) struct Read {
    /// By position in the plan; `None` where there is no usable reply.
    pub(super) found: Vec<Option<Extraction>>,
    /// By position: all that what was found follows from.
    fingerprints: Vec<Fingerprint>,
    /// Positions that were read from replies, not taken from what an earlier run found.
    fresh: BTreeSet<usize>,
    /// Positions of which more is to be known than was found: they are read anew by the next run.
    pub(super) partial: BTreeSet<usize>,
    /// Descriptions that a model made of many, by key of the entity.
    pub(super) summaries: BTreeMap<String, String>,
}

impl Read {
    /// Takes what earlier runs found, and reads and checks the stored replies about the rest. Nobody may hold the
    /// store.
    pub(crate) fn new(plan: &Plan, replies: &ReplyCache<'_>) -> Result<Self> {
        let fingerprints: Vec<Fingerprint> = plan
            .items
            .par_iter()
            .map(|item| plan.fingerprint(item))
            .collect();
        let known = |at: usize| plan.derivation(&plan.items[at], &fingerprints[at]);
        let found = (0..plan.items.len())
            .into_par_iter()
            .map(|at| {
                let known =
                    known(at).filter(|known| known.fingerprint == fingerprints[at].as_bytes());
                as_found(known?)
            })
            .collect();
        let mut read = Self {
            found,
            fingerprints: fingerprints.clone(),
            fresh: BTreeSet::new(),
            partial: BTreeSet::new(),
            summaries: BTreeMap::new(),
        };
        let has_replies = replies.has_replies(STEP)?;
        let open: Vec<usize> = (0..read.found.len())
            .filter(|&at| {
                read.found[at].is_none() && (has_replies || plan.is_imported(&plan.items[at]))
            })
            .collect();
        read.refresh(plan, replies, &open)?;
        // A program that asks otherwise does not find the reply; what it said was paid for.
        for at in 0..read.found.len() {
            if read.found[at].is_none() {
                read.found[at] = known(at).and_then(as_found);
            }
        }
        Ok(read)
    }

    /// Reads what is stored about these positions of the plan anew.
    pub(crate) fn refresh(
        &mut self,
        plan: &Plan,
        replies: &ReplyCache<'_>,
        positions: &[usize],
    ) -> Result<()> {
        let mut raw: Vec<Option<RawReply>> = Vec::with_capacity(positions.len());
        for &at in positions {
            self.partial.remove(&at);
            raw.push(match plan.derive(replies, &plan.items[at])? {
                Derived::Read { reply, lack, .. } => {
                    if lack.is_some() {
                        self.partial.insert(at);
                    }
                    Some(*reply)
                }
                _ => None,
            });
        }
        let found: Vec<Option<Extraction>> = raw
            .into_par_iter()
            .zip(positions)
            .map(|(raw, &at)| {
                let item = &plan.items[at];
                Some(check_reply(raw?, &item.passage.text, plan.schema_of(item)))
            })
            .collect();
        for (&at, found) in positions.iter().zip(found) {
            // Without a reply, what an earlier one said of the same passage stands.
            if found.is_some() {
                self.fresh.insert(at);
                self.found[at] = found;
            }
        }
        Ok(())
    }

    /// Keeps what was read for later runs, and drops what is not so any more.
    pub(super) fn save(&self, connection: &Connection, namespace: i64, plan: &Plan) -> Result<()> {
        let mut kept = BTreeSet::new();
        for (at, item) in plan.items.iter().enumerate() {
            let Some(found) = self.found[at]
                .as_ref()
                .filter(|_| !self.partial.contains(&at))
            else {
                continue;
            };
            let place = (item.document, item.start());
            kept.insert(place);
            if self.fresh.contains(&at) {
                let derivation = Derivation {
                    fingerprint: self.fingerprints[at].as_bytes(),
                    found: serde_json::to_string(found).expect("what was found is plain data"),
                };
                storage::save_derivation(connection, namespace, place, &derivation)?;
            }
        }
        for place in plan.derived().filter(|place| !kept.contains(place)) {
            storage::delete_derivation(connection, namespace, place)?;
        }
        Ok(())
    }

    /// Takes the stored summaries of long descriptions. Nobody may hold the store.
    pub(crate) fn take_summaries(
        &mut self,
        plan: &Plan,
        long: Vec<LongDescription>,
        replies: &ReplyCache<'_>,
    ) -> Result<()> {
        for LongDescription { key, request } in long {
            if let Some(reply) = replies.peek(SUMMARY, plan.model(), &request)? {
                let text = reply.text.split_whitespace().collect::<Vec<_>>().join(" ");
                if !text.is_empty() {
                    self.summaries.insert(key, text);
                }
            }
        }
        Ok(())
    }

    /// Whether something is to be asked about a position.
    pub(super) fn is_open(&self, at: usize) -> bool {
        self.found[at].is_none() || self.partial.contains(&at)
    }

    /// Positions to ask about: those without all usable replies, but for those that the user wants no more of; `anew`:
    /// those without one of the present model to the present request.
    pub(crate) fn wanted(
        &self,
        plan: &Plan,
        replies: &ReplyCache<'_>,
        anew: bool,
    ) -> Result<Vec<usize>> {
        let mut wanted = Vec::new();
        for (at, item) in plan.items.iter().enumerate() {
            let is_known = if anew {
                plan.is_answered(replies, item)?
            } else {
                !self.is_open(at)
            };
            if !is_known && !plan.is_dropped(item) {
                wanted.push(at);
            }
        }
        Ok(wanted)
    }
}

/// What an earlier run found, if this program still reads it.
fn as_found(derivation: &Derivation) -> Option<Extraction> {
    serde_json::from_str(&derivation.found).ok()
}

/// What all passages say, joined by name, with how the names were resolved, and the positions of passages about which
/// something is to be asked.
pub(super) fn gather(
    connection: &Connection,
    namespace: i64,
    plan: &Plan,
    read: &Read,
) -> Result<(Gathered, Identity, Vec<usize>)> {
    let identity = identity_of(connection, namespace, plan, read)?;
    let mut gathered = Gathered::default();
    let mut missing = Vec::new();
    let mut keys = identity.keys.iter();
    for (at, found) in read.found.iter().enumerate() {
        if let Some(found) = found {
            let keys = keys.next().expect("as many as passages with a reply");
            let item = &plan.items[at];
            gathered.add(item, found, keys, plan.schema_of(item));
        }
        if read.is_open(at) {
            missing.push(at);
        }
    }
    gathered.warn_of_oddities();
    for (key, title) in &identity.titles {
        if let Some(entity) = gathered.entities.get_mut(key) {
            entity.title = Some(title.clone());
        }
    }
    Ok((gathered, identity, missing))
}

/// The names of all passages that have a reply, resolved.
pub(super) fn identity_of(
    connection: &Connection,
    namespace: i64,
    plan: &Plan,
    read: &Read,
) -> Result<Identity> {
    let mut known = Known {
        documents: storage::named_documents(connection, namespace)?,
        given: storage::concepts(connection, namespace)?
            .into_iter()
            .filter(|(_, concept)| concept.is_stated)
            .map(|(key, _)| key)
            .collect(),
        ..Known::default()
    };
    for (one, other, is_same) in storage::merge_decisions(connection, namespace)? {
        if let Some(is_same) = is_same {
            known.decisions.insert(&one, &other, is_same);
        }
    }
    let statements: Vec<(&Item, &Extraction)> = plan
        .items
        .iter()
        .zip(&read.found)
        .filter_map(|(item, found)| Some((item, found.as_ref()?)))
        .collect();
    let any_buried = storage::is_anything_buried(connection, namespace)?;
    for (one, other) in storage::near_names(connection, namespace, NEAR)? {
        let mut insert = |one: &String, other: &String| {
            let near = known.near.entry(one.clone()).or_default();
            near.insert(other.clone());
        };
        insert(&one, &other);
        insert(&other, &one);
    }
    Identity::new(&statements, &known, &|key| {
        Ok(any_buried && storage::is_buried(connection, namespace, Buried::Entity, &[key])?)
    })
}
