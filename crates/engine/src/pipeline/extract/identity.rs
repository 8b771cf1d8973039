//! Under which key each name of each passage is stored: things that share a name told apart, names of one thing
//! joined.

use std::collections::{BTreeMap, BTreeSet};

use super::plan::Item;
use crate::Result;
use crate::extraction::{ExtractedEntity, Extraction};
use crate::resolution::{
    Decisions, FoundMerge, Named, Reading, Resolved, Titled, documents_meant, drop_settled,
    is_descriptor, resolve, senses,
};
use crate::storage::{MergeRow, NamedDocument, relation_key};
use crate::text::{is_better_name, name_key};
use crate::types::{EntityId, MergeRule, MergeStatus};

/// What names are resolved with.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub decisions: Decisions,
    /// Names whose vectors are near, by key.
    pub near: BTreeMap<String, BTreeSet<String>>,
    pub documents: Vec<NamedDocument>,
    /// Keys of names that something was given under directly.
    pub given: BTreeSet<String>,
}

/// The names of all passages, resolved.
#[derive(Debug, Default)]
pub(super) struct Identity {
    /// For each passage, for each of its entities: its key; `None` for what was forgotten.
    pub keys: Vec<Vec<Option<String>>>,
    /// How things that share a name are shown, by key.
    pub titles: BTreeMap<String, String>,
    /// All keys of a joined thing, by the one that it is stored under.
    pub members: BTreeMap<String, BTreeSet<String>>,
    pub merges: Vec<FoundMerge>,
    /// The documents that keys stand for.
    pub documents: BTreeMap<String, EntityId>,
    names: Vec<Named>,
}

impl Identity {
    /// `statements`: passages with what they say, in order. `is_gone`: whether a name was forgotten.
    pub(super) fn new(
        statements: &[(&Item, &Extraction)],
        known: &Known,
        is_gone: &dyn Fn(&str) -> Result<bool>,
    ) -> Result<Self> {
        let mut identity = Self::default();
        let mut gone: BTreeMap<String, bool> = BTreeMap::new();
        let mut uses: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
        for (passage, (_, found)) in statements.iter().enumerate() {
            let mut keys = Vec::with_capacity(found.entities.len());
            for (at, entity) in found.entities.iter().enumerate() {
                let key = name_key(&entity.name);
                if !gone.contains_key(&key) {
                    gone.insert(key.clone(), is_gone(&key)?);
                }
                if gone[&key] {
                    keys.push(None);
                } else {
                    uses.entry(key.clone()).or_default().push((passage, at));
                    keys.push(Some(key));
                }
            }
            identity.keys.push(keys);
        }
        let shared = identity.tell_apart(statements, &uses);
        identity.names = identity.named(statements, &shared);
        for name in &mut identity.names {
            if let Some(near) = known.near.get(&name.key) {
                name.near.clone_from(near);
            }
        }
        let Resolved { mut into, merges } = resolve(&identity.names, &known.decisions);
        identity.merges = merges;
        identity.give_back_names(&shared, &mut into);
        identity.join_documents(known, &mut into);
        for (key, kept) in &into {
            let members = identity.members.entry(kept.clone()).or_default();
            members.insert(key.clone());
            members.insert(kept.clone());
        }
        for key in identity.keys.iter_mut().flatten().flatten() {
            if let Some(kept) = into.get(key) {
                key.clone_from(kept);
            }
        }
        Ok(identity)
    }

    /// Gives things that share a name keys of their own: the name with a type. Returns the shared name by key.
    fn tell_apart(
        &mut self,
        statements: &[(&Item, &Extraction)],
        uses: &BTreeMap<String, Vec<(usize, usize)>>,
    ) -> BTreeMap<String, String> {
        let mut shared = BTreeMap::new();
        for (key, places) in uses {
            let entity = |&(passage, at): &(usize, usize)| &statements[passage].1.entities[at];
            // One type, or none, is one thing: no need to look at what is said.
            let kinds: BTreeSet<&String> = places
                .iter()
                .flat_map(|place| &entity(place).kinds)
                .collect();
            if kinds.len() < 2 {
                continue;
            }
            let readings: Vec<Reading> = places
                .iter()
                .map(|place| Reading {
                    kinds: entity(place).kinds.clone(),
                    description: entity(place).description.clone(),
                    document: statements[place.0].0.document.0,
                })
                .collect();
            let name = shown(places.iter().map(entity));
            for (&(passage, at), sense) in places.iter().zip(senses(key, &readings)) {
                let Some(sense) = sense else {
                    continue;
                };
                let title = format!("{name} ({sense})");
                let own = name_key(&title);
                self.keys[passage][at] = Some(own.clone());
                self.titles.insert(own.clone(), title);
                shared.insert(own, key.clone());
            }
        }
        shared
    }

