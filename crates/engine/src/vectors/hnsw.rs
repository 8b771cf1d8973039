//! Hierarchical navigable small worlds (Malkov and Yashunin, 2018): nearest neighbours without looking at every
//! vector. Built one vector after the other, without chance, so that the same vectors give the same graph.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::code::product;

/// Neighbours of a node in an upper layer, and in the lowest.
const NEIGHBOURS: usize = 16;
const LOWEST_NEIGHBOURS: usize = 32;
/// Nodes in hand while the neighbours of a new one are looked for.
const BUILD_WIDTH: usize = 100;
/// A node is in one layer more than its neighbour in number once in so many, as a power of two.
const LAYER_BITS: u32 = 4;

/// A graph over the numbers of vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hnsw {
    /// By node: where its lists begin.
    starts: Vec<usize>,
    /// For each node and layer, lowest first: the number of neighbours, then room for the most there may be.
    lists: Vec<u32>,
    /// The first node of the highest layer.
    entry: u32,
}

/// A node and its nearness; nearer is greater.
#[derive(Debug, Clone, Copy)]
pub(super) struct Near {
    pub score: f32,
    pub node: u32,
}

impl Ord for Near {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let by_score = self.score.total_cmp(&other.score);
        by_score.then_with(|| other.node.cmp(&self.node))
    }
}

impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Near {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Near {}

/// Layers of a node above the lowest.
fn height(node: u32) -> usize {
    // The finaliser of SplitMix64: every bit of the number decides about every bit of the result.
    let mut bits = u64::from(node)
        .wrapping_add(1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ bits >> 31).trailing_zeros() / LAYER_BITS) as usize
}

const fn room(layer: usize) -> usize {
    if layer == 0 {
        LOWEST_NEIGHBOURS
    } else {
        NEIGHBOURS
    }
}

impl Hnsw {
    /// Empty lists for so many nodes.
    fn empty(nodes: usize) -> Self {
        let mut starts = Vec::with_capacity(nodes + 1);
        let (mut end, mut entry) = (0, 0);
        for node in 0..nodes as u32 {
            starts.push(end);
            if height(node) > height(entry) {
                entry = node;
            }
            end += 1 + LOWEST_NEIGHBOURS + height(node) * (1 + NEIGHBOURS);
        }
        starts.push(end);
        Self {
            starts,
            lists: vec![0; end],
            entry,
        }
    }

    /// Over vectors of so many dimensions, one after the other.
    pub(super) fn build(dimensions: usize, vectors: &[f32]) -> Self {
        let nodes = vectors.len() / dimensions.max(1);
        let mut graph = Self::empty(nodes);
        let vector = |node: u32| &vectors[node as usize * dimensions..][..dimensions];
        let between = |a: u32, b: u32| product(vector(a), vector(b));
        let mut seen = Seen::new(nodes);
        let mut entry = 0_u32;
        for node in 1..nodes as u32 {
            let nearness = |other: u32| between(node, other);
            let mut start = Near {
                score: nearness(entry),
                node: entry,
            };
            for layer in (height(node) + 1..=height(entry)).rev() {
                start = graph.descend(start, layer, nearness);
            }
            let mut from = vec![start];
            for layer in (0..=height(node).min(height(entry))).rev() {
                seen.forget();
                let found = graph.nearest(&from, BUILD_WIDTH, layer, &mut seen, nearness);
                let chosen = choose(&found, room(layer).min(NEIGHBOURS), between);
                graph.set(node, layer, &chosen);
                for near in &chosen {
                    graph.join(near.node, node, near.score, layer, between);
                }
                from = found;
            }
            if height(node) > height(entry) {
                entry = node;
            }
        }
        graph
    }

    /// From what [`Hnsw::lists`] gave; `None` when it is not that of so many nodes.
    pub(super) fn from_lists(nodes: usize, lists: Vec<u32>) -> Option<Self> {
        let empty = Self::empty(nodes);
        let graph = Self { lists, ..empty };
        let fits = graph.lists.len() == *graph.starts.last()?
            && (0..nodes as u32).all(|node| {
                (0..=height(node)).all(|layer| {
                    let at = graph.list(node, layer);
                    let count = graph.lists[at] as usize;
                    count <= room(layer)
                        && graph.lists[at + 1..=at + count]
                            .iter()
                            .all(|&other| (other as usize) < nodes && height(other) >= layer)
                })
            });
        fits.then_some(graph)
    }

    pub(super) fn lists(&self) -> &[u32] {
        &self.lists
    }

