use super::rearrange::{Move, rearrange};
use crate::types::{ChunkId, DocumentId, EntityId, RelationId, RelationTypeId};

/// A row id that a graph index stands for.
pub trait RowId: Copy + Ord {
    /// The number in the store.
    fn row(self) -> i64;
    /// The id of that number.
    fn from_row(row: i64) -> Self;
}

macro_rules! row_id {
    ($($name:ident),*) => {$(
        impl RowId for $name {
            fn row(self) -> i64 {
                self.0
            }
            fn from_row(row: i64) -> Self {
                Self(row)
            }
        }
    )*};
}
row_id!(ChunkId, DocumentId, EntityId, RelationId, RelationTypeId);

/// Row ids in sorted order; the rank of an id is its index. Row ids are nearly dense, so the way back is a
/// table; ids far apart fall back to binary search.
#[derive(Debug, Clone)]
pub struct IdIndex<T> {
    ids: Vec<T>,
    /// Rank of `first + position`, or [`ABSENT`]. Empty when the ids are too far apart.
    ranks: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;
/// A table may be this many times longer than the list of ids.
const SPARSENESS: u64 = 4;

impl<T: RowId> IdIndex<T> {
    /// Sorts the ids and drops repeated ones.
    pub fn new(mut ids: Vec<T>) -> Self {
        if !ids.is_sorted() {
            ids.sort_unstable();
        }
        ids.dedup();
        assert!(
            ids.len() < ABSENT as usize,
            "an index space holds fewer than 2^32 - 1 ids"
        );
        let mut ranks = Vec::new();
        if let (Some(first), Some(last)) = (ids.first(), ids.last()) {
            let span = last.row().abs_diff(first.row());
            if span < SPARSENESS * ids.len() as u64 + 1024 {
                ranks = vec![ABSENT; span as usize + 1];
                for (rank, id) in ids.iter().enumerate() {
                    ranks[id.row().abs_diff(first.row()) as usize] = rank as u32;
                }
            }
        }
        Self { ids, ranks }
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no id.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The id at `index`.
    pub fn id(&self, index: u32) -> T {
        self.ids[index as usize]
    }

    /// All ids in order.
    pub fn ids(&self) -> &[T] {
        &self.ids
    }

    /// Number of ids before `id`.
    pub fn lower_bound(&self, id: T) -> usize {
        self.ids.partition_point(|&other| other < id)
    }

    pub(super) fn into_ids(self) -> Vec<T> {
        self.ids
    }

    /// The index of `id`.
    pub fn get(&self, id: T) -> Option<u32> {
        if self.ranks.is_empty() {
            return self.ids.binary_search(&id).ok().map(|rank| rank as u32);
        }
        let offset = id.row().checked_sub(self.ids[0].row())?;
        let rank = *self.ranks.get(usize::try_from(offset).ok()?)?;
        (rank != ABSENT).then_some(rank)
    }
}

impl<T> Default for IdIndex<T> {
    fn default() -> Self {
        Self {
            ids: Vec::new(),
            ranks: Vec::new(),
        }
    }
}

impl<T: PartialEq> PartialEq for IdIndex<T> {
    fn eq(&self, other: &Self) -> bool {
        self.ids == other.ids
    }
}

/// Row ids in any order, four bytes each as long as all are below 2^32.
#[derive(Debug, Clone)]
pub(super) struct IdList<T> {
    near: Vec<u32>,
    /// All ids, once one of them needed more.
    far: Vec<T>,
}

impl<T> Default for IdList<T> {
    fn default() -> Self {
        Self {
            near: Vec::new(),
            far: Vec::new(),
        }
    }
}

impl<T: RowId> IdList<T> {
    fn with_capacity(ids: usize) -> Self {
        Self {
            near: Vec::with_capacity(ids),
            far: Vec::new(),
        }
    }

    pub(super) fn from_near(near: Vec<u32>) -> Self {
        Self {
            near,
            far: Vec::new(),
        }
    }

    fn push(&mut self, id: T) {
        match u32::try_from(id.row()) {
            Ok(near) if self.far.is_empty() => self.near.push(near),
            _ => {
                self.widen();
                self.far.push(id);
            }
        }
    }

    fn widen(&mut self) {
        let near = std::mem::take(&mut self.near).into_iter();
        self.far.extend(near.map(|row| T::from_row(row.into())));
    }

    pub(super) fn set(&mut self, place: usize, id: T) {
        match u32::try_from(id.row()) {
            Ok(near) if self.far.is_empty() => self.near[place] = near,
            _ => {
                self.widen();
                self.far[place] = id;
            }
        }
    }

    /// See [`rearrange`].
    pub(super) fn rearrange(&mut self, moves: &[Move], length: usize) {
        if self.far.is_empty() {
            rearrange(&mut self.near, moves, length, 0);
        } else {
            rearrange(&mut self.far, moves, length, T::from_row(0));
        }
    }

