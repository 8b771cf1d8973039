/// An undirected graph with weights, as compressed sparse rows. Every edge is in the rows of both its ends; rows are
/// in the order of the neighbours, so that equal graphs are equal arrays, in whatever order their edges came.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// Where each node's row starts; one more than there are nodes.
    pub(super) offsets: Vec<u32>,
    pub(super) neighbors: Vec<u32>,
    /// One weight an entry of `neighbors`; empty when every weight is 1.
    pub(super) weights: Vec<f32>,
    /// Twice the weight of each node's edges to itself.
    pub(super) loops: Vec<f32>,
}

/// How a row's weights are looked up, so that graphs without weights do not pay for them.
pub(super) trait Weights: Copy {
    fn at(self, position: usize) -> f32;
}

/// Every weight is 1.
#[derive(Clone, Copy)]
pub(super) struct Unit;

impl Weights for Unit {
    fn at(self, _: usize) -> f32 {
        1.0
    }
}

impl Weights for &[f32] {
    fn at(self, position: usize) -> f32 {
        self[position]
    }
}

impl Network {
    /// The graph of these edges, given once each, in any order and direction. Parallel edges add up. Weights that
    /// are not positive numbers are no edges; `weights` is empty when every edge weighs 1.
    ///
    /// # Panics
    /// When the columns differ in length, or a node is not below `nodes`.
    pub fn from_edges(nodes: u32, sources: &[u32], targets: &[u32], weights: &[f32]) -> Self {
        let edges = sources.len();
        assert!(
            targets.len() == edges && (weights.is_empty() || weights.len() == edges),
            "an edge has one source, one target and at most one weight"
        );
        assert!(
            edges <= (u32::MAX / 2) as usize,
            "a network holds fewer than 2^31 edges"
        );
        let nodes = nodes as usize;
        let is_edge = |at: usize| {
            weights
                .get(at)
                .is_none_or(|&weight| weight > 0.0 && weight.is_finite())
        };
        let weight_of = |at: usize| weights.get(at).copied().unwrap_or(1.0);
        let mut offsets = vec![0_u32; nodes + 1];
        for at in (0..edges).filter(|&at| is_edge(at) && sources[at] != targets[at]) {
            offsets[sources[at] as usize + 1] += 1;
            offsets[targets[at] as usize + 1] += 1;
        }
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        let entries = offsets[nodes] as usize;
        let mut unordered = vec![0_u32; entries];
        let mut unordered_weights = vec![0_f32; if weights.is_empty() { 0 } else { entries }];
        let mut loops = Vec::new();
        let mut next = offsets.clone();
        for at in (0..edges).filter(|&at| is_edge(at)) {
            let (source, target) = (sources[at], targets[at]);
            if source == target {
                loops.push((source, weight_of(at)));
                continue;
            }
            for (from, to) in [(source, target), (target, source)] {
                let slot = &mut next[from as usize];
                unordered[*slot as usize] = to;
                if !weights.is_empty() {
                    unordered_weights[*slot as usize] = weights[at];
                }
                *slot += 1;
            }
        }
        // Reading the rows in order and appending each node to the rows of its neighbours orders those rows.
        let mut neighbors = vec![0_u32; entries];
        let mut ordered_weights = vec![0_f32; unordered_weights.len()];
        next.copy_from_slice(&offsets);
        for node in 0..nodes {
            for position in offsets[node] as usize..offsets[node + 1] as usize {
                let slot = &mut next[unordered[position] as usize];
                neighbors[*slot as usize] = node as u32;
                if let Some(&weight) = unordered_weights.get(position) {
                    ordered_weights[*slot as usize] = weight;
                }
                *slot += 1;
            }
        }
        drop((unordered, unordered_weights, next));
        let mut network = Self {
            offsets,
            neighbors,
            weights: ordered_weights,
            loops: Vec::new(),
        };
        network.merge_parallel();
        network.loops = sum_loops(nodes, loops);
        network
    }

