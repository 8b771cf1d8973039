//! What belongs to a question, within one budget: entities, their relations, and passages with their neighbours.

use rustc_hash::FxHashMap;

use super::Engine;
use super::explore::Explorer;
use crate::Result;
use crate::retrieval::{self, CHUNKS, Candidates, pack, score_sentences};
use crate::storage;
use crate::types::{
    Context, ContextItem, ContextKind, ContextRequest, EntryEntity, NeighborRequest, NeighborView,
    Neighborhood, PublicId, RelationView, SearchRequest,
};

/// How far relations are followed, and how many entities at most.
const HOPS: u32 = 2;
const MOST_NODES: usize = 40;
/// An entity with more relations than this, beyond the ones asked about, is a hub: its relations come last, and at
/// most so many of them.
const HUB: u32 = 50;
const FROM_HUB: usize = 3;
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
        let mut candidates = Candidates {
            sentences,
            ..Candidates::default()
        };
        if request.with_graph {
            let around = self.explore(|explorer| explorer.around(&request.query, &mut entries))?;
            candidates.entities = around.nodes.iter().map(entity_line).collect();
            candidates.relations = relation_lines(&around, &entries);
            candidates.reports = self.reports_around(&entries)?;
        }
        let (items, used, cut) = pack(candidates, request.budget);
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

    /// The neighbourhood of what the question names; of what the whole of it is called, when it names nothing.
    fn around(&self, query: &str, entries: &mut Vec<EntryEntity>) -> Result<Neighborhood> {
        if entries.is_empty() {
            let named = self.entity(query)?;
            let share = 1.0 / named.len().max(1) as f64;
            entries.extend(named.into_iter().map(|entity| EntryEntity {
                public_id: entity.public_id,
                name: entity.name,
                weight: share,
            }));
        }
        if entries.is_empty() {
            return Ok(Neighborhood::default());
        }
        self.neighbors(&NeighborRequest {
            seeds: entries
                .iter()
                .map(|entry| entry.public_id.0.clone())
                .collect(),
            max_hops: HOPS,
            max_nodes: MOST_NODES,
            ..NeighborRequest::new("")
        })
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
