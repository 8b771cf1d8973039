//! Exact nearest neighbours by cosine: a scan over 8-bit codes, then the full vectors of the best.

mod code;
mod file;
mod index;

pub use file::{VectorFile, VectorFileError};
pub use index::{VectorHit, VectorIndex};
