//! What belongs to a question, within one budget: entities, their relations, and passages with their neighbours.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Engine;
use super::explore::Explorer;
use crate::Result;
use crate::retrieval::{self, CHUNKS, Candidates, pack, score_sentences};
use crate::storage;
use crate::types::{
    Context, ContextItem, ContextKind, ContextRequest, Cut, EntityId, EntryEntity, Evidence,
    NeighborRequest, NeighborView, Neighborhood, PublicId, RelationView, SearchRequest,
};

/// How far relations are followed, and how many entities at most.
const HOPS: u32 = 2;
const MOST_NODES: usize = 40;
/// An entity with more relations than this, beyond the ones asked about, is a hub: its relations come last, and at
/// most so many of them.
const HUB: u32 = 50;
const FROM_HUB: usize = 3;
/// Entities that a question without names enters by.
const ENTRIES: usize = 3;
/// Reports of communities at most.
const REPORTS: usize = 3;

impl Engine {
    /// Evidence for a question that fits its budget: what the question names, how that is related, and the
    /// sentences that say most about it, with what stands beside them. Everything counts, and what was cut is told.
    pub fn context(&self, request: &ContextRequest) -> Result<Context> {
        let search = SearchRequest {
            query: request.query.clone(),
            mode: request.mode,
            limit: CHUNKS,
            documents: request.documents.clone(),
            ..SearchRequest::new("")
        };
        let (response, sentences) = self.read(|reader| {
            let response = retrieval::search(reader, &search)?;
            let sentences = score_sentences(reader, &request.query, &response.results)?;
            Ok((response, sentences))
        })?;
        let mut entries = response.entry_entities;
        let mut beside_the_point = 0;
        let mut candidates = Candidates {
            sentences,
            ..Candidates::default()
        };
        if request.with_graph {
            let near = self.explore(|explorer| Ok(explorer.told_of(&response.results)))?;
            let (around, off) = self.explore(|explorer| {
                explorer.enter_by(&near, &request.query, &mut entries)?;
                explorer.around(&near, &entries)
            })?;
            beside_the_point = off;
            candidates.entities = around.nodes.iter().map(entity_line).collect();
            candidates.relations = relation_lines(&around, &entries);
            candidates.claims = self.explore(|explorer| explorer.claims_around(&entries))?;
            candidates.reports = self.reports_around(&entries)?;
        }
        let (items, used, mut cut) = pack(candidates, request.budget);
        if beside_the_point > 0 {
            leave_out(&mut cut, ContextKind::Entity, beside_the_point);
        }
        Ok(Context {
            query: request.query.clone(),
            items,
            budget: request.budget,
            used,
            cut,
            entry_entities: entries,
            record: response.record,
            notes: response.notes,
        })
    }

    /// Reports of the finest communities that the entry entities are in. Communities are of the present, so another
    /// moment has none.
    fn reports_around(&self, entries: &[EntryEntity]) -> Result<Vec<ContextItem>> {
        if entries.is_empty() || !self.times.is_present() {
            return Ok(Vec::new());
        }
        self.update_communities()?;
        let found = self.explore(|explorer| explorer.finest_communities(entries))?;
        let count = found.len().max(1) as f64;
        found
            .into_iter()
            .take(REPORTS)
            .enumerate()
            .map(|(place, id)| {
                let report = self.community_report(id)?;
                Ok(ContextItem {
                    kind: ContextKind::Report,
                    text: format!("{}: {}", report.title, report.summary),
                    score: 1.0 - place as f64 / count,
                    citation: None,
                })
            })
            .collect()
    }
}

