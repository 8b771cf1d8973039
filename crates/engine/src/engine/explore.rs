//! Entities, neighbourhoods and paths as people and agents see them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rusqlite::Connection;

use super::evidence::evidence_of;
use crate::graph::{
    AliasIndex, Edge, Graph, HubRule, Moment, Overlap, PathSearch, Traversal, link,
};
use crate::retrieval::RankedGraph;
use crate::storage::{self, EntityRow};
use crate::text::{Language, fold};
use crate::types::{
    EntityId, EntityKind, EntityView, NeighborRequest, NeighborView, Neighborhood, PathView,
    RelationTypeId, RelationView,
};
use crate::{Error, Result};

/// Most passages shown for one relation.
const EVIDENCE_SHOWN: usize = 5;

/// The alias table of the store; what is found by likeness comes from its copy in memory.
struct StoredAliases<'a> {
    explorer: &'a Explorer<'a>,
}

impl AliasIndex for StoredAliases<'_> {
    fn exact(&self, folded: &str) -> Result<Vec<EntityId>> {
        storage::entities_of_form(self.explorer.connection, self.explorer.namespace, folded)
    }

    fn squashed(&self, form: &str) -> Result<Vec<EntityId>> {
        storage::entities_of_squashed(self.explorer.connection, self.explorer.namespace, form)
    }

    fn overlapping(&self, form: &str) -> Result<Vec<Overlap>> {
        let explorer = self.explorer;
        explorer
            .ranked
            .alias_table(explorer.connection, explorer.namespace)?
            .overlapping(form)
    }
}

/// What questions about the graph's structure read.
pub(super) struct Explorer<'a> {
    pub connection: &'a Connection,
    pub namespace: i64,
    pub ranked: &'a RankedGraph,
    pub graph: &'a Graph,
    /// Languages of the documents: their stop words are skipped when a phrase is linked.
    pub languages: Vec<Language>,
    pub at: Moment,
    /// Whether `at` is the present.
    pub is_present: bool,
}

