//! The store as a property graph: relations and mentions from the graph in memory, what is written about
//! them from the rows.

use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

use rusqlite::Connection;

use super::expansion::StoreExpansion;
use super::kinds::{LinkKind, NodeKind};
use super::names::{
    CHUNK, COMMUNITY, DOCUMENT, ENTITY, GraphNames, IN_COMMUNITY, LABELS, Label, MENTIONS, NEXT,
    PART_OF, TYPES,
};
use super::procedures;
use crate::cypher::{
    Budget, Direction, Expansion, Flow, Key, LabelId, NodeId, Procedure, ProcedureRows,
    PropertyGraph, Query, RelationshipId, Resolved, Result, TypeId, Value,
};
use crate::graph::{Graph, Moment, NO_ENTITY};
use crate::retrieval::Vectors;
use crate::storage::{self, graph_property};
use crate::types::{ChunkId, DocumentId, EntityId, RelationTypeId};

/// One query's view of the store.
pub(super) struct StoreGraph<'a> {
    pub connection: &'a Connection,
    pub namespace: i64,
    pub graph: &'a Graph,
    pub names: &'a GraphNames,
    pub at: Moment,
    /// Chunks that were not there at the asked time.
    pub hidden: &'a storage::Hidden,
    /// The vectors of passages and of a text.
    pub vectors: &'a dyn Fn(&str) -> Vectors,
    /// Communities of each entity, by entity; loaded when asked for.
    pub members: OnceCell<Members>,
    /// Labels that the query names; a label's number is its place.
    pub labels: RefCell<Vec<Label>>,
    /// Whether the query names communities.
    pub names_communities: Cell<bool>,
    pub procedures: Vec<Procedure>,
}

/// Which entities are in which communities.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// (entity index, community), sorted.
    pub by_entity: Vec<(u32, u32)>,
    /// (community, entity index, place among the entity's communities), sorted.
    pub by_community: Vec<(u32, u32, u32)>,
}

