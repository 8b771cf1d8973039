use serde::Serialize;

use crate::types::ChunkUnit;
use crate::{Error, Result};

/// How documents are cut; checked when made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ChunkOptions {
    size: usize,
    overlap: usize,
    unit: ChunkUnit,
}

impl ChunkOptions {
    /// Smallest size of a chunk.
    pub const SMALLEST: usize = 16;

    /// Options for chunks of at most `size`, of which at most `overlap` repeats the end of the chunk
    /// before. The overlap must be less than half the size, so that every chunk brings more new text
    /// than old.
    pub fn new(size: usize, overlap: usize, unit: ChunkUnit) -> Result<Self> {
        if size < Self::SMALLEST {
            return Err(Error::Usage(format!(
                "chunk size {size} is too small: it must be at least {}",
                Self::SMALLEST
            )));
        }
        if overlap >= size.div_ceil(2) {
            return Err(Error::Usage(format!(
                "chunk overlap {overlap} is too large for chunk size {size}: it must be less than half, \
                 that is at most {}",
                size.div_ceil(2) - 1
            )));
        }
        Ok(Self {
            size,
            overlap,
            unit,
        })
    }

    /// Largest size of a chunk.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Largest part of a chunk that repeats the end of the chunk before.
    pub fn overlap(&self) -> usize {
        self.overlap
    }

    /// What both are counted in.
    pub fn unit(&self) -> ChunkUnit {
        self.unit
    }
}

impl Default for ChunkOptions {
    /// 1,200 characters, 200 of them overlap.
    fn default() -> Self {
        Self {
            size: 1_200,
            overlap: 200,
            unit: ChunkUnit::Characters,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_sizes_that_would_not_advance() {
        let check = |size, overlap, accepted: bool| {
            let options = ChunkOptions::new(size, overlap, ChunkUnit::Characters);
            assert_eq!(options.is_ok(), accepted, "{size} {overlap} {options:?}");
        };
        check(1_200, 200, true);
        check(1_200, 0, true);
        check(50, 24, true);
        check(51, 25, true);
        check(50, 25, false);
        check(50, 49, false);
        check(50, 50, false);
        check(50, 80, false);
        check(0, 0, false);
        check(15, 0, false);
        check(usize::MAX, 200, true);
        let error = ChunkOptions::new(50, 49, ChunkUnit::Tokens)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("49") && error.contains("50") && error.contains("at most 24"),
            "{error}"
        );
    }
}
