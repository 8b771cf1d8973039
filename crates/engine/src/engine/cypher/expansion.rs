//! Relationships of a node, from the arrays in memory.

use std::cell::RefCell;

use super::kinds::{LinkKind, NodeKind};
use super::names::{IN_COMMUNITY, MENTIONS, NEXT, PART_OF, TYPES};
use super::store_graph::StoreGraph;
use crate::cypher::{
    Direction, Expansion, Flow, NodeId, Result, TypeId, VisitNodes, VisitRelationship,
    breadth_first,
};
use crate::graph::EdgeFilter;
use crate::types;

/// Relationships of some types in one direction.
pub(super) struct StoreExpansion<'g> {
    graph: &'g StoreGraph<'g>,
    direction: Direction,
    /// Relations that pass; `None` when no relation is asked for.
    relations: Option<EdgeFilter>,
    /// By [`TYPES`].
    own: [bool; TYPES.len()],
    /// A bit for each entity that a walk has met; none between walks.
    met: RefCell<Vec<u64>>,
}

impl<'g> StoreExpansion<'g> {
    pub(super) fn new(
        graph: &'g StoreGraph<'g>,
        types: Option<&[TypeId]>,
        direction: Direction,
    ) -> Self {
        let own = [MENTIONS, PART_OF, NEXT, IN_COMMUNITY]
            .map(|number| types.is_none_or(|types| types.contains(&TypeId(number))));
        let relation_types: Option<Vec<_>> = types.map(|types| {
            types
                .iter()
                .filter_map(|number| (number.0 as usize).checked_sub(TYPES.len()))
                .map(|place| graph.names.relation_types[place].0)
                .collect()
        });
        let is_asked = relation_types
            .as_ref()
            .is_none_or(|types| !types.is_empty());
        let relations = is_asked.then(|| {
            let direction = match direction {
                Direction::Out => types::Direction::Out,
                Direction::In => types::Direction::In,
                Direction::Both => types::Direction::Both,
            };
            let relations = &graph.graph.relations;
            EdgeFilter::new(relations, direction, relation_types.as_deref(), graph.at)
        });
        Self {
            graph,
            direction,
            relations,
            own,
            met: RefCell::default(),
        }
    }

    fn goes(&self, number: u32, direction: Direction) -> bool {
        self.own[number as usize]
            && (self.direction == direction || self.direction == Direction::Both)
    }