impl<'a> StoreGraph<'a> {
    pub(super) fn new(
        (connection, namespace): (&'a Connection, i64),
        graph: &'a Graph,
        names: &'a GraphNames,
        at: Moment,
        hidden: &'a storage::Hidden,
        vectors: &'a dyn Fn(&str) -> Vectors,
    ) -> Self {
        let own = (0..LABELS.len() as u32).map(|own| Label {
            own: Some(own),
            types: Vec::new(),
        });
        Self {
            connection,
            namespace,
            graph,
            names,
            at,
            hidden,
            vectors,
            members: OnceCell::new(),
            labels: RefCell::new(own.collect()),
            names_communities: Cell::new(false),
            procedures: procedures::table(),
        }
    }

    pub(super) fn members(&self) -> Result<&Members> {
        if let Some(members) = self.members.get() {
            return Ok(members);
        }
        let mut members = Members::default();
        for (entity, community) in graph_property::memberships(self.connection, self.namespace)? {
            if let Some(entity) = self.graph.entities.get(entity) {
                members.by_entity.push((entity, community as u32));
            }
        }
        let mut place = 0;
        for (number, &(entity, community)) in members.by_entity.iter().enumerate() {
            let is_first = number == 0 || members.by_entity[number - 1].0 != entity;
            place = if is_first { 0 } else { place + 1 };
            members.by_community.push((community, entity, place));
        }
        members.by_community.sort_unstable();
        Ok(self.members.get_or_init(|| members))
    }

    /// Whether a query bound to this graph names communities, and those known are of another content.
    pub(super) fn lacks_communities(&self, query: &Query) -> Result<bool> {
        let mut calls = query.procedures().iter();
        if !self.names_communities.get()
            && !calls.any(|&place| procedures::lists_communities(place))
        {
            return Ok(false);
        }
        let known = storage::community_generation(self.connection, self.namespace)?;
        Ok(known != Some(self.graph.generation))
    }

    /// Communities of an entity.
    pub(super) fn communities_of(&self, entity: u32) -> Result<&[(u32, u32)]> {
        let members = self.members()?;
        let start = members.by_entity.partition_point(|&(one, _)| one < entity);
        let rest = &members.by_entity[start..];
        Ok(&rest[..rest.partition_point(|&(one, _)| one == entity)])
    }

    /// The node of a document.
    pub(super) fn node_of_document(&self, document: u32) -> NodeId {
        let title = self.graph.title_entity[document as usize];
        if title != NO_ENTITY && self.graph.title_documents.row(title).len() == 1 {
            NodeKind::Entity(title).id()
        } else {
            NodeKind::Document(document).id()
        }
    }

    /// The document that a node is.
    pub(super) fn document_of(&self, node: NodeId) -> Option<u32> {
        match NodeKind::of(node) {
            NodeKind::Document(document) => Some(document),
            NodeKind::Entity(entity) => match self.graph.title_documents.row(entity) {
                [document] => Some(*document),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn entity_id(&self, entity: u32) -> EntityId {
        self.graph.entities.id(entity)
    }

    pub(super) fn document_id(&self, document: u32) -> DocumentId {
        self.graph.documents.id(document)
    }

    pub(super) fn chunk_id(&self, chunk: u32) -> ChunkId {
        self.graph.chunks.id(chunk)
    }

    /// Whether a chunk was there at the asked time.
    pub(super) fn is_there(&self, chunk: u32) -> bool {
        self.hidden.chunks.is_empty() || !self.hidden.chunks.contains(&self.chunk_id(chunk))
    }

    /// The chunk behind a chunk in its document.
    pub(super) fn next_chunk(&self, chunk: u32) -> Option<u32> {
        let document = self.graph.chunk_document[chunk as usize];
        let row = self.graph.document_chunks.row(document);
        let place = row.iter().position(|&other| other == chunk)?;
        row.get(place + 1).copied()
    }

    /// The chunk before a chunk in its document.
    pub(super) fn previous_chunk(&self, chunk: u32) -> Option<u32> {
        let document = self.graph.chunk_document[chunk as usize];
        let row = self.graph.document_chunks.row(document);
        let place = row.iter().position(|&other| other == chunk)?;
        row.get(place.checked_sub(1)?).copied()
    }

    fn own_has(&self, node: NodeId, own: u32) -> bool {
        match NodeKind::of(node) {
            NodeKind::Entity(_) => {
                own == ENTITY || (own == DOCUMENT && self.document_of(node).is_some())
            }
            NodeKind::Document(_) => own == DOCUMENT,
            NodeKind::Chunk(_) => own == CHUNK,
            NodeKind::Community(_) => own == COMMUNITY,
        }
    }

    fn own_nodes(&self, own: u32, visit: &mut dyn FnMut(NodeId) -> Result<Flow>) -> Result<Flow> {
        let numbers: Box<dyn Iterator<Item = NodeId>> = match own {
            ENTITY => {
                Box::new((0..self.graph.entities.len() as u32).map(|n| NodeKind::Entity(n).id()))
            }
            DOCUMENT => {
                Box::new((0..self.graph.documents.len() as u32).map(|n| self.node_of_document(n)))
            }
            CHUNK => Box::new(
                (0..self.graph.chunks.len() as u32)
                    .filter(|&chunk| self.is_there(chunk))
                    .map(|n| NodeKind::Chunk(n).id()),
            ),
            _ => {
                let ids = graph_property::community_ids(self.connection, self.namespace)?;
                Box::new(
                    ids.into_iter()
                        .map(|id| NodeKind::Community(id as u32).id()),
                )
            }
        };
        for node in numbers {
            if visit(node)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Continue)
    }
}

impl PropertyGraph for StoreGraph<'_> {
    fn label(&self, name: &str) -> Resolved<LabelId> {
        match self.names.label(name) {
            Ok(label) => {
                if label.own == Some(COMMUNITY) {
                    self.names_communities.set(true);
                }
                let mut labels = self.labels.borrow_mut();
                let known = labels.iter().position(|known| *known == label);
                Resolved::Known(LabelId(known.unwrap_or_else(|| {
                    labels.push(label);
                    labels.len() - 1
                }) as u32))
            }
            Err(near) => Resolved::Unknown(near),
        }
    }

    fn relationship_type(&self, name: &str) -> Resolved<TypeId> {
        match self.names.relation_type(name) {
            Ok(number) => {
                if number == IN_COMMUNITY {
                    self.names_communities.set(true);
                }
                Resolved::Known(TypeId(number))
            }
            Err(near) => Resolved::Unknown(near),
        }
    }

    fn key(&self, name: &str) -> Resolved<u32> {
        match self.names.property(name) {
            Ok(()) => Resolved::Known(0),
            Err(near) => Resolved::Unknown(near),
        }
    }

    fn count_nodes(&self, label: Option<LabelId>) -> u64 {
        let own = |own: u32| match own {
            ENTITY => self.graph.entities.len(),
            DOCUMENT => self.graph.documents.len(),
            CHUNK => self.graph.chunks.len(),
            _ => 1_000,
        };
        let Some(label) = label else {
            return (own(ENTITY) + own(DOCUMENT) + own(CHUNK)) as u64;
        };
        let label = &self.labels.borrow()[label.0 as usize];
        let types = label.types.iter();
        let of_types: usize = types
            .map(|place| self.names.entity_types[*place as usize].1.len())
            .sum();
        (label.own.map_or(0, own) + of_types) as u64
    }

    fn nodes(
        &self,
        label: Option<LabelId>,
        visit: &mut dyn FnMut(NodeId) -> Result<Flow>,
    ) -> Result<Flow> {
        let Some(label) = label else {
            for own in [ENTITY, DOCUMENT, CHUNK, COMMUNITY] {
                let flow = self.own_nodes(own, &mut |node| {
                    // A document that is an entity came with the entities.
                    let came = own == DOCUMENT && matches!(NodeKind::of(node), NodeKind::Entity(_));
                    if came {
                        Ok(Flow::Continue)
                    } else {
                        visit(node)
                    }
                })?;
                if flow == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
            return Ok(Flow::Continue);
        };
        let label = self.labels.borrow()[label.0 as usize].clone();
        if let Some(own) = label.own
            && self.own_nodes(own, visit)? == Flow::Stop
        {
            return Ok(Flow::Stop);
        }
        for (number, place) in label.types.iter().enumerate() {
            for &entity in &self.names.entity_types[*place as usize].1 {
                let node = NodeKind::Entity(entity).id();
                let came = label.own.is_some_and(|own| self.own_has(node, own))
                    || label.types[..number].iter().any(|earlier| {
                        let entities = &self.names.entity_types[*earlier as usize].1;
                        entities.binary_search(&entity).is_ok()
                    });
                if !came && visit(node)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
        }
        Ok(Flow::Continue)
    }

    fn lookup(&self, key: &Key, value: &Value) -> Result<Option<Vec<NodeId>>> {
        let Some(text) = value.as_text() else {
            return Ok(Some(Vec::new()));
        };
        self.nodes_with(&key.name, text).map(Some)
    }

    fn has_index(&self, key: &Key) -> bool {
        let given = self.names.given.contains(&key.name);
        !given && Self::indexed(&key.name).is_some()
    }

    fn expansion(&self, types: Option<&[TypeId]>, direction: Direction) -> Box<dyn Expansion + '_> {
        Box::new(StoreExpansion::new(self, types, direction))
    }

    fn ends(&self, relationship: RelationshipId) -> (NodeId, NodeId) {
        match LinkKind::of(relationship) {
            LinkKind::Relation(position) => (
                NodeKind::Entity(self.graph.relations.source_of(position)).id(),
                NodeKind::Entity(self.graph.relations.target_of(position)).id(),
            ),
            LinkKind::Mention(chunk, place) => {
                let entity = self.graph.mentions.entities(chunk)[place as usize];
                (NodeKind::Chunk(chunk).id(), NodeKind::Entity(entity).id())
            }
            LinkKind::Part(chunk) => {
                let document = self.graph.chunk_document[chunk as usize];
                (NodeKind::Chunk(chunk).id(), self.node_of_document(document))
            }
            LinkKind::Next(chunk) => {
                let next = self.next_chunk(chunk).unwrap_or(chunk);
                (NodeKind::Chunk(chunk).id(), NodeKind::Chunk(next).id())
            }
            LinkKind::Member(entity, place) => {
                let of = self.communities_of(entity).unwrap_or_default();
                let community = of
                    .get(place as usize)
                    .map_or(0, |&(_, community)| community);
                (
                    NodeKind::Entity(entity).id(),
                    NodeKind::Community(community).id(),
                )
            }
        }
    }

    fn type_of(&self, relationship: RelationshipId) -> TypeId {
        TypeId(match LinkKind::of(relationship) {
            LinkKind::Relation(position) => {
                let id: RelationTypeId = self.graph.relations.kind(position).relation_type;
                let types = &self.names.relation_types;
                let place = types.binary_search_by_key(&id, |(id, _)| *id);
                place.map_or(u32::MAX, |place| place as u32 + TYPES.len() as u32)
            }
            LinkKind::Mention(..) => MENTIONS,
            LinkKind::Part(_) => PART_OF,
            LinkKind::Next(_) => NEXT,
            LinkKind::Member(..) => IN_COMMUNITY,
        })
    }

    fn type_name(&self, relationship: RelationshipId) -> Result<Arc<str>> {
        Ok(match self.type_of(relationship).0 {
            u32::MAX => Arc::from(""),
            number => self.names.type_name(number),
        })
    }

    fn has_label(&self, node: NodeId, label: LabelId) -> Result<bool> {
        let label = &self.labels.borrow()[label.0 as usize];
        if label.own.is_some_and(|own| self.own_has(node, own)) {
            return Ok(true);
        }
        let NodeKind::Entity(entity) = NodeKind::of(node) else {
            return Ok(false);
        };
        Ok(label.types.iter().any(|place| {
            let entities = &self.names.entity_types[*place as usize].1;
            entities.binary_search(&entity).is_ok()
        }))
    }

    fn labels(&self, node: NodeId) -> Result<Vec<Arc<str>>> {
        let own = (0..LABELS.len() as u32).filter(|&own| self.own_has(node, own));
        let mut labels: Vec<Arc<str>> = own.map(|own| Arc::from(LABELS[own as usize].0)).collect();
        if let NodeKind::Entity(entity) = NodeKind::of(node) {
            for (name, entities) in &self.names.entity_types {
                if entities.binary_search(&entity).is_ok() && !labels.contains(name) {
                    labels.push(Arc::clone(name));
                }
            }
        }
        Ok(labels)
    }

    fn node_property(&self, node: NodeId, key: &Key) -> Result<Value> {
        self.property_of_node(node, &key.name)
    }

    fn relationship_property(&self, relationship: RelationshipId, key: &Key) -> Result<Value> {
        self.property_of_relationship(relationship, &key.name)
    }

    fn node_properties(&self, node: NodeId) -> Result<Vec<(Arc<str>, Value)>> {
        self.properties_of_node(node)
    }

    fn relationship_properties(
        &self,
        relationship: RelationshipId,
    ) -> Result<Vec<(Arc<str>, Value)>> {
        self.properties_of_relationship(relationship)
    }

    fn node_name(&self, node: NodeId) -> Result<Arc<str>> {
        let id = self.property_of_node(node, "id")?;
        Ok(match &id {
            Value::String(text) => Arc::clone(text),
            other => Arc::from(other.to_string()),
        })
    }

    fn procedures(&self) -> &[Procedure] {
        &self.procedures
    }

    fn call(
        &self,
        procedure: usize,
        arguments: &[Value],
        budget: &Budget,
    ) -> Result<ProcedureRows> {
        procedures::call(self, procedure, arguments, budget)
    }
}