    /// Nodes it has.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The nearest so many nodes that are admitted, best first. `None` when so much of the graph had to be looked
    /// at that looking at everything costs less: a filter lets hardly anything through.
    pub(super) fn search(
        &self,
        width: usize,
        nearness: impl Fn(u32) -> f32,
        admits: impl Fn(u32) -> bool,
    ) -> Option<Vec<Near>> {
        if self.len() == 0 {
            return Some(Vec::new());
        }
        let mut start = Near {
            score: nearness(self.entry),
            node: self.entry,
        };
        for layer in (1..=height(self.entry)).rev() {
            start = self.descend(start, layer, &nearness);
        }
        let most = self.len() / 8 + 2 * width;
        let mut seen = Seen::new(self.len());
        let mut looked_at = 1;
        seen.add(start.node);
        let mut open = BinaryHeap::from([start]);
        let mut best: BinaryHeap<Reverse<Near>> = BinaryHeap::new();
        if admits(start.node) {
            best.push(Reverse(start));
        }
        while let Some(near) = open.pop() {
            let worst = best.peek().map(|worst| worst.0);
            if best.len() >= width && worst.is_some_and(|worst| near < worst) {
                break;
            }
            for &node in self.neighbours(near.node, 0) {
                if !seen.add(node) {
                    continue;
                }
                looked_at += 1;
                let found = Near {
                    score: nearness(node),
                    node,
                };
                if best.len() < width || best.peek().is_some_and(|worst| found > worst.0) {
                    open.push(found);
                    if admits(node) {
                        best.push(Reverse(found));
                        if best.len() > width {
                            best.pop();
                        }
                    }
                }
            }
            if looked_at > most {
                return None;
            }
        }
        let mut best: Vec<Near> = best.into_iter().map(|near| near.0).collect();
        best.sort_unstable_by(|a, b| b.cmp(a));
        Some(best)
    }

    /// The nearest node of a layer that can be reached by always going nearer.
    fn descend(&self, mut near: Near, layer: usize, nearness: impl Fn(u32) -> f32) -> Near {
        loop {
            let neighbours = self.neighbours(near.node, layer).iter();
            let best = neighbours
                .map(|&node| Near {
                    score: nearness(node),
                    node,
                })
                .max();
            match best {
                Some(best) if best > near => near = best,
                _ => return near,
            }
        }
    }

    /// The nearest so many nodes of a layer, best first.
    fn nearest(
        &self,
        from: &[Near],
        width: usize,
        layer: usize,
        seen: &mut Seen,
        nearness: impl Fn(u32) -> f32,
    ) -> Vec<Near> {
        let mut open: BinaryHeap<Near> = from.iter().copied().collect();
        let mut best: BinaryHeap<Reverse<Near>> = from.iter().copied().map(Reverse).collect();
        for near in from {
            seen.add(near.node);
        }
        while let Some(near) = open.pop() {
            if best.len() >= width && best.peek().is_some_and(|worst| near < worst.0) {
                break;
            }
            for &node in self.neighbours(near.node, layer) {
                if !seen.add(node) {
                    continue;
                }
                let found = Near {
                    score: nearness(node),
                    node,
                };
                if best.len() < width || best.peek().is_some_and(|worst| found > worst.0) {
                    open.push(found);
                    best.push(Reverse(found));
                    if best.len() > width {
                        best.pop();
                    }
                }
            }
        }
        let mut best: Vec<Near> = best.into_iter().map(|near| near.0).collect();
        best.sort_unstable_by(|a, b| b.cmp(a));
        best
    }

    fn list(&self, node: u32, layer: usize) -> usize {
        let above = if layer == 0 {
            0
        } else {
            1 + LOWEST_NEIGHBOURS + (layer - 1) * (1 + NEIGHBOURS)
        };
        self.starts[node as usize] + above
    }

    fn neighbours(&self, node: u32, layer: usize) -> &[u32] {
        let at = self.list(node, layer);
        &self.lists[at + 1..][..self.lists[at] as usize]
    }

    fn set(&mut self, node: u32, layer: usize, neighbours: &[Near]) {
        let at = self.list(node, layer);
        self.lists[at] = neighbours.len() as u32;
        for (slot, near) in self.lists[at + 1..].iter_mut().zip(neighbours) {
            *slot = near.node;
        }
    }

    /// Makes `new` a neighbour of `node`; where there is no room, the ones worth most stay.
    fn join(
        &mut self,
        node: u32,
        new: u32,
        score: f32,
        layer: usize,
        between: impl Fn(u32, u32) -> f32,
    ) {
        let at = self.list(node, layer);
        let count = self.lists[at] as usize;
        if count < room(layer) {
            self.lists[at + 1 + count] = new;
            self.lists[at] += 1;
            return;
        }
        let mut all: Vec<Near> = self
            .neighbours(node, layer)
            .iter()
            .map(|&other| Near {
                score: between(node, other),
                node: other,
            })
            .collect();
        all.push(Near { score, node: new });
        all.sort_unstable_by(|a, b| b.cmp(a));
        let chosen = choose(&all, room(layer), between);
        self.set(node, layer, &chosen);
    }
}