    /// Adds up neighbouring entries of one neighbour, lighter ones first: sums must not depend on the input's order.
    fn merge_parallel(&mut self) {
        let nodes = self.nodes();
        let has_parallel = (0..nodes).any(|node| {
            self.neighbors[self.row(node as u32)]
                .windows(2)
                .any(|pair| pair[0] == pair[1])
        });
        if !has_parallel {
            if self
                .weights
                .iter()
                .all(|weight| weight.to_bits() == 1.0_f32.to_bits())
            {
                self.weights = Vec::new();
            }
            return;
        }
        let mut merged = Self {
            offsets: vec![0],
            neighbors: Vec::with_capacity(self.neighbors.len()),
            weights: Vec::with_capacity(self.neighbors.len()),
            loops: Vec::new(),
        };
        let mut weights_of_one = Vec::new();
        for node in 0..nodes {
            let row = self.row(node as u32);
            let mut start = row.start;
            while start < row.end {
                let neighbor = self.neighbors[start];
                let end = start
                    + self.neighbors[start..row.end]
                        .iter()
                        .take_while(|&&other| other == neighbor)
                        .count();
                weights_of_one.clear();
                weights_of_one.extend((start..end).map(|position| self.weight(position)));
                weights_of_one.sort_unstable_by(f32::total_cmp);
                merged.neighbors.push(neighbor);
                merged.weights.push(weights_of_one.iter().sum());
                start = end;
            }
            merged.offsets.push(merged.neighbors.len() as u32);
        }
        *self = merged;
    }

    /// Number of nodes, with or without edges.
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of distinct pairs of connected nodes, a node with itself left out.
    pub fn edges(&self) -> usize {
        self.neighbors.len() / 2
    }

    /// Neighbours of a node with the weights of the edges, by neighbour.
    pub fn neighbors(&self, node: u32) -> impl Iterator<Item = (u32, f32)> + '_ {
        self.row(node)
            .map(|position| (self.neighbors[position], self.weight(position)))
    }

    /// Sum of the weights of a node's edges; an edge to itself counts twice.
    pub fn strength(&self, node: u32) -> f64 {
        let loops = f64::from(self.loops[node as usize]);
        if self.weights.is_empty() {
            return loops + self.row(node).len() as f64;
        }
        self.weights[self.row(node)]
            .iter()
            .fold(loops, |sum, &weight| sum + f64::from(weight))
    }

    /// The same graph with more edges, each given once; see [`Network::from_edges`]. Costs one pass over the
    /// arrays, however few the edges are.
    #[must_use]
    pub fn with_edges(&self, sources: &[u32], targets: &[u32], weights: &[f32]) -> Self {
        let nodes = self.nodes();
        let added = Self::from_edges(nodes as u32, sources, targets, weights);
        let mut merged = Self {
            offsets: Vec::with_capacity(nodes + 1),
            neighbors: Vec::with_capacity(self.neighbors.len() + added.neighbors.len()),
            weights: Vec::new(),
            loops: self
                .loops
                .iter()
                .zip(&added.loops)
                .map(|(a, b)| a + b)
                .collect(),
        };
        merged.offsets.push(0);
        let mut sums = Vec::new();
        let mut is_unit = self.weights.is_empty() && added.weights.is_empty();
        for node in 0..nodes as u32 {
            let (old, new) = (self.row(node), added.row(node));
            let mut from = old.start;
            for at in new {
                let neighbor = added.neighbors[at];
                let before =
                    from + self.neighbors[from..old.end].partition_point(|&other| other < neighbor);
                merged
                    .neighbors
                    .extend_from_slice(&self.neighbors[from..before]);
                let is_known = before < old.end && self.neighbors[before] == neighbor;
                if is_known {
                    is_unit = false;
                }
                sums.push((node, neighbor, merged.neighbors.len(), added.weight(at)));
                merged.neighbors.push(neighbor);
                from = before + usize::from(is_known);
            }
            merged
                .neighbors
                .extend_from_slice(&self.neighbors[from..old.end]);
            merged.offsets.push(merged.neighbors.len() as u32);
        }
        if !is_unit {
            merged.weights = self.weights_with(&merged.neighbors, &sums);
        }
        merged
    }

    /// Weights of the merged rows: ours in order, with each added one in its place.
    fn weights_with(&self, neighbors: &[u32], added: &[(u32, u32, usize, f32)]) -> Vec<f32> {
        let mut weights = Vec::with_capacity(neighbors.len());
        let mut from = 0;
        for &(node, neighbor, place, weight) in added {
            let before = from + (place - weights.len());
            weights.extend((from..before).map(|position| self.weight(position)));
            let is_known = self.row(node).contains(&before) && self.neighbors[before] == neighbor;
            let known = if is_known { self.weight(before) } else { 0.0 };
            weights.push(known + weight);
            from = before + usize::from(is_known);
        }
        weights.extend((from..self.neighbors.len()).map(|position| self.weight(position)));
        weights
    }

    pub(super) fn row(&self, node: u32) -> std::ops::Range<usize> {
        self.offsets[node as usize] as usize..self.offsets[node as usize + 1] as usize
    }

    pub(super) fn weight(&self, position: usize) -> f32 {
        self.weights.get(position).copied().unwrap_or(1.0)
    }
}

