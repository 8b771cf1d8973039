//! Communities: found when they are first asked for, and brought up to date when the store has changed.

use rusqlite::Connection;
use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest as _, Sha256};

use super::Engine;
use super::explore::Explorer;
use crate::communities::{Hierarchy, HierarchyOptions, continued, leiden, refined, update};
use crate::graph::{Graph, Moment};
use crate::loading::{CommunityNetwork, community_network};
use crate::storage::{self, CommunityRow, Membership, Store};
use crate::types::{
    Cancel, CommunityLevel, CommunityList, CommunityMember, CommunityRequest, CommunityView,
    EntityId,
};
use crate::{Error, Result};

/// A community of more entities and passages than this is split where its own graph falls apart.
const MAX_CLUSTER_SIZE: usize = 40;
/// Above this share of changed entities everything is found anew: moving them one by one would only drift.
const MOST_CHANGED: f64 = 0.5;
/// The signature of an entity that another program put into its community: it stays there, whatever surrounds it.
pub(super) const IMPORTED: i64 = 0;
/// Entities whose names make a title.
const NAMES_IN_TITLE: usize = 3;

impl Engine {
    /// The communities of the present, or those an entity is in. They are found now if the store has changed since
    /// they were last asked for; where the store cannot be written, the last known ones are listed.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the entity is unknown.
    pub fn communities(&self, request: &CommunityRequest) -> Result<CommunityList> {
        let is_stale = !self.update_communities()?;
        let mut list = self.explore(|explorer| explorer.communities(request))?;
        list.is_stale = is_stale;
        Ok(list)
    }