impl Explorer<'_> {
    /// Communities of more than one entity that these are in, at the finest level, those that hold most of the
    /// entities' weight first.
    fn finest_communities(&self, entries: &[EntryEntity]) -> Result<Vec<i64>> {
        let mut weight: Vec<(i64, f64)> = Vec::new();
        for entry in entries {
            let id = &entry.public_id.0;
            let Some(row) = storage::entity_by_public_id(self.connection, self.namespace, id)?
            else {
                continue;
            };
            let of_entity = storage::communities_of_entity(self.connection, row.id)?;
            let Some(&(level, community)) = of_entity.last() else {
                continue;
            };
            if storage::members_of_community(self.connection, community, level)?.len() < 2 {
                continue;
            }
            match weight.iter_mut().find(|(known, _)| *known == community) {
                Some((_, sum)) => *sum += entry.weight,
                None => weight.push((community, entry.weight)),
            }
        }
        weight.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(weight.into_iter().map(|(id, _)| id).collect())
    }

    /// Entities that these passages speak of, the ones that better and more passages speak of first.
    fn told_of(&self, found: &[Evidence]) -> Vec<(EntityId, f64)> {
        let mut weights: FxHashMap<u32, f64> = FxHashMap::default();
        for (place, evidence) in found.iter().enumerate() {
            let Some(chunk) = self.graph.chunks.get(evidence.chunk) else {
                continue;
            };
            let entities = self.graph.mentions.entities(chunk);
            for &entity in entities {
                // What stands everywhere says little about this question.
                let everywhere = self.graph.mentions.chunks(entity).len() as f64;
                let weight = 1.0 / (1.0 + place as f64) / everywhere.sqrt();
                *weights.entry(entity).or_default() += weight;
            }
        }
        let mut told: Vec<(EntityId, f64)> = weights
            .into_iter()
            .map(|(entity, weight)| (self.graph.entities.id(entity), weight))
            .collect();
        told.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        told
    }

    /// Where a question that names nothing enters the graph: at what the whole of it is called, or at what the best
    /// passages speak of.
    fn enter_by(
        &self,
        near: &[(EntityId, f64)],
        query: &str,
        entries: &mut Vec<EntryEntity>,
    ) -> Result<()> {
        if !entries.is_empty() {
            return Ok(());
        }
        let named = self.entity(query)?;
        let share = 1.0 / named.len().max(1) as f64;
        entries.extend(named.into_iter().map(|entity| EntryEntity {
            public_id: entity.public_id,
            name: entity.name,
            weight: share,
        }));
        if entries.is_empty() {
            let all: f64 = near.iter().take(ENTRIES).map(|(_, weight)| weight).sum();
            for &(entity, weight) in near.iter().take(ENTRIES) {
                let row = storage::entity(self.connection, entity)?;
                entries.push(EntryEntity {
                    public_id: row.public_id,
                    name: row.name,
                    weight: weight / all,
                });
            }
        }
        Ok(())
    }

    /// The neighbourhood of the entries, and how many entities of it were left out: those two relations away that
    /// passages speak of, but none that the question finds.
    fn around(
        &self,
        near: &[(EntityId, f64)],
        entries: &[EntryEntity],
    ) -> Result<(Neighborhood, usize)> {
        if entries.is_empty() {
            return Ok((Neighborhood::default(), 0));
        }
        let mut around = self.neighbors(&NeighborRequest {
            seeds: entries
                .iter()
                .map(|entry| entry.public_id.0.clone())
                .collect(),
            max_hops: HOPS,
            max_nodes: MOST_NODES,
            ..NeighborRequest::new("")
        })?;
        let told: FxHashSet<EntityId> = near.iter().map(|(entity, _)| *entity).collect();
        let mut left_out: FxHashSet<PublicId> = FxHashSet::default();
        for node in around.nodes.iter().filter(|node| node.depth == HOPS) {
            let id = &node.entity.public_id;
            let row = storage::entity_by_public_id(self.connection, self.namespace, &id.0)?;
            let stands_in_text = |id: EntityId| {
                let place = self.graph.entities.get(id);
                place.is_some_and(|place| !self.graph.mentions.chunks(place).is_empty())
            };
            if row.is_some_and(|row| !told.contains(&row.id) && stands_in_text(row.id)) {
                left_out.insert(id.clone());
            }
        }
        around
            .nodes
            .retain(|node| !left_out.contains(&node.entity.public_id));
        around.relations.retain(|relation| {
            !left_out.contains(&relation.source_id) && !left_out.contains(&relation.target_id)
        });
        Ok((around, left_out.len()))
    }
}

/// Counts what was left out of a context.
pub(super) fn leave_out(cut: &mut Vec<Cut>, kind: ContextKind, left_out: usize) {
    match cut.iter_mut().find(|cut| cut.kind == kind) {
        Some(cut) => cut.left_out += left_out,
        None => cut.push(Cut { kind, left_out }),
    }
}

/// `(Name): what it is`
pub(super) fn entity_line(node: &NeighborView) -> ContextItem {
    let entity = &node.entity;
    let mut text = format!("({})", entity.name);
    if let Some(description) = entity
        .description
        .as_deref()
        .filter(|text| !text.is_empty())
    {
        text.push_str(": ");
        text.push_str(&description.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    ContextItem {
        kind: ContextKind::Entity,
        text,
        score: 1.0 / f64::from(node.depth + 1),
        citation: None,
    }
}

/// `(A) -[relates to]-> (B)`, nearest to the question first, heavier ones before lighter ones, hubs last.
pub(super) fn relation_lines(around: &Neighborhood, entries: &[EntryEntity]) -> Vec<ContextItem> {
    let node_of: FxHashMap<&PublicId, &NeighborView> = around
        .nodes
        .iter()
        .map(|node| (&node.entity.public_id, node))
        .collect();
    let is_entry = |id: &PublicId| entries.iter().any(|entry| entry.public_id == *id);
    let is_hub = |id: &PublicId| {
        !is_entry(id) && node_of.get(id).is_some_and(|node| node.entity.degree > HUB)
    };
    let depth = |id: &PublicId| node_of.get(id).map_or(HOPS, |node| node.depth);
    let mut of_hub: FxHashMap<&PublicId, usize> = FxHashMap::default();
    let mut ranked: Vec<(bool, u32, &RelationView)> = Vec::new();
    for relation in &around.relations {
        let ends = [&relation.source_id, &relation.target_id];
        let hub = ends.into_iter().find(|id| is_hub(id));
        if let Some(hub) = hub {
            let count = of_hub.entry(hub).or_default();
            *count += 1;
            if *count > FROM_HUB {
                continue;
            }
        }
        let depth = ends.into_iter().map(depth).sum();
        ranked.push((hub.is_some(), depth, relation));
    }
    ranked.sort_by(|a, b| {
        (a.0, a.1)
            .cmp(&(b.0, b.1))
            .then(b.2.weight.total_cmp(&a.2.weight))
            .then_with(|| a.2.source.cmp(&b.2.source))
            .then_with(|| a.2.relation_type.cmp(&b.2.relation_type))
            .then_with(|| a.2.target.cmp(&b.2.target))
    });
    let count = ranked.len().max(1) as f64;
    ranked
        .into_iter()
        .enumerate()
        .map(|(place, (_, _, relation))| {
            let mut text = format!(
                "({}) -[{}]-> ({})",
                relation.source, relation.relation_type, relation.target
            );
            if let Some(fact) = relation.fact.as_deref().filter(|fact| !fact.is_empty()) {
                text.push_str(": ");
                text.push_str(fact);
            }
            ContextItem {
                kind: ContextKind::Relation,
                text,
                score: 1.0 - place as f64 / count,
                citation: None,
            }
        })
        .collect()
}
