//! Exact nearest neighbours by cosine: a scan over 4-bit codes, then the full vectors of all that may be among them.

mod code;
mod file;
#[cfg(feature = "hnsw")]
mod hnsw;
mod index;
#[cfg(feature = "hnsw")]
mod neighbours;
#[cfg(not(feature = "hnsw"))]
#[path = "without_neighbours.rs"]
mod neighbours;
mod scan;

pub(crate) use code::product;
pub use file::{VectorFile, VectorFileError};
pub use index::{VectorHit, VectorIndex};
#[cfg(feature = "hnsw")]
pub use neighbours::NEIGHBOURS_FROM;
