use std::sync::OnceLock;

use super::index::{offsets_of, span};
use crate::types::{EntityId, Mention, MentionHow};

/// How an entity was recognised in a chunk; several ways may hold at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct MentionFlags(pub u8);

impl MentionFlags {
    pub const LINK: Self = Self(1);
    pub const TAG: Self = Self(2);
    pub const NAME: Self = Self(4);
    pub const LLM: Self = Self(8);

    /// Whether any of `other`'s ways holds.
    pub fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl From<MentionHow> for MentionFlags {
    fn from(how: MentionHow) -> Self {
        match how {
            MentionHow::Link => Self::LINK,
            MentionHow::Tag => Self::TAG,
            MentionHow::Name => Self::NAME,
            MentionHow::Llm => Self::LLM,
        }
    }
}

/// One entity of one chunk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MentionRow<E> {
    pub entity: E,
    /// Number of places in the chunk's text that name the entity. A place that names several entities gives
    /// each its equal share. A tag of the document counts as one place.
    pub count: f32,
    pub how: MentionFlags,
}

/// Collects the mentions of one chunk into rows, ordered by entity. Overlapping places of one entity (a link
/// and the name inside it) count once.
pub(super) fn collect(mentions: &[Mention]) -> Vec<MentionRow<EntityId>> {
    // How many entities share each place.
    let mut places: Vec<(u32, u32, EntityId)> = mentions
        .iter()
        .filter(|row| row.how != MentionHow::Tag)
        .map(|row| (row.start, row.end, row.entity))
        .collect();
    places.sort_unstable();
    places.dedup();
    let mut shared: Vec<(EntityId, u32, u32, f32)> = places
        .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
        .flat_map(|place| {
            let share = 1.0 / place.len() as f32;
            place
                .iter()
                .map(move |&(start, end, entity)| (entity, start, end, share))
        })
        .collect();
    shared.sort_by_key(|&(entity, start, end, _)| (entity, start, end));

    let mut ways: Vec<(EntityId, MentionFlags)> = mentions
        .iter()
        .map(|row| (row.entity, row.how.into()))
        .collect();
    ways.sort_unstable();
    let mut shared = shared.as_slice();
    ways.chunk_by(|a, b| a.0 == b.0)
        .map(|ways| {
            let entity = ways[0].0;
            let how = MentionFlags(ways.iter().fold(0, |all, way| all | way.1.0));
            let of_entity = shared.partition_point(|place| place.0 <= entity);
            let (places, rest) = shared.split_at(of_entity);
            shared = rest;
            MentionRow {
                entity,
                count: count_places(places) + f32::from(u8::from(how.any(MentionFlags::TAG))),
                how,
            }
        })
        .collect()
}

/// Sum over groups of overlapping places of the largest share in the group.
fn count_places(places: &[(EntityId, u32, u32, f32)]) -> f32 {
    let mut total = 0.0;
    let mut group: Option<(u32, f32)> = None;
    for &(_, start, end, share) in places {
        group = match group {
            Some((until, best)) if start < until => Some((until.max(end), best.max(share))),
            Some((_, best)) => {
                total += best;
                Some((end, share))
            }
            None => Some((end, share)),
        };
    }
    total + group.map_or(0.0, |(_, best)| best)
}

/// The rows of all chunks one after another, each chunk's ordered by entity: from this the rest follows.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct MentionRows {
    pub(super) offsets: Vec<u32>,
    pub(super) entities: Vec<u32>,
    pub(super) counts: Vec<f32>,
    pub(super) how: Vec<MentionFlags>,
}

/// Which chunk mentions which entity, both ways.
#[derive(Debug, Clone)]
pub struct MentionMatrix {
    entity_count: usize,
    pub(super) rows: MentionRows,
    /// Derived when it is first asked for.
    by_entity: OnceLock<ByEntity>,
}

#[derive(Debug, Clone)]
struct ByEntity {
    offsets: Vec<u32>,
    chunks: Vec<u32>,
    counts: Vec<f32>,
}

impl MentionRows {
    fn by_entity(&self, entity_count: usize) -> ByEntity {
        let offsets = offsets_of(entity_count, self.entities.iter().copied());
        let mut next = offsets.clone();
        let mut chunks = vec![0; self.entities.len()];
        let mut counts = vec![0.0; self.entities.len()];
        for chunk in 0..self.offsets.len() as u32 - 1 {
            for position in span(&self.offsets, chunk) {
                let slot = &mut next[self.entities[position] as usize];
                chunks[*slot as usize] = chunk;
                counts[*slot as usize] = self.counts[position];
                *slot += 1;
            }
        }
        ByEntity {
            offsets,
            chunks,
            counts,
        }
    }
}

