use std::fs;
use std::path::Path;

use crate::rng::Rng;
use crate::{Error, Result};

/// An undirected graph without parallel edges or loops, as two columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EdgeList {
    pub nodes: u32,
    pub sources: Vec<u32>,
    pub targets: Vec<u32>,
}

/// Planted communities with power-law sizes and degrees (the model of Lancichinetti, Fortunato and Radicchi 2008,
/// without its exact degrees): what `malha bench` runs graph algorithms on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlantedGraph {
    pub nodes: u32,
    pub edges: usize,
    /// Share of edges that leave their community.
    pub mixing: f64,
    pub seed: u64,
}

impl PlantedGraph {
    const SMALLEST: f64 = 20.0;
    const LARGEST: f64 = 1_000.0;
    const SIZE_EXPONENT: f64 = 1.8;
    const DEGREE_EXPONENT: f64 = 2.5;
    const LARGEST_WEIGHT: f64 = 1_000.0;

    /// 100,000 nodes and a million edges.
    pub fn large() -> Self {
        Self {
            nodes: 100_000,
            edges: 1_000_000,
            mixing: 0.35,
            seed: 42,
        }
    }

    /// Draws the edges, in random order. Every node has at least one inside its community, where it is not alone.
    pub fn draw(&self) -> EdgeList {
        let n = self.nodes as usize;
        let mut rng = Rng::new(self.seed);
        let community = self.communities(&mut rng);
        // Expected degree of a node; running sums let us draw a node by weight, from all or from one community.
        let mut sum = 0.0;
        let cumulative: Vec<f64> = (0..n)
            .map(|_| {
                let weight = libm::pow(1.0 - rng.unit(), -1.0 / (Self::DEGREE_EXPONENT - 1.0));
                sum += weight.min(Self::LARGEST_WEIGHT);
                sum
            })
            .collect();
        let inside = |node: usize, rng: &mut Rng| {
            let (first, end) = community[node];
            let low = if first == 0 {
                0.0
            } else {
                cumulative[first - 1]
            };
            let at = low + rng.unit() * (cumulative[end - 1] - low);
            (first + cumulative[first..end].partition_point(|&sum| sum <= at)).min(end - 1)
        };
        let mut keys: Vec<u64> = Vec::with_capacity(self.edges + self.edges / 8);
        let push = |keys: &mut Vec<u64>, a: usize, b: usize| {
            if a != b {
                keys.push((a.min(b) as u64) << 32 | a.max(b) as u64);
            }
        };
        for node in 0..n {
            let other = (0..20)
                .map(|_| inside(node, &mut rng))
                .find(|&other| other != node);
            push(&mut keys, node, other.unwrap_or(node));
        }
        loop {
            keys.sort_unstable();
            keys.dedup();
            if keys.len() >= self.edges {
                break;
            }
            for _ in 0..(self.edges - keys.len()) * 11 / 10 + 10 {
                let at = rng.unit() * sum;
                let source = cumulative.partition_point(|&sum| sum <= at).min(n - 1);
                let target = if rng.chance(self.mixing) {
                    let at = rng.unit() * sum;
                    cumulative.partition_point(|&sum| sum <= at).min(n - 1)
                } else {
                    inside(source, &mut rng)
                };
                push(&mut keys, source, target);
            }
        }
        rng.shuffle(&mut keys);
        keys.truncate(self.edges);
        let mut renumbered: Vec<u32> = (0..self.nodes).collect();
        rng.shuffle(&mut renumbered);
        EdgeList {
            nodes: self.nodes,
            sources: keys
                .iter()
                .map(|key| renumbered[(key >> 32) as usize])
                .collect(),
            targets: keys
                .iter()
                .map(|key| renumbered[(key & 0xffff_ffff) as usize])
                .collect(),
        }
    }

    /// First and end node of every node's community.
    fn communities(&self, rng: &mut Rng) -> Vec<(usize, usize)> {
        let n = self.nodes as usize;
        let power = 1.0 - Self::SIZE_EXPONENT;
        let (low, high) = (
            libm::pow(Self::SMALLEST, power),
            libm::pow(Self::LARGEST, power),
        );
        let mut community = Vec::with_capacity(n);
        while community.len() < n {
            let first = community.len();
            let size = libm::pow(low + rng.unit() * (high - low), 1.0 / power) as usize;
            let mut end = (first + size.max(1)).min(n);
            if n - end < Self::SMALLEST as usize {
                end = n;
            }
            community.resize(end, (first, end));
        }
        community
    }
}

/// Reads a graph from a file of little-endian 32-bit numbers: nodes, edges, then all sources, then all targets.
pub fn read_edges(path: &Path) -> Result<EdgeList> {
    let bytes = fs::read(path).map_err(Error::io(path))?;
    let broken = |reason: String| Error::Usage(format!("{}: {reason}", path.display()));
    let numbers: Vec<u32> = bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|four| u32::from_le_bytes(*four))
        .collect();
    let [nodes, edges, columns @ ..] = numbers.as_slice() else {
        return Err(broken("too short to be an edge file".to_owned()));
    };
    let edges = *edges as usize;
    if bytes.len() % 4 != 0 || columns.len() != 2 * edges {
        return Err(broken(format!(
            "says {edges} edges, but holds {} numbers for them",
            columns.len()
        )));
    }
    if let Some(node) = columns.iter().find(|node| *node >= nodes) {
        return Err(broken(format!("node {node} of {nodes}")));
    }
    Ok(EdgeList {
        nodes: *nodes,
        sources: columns[..edges].to_vec(),
        targets: columns[edges..].to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn small() -> PlantedGraph {
        PlantedGraph {
            nodes: 2_000,
            edges: 20_000,
            mixing: 0.3,
            seed: 1,
        }
    }

    #[test]
    fn a_planted_graph_is_simple_and_of_the_size_asked_for() {
        let graph = small().draw();
        let pairs: HashSet<_> = graph.sources.iter().zip(&graph.targets).collect();
        assert_eq!(pairs.len(), 20_000);
        assert!(
            pairs
                .iter()
                .all(|(a, b)| a != b && **a < 2_000 && **b < 2_000)
        );
        assert_eq!(graph, small().draw());
        let mut degree = vec![0; 2_000];
        for node in graph.sources.iter().chain(&graph.targets) {
            degree[*node as usize] += 1;
        }
        assert!(degree.iter().max().unwrap() > &100, "hubs");
    }

    #[test]
    fn edge_files_are_read_or_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("edges.bin");
        let check = |numbers: &[u32]| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
            fs::write(&path, bytes).unwrap();
            read_edges(&path).map_err(|error| error.to_string())
        };
        let graph = check(&[3, 2, 0, 1, 1, 2]).unwrap();
        assert_eq!(
            (graph.nodes, graph.sources, graph.targets),
            (3, vec![0, 1], vec![1, 2])
        );
        assert!(
            check(&[3, 2, 0, 1, 1])
                .unwrap_err()
                .contains("says 2 edges")
        );
        assert!(check(&[2, 1, 0, 2]).unwrap_err().contains("node 2 of 2"));
        assert!(check(&[2]).unwrap_err().contains("too short"));
    }
}