    pub(super) fn id(&self, place: usize) -> T {
        if self.far.is_empty() {
            T::from_row(self.near[place].into())
        } else {
            self.far[place]
        }
    }

    pub(super) fn len(&self) -> usize {
        self.near.len() + self.far.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len()).map(|place| self.id(place))
    }

    /// The ids as numbers, when all are below 2^32.
    pub(super) fn near(&self) -> Option<&[u32]> {
        self.far.is_empty().then_some(&self.near)
    }
}

impl<T: RowId> PartialEq for IdList<T> {
    fn eq(&self, other: &Self) -> bool {
        match (self.near(), other.near()) {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => self.iter().eq(other.iter()),
        }
    }
}

impl<T: RowId> FromIterator<T> for IdList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(ids: I) -> Self {
        let ids = ids.into_iter();
        let mut list = Self::with_capacity(ids.size_hint().0);
        ids.for_each(|id| list.push(id));
        list
    }
}

/// Rows of indices, one after another in a single array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adjacency {
    pub(super) offsets: Vec<u32>,
    pub(super) ends: Vec<u32>,
}

impl Adjacency {
    /// From (row, end) pairs: rows `0..rows`, each row's ends in the order of the pairs.
    pub fn from_pairs(rows: usize, pairs: &[(u32, u32)]) -> Self {
        let offsets = offsets_of(rows, pairs.iter().map(|pair| pair.0));
        let mut next = offsets.clone();
        let mut ends = vec![0; pairs.len()];
        for &(row, end) in pairs {
            let slot = &mut next[row as usize];
            ends[*slot as usize] = end;
            *slot += 1;
        }
        Self { offsets, ends }
    }

    /// The ends of one row.
    pub fn row(&self, row: u32) -> &[u32] {
        &self.ends[span(&self.offsets, row)]
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// Range of `row` in arrays that `offsets` divides.
pub(super) fn span(offsets: &[u32], row: u32) -> std::ops::Range<usize> {
    offsets[row as usize] as usize..offsets[row as usize + 1] as usize
}

/// Where each row starts when every item names its row; one more entry than rows.
pub(super) fn offsets_of(rows: usize, items: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut offsets = vec![0_u32; rows + 1];
    for row in items {
        offsets[row as usize + 1] += 1;
    }
    for row in 0..rows {
        offsets[row + 1] += offsets[row];
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_by_rank_and_by_row() {
        #[track_caller]
        fn check(ids: &[i64], present: &[(i64, u32)], absent: &[i64]) {
            let index = IdIndex::new(ids.iter().map(|&id| EntityId(id)).collect());
            for &(id, rank) in present {
                assert_eq!(index.get(EntityId(id)), Some(rank), "{id}");
                assert_eq!(index.id(rank), EntityId(id));
            }
            for &id in absent {
                assert_eq!(index.get(EntityId(id)), None, "{id}");
            }
        }
        check(&[], &[], &[0, 1, i64::MIN, i64::MAX]);
        check(&[7], &[(7, 0)], &[6, 8, -7]);
        check(&[9, 3, 5, 3], &[(3, 0), (5, 1), (9, 2)], &[4, 10, 2]);
        check(
            &[i64::MAX, i64::MIN, 0],
            &[(i64::MIN, 0), (0, 1), (i64::MAX, 2)],
            &[1, -1],
        );
        check(&[1, 1_000_000], &[(1, 0), (1_000_000, 1)], &[2, 999_999]);
    }

    #[test]
    fn a_list_widens_when_an_id_needs_it() {
        let ids = [5, i64::from(u32::MAX), 7, 1 << 32, -1, 8].map(EntityId);
        for taken in 0..=ids.len() {
            let list: IdList<EntityId> = ids[..taken].iter().copied().collect();
            assert_eq!(list.iter().collect::<Vec<_>>(), ids[..taken]);
            assert_eq!(list.near().is_some(), taken <= 3);
            let mut changed: IdList<EntityId> = [1, 2, 3].into_iter().map(EntityId).collect();
            for (place, id) in list.iter().take(3).enumerate() {
                changed.set(place, id);
            }
            changed.set(1, EntityId(1 << 40));
            assert_eq!(changed.id(1), EntityId(1 << 40));
            assert_eq!((changed.len(), changed.near()), (3, None));
            changed.set(1, EntityId(2));
            if taken == 0 {
                let near: IdList<EntityId> = [1, 2, 3].into_iter().map(EntityId).collect();
                assert_eq!(changed, near, "the same ids, whatever they take");
            }
        }
    }

    #[test]
    fn pairs_become_rows_in_their_order() {
        let adjacency = Adjacency::from_pairs(4, &[(2, 9), (0, 1), (2, 3), (3, 3)]);
        assert_eq!(adjacency.rows(), 4);
        assert_eq!(adjacency.row(0), [1]);
        assert_eq!(adjacency.row(1), [0_u32; 0]);
        assert_eq!(adjacency.row(2), [9, 3]);
        assert_eq!(adjacency.row(3), [3]);
    }
}
