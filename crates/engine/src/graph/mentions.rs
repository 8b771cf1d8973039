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
#[derive(Debug, Default)]
pub(super) struct MentionRows {
    pub(super) offsets: Vec<u32>,
    pub(super) entities: Vec<u32>,
    pub(super) counts: Vec<f32>,
    pub(super) how: Vec<MentionFlags>,
}

/// Which chunk mentions which entity, both ways.
#[derive(Debug, Clone, PartialEq)]
pub struct MentionMatrix {
    pub(super) chunk_offsets: Vec<u32>,
    pub(super) entities: Vec<u32>,
    pub(super) counts: Vec<f32>,
    pub(super) how: Vec<MentionFlags>,
    pub(super) entity_offsets: Vec<u32>,
    pub(super) chunks: Vec<u32>,
    pub(super) chunk_counts: Vec<f32>,
}

impl MentionMatrix {
    /// Derives the way from entity to chunk.
    pub(super) fn new(entity_count: usize, rows: MentionRows) -> Self {
        let MentionRows {
            offsets: chunk_offsets,
            entities,
            counts,
            how,
        } = rows;
        let entity_offsets = offsets_of(entity_count, entities.iter().copied());
        let mut next = entity_offsets.clone();
        let mut chunks = vec![0; entities.len()];
        let mut chunk_counts = vec![0.0; entities.len()];
        for chunk in 0..chunk_offsets.len() as u32 - 1 {
            for position in span(&chunk_offsets, chunk) {
                let entity = entities[position] as usize;
                let slot = next[entity] as usize;
                chunks[slot] = chunk;
                chunk_counts[slot] = counts[position];
                next[entity] += 1;
            }
        }
        Self {
            chunk_offsets,
            entities,
            counts,
            how,
            entity_offsets,
            chunks,
            chunk_counts,
        }
    }

    /// Number of (chunk, entity) pairs.
    pub fn len(&self) -> usize {
        self.entities.len()
    }

    /// Whether nothing is mentioned.
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty()
    }

    /// Place of a chunk's pairs among all pairs: for arrays that run parallel to them.
    pub fn chunk_span(&self, chunk: u32) -> std::ops::Range<usize> {
        span(&self.chunk_offsets, chunk)
    }

    /// Place of an entity's pairs in the order (entity, chunk).
    pub fn entity_span(&self, entity: u32) -> std::ops::Range<usize> {
        span(&self.entity_offsets, entity)
    }

    /// Entities of a chunk, in order.
    pub fn entities(&self, chunk: u32) -> &[u32] {
        &self.entities[self.chunk_span(chunk)]
    }

    /// [`MentionRow::count`] of each of the chunk's entities.
    pub fn counts(&self, chunk: u32) -> &[f32] {
        &self.counts[self.chunk_span(chunk)]
    }

    /// How each of the chunk's entities was recognised.
    pub fn how(&self, chunk: u32) -> &[MentionFlags] {
        &self.how[self.chunk_span(chunk)]
    }

    /// Chunks of an entity, in order.
    pub fn chunks(&self, entity: u32) -> &[u32] {
        &self.chunks[self.entity_span(entity)]
    }

    /// [`MentionRow::count`] in each of the entity's chunks.
    pub fn chunk_counts(&self, entity: u32) -> &[f32] {
        &self.chunk_counts[self.entity_span(entity)]
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
