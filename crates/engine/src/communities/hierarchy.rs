use rayon::prelude::*;

use super::aggregate::{Members, renumber};
use super::leiden::{LeidenOptions, leiden};
use super::network::Network;

/// How [`hierarchy`] splits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HierarchyOptions {
    pub leiden: LeidenOptions,
    /// A community with more nodes than this is split again, as long as its own graph falls into parts.
    pub max_cluster_size: usize,
    /// At most so many levels, the first included.
    pub max_levels: usize,
}

impl Default for HierarchyOptions {
    /// The three levels that have names: coarse, middle, fine.
    fn default() -> Self {
        Self {
            leiden: LeidenOptions::default(),
            max_cluster_size: 10,
            max_levels: 3,
        }
    }
}

/// Nested partitions, the coarsest first. A community that is not split stands in the next level too.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hierarchy {
    pub levels: Vec<Level>,
}

/// One partition of a [`Hierarchy`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Level {
    /// One community a node.
    pub labels: Vec<u32>,
    /// Number of communities.
    pub count: usize,
}

/// Communities at every scale: those of the whole graph, then those of each large community's own graph, and so on.
/// Communities of one level are split independently, on all threads of the current rayon pool.
pub fn hierarchy(network: &Network, options: &HierarchyOptions) -> Hierarchy {
    let labels = leiden(network, &options.leiden);
    refined(network, labels, options)
}

/// The levels below a given coarsest partition.
pub fn refined(network: &Network, labels: Vec<u32>, options: &HierarchyOptions) -> Hierarchy {
    let below = split_large(network, &labels, options, 1);
    let mut levels = vec![labels];
    levels.extend(below);
    let levels = levels
        .into_iter()
        .map(|mut labels| {
            let bound = labels.iter().max().map_or(0, |&most| most as usize + 1);
            let count = renumber(&mut labels, bound);
            Level { labels, count }
        })
        .collect();
    Hierarchy { levels }
}

/// The partitions below `labels`, which is at `depth` levels from the top.
fn split_large(
    network: &Network,
    labels: &[u32],
    options: &HierarchyOptions,
    depth: usize,
) -> Vec<Vec<u32>> {
    let count = labels.iter().max().map_or(0, |&most| most as usize + 1);
    let members = Members::of(labels, count);
    if depth >= options.max_levels
        || !(0..count as u32).any(|label| members.of_label(label).len() > options.max_cluster_size)
    {
        return Vec::new();
    }
    let mut place = vec![0_u32; network.nodes()];
    for label in 0..count as u32 {
        for (&node, at) in members.of_label(label).iter().zip(0..) {
            place[node as usize] = at;
        }
    }
    let split = |label: u32| -> Vec<Vec<u32>> {
        let nodes = members.of_label(label);
        if nodes.len() <= options.max_cluster_size {
            return Vec::new();
        }
        let inner = subnetwork(network, labels, nodes, &place);
        let parts = leiden(&inner, &options.leiden);
        if parts.iter().all(|&part| part == 0) {
            return Vec::new();
        }
        let mut levels = split_large(&inner, &parts, options, depth + 1);
        levels.insert(0, parts);
        levels
    };
    let below: Vec<Vec<Vec<u32>>> = (0..count as u32).into_par_iter().map(split).collect();
    let deepest = below.iter().map(Vec::len).max().unwrap_or(0);
    (0..deepest)
        .map(|level| {
            let mut merged = vec![0; labels.len()];
            let mut first = 0;
            for (label, levels) in (0..).zip(&below) {
                let nodes = members.of_label(label);
                let parts = levels.get(level).or(levels.last());
                for (at, &node) in nodes.iter().enumerate() {
                    merged[node as usize] = first + parts.map_or(0, |parts| parts[at]);
                }
                first += 1 + parts.map_or(0, |parts| parts.iter().copied().max().unwrap_or(0));
            }
            merged
        })
        .collect()
}

/// The graph of one community's nodes, numbered by their `place` in it.
fn subnetwork(network: &Network, labels: &[u32], nodes: &[u32], place: &[u32]) -> Network {
    let mut inner = Network {
        offsets: Vec::with_capacity(nodes.len() + 1),
        neighbors: Vec::new(),
        weights: Vec::new(),
        loops: nodes
            .iter()
            .map(|&node| network.loops[node as usize])
            .collect(),
    };
    inner.offsets.push(0);
    for &node in nodes {
        for position in network.row(node) {
            let neighbor = network.neighbors[position] as usize;
            if labels[neighbor] == labels[node as usize] {
                inner.neighbors.push(place[neighbor]);
                if !network.weights.is_empty() {
                    inner.weights.push(network.weights[position]);
                }
            }
        }
        inner.offsets.push(inner.neighbors.len() as u32);
    }
    inner
}
