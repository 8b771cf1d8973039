//! Every search looks at every vector: the feature `hnsw` is off.

use super::code::{Codes, Question};
use super::file::{VectorFile, VectorFileError};
use super::index::VectorIndex;

/// What no index has.
#[derive(Debug)]
pub(super) enum Neighbours {}

impl Neighbours {
    pub(super) fn candidates(
        &self,
        _: &Codes,
        _: &Question,
        _: usize,
        _: impl Fn(usize) -> bool,
    ) -> Option<Vec<usize>> {
        match *self {}
    }
}

#[expect(
    clippy::unused_self,
    clippy::unnecessary_wraps,
    reason = "the same calls as with the feature"
)]
impl VectorIndex {
    pub(crate) fn with_stored_neighbours(self, _: Option<&VectorFile>) -> Self {
        self
    }

    pub(crate) const fn wants_neighbours(&self) -> bool {
        false
    }

    pub(crate) const fn store_neighbours(&self, _: &VectorFile) -> Result<(), VectorFileError> {
        Ok(())
    }
}
