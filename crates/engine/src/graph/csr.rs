use std::sync::OnceLock;

use super::edge_filter::EdgeFilter;
use super::index::{IdList, offsets_of, span};
use super::window::{Moment, Window};
use crate::types::{Direction, RelationId, RelationTypeId};

/// One relation version as the graph holds it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// Entity index.
    pub source: u32,
    /// Entity index.
    pub target: u32,
    /// Index in [`RelationCsr::type_ids`].
    pub relation_type: u32,
    pub weight: f32,
    pub relation: RelationId,
    pub window: Window,
}

/// Type and times of an edge. A run records many edges at once, so a graph has few kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeKind {
    pub relation_type: RelationTypeId,
    pub window: Window,
}

/// Relations of all times in both directions (compressed sparse rows). An edge's position is its place in
/// the order (source, target, type, row id).
#[derive(Debug, Clone)]
pub struct RelationCsr {
    pub(super) out: OutgoingEdges,
    type_ids: Vec<RelationTypeId>,
    /// The part of both times in which every edge is visible: nothing needs to be filtered there.
    always: Window,
    /// Derived when it is first asked for.
    incoming: OnceLock<IncomingEdges>,
}

/// The arrays of the outgoing direction, from which the rest follows.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct OutgoingEdges {
    pub(super) offsets: Vec<u32>,
    pub(super) targets: Vec<u32>,
    /// Index in `kind_table`.
    pub(super) kinds: Vec<u32>,
    pub(super) weights: Vec<f32>,
    pub(super) relations: IdList<RelationId>,
    pub(super) kind_table: Vec<EdgeKind>,
}

/// Edges by target, in the order of their positions.
#[derive(Debug, Clone)]
struct IncomingEdges {
    offsets: Vec<u32>,
    sources: Vec<u32>,
    positions: Vec<u32>,
}

impl OutgoingEdges {
    /// Leaves only the kinds that some edge has, in order, so that equal edges give equal arrays.
    pub(super) fn tidy(&mut self) {
        let mut used = vec![false; self.kind_table.len()];
        for &kind in &self.kinds {
            used[kind as usize] = true;
        }
        if used.iter().all(|&used| used) && self.kind_table.is_sorted() {
            return;
        }
        let kinds = self.kind_table.iter().copied().zip(0..);
        let mut kept: Vec<(EdgeKind, u32)> =
            kinds.filter(|&(_, number)| used[number as usize]).collect();
        kept.sort_unstable();
        let mut rank = vec![0; self.kind_table.len()];
        for (&(_, number), place) in kept.iter().zip(0..) {
            rank[number as usize] = place;
        }
        for kind in &mut self.kinds {
            *kind = rank[*kind as usize];
        }
        self.kind_table = kept.into_iter().map(|(kind, _)| kind).collect();
    }

    fn incoming(&self) -> IncomingEdges {
        let nodes = self.offsets.len() - 1;
        let offsets = offsets_of(nodes, self.targets.iter().copied());
        let mut next = offsets.clone();
        let mut sources = vec![0; self.targets.len()];
        let mut positions = vec![0; self.targets.len()];
        for source in 0..nodes as u32 {
            for position in span(&self.offsets, source) {
                let slot = &mut next[self.targets[position] as usize];
                sources[*slot as usize] = source;
                positions[*slot as usize] = position as u32;
                *slot += 1;
            }
        }
        IncomingEdges {
            offsets,
            sources,
            positions,
        }
    }
}

impl RelationCsr {
    pub(super) fn new(out: OutgoingEdges) -> Self {
        let kinds = out.kind_table.iter();
        let mut type_ids: Vec<_> = kinds.map(|kind| kind.relation_type).collect();
        type_ids.sort_unstable();
        type_ids.dedup();
        let windows = out.kind_table.iter().map(|kind| kind.window);
        Self {
            type_ids,
            always: windows.fold(Window::ALWAYS, Window::intersect),
            out,
            incoming: OnceLock::new(),
        }
    }

    fn incoming(&self) -> &IncomingEdges {
        self.incoming.get_or_init(|| self.out.incoming())
    }

    /// Number of entities, with or without edges.
    pub fn nodes(&self) -> usize {
        self.out.offsets.len() - 1
    }

    /// Number of relation versions of all times.
    pub fn len(&self) -> usize {
        self.out.targets.len()
    }

    /// Whether there is no edge.
    pub fn is_empty(&self) -> bool {
        self.out.targets.is_empty()
    }

    /// Row ids of the relation types, in order; an edge's type is an index in this list.
    pub fn type_ids(&self) -> &[RelationTypeId] {
        &self.type_ids
    }

