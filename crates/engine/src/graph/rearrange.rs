//! Changes rows of flat arrays in place: what stays is moved once, and no memory is touched for the first
//! time but what is added.

use std::ops::Range;

/// A run that stays, and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Move {
    pub(super) from: Range<usize>,
    pub(super) to: usize,
}

/// Moves the runs of an array and gives it a new length. The runs are in order, before and after; what no
/// run covers holds `filler` or something old.
pub(super) fn rearrange<T: Copy>(array: &mut Vec<T>, moves: &[Move], length: usize, filler: T) {
    if array.len() < length {
        array.resize(length, filler);
    }
    let to_the_right = |run: &&Move| run.to > run.from.start;
    let mut left = moves;
    while let Some(run) = left.first() {
        // Runs that move to the right would overwrite one another from the first on, so the last goes first;
        // nothing that they overwrite is still to be moved.
        let count = left.iter().take_while(to_the_right).count();
        if count == 0 {
            array.copy_within(run.from.clone(), run.to);
            left = &left[1..];
            continue;
        }
        for run in left[..count].iter().rev() {
            array.copy_within(run.from.clone(), run.to);
        }
        left = &left[count..];
    }
    array.truncate(length);
}

/// How rows of items, divided by offsets, become other rows.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    old_offsets: &'a [u32],
    /// Runs of rows.
    pub(super) rows: Vec<Move>,
    /// Runs of items.
    pub(super) items: Vec<Move>,
    /// The new offsets.
    pub(super) offsets: Vec<u32>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(old_offsets: &'a [u32]) -> Self {
        let mut offsets = Vec::with_capacity(old_offsets.len() + 64);
        offsets.push(0);
        Self {
            old_offsets,
            rows: Vec::new(),
            items: Vec::new(),
            offsets,
        }
    }

    /// Number of new rows so far.
    pub(super) fn row_count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of new items so far.
    pub(super) fn item_count(&self) -> usize {
        self.offsets[self.offsets.len() - 1] as usize
    }

    /// The next rows are these old ones.
    pub(super) fn keep(&mut self, rows: Range<usize>) {
        if rows.is_empty() {
            return;
        }
        let items = self.old_offsets[rows.start] as usize..self.old_offsets[rows.end] as usize;
        let to = self.item_count();
        let ends = self.old_offsets[rows.start + 1..=rows.end].iter();
        let row = self.row_count();
        self.offsets
            .extend(ends.map(|&end| (end as usize - items.start + to) as u32));
        self.rows.push(Move {
            from: rows,
            to: row,
        });
        if !items.is_empty() {
            self.items.push(Move { from: items, to });
        }
    }

    /// The next row has this many items of its own.
    pub(super) fn put(&mut self, items: usize) {
        self.offsets.push((self.item_count() + items) as u32);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn runs_end_up_where_they_go(
            // Of each old row: its length, whether it stays, and how many items of a new row follow.
            rows in proptest::collection::vec((0_usize..4, any::<bool>(), 0_usize..5), 0..12),
        ) {
            let mut offsets = vec![0_u32];
            for &(length, _, _) in &rows {
                offsets.push(offsets[offsets.len() - 1] + length as u32);
            }
            let mut array: Vec<u32> = (1..=offsets[rows.len()]).collect();
            let mut expected = Vec::new();
            let mut plan = Plan::new(&offsets);
            for (row, &(length, stays, new)) in rows.iter().enumerate() {
                if stays {
                    plan.keep(row..row + 1);
                    let start = offsets[row] as usize;
                    expected.extend((start..start + length).map(|item| Some(item as u32 + 1)));
                }
                if new > 0 {
                    plan.put(new - 1);
                    expected.extend(vec![None; new - 1]);
                }
            }
            rearrange(&mut array, &plan.items, plan.item_count(), 0);
            prop_assert_eq!(array.len(), expected.len());
            for (found, expected) in array.iter().zip(&expected) {
                prop_assert!(expected.is_none_or(|expected| expected == *found));
            }
        }
    }
}