/// Up to `wanted` of the candidates, which come best first: those that are nearer to the node than to any chosen
/// before, so that edges go in every direction; then the nearest of the others.
fn choose(candidates: &[Near], wanted: usize, between: impl Fn(u32, u32) -> f32) -> Vec<Near> {
    let mut chosen: Vec<Near> = Vec::with_capacity(wanted);
    let mut others = Vec::new();
    for &near in candidates {
        if chosen.len() == wanted {
            break;
        }
        if chosen
            .iter()
            .all(|other| between(near.node, other.node) < near.score)
        {
            chosen.push(near);
        } else {
            others.push(near);
        }
    }
    let missing = wanted - chosen.len();
    chosen.extend(others.into_iter().take(missing));
    chosen
}

/// Which nodes a search has met; forgets them all at once.
struct Seen {
    marks: Vec<u32>,
    mark: u32,
}

impl Seen {
    fn new(nodes: usize) -> Self {
        Self {
            marks: vec![0; nodes],
            mark: 1,
        }
    }

    fn forget(&mut self) {
        if self.mark == u32::MAX {
            self.marks.fill(0);
            self.mark = 0;
        }
        self.mark += 1;
    }

    /// Whether it is new.
    fn add(&mut self, node: u32) -> bool {
        let mark = &mut self.marks[node as usize];
        let is_new = *mark != self.mark;
        *mark = self.mark;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIMENSIONS: usize = 16;

    /// Vectors of length 1 around a few directions, the same on every run.
    fn vectors(count: usize) -> Vec<f32> {
        let mut state = 7_u64;
        let mut number = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        let themes: Vec<f32> = (0..20 * DIMENSIONS).map(|_| number()).collect();
        let mut all = Vec::new();
        for at in 0..count {
            let theme = &themes[at % 20 * DIMENSIONS..][..DIMENSIONS];
            let mut vector: Vec<f32> = theme.iter().map(|value| value + 0.7 * number()).collect();
            let length = product(&vector, &vector).sqrt();
            vector.iter_mut().for_each(|value| *value /= length);
            all.extend(vector);
        }
        all
    }

    fn by_full_scan(vectors: &[f32], question: &[f32], admits: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut all: Vec<Near> = (0..)
            .zip(vectors.chunks_exact(DIMENSIONS))
            .filter(|entry| admits(entry.0))
            .map(|(node, vector)| Near {
                score: product(vector, question),
                node,
            })
            .collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all.into_iter().take(10).map(|near| near.node).collect()
    }

    fn recall(admits: impl Fn(u32) -> bool + Copy) -> f64 {
        let vectors = vectors(1200);
        let graph = Hnsw::build(DIMENSIONS, &vectors);
        let mut found = 0;
        for question in vectors.chunks_exact(DIMENSIONS).step_by(40) {
            let nearness = |node: u32| {
                product(
                    &vectors[node as usize * DIMENSIONS..][..DIMENSIONS],
                    question,
                )
            };
            let expected = by_full_scan(&vectors, question, admits);
            let got: Vec<u32> = match graph.search(64, nearness, admits) {
                Some(near) => near.iter().map(|near| near.node).collect(),
                None => expected.clone(),
            };
            assert!(got.iter().all(|&node| admits(node)));
            let got = &got[..10.min(got.len())];
            found += expected.iter().filter(|node| got.contains(node)).count();
        }
        found as f64 / 300.0
    }

    #[test]
    fn it_finds_what_a_full_scan_finds() {
        let recall = recall(|_| true);
        assert!(recall >= 0.99, "{recall}");
    }

    #[test]
    fn filters_apply_inside_the_search() {
        for share in [2, 7, 100] {
            let recall = recall(|node| node % share == 0);
            assert!(recall >= 0.99, "one in {share}: {recall}");
        }
    }

    #[test]
    fn the_same_vectors_give_the_same_graph_and_its_lists_give_it_back() {
        let vectors = vectors(300);
        let graph = Hnsw::build(DIMENSIONS, &vectors);
        assert_eq!(graph, Hnsw::build(DIMENSIONS, &vectors));
        let lists = graph.lists().to_vec();
        assert_eq!(Hnsw::from_lists(300, lists.clone()), Some(graph));
        assert_eq!(Hnsw::from_lists(299, lists.clone()), None);
        let mut broken = lists;
        broken[1] = 300;
        assert_eq!(Hnsw::from_lists(300, broken), None);
    }

    #[test]
    fn few_vectors_are_no_special_case() {
        for count in 0..4 {
            let vectors = vectors(count);
            let graph = Hnsw::build(DIMENSIONS, &vectors);
            let found = graph.search(10, |node| -(node as f32), |_| true).unwrap();
            let nodes: Vec<u32> = found.iter().map(|near| near.node).collect();
            assert_eq!(nodes, (0..count as u32).collect::<Vec<_>>());
        }
    }
}