impl MentionMatrix {
    pub(super) fn new(entity_count: usize, rows: MentionRows) -> Self {
        Self {
            entity_count,
            rows,
            by_entity: OnceLock::new(),
        }
    }

    fn by_entity(&self) -> &ByEntity {
        self.by_entity
            .get_or_init(|| self.rows.by_entity(self.entity_count))
    }

    /// Number of (chunk, entity) pairs.
    pub fn len(&self) -> usize {
        self.rows.entities.len()
    }

    /// Whether nothing is mentioned.
    pub fn is_empty(&self) -> bool {
        self.rows.entities.is_empty()
    }

    /// Place of a chunk's pairs among all pairs: for arrays that run parallel to them.
    pub fn chunk_span(&self, chunk: u32) -> std::ops::Range<usize> {
        span(&self.rows.offsets, chunk)
    }

    /// Place of an entity's pairs in the order (entity, chunk).
    pub fn entity_span(&self, entity: u32) -> std::ops::Range<usize> {
        span(&self.by_entity().offsets, entity)
    }

    /// Entities of a chunk, in order.
    pub fn entities(&self, chunk: u32) -> &[u32] {
        &self.rows.entities[self.chunk_span(chunk)]
    }

    /// [`MentionRow::count`] of each of the chunk's entities.
    pub fn counts(&self, chunk: u32) -> &[f32] {
        &self.rows.counts[self.chunk_span(chunk)]
    }

    /// How each of the chunk's entities was recognised.
    pub fn how(&self, chunk: u32) -> &[MentionFlags] {
        &self.rows.how[self.chunk_span(chunk)]
    }

    /// Chunks of an entity, in order.
    pub fn chunks(&self, entity: u32) -> &[u32] {
        &self.by_entity().chunks[self.entity_span(entity)]
    }

    /// [`MentionRow::count`] in each of the entity's chunks.
    pub fn chunk_counts(&self, entity: u32) -> &[f32] {
        &self.by_entity().counts[self.entity_span(entity)]
    }
}

impl PartialEq for MentionMatrix {
    /// The rest follows from the rows.
    fn eq(&self, other: &Self) -> bool {
        self.entity_count == other.entity_count && self.rows == other.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::ChunkId;

    #[test]
    fn mentions_of_a_chunk_are_counted_by_place() {
        use MentionHow::{Link, Llm, Name, Tag};
        #[track_caller]
        fn check(mentions: &[(u32, u32, i64, MentionHow)], expected: &[(i64, f32, u8)]) {
            let mut mentions: Vec<Mention> = mentions
                .iter()
                .map(|&(start, end, entity, how)| Mention {
                    chunk: ChunkId(1),
                    start,
                    end,
                    entity: EntityId(entity),
                    how,
                })
                .collect();
            for _ in 0..mentions.len().max(1) {
                let rows: Vec<_> = collect(&mentions)
                    .iter()
                    .map(|row| (row.entity.0, row.count, row.how.0))
                    .collect();
                assert_eq!(rows, expected);
                if !mentions.is_empty() {
                    mentions.rotate_left(1);
                }
            }
        }
        check(&[], &[]);
        check(&[(0, 4, 7, Name), (9, 13, 7, Name)], &[(7, 2.0, 4)]);
        // A link and the name written in it are one place.
        check(&[(0, 8, 7, Link), (2, 6, 7, Name)], &[(7, 1.0, 5)]);
        // Places that touch are two.
        check(&[(0, 4, 7, Name), (4, 8, 7, Name)], &[(7, 2.0, 4)]);
        // An ambiguous name is shared.
        check(
            &[(0, 4, 1, Name), (0, 4, 2, Name), (9, 12, 2, Name)],
            &[(1, 0.5, 4), (2, 1.5, 4)],
        );
        // A link decides what its ambiguous name leaves open.
        check(
            &[(0, 8, 1, Link), (2, 6, 1, Name), (2, 6, 2, Name)],
            &[(1, 1.0, 5), (2, 0.5, 4)],
        );
        // Tags share no place, though all stand at the start.
        check(
            &[(0, 0, 3, Tag), (0, 0, 4, Tag), (0, 2, 4, Name)],
            &[(3, 1.0, 2), (4, 2.0, 6)],
        );
        // The same place by two ways is one.
        check(&[(0, 2, 4, Llm), (0, 2, 4, Name)], &[(4, 1.0, 12)]);
    }
}
