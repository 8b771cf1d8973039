use super::index::{offsets_of, span};
use crate::types::{Direction, RelationId, RelationTypeId, Timestamp};

/// A point in both times: what held in the world at `valid`, as far as was known at `known`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub valid: Timestamp,
    pub known: Timestamp,
}

impl Moment {
    /// What holds now, by everything recorded and not retracted. `known` is the end of time, so a clock that
    /// was set back hides nothing.
    pub fn present(now: Timestamp) -> Self {
        Self {
            valid: now,
            known: Timestamp(i64::MAX - 1),
        }
    }
}

/// The four times of a relation version as two half-open windows; an open start is `i64::MIN`, an open end
/// `i64::MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Window {
    pub valid_from: i64,
    pub valid_to: i64,
    pub recorded_at: i64,
    pub retracted_at: i64,
}

impl Window {
    /// From the columns of the store, where nothing means open.
    pub fn new(
        valid_from: Option<Timestamp>,
        valid_to: Option<Timestamp>,
        recorded_at: Timestamp,
        retracted_at: Option<Timestamp>,
    ) -> Self {
        Self {
            valid_from: valid_from.map_or(i64::MIN, |time| time.0),
            valid_to: valid_to.map_or(i64::MAX, |time| time.0),
            recorded_at: recorded_at.0,
            retracted_at: retracted_at.map_or(i64::MAX, |time| time.0),
        }
    }

    /// The four times in the order of the fields.
    pub(super) fn times(self) -> [i64; 4] {
        [
            self.valid_from,
            self.valid_to,
            self.recorded_at,
            self.retracted_at,
        ]
    }

    /// What [`Window::times`] gave.
    pub(super) fn from_times([valid_from, valid_to, recorded_at, retracted_at]: [i64; 4]) -> Self {
        Self {
            valid_from,
            valid_to,
            recorded_at,
            retracted_at,
        }
    }

    /// Whether the relation held and was known at `at`: starts count, ends do not.
    pub fn contains(&self, at: Moment) -> bool {
        self.valid_from <= at.valid.0
            && at.valid.0 < self.valid_to
            && self.recorded_at <= at.known.0
            && at.known.0 < self.retracted_at
    }
}

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

/// Which edges a walk may use: a direction, some relation types, and what is visible at a moment.
#[derive(Debug, Clone)]
pub struct EdgeFilter {
    direction: Direction,
    at: Moment,
    /// By relation type; `None` lets every type pass.
    types: Option<Vec<bool>>,
    /// Nothing needs to be looked at edge by edge.
    passes_all: bool,
    all_visible: bool,
}

impl EdgeFilter {
    /// For walks over `relations`; no list of types lets every type pass, ids that no edge has let none.
    pub fn new(
        relations: &RelationCsr,
        direction: Direction,
        types: Option<&[RelationTypeId]>,
        at: Moment,
    ) -> Self {
        let types = types.map(|ids| {
            let mut allowed = vec![false; relations.type_ids.len()];
            for index in ids.iter().filter_map(|&id| relations.type_index(id)) {
                allowed[index as usize] = true;
            }
            allowed
        });
        let all_visible = relations.all_visible(at);
        Self {
            direction,
            at,
            passes_all: types.is_none() && all_visible,
            types,
            all_visible,
        }
    }

    /// The same edges walked backwards.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            direction: match self.direction {
                Direction::Out => Direction::In,
                Direction::In => Direction::Out,
                Direction::Both => Direction::Both,
            },
            ..self.clone()
        }
    }

    /// The moment it looks at.
    pub fn at(&self) -> Moment {
        self.at
    }

    fn passes(&self, relations: &RelationCsr, position: usize) -> bool {
        let type_passes = |allowed: &Vec<bool>| allowed[relations.types[position] as usize];
        self.types.as_ref().is_none_or(type_passes)
            && (self.all_visible || relations.is_visible(position, self.at))
    }
}

