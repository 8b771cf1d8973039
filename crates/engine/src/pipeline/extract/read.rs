//! What the stored replies say of all passages, checked and joined by name.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rusqlite::Connection;

use super::gather::Gathered;
use super::identity::Identity;
use super::opinion::{LongDescription, SUMMARY};
use super::plan::{Derived, Item, Plan};
use crate::Result;
use crate::extraction::{Extraction, RawReply, check_reply};
use crate::replies::ReplyCache;
use crate::resolution::Decisions;
use crate::storage::{self, Buried};

/// What the stored replies say of every passage of a plan.
pub(crate) struct Read {
    /// By position in the plan; `None` where there is no usable reply.
    pub(super) found: Vec<Option<Extraction>>,
    /// Descriptions that a model made of many, by key of the entity.
    pub(super) summaries: BTreeMap<String, String>,
}

impl Read {
    /// Reads and checks the stored replies. Nobody may hold the store.
    pub(crate) fn new(plan: &Plan, replies: &ReplyCache<'_>) -> Result<Self> {
        let mut read = Self {
            found: vec![None; plan.items.len()],
            summaries: BTreeMap::new(),
        };
        let all: Vec<usize> = (0..plan.items.len()).collect();
        read.refresh(plan, replies, &all)?;
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
            raw.push(match plan.derive(replies, &plan.items[at])? {
                Derived::Read { reply, .. } => Some(*reply),
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
            self.found[at] = found;
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

    /// Positions without a usable reply, but for those that the user wants no more of.
    pub(crate) fn missing(&self, plan: &Plan) -> Vec<usize> {
        (0..self.found.len())
            .filter(|&at| self.found[at].is_none() && !plan.is_dropped(&plan.items[at]))
            .collect()
    }
}

/// What all passages say, joined by name, with how the names were resolved, and the positions of passages that
/// have no reply.
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
        match found {
            Some(found) => {
                let keys = keys.next().expect("as many as passages with a reply");
                let item = &plan.items[at];
                gathered.add(item, found, keys, plan.schema_of(item));
            }
            None => missing.push(at),
        }
    }
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
    let mut decisions = Decisions::default();
    for (one, other, is_same) in storage::merge_decisions(connection, namespace)? {
        if let Some(is_same) = is_same {
            decisions.insert(&one, &other, is_same);
        }
    }
    let statements: Vec<(&Item, &Extraction)> = plan
        .items
        .iter()
        .zip(&read.found)
        .filter_map(|(item, found)| Some((item, found.as_ref()?)))
        .collect();
    Identity::new(&statements, &decisions, &|key| {
        storage::is_buried(connection, namespace, Buried::Entity, &[key])
    })
}
