//! Rows of the store into what the stages work with: the graph, its deltas, the known names.

mod communities;
mod graph;
mod names;

pub(crate) use communities::{CommunityNetwork, community_network};
pub(crate) use graph::{build_graph, fill_delta};
pub(crate) use names::StoredNames;