/// Relations of all times in both directions (compressed sparse rows). An edge's position is its place in
/// the order (source, target, type, row id); the arrays of the incoming direction point to positions.
#[derive(Debug, Clone, PartialEq)]
pub struct RelationCsr {
    pub(super) out_offsets: Vec<u32>,
    pub(super) targets: Vec<u32>,
    pub(super) types: Vec<u32>,
    pub(super) weights: Vec<f32>,
    /// Index in `window_table`: few distinct windows exist, because a run records many edges at once.
    pub(super) windows: Vec<u32>,
    pub(super) relations: Vec<RelationId>,
    pub(super) in_offsets: Vec<u32>,
    pub(super) sources: Vec<u32>,
    pub(super) in_positions: Vec<u32>,
    pub(super) type_ids: Vec<RelationTypeId>,
    pub(super) window_table: Vec<Window>,
    /// The part of both times in which every edge is visible: nothing needs to be filtered there.
    always: Window,
}

/// The arrays of the outgoing direction, from which the rest follows.
#[derive(Debug, Default)]
pub(super) struct OutgoingEdges {
    pub(super) offsets: Vec<u32>,
    pub(super) targets: Vec<u32>,
    pub(super) types: Vec<u32>,
    pub(super) weights: Vec<f32>,
    pub(super) windows: Vec<u32>,
    pub(super) relations: Vec<RelationId>,
    pub(super) type_ids: Vec<RelationTypeId>,
    pub(super) window_table: Vec<Window>,
}

impl OutgoingEdges {
    /// Leaves only the types and windows that some edge has, in order, so that equal edges give equal arrays.
    pub(super) fn tidy(&mut self) {
        keep_used(&mut self.types, &mut self.type_ids);
        keep_used(&mut self.windows, &mut self.window_table);
    }
}

/// Sorts `table`, drops what no code points to, and rewrites the codes.
fn keep_used<T: Copy + Ord>(codes: &mut [u32], table: &mut Vec<T>) {
    let mut used = vec![false; table.len()];
    for &code in codes.iter() {
        used[code as usize] = true;
    }
    if used.iter().all(|&used| used) && table.is_sorted() {
        return;
    }
    let mut kept: Vec<(T, u32)> = table
        .iter()
        .copied()
        .zip(0..)
        .filter(|&(_, code)| used[code as usize])
        .collect();
    kept.sort_unstable();
    let mut rank = vec![0; table.len()];
    for (&(_, code), place) in kept.iter().zip(0..) {
        rank[code as usize] = place;
    }
    for code in codes {
        *code = rank[*code as usize];
    }
    *table = kept.into_iter().map(|(value, _)| value).collect();
}

impl RelationCsr {
    /// Derives the incoming direction.
    pub(super) fn new(outgoing: OutgoingEdges) -> Self {
        let nodes = outgoing.offsets.len() - 1;
        let in_offsets = offsets_of(nodes, outgoing.targets.iter().copied());
        let mut next = in_offsets.clone();
        let mut sources = vec![0; outgoing.targets.len()];
        let mut in_positions = vec![0; outgoing.targets.len()];
        for source in 0..nodes as u32 {
            for position in span(&outgoing.offsets, source) {
                let slot = &mut next[outgoing.targets[position] as usize];
                sources[*slot as usize] = source;
                in_positions[*slot as usize] = position as u32;
                *slot += 1;
            }
        }
        let always = outgoing.window_table.iter().fold(
            Window {
                valid_from: i64::MIN,
                valid_to: i64::MAX,
                recorded_at: i64::MIN,
                retracted_at: i64::MAX,
            },
            |all, window| Window {
                valid_from: all.valid_from.max(window.valid_from),
                valid_to: all.valid_to.min(window.valid_to),
                recorded_at: all.recorded_at.max(window.recorded_at),
                retracted_at: all.retracted_at.min(window.retracted_at),
            },
        );
        Self {
            out_offsets: outgoing.offsets,
            targets: outgoing.targets,
            types: outgoing.types,
            weights: outgoing.weights,
            windows: outgoing.windows,
            relations: outgoing.relations,
            in_offsets,
            sources,
            in_positions,
            type_ids: outgoing.type_ids,
            window_table: outgoing.window_table,
            always,
        }
    }

    /// Number of entities, with or without edges.
    pub fn nodes(&self) -> usize {
        self.out_offsets.len() - 1
    }