    /// Finds communities if the store's content is another one than at the last time. False when it had to be left
    /// undone, because the store cannot be written now. Whoever gives up stops it between its steps, until it is
    /// written: then it is kept.
    pub(super) fn update_communities(&self) -> Result<bool> {
        let store = self.asked()?;
        let Some(namespace) = store.namespace(&self.namespace)?.map(|id| id.0) else {
            return Ok(true);
        };
        let is_fresh = |store: &Store| -> Result<bool> {
            let known = storage::community_generation(store.connection(), namespace)?;
            Ok(known == Some(store.generation()?))
        };
        if is_fresh(&store)? {
            return Ok(true);
        }
        if store.is_read_only() {
            return Ok(false);
        }
        // Its statements can be stopped; those below are part of the writing.
        self.ranked_graph(&store)?;
        drop(store);
        let store = self.store();
        let lease = match store.write_lease("malha (communities)", self.config.lease_wait) {
            Ok(lease) => lease,
            Err(Error::Busy { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        if is_fresh(&store)? {
            return Ok(true);
        }
        let graph = self.ranked_graph(&store)?;
        let at = Moment::present(self.clock.now());
        let found = detect(&store, namespace, &graph.graph, at, &self.cancel)?;
        let transaction = lease.transaction()?;
        save(&store, namespace, &graph.graph, &found)?;
        storage::set_community_generation(store.connection(), namespace, graph.graph.generation)?;
        transaction.commit_bookkeeping()?;
        Ok(true)
    }
}

/// Communities of the graph's entities, with what was stored before.
struct Found {
    /// Community label of each entity at each level; none for an isolated entity.
    levels: Vec<(Vec<Option<u32>>, usize)>,
    signatures: Vec<i64>,
    before: FxHashMap<(EntityId, usize), Membership>,
}

fn detect(
    store: &Store,
    namespace: i64,
    graph: &Graph,
    at: Moment,
    cancel: &Cancel,
) -> Result<Found> {
    cancel.go_on()?;
    let before: FxHashMap<(EntityId, usize), Membership> =
        storage::memberships(store.connection(), namespace)?
            .into_iter()
            .map(|row| ((row.entity, row.level), row))
            .collect();
    let built = community_network(graph, at);
    let entities = built.entities as u32;
    let imported: FxHashSet<EntityId> = before
        .values()
        .filter(|row| row.signature == IMPORTED)
        .map(|row| row.entity)
        .collect();
    let signatures: Vec<i64> = (0..entities)
        .map(|entity| {
            if imported.contains(&graph.entities.id(entity)) {
                IMPORTED
            } else {
                built.signature(graph, entity)
            }
        })
        .collect();
    let options = HierarchyOptions {
        max_cluster_size: MAX_CLUSTER_SIZE,
        ..HierarchyOptions::default()
    };
    let changed: Vec<u32> = (0..entities)
        .filter(|&entity| {
            let row = before.get(&(graph.entities.id(entity), 0));
            row.map_or(0, |row| row.signature) != signatures[entity as usize]
        })
        .collect();
    cancel.go_on()?;
    let coarsest = if changed.len() as f64 > f64::from(entities) * MOST_CHANGED {
        leiden(&built.network, &options.leiden)
    } else {
        let labels = labels_before(&built, graph, &before);
        update(&built.network, &labels, changed, &options.leiden)
    };
    cancel.go_on()?;
    let hierarchy = refined(&built.network, coarsest, &options);
    let levels = CommunityLevel::ALL
        .iter()
        .map(|level| {
            let found = entity_labels(&built, &hierarchy, level.number());
            with_imported(found, level.number(), graph, &before)
        })
        .collect();
    cancel.go_on()?;
    Ok(Found {
        levels,
        signatures,
        before,
    })
}

/// The coarsest communities as they were, one label a node. A chunk goes with the entity that it is tied to most of
/// those that had a community: so a new note starts where what it speaks of is.
fn labels_before(
    built: &CommunityNetwork,
    graph: &Graph,
    before: &FxHashMap<(EntityId, usize), Membership>,
) -> Vec<u32> {
    let mut numbers: FxHashMap<i64, u32> = FxHashMap::default();
    let mut next = 0;
    let mut fresh = || {
        next += 1;
        next - 1
    };
    let mut labels: Vec<u32> = Vec::with_capacity(built.network.nodes());
    for entity in 0..built.entities as u32 {
        let label = match before.get(&(graph.entities.id(entity), 0)) {
            Some(row) => *numbers.entry(row.community).or_insert_with(&mut fresh),
            None => fresh(),
        };
        labels.push(label);
    }
    for chunk in built.entities as u32..built.network.nodes() as u32 {
        let is_known = |entity: u32| before.contains_key(&(graph.entities.id(entity), 0));
        let heaviest = built.network.neighbors(chunk).max_by(|a, b| {
            (is_known(a.0).cmp(&is_known(b.0)))
                .then(a.1.total_cmp(&b.1))
                .then(b.0.cmp(&a.0))
        });
        let label = heaviest.map_or_else(&mut fresh, |(entity, _)| labels[entity as usize]);
        labels.push(label);
    }
    labels
}

/// Labels of the entities at a level, numbered anew: communities of passages alone do not count.
fn entity_labels(
    built: &CommunityNetwork,
    hierarchy: &Hierarchy,
    level: usize,
) -> (Vec<Option<u32>>, usize) {
    let last = hierarchy.levels.len() - 1;
    let labels = &hierarchy.levels[level.min(last)].labels;
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    let labels = (0..built.entities as u32)
        .map(|entity| {
            let is_isolated = built.network.neighbors(entity).next().is_none();
            (!is_isolated).then(|| {
                let count = numbers.len() as u32;
                *numbers.entry(labels[entity as usize]).or_insert(count)
            })
        })
        .collect();
    (labels, numbers.len())
}

/// The communities of a level with those of another program as they came; what else is in the graph has its own.
fn with_imported(
    (mut labels, mut count): (Vec<Option<u32>>, usize),
    level: usize,
    graph: &Graph,
    before: &FxHashMap<(EntityId, usize), Membership>,
) -> (Vec<Option<u32>>, usize) {
    let mut imported: FxHashMap<i64, u32> = FxHashMap::default();
    for (label, entity) in labels.iter_mut().zip(0..) {
        let row = before.get(&(graph.entities.id(entity), level));
        // What is tied to nothing any more has no community.
        if let (Some(label), Some(row)) = (label, row.filter(|row| row.signature == IMPORTED)) {
            *label = *imported.entry(row.community).or_insert_with(|| {
                count += 1;
                count as u32 - 1
            });
        }
    }
    if imported.is_empty() {
        return (labels, count);
    }
    // Some that were found may have lost everybody.
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    for label in labels.iter_mut().flatten() {
        let next = numbers.len() as u32;
        *label = *numbers.entry(*label).or_insert(next);
    }
    (labels, numbers.len())
}

/// Writes what differs from what is stored. Communities that go on keep their ids.
fn save(store: &Store, namespace: i64, graph: &Graph, found: &Found) -> Result<()> {
    let connection = store.connection();
    let entities = graph.entities.ids();
    let mut next_id = storage::last_community(connection)? + 1;
    let mut taken: Vec<i64> = Vec::new();
    // Ids of the level above, by entity.
    let mut above: Vec<Option<i64>> = vec![None; entities.len()];
    let mut kept: FxHashSet<EntityId> = FxHashSet::default();
    for (level, (labels, count)) in found.levels.iter().enumerate() {
        let before: Vec<Option<i64>> = entities
            .iter()
            .map(|&entity| Some(found.before.get(&(entity, level))?.community))
            .collect();
        let goes_on = continued(&before, labels, *count, &taken);
        let members = members_of(labels, *count);
        let sizes_above = sizes(&above);
        let mut ids = Vec::with_capacity(*count);
        for (members, goes_on) in members.iter().zip(goes_on) {
            let parent = above[members[0] as usize];
            let is_whole_parent =
                parent.is_some_and(|parent| sizes_above[&parent] == members.len());
            if let Some(parent) = parent.filter(|_| is_whole_parent) {
                ids.push(parent);
                continue;
            }
            let id = goes_on.unwrap_or_else(|| {
                next_id += 1;
                next_id - 1
            });
            taken.push(id);
            ids.push(id);
            storage::upsert_community(
                connection,
                namespace,
                &CommunityRow {
                    id,
                    level,
                    parent,
                    content_hash: content_hash(members.iter().map(|&entity| {
                        (graph.entities.id(entity), found.signatures[entity as usize])
                    })),
                },
            )?;
        }
        above = labels
            .iter()
            .map(|label| label.map(|label| ids[label as usize]))
            .collect();
        for (index, community) in above.iter().enumerate() {
            let Some(community) = *community else {
                continue;
            };
            let row = Membership {
                entity: entities[index],
                level,
                community,
                signature: found.signatures[index],
            };
            kept.insert(row.entity);
            if found.before.get(&(row.entity, level)) != Some(&row) {
                storage::set_membership(connection, &row)?;
            }
        }
    }
    let mut gone: Vec<EntityId> = found
        .before
        .keys()
        .map(|&(entity, _)| entity)
        .filter(|entity| !kept.contains(entity))
        .collect();
    gone.sort_unstable();
    gone.dedup();
    for entity in gone {
        storage::remove_memberships(connection, entity)?;
    }
    storage::remove_empty_communities(connection, namespace)
}

fn members_of(labels: &[Option<u32>], count: usize) -> Vec<Vec<u32>> {
    let mut members = vec![Vec::new(); count];
    for (label, entity) in labels.iter().zip(0..) {
        if let Some(label) = label {
            members[*label as usize].push(entity);
        }
    }
    members
}

fn sizes(communities: &[Option<i64>]) -> FxHashMap<i64, usize> {
    let mut sizes = FxHashMap::default();
    for community in communities.iter().flatten() {
        *sizes.entry(*community).or_default() += 1;
    }
    sizes
}

/// Equal as long as the community has the same entities, in their order, with the same signatures.
pub(super) fn content_hash(members: impl Iterator<Item = (EntityId, i64)>) -> Vec<u8> {
    let mut hash = Sha256::new();
    for (entity, signature) in members {
        hash.update(entity.0.to_le_bytes());
        hash.update(signature.to_le_bytes());
    }
    hash.finalize().to_vec()
}

impl Explorer<'_> {
    fn communities(&self, request: &CommunityRequest) -> Result<CommunityList> {
        if let Some(name) = &request.entity {
            let mut seen: Vec<(usize, i64)> = Vec::new();
            for entity in self.known(name)? {
                seen.extend(storage::communities_of_entity(self.connection, entity)?);
            }
            seen.sort_unstable();
            // One that is not split stands at several levels; it is told once.
            let mut ids = FxHashSet::default();
            seen.retain(|(_, id)| ids.insert(*id));
            let views: Vec<CommunityView> = seen
                .iter()
                .map(|&(level, id)| self.community(id, level, request.members))
                .collect::<Result<_>>()?;
            return Ok(CommunityList {
                total: views.len(),
                communities: views,
                is_stale: false,
            });
        }
        let level = request.level.number();
        let all = storage::communities_of_level(self.connection, self.namespace, level)?;
        let communities = all
            .iter()
            .take(request.limit)
            .map(|&(id, _)| self.community(id, level, request.members))
            .collect::<Result<_>>()?;
        Ok(CommunityList {
            communities,
            total: all.len(),
            is_stale: false,
        })
    }

    /// A community as it stands at a level.
    pub(super) fn community(&self, id: i64, level: usize, shown: usize) -> Result<CommunityView> {
        let (first_level, parent, title) = storage::community(self.connection, id)?;
        let members = storage::members_of_community(self.connection, id, level)?;
        let central = self.central(&members);
        let named: Vec<CommunityMember> = central
            .iter()
            .take(shown.max(NAMES_IN_TITLE))
            .map(|&(entity, ties)| {
                let row = storage::entity(self.connection, entity)?;
                Ok(CommunityMember {
                    public_id: row.public_id,
                    name: row.name,
                    ties,
                })
            })
            .collect::<Result<_>>()?;
        let names: Vec<&str> = named
            .iter()
            .take(NAMES_IN_TITLE)
            .map(|member| member.name.as_str())
            .collect();
        Ok(CommunityView {
            id,
            level: CommunityLevel::ALL[first_level.min(CommunityLevel::ALL.len() - 1)],
            parent,
            title: title.unwrap_or_else(|| names.join(", ")),
            size: members.len(),
            members: named.into_iter().take(shown).collect(),
        })
    }

    /// Members with the number of relations and shared passages that tie them to other members, most first.
    pub(super) fn central(&self, members: &[EntityId]) -> Vec<(EntityId, usize)> {
        central(self.graph, members)
    }
}

/// What a community is called that nobody has written a report about: its most central members.
pub(super) fn title_of(
    connection: &Connection,
    graph: &Graph,
    members: &[EntityId],
) -> Result<String> {
    let names = central(graph, members)
        .into_iter()
        .take(NAMES_IN_TITLE)
        .map(|(entity, _)| Ok(storage::entity(connection, entity)?.name))
        .collect::<Result<Vec<String>>>()?;
    Ok(names.join(", "))
}

/// Members with the number of relations and shared passages that tie them to other members, most first.
fn central(graph: &Graph, members: &[EntityId]) -> Vec<(EntityId, usize)> {
    let indices: FxHashSet<u32> = members
        .iter()
        .filter_map(|&entity| graph.entities.get(entity))
        .collect();
    let mut ties: Vec<(EntityId, usize)> = members
        .iter()
        .filter_map(|&entity| {
            let index = graph.entities.get(entity)?;
            let related = graph
                .relations
                .targets(index)
                .iter()
                .chain(graph.relations.sources(index))
                .filter(|other| **other != index && indices.contains(other))
                .count();
            let shared = graph
                .mentions
                .chunks(index)
                .iter()
                .filter(|&&chunk| {
                    let others = graph.mentions.entities(chunk);
                    others
                        .iter()
                        .any(|other| *other != index && indices.contains(other))
                })
                .count();
            Some((entity, related + shared))
        })
        .collect();
    ties.sort_by_key(|&(entity, ties)| (std::cmp::Reverse(ties), entity));
    ties
}
