use std::sync::Arc;

use super::budget::Budget;
use super::error::Result;
use super::value::{NodeId, RelationshipId, Value};

/// A label, as a graph numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelId(pub u32);

/// A relationship type, as a graph numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub u32);

/// A property's name and the number that a graph knows it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub name: Arc<str>,
    pub id: u32,
}

/// What a name of a query stands for in a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved<T> {
    Known(T),
    /// Nothing has it; patterns with it match nothing.
    Absent,
    /// Nothing can have it, so it is a mistake; these come near, best first.
    Unknown(Vec<String>),
}

/// Which way relationships are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Out,
    In,
    Both,
}

impl Direction {
    /// The other way.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
            Self::Both => Self::Both,
        }
    }
}

/// Whether a visitor wants more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    Continue,
    Stop,
}

/// Called with each relationship and the node at its other end.
pub type VisitRelationship<'v> = &'v mut dyn FnMut(RelationshipId, NodeId) -> Result<Flow>;

/// Called with nodes, some at a time or none, and says whether more are wanted.
pub type VisitNodes<'v> = &'v mut dyn FnMut(&[NodeId]) -> Result<Flow>;

/// Relationships of some types in one direction, prepared once a query.
pub trait Expansion {
    /// Visits those of a node. One of a node to itself comes once.
    fn expand(&self, node: NodeId, visit: VisitRelationship<'_>) -> Result<Flow>;

    /// Visits each node that can be reached from `node` over 1 to `hops` relationships, nearest first, once, some
    /// at a time; `node` itself only with `returns`, where relationships of one direction lead back to it. `None`:
    /// the graph has no faster way than to expand again and again.
    fn reach(
        &self,
        node: NodeId,
        hops: u32,
        returns: bool,
        visit: VisitNodes<'_>,
    ) -> Option<Result<Flow>> {
        let _ = (node, hops, returns, visit);
        None
    }
}

/// Walks breadth first from the node in `queue`, which holds all that was met at the end. `expand` adds the nodes
/// next to one that were not met yet; `visit` gets what was added after each.
///
/// # Errors
/// What `expand` and `visit` say.
pub fn breadth_first(
    queue: &mut Vec<NodeId>,
    hops: u32,
    mut expand: impl FnMut(NodeId, &mut Vec<NodeId>) -> Result<()>,
    visit: VisitNodes<'_>,
) -> Result<Flow> {
    let mut level = 0..queue.len();
    for _ in 0..hops {
        if level.is_empty() {
            break;
        }
        let next = queue.len();
        for place in level {
            let known = queue.len();
            expand(queue[place], queue)?;
            if visit(&queue[known..])? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        level = next..queue.len();
    }
    Ok(Flow::Continue)
}

/// Rows of a procedure, one call's worth.
pub type ProcedureRows = Vec<Vec<Value>>;

/// A procedure that `CALL` can name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Procedure {
    pub name: String,
    /// Names of its arguments; the first `required` have to be given.
    pub arguments: Vec<&'static str>,
    pub required: usize,
    pub columns: Vec<&'static str>,
    /// One line for people.
    pub about: &'static str,
}

/// A property graph to read. Names are resolved when a query is bound, so that reading goes by number.
pub trait PropertyGraph {
    fn label(&self, name: &str) -> Resolved<LabelId>;
    fn relationship_type(&self, name: &str) -> Resolved<TypeId>;
    fn key(&self, name: &str) -> Resolved<u32>;

    /// Number of nodes with a label, or of all.
    fn count_nodes(&self, label: Option<LabelId>) -> u64;

    /// Visits the nodes with a label, or all.
    fn nodes(
        &self,
        label: Option<LabelId>,
        visit: &mut dyn FnMut(NodeId) -> Result<Flow>,
    ) -> Result<Flow>;

    /// Nodes that may have this property value, from an index; they need to be checked. `None`: no index.
    fn lookup(&self, key: &Key, value: &Value) -> Result<Option<Vec<NodeId>>> {
        let _ = (key, value);
        Ok(None)
    }

    /// Whether [`PropertyGraph::lookup`] has an index for this property.
    fn has_index(&self, key: &Key) -> bool {
        let _ = key;
        false
    }

    /// Relationships of some types (`None` for all) in one direction.
    fn expansion(&self, types: Option<&[TypeId]>, direction: Direction) -> Box<dyn Expansion + '_>;

    /// Source, target of a relationship.
    fn ends(&self, relationship: RelationshipId) -> (NodeId, NodeId);
    fn type_of(&self, relationship: RelationshipId) -> TypeId;
    fn type_name(&self, relationship: RelationshipId) -> Result<Arc<str>>;

    fn has_label(&self, node: NodeId, label: LabelId) -> Result<bool>;
    fn labels(&self, node: NodeId) -> Result<Vec<Arc<str>>>;

    fn node_property(&self, node: NodeId, key: &Key) -> Result<Value>;
    fn relationship_property(&self, relationship: RelationshipId, key: &Key) -> Result<Value>;
    fn node_properties(&self, node: NodeId) -> Result<Vec<(Arc<str>, Value)>>;
    fn relationship_properties(
        &self,
        relationship: RelationshipId,
    ) -> Result<Vec<(Arc<str>, Value)>>;

    /// What the graph's users call a node or a relationship across queries.
    fn node_name(&self, node: NodeId) -> Result<Arc<str>> {
        Ok(Arc::from(node.0.to_string()))
    }

    /// See [`PropertyGraph::node_name`].
    fn relationship_name(&self, relationship: RelationshipId) -> Result<Arc<str>> {
        Ok(Arc::from(relationship.0.to_string()))
    }

    /// Procedures of this graph.
    fn procedures(&self) -> &[Procedure] {
        &[]
    }

    /// Rows of the procedure at a place in [`PropertyGraph::procedures`]. Long work asks `budget` now and then
    /// whether to go on.
    fn call(
        &self,
        procedure: usize,
        arguments: &[Value],
        budget: &Budget,
    ) -> Result<ProcedureRows> {
        let _ = (procedure, arguments, budget);
        Ok(Vec::new())
    }
}