    /// Number of relation versions of all times.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there is no edge.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Row ids of the relation types, in order; an edge's type is an index in this list.
    pub fn type_ids(&self) -> &[RelationTypeId] {
        &self.type_ids
    }

    /// Index of a relation type, if any edge has it.
    pub fn type_index(&self, id: RelationTypeId) -> Option<u32> {
        self.type_ids
            .binary_search(&id)
            .ok()
            .map(|index| index as u32)
    }

    /// The entity that the edge at a position reaches.
    pub fn target_of(&self, position: usize) -> u32 {
        self.targets[position]
    }

    /// The entity that the edge at a position leaves.
    pub fn source_of(&self, position: usize) -> u32 {
        self.out_offsets
            .partition_point(|&start| start as usize <= position) as u32
            - 1
    }

    /// The edge at a position.
    pub fn edge(&self, position: usize) -> Edge {
        Edge {
            source: self.source_of(position),
            target: self.targets[position],
            relation_type: self.types[position],
            weight: self.weights[position],
            relation: self.relations[position],
            window: self.window_table[self.windows[position] as usize],
        }
    }

    /// Positions of the edges that leave `node`, by target.
    pub fn outgoing(&self, node: u32) -> std::ops::Range<usize> {
        span(&self.out_offsets, node)
    }

    /// Targets of all edges that leave `node`, at any time.
    pub fn targets(&self, node: u32) -> &[u32] {
        &self.targets[span(&self.out_offsets, node)]
    }

    /// Sources of all edges that reach `node`, at any time.
    pub fn sources(&self, node: u32) -> &[u32] {
        &self.sources[span(&self.in_offsets, node)]
    }

    /// Weight of the edge at a position: the number of distinct passages that state it.
    pub fn weight(&self, position: usize) -> f32 {
        self.weights[position]
    }

    /// Number of edges of `node` in both directions, at any time.
    pub fn row_length(&self, node: u32) -> usize {
        span(&self.out_offsets, node).len() + span(&self.in_offsets, node).len()
    }

    /// Whether every edge is visible at `at`.
    pub fn all_visible(&self, at: Moment) -> bool {
        self.always.contains(at)
    }

    /// Whether the edge at a position is visible at `at`.
    pub fn is_visible(&self, position: usize, at: Moment) -> bool {
        self.window_table[self.windows[position] as usize].contains(at)
    }

    /// Calls `visit` with the other end and the position of each edge of `node` that passes, outgoing ones
    /// first. An edge of a node to itself comes twice when both directions are asked for.
    pub fn each_neighbor(&self, node: u32, filter: &EdgeFilter, mut visit: impl FnMut(u32, usize)) {
        if filter.direction != Direction::In {
            for position in self.outgoing(node) {
                if filter.passes_all || filter.passes(self, position) {
                    visit(self.targets[position], position);
                }
            }
        }
        if filter.direction != Direction::Out {
            for slot in span(&self.in_offsets, node) {
                let position = self.in_positions[slot] as usize;
                if filter.passes_all || filter.passes(self, position) {
                    visit(self.sources[slot], position);
                }
            }
        }
    }

    /// Positions of the edges that leave `node` and pass, whatever the filter's direction.
    pub fn each_outgoing(&self, node: u32, filter: &EdgeFilter, mut visit: impl FnMut(usize)) {
        for position in self.outgoing(node) {
            if filter.passes_all || filter.passes(self, position) {
                visit(position);
            }
        }
    }

    /// Number of relations of `node` visible at `at`, in both directions, parallel ones too.
    pub fn degree(&self, node: u32, at: Moment) -> u32 {
        if self.all_visible(at) {
            return (span(&self.out_offsets, node).len() + span(&self.in_offsets, node).len())
                as u32;
        }
        let incoming = &self.in_positions[span(&self.in_offsets, node)];
        let visible = |position: &usize| self.is_visible(*position, at);
        let out = self.outgoing(node).filter(visible).count();
        let into = incoming.iter().map(|&position| position as usize);
        (out + into.filter(visible).count()) as u32
    }
}
