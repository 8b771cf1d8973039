//! Communities of a weighted, undirected graph: which nodes belong together, at which scale.
//!
//! [`leiden`] is our own implementation of Traag, Waltman and van Eck 2019, "From Louvain to Leiden: guaranteeing
//! well-connected communities", over flat arrays. What it promises: every node is in one community, every community
//! is connected, and the result depends only on the graph and the seed: not on the order of the edges, the machine,
//! or the number of threads. [`hierarchy`] splits communities further, level by level; [`update`] moves only what a
//! change of the graph touched; [`louvain`] is the simpler method with restarts.
//!
//! Nodes are numbers from 0. A partition is one label a node, labels numbered in order of first appearance.

mod aggregate;
mod components;
mod dynamic;
mod hierarchy;
mod leiden;
mod louvain;
mod matching;
mod moves;
mod network;
mod order;
mod quality;
mod refine;

pub use components::disconnected;
pub use dynamic::{Change, frontier, update};
pub use hierarchy::{Hierarchy, HierarchyOptions, Level, hierarchy, refined};
pub use leiden::{LeidenOptions, Objective, leiden};
pub use louvain::louvain;
pub use matching::continued;
pub use network::Network;
pub use quality::quality;

#[cfg(test)]
mod tests;
