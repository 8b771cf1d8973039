//! Made-up vaults, questions and graphs for benches: any size, the same for a seed on every machine.

mod graph;
mod lexicon;
mod note;
mod question;

pub use graph::{EdgeList, PlantedGraph, read_edges};
pub use note::{GeneratedNote, Vault, VaultSpec};
