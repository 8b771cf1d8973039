//! The order in which nodes are visited.

/// Above this many nodes whole blocks of neighbouring nodes are shuffled: neighbours share cache lines, and a visit
/// costs little else than memory.
const LARGE: usize = 65_536;
const BLOCK: usize = 64;

/// `SplitMix64` (Steele, Lea and Flood 2014): the same numbers on every machine.
#[derive(Debug, Clone)]
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

/// All nodes in random order; of a large graph, blocks of nodes in random order.
pub(super) fn visiting_order(nodes: usize, rng: &mut Rng) -> Vec<u32> {
    let block = if nodes >= LARGE { BLOCK } else { 1 };
    let mut starts: Vec<u32> = (0..nodes)
        .step_by(block)
        .map(|start| start as u32)
        .collect();
    for at in (1..starts.len()).rev() {
        starts.swap(at, rng.below(at + 1));
    }
    if block == 1 {
        return starts;
    }
    let mut order = Vec::with_capacity(nodes);
    for start in starts {
        order.extend(start..(start + BLOCK as u32).min(nodes as u32));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_is_visited_once() {
        for nodes in [0, 1, 7, LARGE + 3] {
            let mut order = visiting_order(nodes, &mut Rng::new(5));
            order.sort_unstable();
            assert!(order.iter().copied().eq(0..nodes as u32), "{nodes}");
        }
    }
}
