use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::Result;
use super::graph::{
    Direction, Expansion, Flow, Key, LabelId, PropertyGraph, Resolved, TypeId, VisitRelationship,
};
use super::value::{NodeId, RelationshipId, Value};

/// A property graph in memory, built node by node: for tests, the compatibility kit and small examples.
#[derive(Debug, Clone, Default)]
pub struct MemoryGraph {
    nodes: Vec<Node>,
    relationships: Vec<Relationship>,
    labels: Vec<Arc<str>>,
    types: Vec<Arc<str>>,
    keys: Vec<Arc<str>>,
}

type Properties = BTreeMap<u32, Value>;

#[derive(Debug, Clone)]
struct Node {
    labels: Vec<LabelId>,
    properties: Properties,
    outgoing: Vec<u64>,
    incoming: Vec<u64>,
}

#[derive(Debug, Clone)]
struct Relationship {
    source: NodeId,
    target: NodeId,
    kind: TypeId,
    properties: Properties,
}

fn intern(names: &mut Vec<Arc<str>>, name: &str) -> u32 {
    let place = names.iter().position(|known| **known == *name);
    place.unwrap_or_else(|| {
        names.push(Arc::from(name));
        names.len() - 1
    }) as u32
}

fn find(names: &[Arc<str>], name: &str) -> Option<u32> {
    let place = names.iter().position(|known| **known == *name);
    place.map(|place| place as u32)
}

impl MemoryGraph {
    /// Adds a node; properties that are null are none.
    pub fn add_node<'a>(
        &mut self,
        labels: impl IntoIterator<Item = &'a str>,
        properties: impl IntoIterator<Item = (&'a str, Value)>,
    ) -> NodeId {
        let mut ids: Vec<LabelId> = labels
            .into_iter()
            .map(|label| LabelId(intern(&mut self.labels, label)))
            .collect();
        ids.dedup();
        let properties = self.properties(properties);
        self.nodes.push(Node {
            labels: ids,
            properties,
            outgoing: Vec::new(),
            incoming: Vec::new(),
        });
        NodeId(self.nodes.len() as u64 - 1)
    }

    /// Adds a relationship between two nodes of this graph.
    pub fn add_relationship<'a>(
        &mut self,
        source: NodeId,
        target: NodeId,
        kind: &str,
        properties: impl IntoIterator<Item = (&'a str, Value)>,
    ) -> RelationshipId {
        let kind = TypeId(intern(&mut self.types, kind));
        let properties = self.properties(properties);
        let id = self.relationships.len() as u64;
        self.relationships.push(Relationship {
            source,
            target,
            kind,
            properties,
        });
        self.nodes[source.0 as usize].outgoing.push(id);
        self.nodes[target.0 as usize].incoming.push(id);
        RelationshipId(id)
    }

    fn properties<'a>(
        &mut self,
        properties: impl IntoIterator<Item = (&'a str, Value)>,
    ) -> Properties {
        properties
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (intern(&mut self.keys, name), value))
            .collect()
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    fn relationship(&self, id: RelationshipId) -> &Relationship {
        &self.relationships[id.0 as usize]
    }

    fn named(&self, properties: &Properties) -> Vec<(Arc<str>, Value)> {
        properties
            .iter()
            .map(|(key, value)| (Arc::clone(&self.keys[*key as usize]), value.clone()))
            .collect()
    }
}

fn resolved<T>(found: Option<u32>, id: impl Fn(u32) -> T) -> Resolved<T> {
    found.map_or(Resolved::Absent, |found| Resolved::Known(id(found)))
}

struct Neighbors<'g> {
    graph: &'g MemoryGraph,
    types: Option<Vec<TypeId>>,
    direction: Direction,
}

impl Expansion for Neighbors<'_> {
    fn expand(&self, node: NodeId, visit: VisitRelationship<'_>) -> Result<Flow> {
        let row = self.graph.node(node);
        let passes = |id: u64| {
            let kind = self.graph.relationships[id as usize].kind;
            self.types
                .as_ref()
                .is_none_or(|types| types.contains(&kind))
        };
        if self.direction != Direction::In {
            for &id in row.outgoing.iter().filter(|id| passes(**id)) {
                let target = self.graph.relationships[id as usize].target;
                if visit(RelationshipId(id), target)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
        }
        if self.direction != Direction::Out {
            for &id in row.incoming.iter().filter(|id| passes(**id)) {
                let source = self.graph.relationships[id as usize].source;
                if source == node && self.direction == Direction::Both {
                    continue;
                }
                if visit(RelationshipId(id), source)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
        }
        Ok(Flow::Continue)
    }
}

impl PropertyGraph for MemoryGraph {
    fn label(&self, name: &str) -> Resolved<LabelId> {
        resolved(find(&self.labels, name), LabelId)
    }

    fn relationship_type(&self, name: &str) -> Resolved<TypeId> {
        resolved(find(&self.types, name), TypeId)
    }

    fn key(&self, name: &str) -> Resolved<u32> {
        resolved(find(&self.keys, name), |id| id)
    }

    fn count_nodes(&self, label: Option<LabelId>) -> u64 {
        let has = |node: &&Node| label.is_none_or(|label| node.labels.contains(&label));
        self.nodes.iter().filter(has).count() as u64
    }

    fn nodes(
        &self,
        label: Option<LabelId>,
        visit: &mut dyn FnMut(NodeId) -> Result<Flow>,
    ) -> Result<Flow> {
        for (node, id) in self.nodes.iter().zip(0..) {
            let has = label.is_none_or(|label| node.labels.contains(&label));
            if has && visit(NodeId(id))? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Continue)
    }

    fn expansion(&self, types: Option<&[TypeId]>, direction: Direction) -> Box<dyn Expansion + '_> {
        Box::new(Neighbors {
            graph: self,
            types: types.map(<[_]>::to_vec),
            direction,
        })
    }

    fn ends(&self, relationship: RelationshipId) -> (NodeId, NodeId) {
        let row = self.relationship(relationship);
        (row.source, row.target)
    }

    fn type_of(&self, relationship: RelationshipId) -> TypeId {
        self.relationship(relationship).kind
    }

    fn type_name(&self, relationship: RelationshipId) -> Result<Arc<str>> {
        let kind = self.relationship(relationship).kind;
        Ok(Arc::clone(&self.types[kind.0 as usize]))
    }

    fn has_label(&self, node: NodeId, label: LabelId) -> Result<bool> {
        Ok(self.node(node).labels.contains(&label))
    }

    fn labels(&self, node: NodeId) -> Result<Vec<Arc<str>>> {
        let labels = self.node(node).labels.iter();
        Ok(labels
            .map(|label| Arc::clone(&self.labels[label.0 as usize]))
            .collect())
    }

    fn node_property(&self, node: NodeId, key: &Key) -> Result<Value> {
        let value = self.node(node).properties.get(&key.id);
        Ok(value.cloned().unwrap_or_default())
    }

    fn relationship_property(&self, relationship: RelationshipId, key: &Key) -> Result<Value> {
        let value = self.relationship(relationship).properties.get(&key.id);
        Ok(value.cloned().unwrap_or_default())
    }

    fn node_properties(&self, node: NodeId) -> Result<Vec<(Arc<str>, Value)>> {
        Ok(self.named(&self.node(node).properties))
    }

    fn relationship_properties(
        &self,
        relationship: RelationshipId,
    ) -> Result<Vec<(Arc<str>, Value)>> {
        Ok(self.named(&self.relationship(relationship).properties))
    }
}
