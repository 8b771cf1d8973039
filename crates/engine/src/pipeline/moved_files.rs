//! Files that moved: gone at one path, new with the same content at another.

use std::collections::{BTreeMap, VecDeque};

use super::run_plan::Removed;

/// Files that are gone, until a new file turns out to be one of them under another name.
pub(super) struct MovedFiles<'a> {
    by_hash: BTreeMap<&'a [u8], VecDeque<&'a Removed>>,
}

impl<'a> MovedFiles<'a> {
    pub(super) fn new(removed: &'a [Removed]) -> Self {
        let mut by_hash: BTreeMap<&[u8], VecDeque<&Removed>> = BTreeMap::new();
        for file in removed {
            by_hash.entry(&file.hash).or_default().push_back(file);
        }
        Self { by_hash }
    }

    /// The first file of this source and content that is gone and not taken yet.
    pub(super) fn take(&mut self, source: i64, hash: &[u8]) -> Option<&'a Removed> {
        let files = self.by_hash.get_mut(hash)?;
        let position = files.iter().position(|file| file.source == source)?;
        files.remove(position)
    }

    /// Those that nothing took, by source and path.
    pub(super) fn rest(self) -> Vec<&'a Removed> {
        let mut files: Vec<&Removed> = self.by_hash.into_values().flatten().collect();
        files.sort_by_key(|file| (file.source, &file.path));
        files
    }
}