    fn named(
        &self,
        statements: &[(&Item, &Extraction)],
        shared: &BTreeMap<String, String>,
    ) -> Vec<Named> {
        let mut names: BTreeMap<&str, Named> = BTreeMap::new();
        for ((item, found), keys) in statements.iter().zip(&self.keys) {
            for (key, entity) in keys.iter().zip(&found.entities) {
                let Some(key) = key else {
                    continue;
                };
                let name = names.entry(key).or_insert_with(|| Named {
                    key: key.clone(),
                    shared: shared.get(key).cloned(),
                    ..Named::default()
                });
                name.spellings.insert(entity.name.clone());
                let aliases = entity.aliases.iter();
                let aliases = aliases.filter(|alias| !is_descriptor(alias, &entity.kinds));
                name.aliases.extend(aliases.cloned());
                name.kinds.extend(entity.kinds.iter().cloned());
                name.documents.insert(item.document.0);
                name.languages.insert(item.language);
                name.count += 1;
                if name.description.is_none() {
                    name.description.clone_from(&entity.description);
                }
            }
            for relation in &found.relations {
                let ends = (&keys[relation.source], &keys[relation.target]);
                let (Some(source), Some(target)) = ends else {
                    continue;
                };
                let kind = relation_key(&relation.kind);
                for (key, leads_away, end) in [(source, true, target), (target, false, source)] {
                    let name = names.get_mut(key.as_str()).expect("every end is an entity");
                    name.ties.insert((kind.clone(), leads_away, end.clone()));
                }
            }
        }
        names.into_values().collect()
    }

    /// A name whose things were all decided to be one needs no type to tell them apart.
    fn give_back_names(
        &mut self,
        shared: &BTreeMap<String, String>,
        into: &mut BTreeMap<String, String>,
    ) {
        let mut groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (key, name) in shared {
            let kept = into.get(key).unwrap_or(key);
            groups.entry(name).or_default().insert(kept);
        }
        let whole: BTreeMap<String, String> = groups
            .into_iter()
            .filter(|(_, kept)| kept.len() == 1)
            .flat_map(|(name, kept)| {
                kept.into_iter()
                    .map(move |kept| (kept.to_owned(), name.to_owned()))
            })
            .filter(|(kept, _)| shared.contains_key(kept))
            .collect();
        for kept in whole.keys() {
            self.titles.remove(kept);
        }
        redirect(into, whole);
    }

    /// Joins names to the documents that bear them.
    fn join_documents(&mut self, known: &Known, into: &mut BTreeMap<String, String>) {
        let titled: Vec<Titled> = known
            .documents
            .iter()
            .map(|document| Titled {
                key: document_key(document),
                names: document.names.clone(),
                kinds: document.kinds.clone(),
            })
            .collect();
        let found = documents_meant(&self.names, into, &titled, &known.given, &known.decisions);
        self.merges.extend(found.merges);
        let mut to = BTreeMap::new();
        for (kept, at) in found.meant {
            let (document, key) = (&known.documents[at], &titled[at].key);
            self.titles.remove(&kept);
            to.insert(kept, key.clone());
            self.documents.insert(key.clone(), document.id);
            // What is said of the document by its name is said of the thing.
            self.members
                .entry(key.clone())
                .or_default()
                .insert(name_key(&document.name));
        }
        redirect(into, to);
        drop_settled(&mut self.merges, into);
    }

    /// Pairs as the store lists them.
    pub(super) fn rows(&self) -> Vec<MergeRow> {
        let shown = |key: &str| -> String {
            if let Some(title) = self.titles.get(key) {
                return title.clone();
            }
            let at = self
                .names
                .binary_search_by(|name| name.key.as_str().cmp(key));
            let spellings = at.ok().map(|at| &self.names[at].spellings);
            let best = spellings.into_iter().flatten().reduce(|best, other| {
                if is_better_name(other, best) {
                    other
                } else {
                    best
                }
            });
            best.cloned().unwrap_or_else(|| key.to_owned())
        };
        let row = |merge: &FoundMerge| {
            let (one, other) = (merge.one.clone(), merge.other.clone());
            MergeRow {
                shown: (shown(&one), shown(&other)),
                pair: if one <= other {
                    (one, other)
                } else {
                    (other, one)
                },
                rule: merge.rule,
                status: merge.status,
            }
        };
        self.merges.iter().map(row).collect()
    }

    /// Pairs that wait for a decision, with what is known of both names.
    pub(super) fn open_pairs(&self) -> Vec<(MergeRow, &Named, &Named)> {
        let named = |key: &str| {
            let at = self
                .names
                .binary_search_by(|name| name.key.as_str().cmp(key));
            &self.names[at.expect("pairs are of names")]
        };
        self.rows()
            .into_iter()
            .zip(&self.merges)
            .filter(|(row, _)| {
                row.status == MergeStatus::Proposed && row.rule != MergeRule::Document
            })
            .map(|(row, merge)| (row, named(&merge.one), named(&merge.other)))
            .collect()
    }
}

/// Lets what goes into one key go into another, and that key too: once through all, as there may be many of both.
fn redirect(into: &mut BTreeMap<String, String>, to: BTreeMap<String, String>) {
    for end in into.values_mut() {
        if let Some(new) = to.get(end) {
            end.clone_from(new);
        }
    }
    into.extend(to);
}

/// What a document is listed under among names: no name has such signs.
fn document_key(document: &NamedDocument) -> String {
    format!("[[{}]]", document.key)
}

/// The spelling to show of a name: the most frequent, of equals the better one.
fn shown<'a>(entities: impl Iterator<Item = &'a ExtractedEntity>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for entity in entities {
        *counts.entry(&entity.name).or_default() += 1;
    }
    super::gather::best_spelling(counts.into_iter())
        .expect("a name has a spelling")
        .to_owned()
}