    /// The kinds of all edges, in order.
    pub fn kinds(&self) -> &[EdgeKind] {
        &self.out.kind_table
    }

    /// The entity that the edge at a position reaches.
    pub fn target_of(&self, position: usize) -> u32 {
        self.out.targets[position]
    }

    /// The entity that the edge at a position leaves.
    pub fn source_of(&self, position: usize) -> u32 {
        let starts = &self.out.offsets;
        starts.partition_point(|&start| start as usize <= position) as u32 - 1
    }

    /// The edge at a position.
    pub fn edge(&self, position: usize) -> Edge {
        let kind = self.kind(position);
        let relation_type = self.type_ids.binary_search(&kind.relation_type);
        Edge {
            source: self.source_of(position),
            target: self.out.targets[position],
            relation_type: relation_type.expect("every kind's type is listed") as u32,
            weight: self.out.weights[position],
            relation: self.out.relations.id(position),
            window: kind.window,
        }
    }

    /// Type and times of the edge at a position.
    pub fn kind(&self, position: usize) -> EdgeKind {
        self.out.kind_table[self.out.kinds[position] as usize]
    }

    /// Positions of the edges that leave `node`, by target.
    pub fn outgoing(&self, node: u32) -> std::ops::Range<usize> {
        span(&self.out.offsets, node)
    }

    /// Targets of all edges that leave `node`, at any time.
    pub fn targets(&self, node: u32) -> &[u32] {
        &self.out.targets[self.outgoing(node)]
    }

    /// Sources of all edges that reach `node`, at any time.
    pub fn sources(&self, node: u32) -> &[u32] {
        let incoming = self.incoming();
        &incoming.sources[span(&incoming.offsets, node)]
    }

    /// Weight of the edge at a position: the number of distinct passages that state it.
    pub fn weight(&self, position: usize) -> f32 {
        self.out.weights[position]
    }

    /// Number of edges of `node` in both directions, at any time.
    pub fn row_length(&self, node: u32) -> usize {
        self.outgoing(node).len() + span(&self.incoming().offsets, node).len()
    }

    /// Whether every edge is visible at `at`.
    pub fn all_visible(&self, at: Moment) -> bool {
        self.always.contains(at)
    }

    /// Whether the edge at a position is visible at `at`.
    pub fn is_visible(&self, position: usize, at: Moment) -> bool {
        self.kind(position).window.contains(at)
    }

    /// Calls `visit` with the other end and the position of each edge of `node` that passes, outgoing ones
    /// first. An edge of a node to itself comes twice when both directions are asked for.
    pub fn each_neighbor(&self, node: u32, filter: &EdgeFilter, mut visit: impl FnMut(u32, usize)) {
        let passing = filter.by_kind();
        let passes = |position: usize| {
            passing.is_none_or(|passing| passing[self.out.kinds[position] as usize])
        };
        if filter.direction != Direction::In {
            let row = self.outgoing(node);
            for (&target, position) in self.out.targets[row.clone()].iter().zip(row) {
                if passes(position) {
                    visit(target, position);
                }
            }
        }
        if filter.direction != Direction::Out {
            let incoming = self.incoming();
            let row = span(&incoming.offsets, node);
            let positions = incoming.positions[row.clone()].iter();
            for (&source, &position) in incoming.sources[row].iter().zip(positions) {
                if passes(position as usize) {
                    visit(source, position as usize);
                }
            }
        }
    }

    /// Positions of the edges that leave `node` and pass, whatever the filter's direction.
    pub fn each_outgoing(&self, node: u32, filter: &EdgeFilter, mut visit: impl FnMut(usize)) {
        let passing = filter.by_kind();
        for position in self.outgoing(node) {
            if passing.is_none_or(|passing| passing[self.out.kinds[position] as usize]) {
                visit(position);
            }
        }
    }

    /// Number of relations of `node` visible at `at`, in both directions, parallel ones too.
    pub fn degree(&self, node: u32, at: Moment) -> u32 {
        if self.all_visible(at) {
            return self.row_length(node) as u32;
        }
        let incoming = self.incoming();
        let positions = &incoming.positions[span(&incoming.offsets, node)];
        let visible = |position: &usize| self.is_visible(*position, at);
        let out = self.outgoing(node).filter(visible).count();
        let into = positions.iter().map(|&position| position as usize);
        (out + into.filter(visible).count()) as u32
    }
}

impl PartialEq for RelationCsr {
    /// The rest follows from the outgoing edges.
    fn eq(&self, other: &Self) -> bool {
        self.out == other.out
    }
}