impl Explorer<'_> {
    pub(super) fn entity(&self, name: &str) -> Result<Vec<EntityView>> {
        self.resolve(name)?
            .into_iter()
            .map(|id| self.view(id))
            .collect()
    }

    pub(super) fn neighbors(&self, request: &NeighborRequest) -> Result<Neighborhood> {
        let mut seeds: BTreeSet<u32> = BTreeSet::new();
        for name in &request.seeds {
            let found = self.known(name)?;
            seeds.extend(
                found
                    .into_iter()
                    .filter_map(|id| self.graph.entities.get(id)),
            );
        }
        let relation_types = self.type_filter(&request.relation_types)?;
        let traversal = Traversal {
            max_hops: request.max_hops,
            max_nodes: request.max_nodes,
            direction: request.direction,
            relation_types,
            ..Traversal::new(seeds.into_iter().collect(), self.at)
        };
        let walked = traversal.run(&self.graph.relations);
        let nodes = walked
            .nodes
            .iter()
            .map(|node| {
                Ok(NeighborView {
                    depth: node.depth,
                    entity: self.view(self.graph.entities.id(node.entity))?,
                })
            })
            .collect::<Result<_>>()?;
        let relations = walked
            .edges
            .iter()
            .map(|edge| self.relation(edge))
            .collect::<Result<_>>()?;
        Ok(Neighborhood {
            nodes,
            relations,
            cut: walked.cut,
        })
    }

    pub(super) fn paths(
        &self,
        from: &str,
        to: &str,
        max_hops: u32,
        limit: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<PathView>> {
        let (from, to) = (self.known(from)?, self.known(to)?);
        let mut found = Vec::new();
        for &start in &from {
            for &end in &to {
                let (Some(from), Some(to)) =
                    (self.graph.entities.get(start), self.graph.entities.get(end))
                else {
                    continue;
                };
                let search = PathSearch {
                    max_hops,
                    limit,
                    hubs: HubRule::Damp,
                    ..PathSearch::new(from, to, self.at)
                };
                found.extend(search.run_until(&self.graph.relations, stop).paths);
            }
        }
        found.sort_by(|a, b| {
            (a.edges.len().cmp(&b.edges.len()))
                .then(a.cost.total_cmp(&b.cost))
                .then_with(|| a.nodes.cmp(&b.nodes))
        });
        found
            .iter()
            .take(limit)
            .map(|path| {
                Ok(PathView {
                    nodes: path
                        .nodes
                        .iter()
                        .map(|&node| self.view(self.graph.entities.id(node)))
                        .collect::<Result<_>>()?,
                    relations: path
                        .edges
                        .iter()
                        .map(|edge| self.relation(edge))
                        .collect::<Result<_>>()?,
                })
            })
            .collect()
    }

    pub(super) fn hubs(&self, limit: usize) -> Result<Vec<EntityView>> {
        crate::graph::hubs(self.graph, self.at, limit)
            .into_iter()
            .map(|(entity, _)| self.view(self.graph.entities.id(entity)))
            .collect()
    }

    pub(super) fn entities(&self, from: usize, limit: usize) -> Result<Vec<EntityView>> {
        let degree = |id: EntityId| {
            let index = self.graph.entities.get(id);
            index.map_or(0, |index| self.graph.relations.degree(index, self.at))
        };
        let current = storage::current_entities(self.connection, self.namespace)?;
        let mut all: Vec<(Reverse<u32>, EntityId)> = current
            .into_iter()
            .map(|(id, is_given)| (degree(id), id, is_given))
            .filter(|&(degree, _, is_given)| degree > 0 || is_given)
            .map(|(degree, id, _)| (Reverse(degree), id))
            .collect();
        all.sort_unstable();
        let page = all.into_iter().skip(from).take(limit);
        page.map(|(_, id)| self.view(id)).collect()
    }

    pub(super) fn orphans(&self) -> Result<Vec<EntityView>> {
        let mut views = Vec::new();
        for entity in crate::graph::orphans(self.graph, self.at) {
            let id = self.graph.entities.id(entity);
            // Rows of a table or a corpus link to nothing by nature.
            if storage::entity(self.connection, id)?.kind == EntityKind::Note {
                views.push(self.view(id)?);
            }
        }
        views.sort_by(|a, b| a.uri.cmp(&b.uri).then_with(|| a.name.cmp(&b.name)));
        Ok(views)
    }

    /// The entities of a public id, a uri or an alias; else those that the phrase most likely names.
    pub(super) fn resolve(&self, name: &str) -> Result<Vec<EntityId>> {
        if let Some(row) = storage::entity_by_public_id(self.connection, self.namespace, name)? {
            return Ok(vec![row.id]);
        }
        if let Some(document) = storage::document_by_uri(self.connection, self.namespace, name)? {
            return Ok(vec![document.entity]);
        }
        let mut exact = storage::entities_of_form(self.connection, self.namespace, &fold(name))?;
        if !self.is_present {
            exact.extend(self.past(name)?);
        }
        if !exact.is_empty() {
            return Ok(exact);
        }
        let aliases = StoredAliases { explorer: self };
        let is_isolated = |id| {
            let index = self.graph.entities.get(id);
            index.is_none_or(|index| self.graph.is_isolated(index, self.at))
        };
        let linked = link(name, &self.languages, &aliases, is_isolated)?;
        let best = linked.first().map_or(0.0, |best| best.score);
        Ok(linked
            .into_iter()
            .take_while(|found| found.score >= best)
            .map(|found| found.entity)
            .collect())
    }

    /// Entities of this name that are gone by now and had relations then.
    fn past(&self, name: &str) -> Result<Vec<EntityId>> {
        let mut past = storage::past_entities(self.connection, self.namespace, name, &fold(name))?;
        past.retain(|&id| {
            let index = self.graph.entities.get(id);
            index.is_some_and(|index| self.graph.relations.degree(index, self.at) > 0)
        });
        Ok(past)
    }

    pub(super) fn known(&self, name: &str) -> Result<Vec<EntityId>> {
        let found = self.resolve(name)?;
        if found.is_empty() {
            return Err(Error::NotFound {
                kind: "entity",
                name: name.to_owned(),
            });
        }
        Ok(found)
    }

    /// The relation types of these names; `None`, every type, for no names.
    pub(super) fn type_filter(&self, names: &[String]) -> Result<Option<Vec<RelationTypeId>>> {
        if names.is_empty() {
            return Ok(None);
        }
        let mut ids = Vec::new();
        for name in names {
            let found = storage::relation_types_of(self.connection, self.namespace, name)?;
            if found.is_empty() {
                return Err(Error::NotFound {
                    kind: "relation type",
                    name: name.clone(),
                });
            }
            ids.extend(found);
        }
        Ok(Some(ids))
    }

    pub(super) fn view(&self, id: EntityId) -> Result<EntityView> {
        let row: EntityRow = storage::entity(self.connection, id)?;
        let mut aliases: Vec<String> = storage::aliases_of_entity(self.connection, id)?
            .into_iter()
            .map(|alias| alias.written)
            .filter(|written| *written != row.name)
            .collect();
        aliases.sort();
        aliases.dedup();
        let index = self.graph.entities.get(id);
        let uri = storage::documents_of_entity(self.connection, id)?
            .into_iter()
            .next()
            .map(|document| document.uri);
        Ok(EntityView {
            public_id: row.public_id,
            kind: row.kind,
            types: storage::types_of_entity(self.connection, id)?,
            name: row.name,
            description: row.description,
            aliases,
            uri,
            degree: index.map_or(0, |index| self.graph.relations.degree(index, self.at)),
            mentions: index.map_or(0, |index| self.graph.mentions.chunks(index).len() as u32),
        })
    }

    pub(super) fn relation(&self, edge: &Edge) -> Result<RelationView> {
        let source = storage::entity(self.connection, self.graph.entities.id(edge.source))?;
        let target = storage::entity(self.connection, self.graph.entities.id(edge.target))?;
        let type_id = self.graph.relations.type_ids()[edge.relation_type as usize];
        let detail = storage::relation_detail(self.connection, edge.relation)?;
        Ok(RelationView {
            source: source.name,
            source_id: source.public_id,
            relation_type: storage::relation_type_name(self.connection, type_id)?,
            target: target.name,
            target_id: target.public_id,
            weight: f64::from(edge.weight),
            fact: detail.fact,
            confidence: detail.confidence,
            times: detail.times,
            ended_by: detail.ended_by,
            evidence: evidence_of(self.connection, edge.relation, EVIDENCE_SHOWN)?,
        })
    }
}