fn sum_loops(nodes: usize, mut loops: Vec<(u32, f32)>) -> Vec<f32> {
    loops.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut sums = vec![0.0; nodes];
    for (node, weight) in loops {
        sums[node as usize] += 2.0 * weight;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_ordered_and_parallel_edges_add_up() {
        let check = |edges: &[(u32, u32, f32)], node: u32, expected: &[(u32, f32)]| {
            let network = weighted(4, edges);
            assert_eq!(network.neighbors(node).collect::<Vec<_>>(), expected);
        };
        check(&[(2, 0, 1.0), (0, 1, 2.0)], 0, &[(1, 2.0), (2, 1.0)]);
        check(&[(2, 0, 1.0), (0, 2, 0.5)], 0, &[(2, 1.5)]);
        check(&[(0, 1, 0.0), (0, 2, -1.0), (0, 3, f32::NAN)], 0, &[]);
        check(&[(0, 0, 1.0)], 0, &[]);
        assert!((weighted(1, &[(0, 0, 1.5)]).strength(0) - 3.0).abs() < 1e-9);
    }

    #[test]
    fn added_edges_give_the_graph_of_all_edges() {
        let old = [(0, 1, 1.0), (1, 2, 1.0), (3, 1, 1.0)];
        let check = |added: &[(u32, u32, f32)]| {
            let all: Vec<_> = old.iter().chain(added).copied().collect();
            let (sources, targets, weights) = columns(added);
            let grown = weighted(4, &old).with_edges(&sources, &targets, &weights);
            assert_eq!(grown, weighted(4, &all), "{added:?}");
        };
        check(&[]);
        check(&[(0, 2, 1.0)]);
        check(&[(0, 2, 1.0), (0, 3, 1.0), (2, 3, 1.0)]);
        check(&[(0, 2, 2.5)]);
        check(&[(2, 1, 1.0), (0, 3, 1.0)]);
        check(&[(3, 1, 0.5), (2, 2, 1.0)]);
    }

    fn weighted(nodes: u32, edges: &[(u32, u32, f32)]) -> Network {
        let (sources, targets, weights) = columns(edges);
        Network::from_edges(nodes, &sources, &targets, &weights)
    }

    fn columns(edges: &[(u32, u32, f32)]) -> (Vec<u32>, Vec<u32>, Vec<f32>) {
        let sources = edges.iter().map(|edge| edge.0).collect();
        let targets = edges.iter().map(|edge| edge.1).collect();
        (sources, targets, edges.iter().map(|edge| edge.2).collect())
    }
}