    fn of_entity(&self, entity: u32, visit: VisitRelationship<'_>) -> Result<Flow> {
        let graph = self.graph.graph;
        if let Some(filter) = &self.relations {
            let mut outcome = Ok(Flow::Continue);
            let mut loops = Vec::new();
            graph
                .relations
                .each_neighbor(entity, filter, |other, position| {
                    if !matches!(outcome, Ok(Flow::Continue)) {
                        return;
                    }
                    // In both directions a relation of an entity to itself would come twice.
                    if other == entity && self.direction == Direction::Both {
                        if loops.contains(&position) {
                            return;
                        }
                        loops.push(position);
                    }
                    outcome = visit(
                        LinkKind::Relation(position).id(),
                        NodeKind::Entity(other).id(),
                    );
                });
            if outcome? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        if self.goes(MENTIONS, Direction::In) {
            for &chunk in graph.mentions.chunks(entity) {
                let place = graph.mentions.entities(chunk).binary_search(&entity);
                let Ok(place) = place else { continue };
                if self.graph.is_there(chunk) {
                    let id = LinkKind::Mention(chunk, place as u32).id();
                    if visit(id, NodeKind::Chunk(chunk).id())? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
        }
        if self.goes(IN_COMMUNITY, Direction::Out) {
            for (&(_, community), place) in self.graph.communities_of(entity)?.iter().zip(0..) {
                let id = LinkKind::Member(entity, place).id();
                if visit(id, NodeKind::Community(community).id())? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
        }
        Ok(Flow::Continue)
    }

    fn of_chunk(&self, chunk: u32, visit: VisitRelationship<'_>) -> Result<Flow> {
        let graph = self.graph.graph;
        let mut found = Vec::new();
        if self.goes(MENTIONS, Direction::Out) {
            let entities = graph.mentions.entities(chunk).iter().zip(0..);
            found.extend(entities.map(|(&entity, place)| {
                (
                    LinkKind::Mention(chunk, place),
                    NodeKind::Entity(entity).id(),
                )
            }));
        }
        if self.goes(PART_OF, Direction::Out) {
            let document = graph.chunk_document[chunk as usize];
            found.push((LinkKind::Part(chunk), self.graph.node_of_document(document)));
        }
        if self.goes(NEXT, Direction::Out)
            && let Some(next) = self.graph.next_chunk(chunk)
            && self.graph.is_there(next)
        {
            found.push((LinkKind::Next(chunk), NodeKind::Chunk(next).id()));
        }
        if self.goes(NEXT, Direction::In)
            && let Some(previous) = self.graph.previous_chunk(chunk)
            && self.graph.is_there(previous)
        {
            found.push((LinkKind::Next(previous), NodeKind::Chunk(previous).id()));
        }
        for (link, node) in found {
            if visit(link.id(), node)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Continue)
    }
}

impl Expansion for StoreExpansion<'_> {
    fn expand(&self, node: NodeId, visit: VisitRelationship<'_>) -> Result<Flow> {
        let flow = match NodeKind::of(node) {
            NodeKind::Entity(entity) => self.of_entity(entity, visit)?,
            NodeKind::Chunk(chunk) => self.of_chunk(chunk, visit)?,
            NodeKind::Document(_) => Flow::Continue,
            NodeKind::Community(community) => {
                if self.goes(IN_COMMUNITY, Direction::In) {
                    let members = &self.graph.members()?.by_community;
                    let start = members.partition_point(|row| row.0 < community);
                    for &(_, entity, place) in
                        members[start..].iter().take_while(|row| row.0 == community)
                    {
                        let id = LinkKind::Member(entity, place).id();
                        if visit(id, NodeKind::Entity(entity).id())? == Flow::Stop {
                            return Ok(Flow::Stop);
                        }
                    }
                }
                Flow::Continue
            }
        };
        if flow == Flow::Stop || !self.goes(PART_OF, Direction::In) {
            return Ok(flow);
        }
        if let Some(document) = self.graph.document_of(node) {
            for &chunk in self.graph.graph.document_chunks.row(document) {
                if self.graph.is_there(chunk)
                    && visit(LinkKind::Part(chunk).id(), NodeKind::Chunk(chunk).id())? == Flow::Stop
                {
                    return Ok(Flow::Stop);
                }
            }
        }
        Ok(Flow::Continue)
    }

    /// Over relations alone: a bit for each entity instead of a set.
    fn reach(
        &self,
        node: NodeId,
        hops: u32,
        returns: bool,
        visit: VisitNodes<'_>,
    ) -> Option<Result<Flow>> {
        let (Some(filter), NodeKind::Entity(start)) = (&self.relations, NodeKind::of(node)) else {
            return None;
        };
        if self.own.contains(&true) {
            return None;
        }
        let relations = &self.graph.graph.relations;
        // A walk inside this one finds none here and makes its own.
        let mut met = self.met.take();
        met.resize(relations.nodes().div_ceil(64), 0);
        if !returns {
            is_new(&mut met, start);
        }
        let mut queue = vec![node];
        let flow = breadth_first(
            &mut queue,
            hops,
            |node, queue| {
                relations.each_neighbor(node.0 as u32, filter, |other, _| {
                    if is_new(&mut met, other) {
                        queue.push(NodeKind::Entity(other).id());
                    }
                });
                Ok(())
            },
            visit,
        );
        for node in queue {
            met[node.0 as usize / 64] = 0;
        }
        self.met.replace(met);
        Some(flow)
    }
}

/// Whether the bit of an entity was not set yet; it is then.
fn is_new(met: &mut [u64], entity: u32) -> bool {
    let (word, bit) = (&mut met[entity as usize / 64], 1 << (entity % 64));
    let is_new = *word & bit == 0;
    *word |= bit;
    is_new
}
