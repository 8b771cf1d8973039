use super::moves::{Gather, Masses};
use super::network::{Network, Unit, Weights};

/// Numbers labels in the order in which they appear and returns how many there are. Labels are below `bound`.
pub(super) fn renumber(labels: &mut [u32], bound: usize) -> usize {
    const UNSEEN: u32 = u32::MAX;
    let mut numbers = vec![UNSEEN; bound];
    let mut count = 0;
    for label in labels {
        let number = &mut numbers[*label as usize];
        if *number == UNSEEN {
            *number = count;
            count += 1;
        }
        *label = *number;
    }
    count as usize
}

/// The graph whose nodes are the `count` parts of a partition; edges inside a part become loops.
pub(super) fn aggregate(
    network: &Network,
    masses: &Masses,
    parts: &[u32],
    count: usize,
    gather: &mut Gather,
) -> (Network, Masses) {
    if network.weights.is_empty() {
        aggregate_weighted(network, Unit, masses, parts, count, gather)
    } else {
        let weights = network.weights.as_slice();
        aggregate_weighted(network, weights, masses, parts, count, gather)
    }
}

fn aggregate_weighted<W: Weights>(
    network: &Network,
    weights: W,
    masses: &Masses,
    parts: &[u32],
    count: usize,
    gather: &mut Gather,
) -> (Network, Masses) {
    let members = Members::of(parts, count);
    let mut whole = Network {
        offsets: Vec::with_capacity(count + 1),
        neighbors: Vec::new(),
        weights: Vec::new(),
        loops: vec![0.0; count],
    };
    whole.offsets.push(0);
    let mut mass = Vec::with_capacity(count);
    for part in 0..count {
        let mut touched = 0;
        let mut part_mass = 0.0;
        for &node in members.of_label(part as u32) {
            whole.loops[part] += network.loops[node as usize];
            part_mass += masses.of[node as usize];
            let row = network.row(node);
            for (&neighbor, position) in network.neighbors[row.clone()].iter().zip(row) {
                let other = parts[neighbor as usize];
                let weight = weights.at(position);
                if other as usize == part {
                    whole.loops[part] += weight;
                } else {
                    touched = gather.add(other, weight, touched);
                }
            }
        }
        for &other in &gather.touched[..touched] {
            whole.neighbors.push(other);
            whole
                .weights
                .push(std::mem::take(&mut gather.sums[other as usize]));
        }
        mass.push(part_mass);
        whole.offsets.push(whole.neighbors.len() as u32);
    }
    let masses = Masses {
        of: mass,
        rate: masses.rate,
    };
    (whole, masses)
}

/// Nodes by label.
#[derive(Debug)]
pub(super) struct Members {
    offsets: Vec<u32>,
    nodes: Vec<u32>,
}

impl Members {
    pub(super) fn of(labels: &[u32], count: usize) -> Self {
        let mut offsets = vec![0_u32; count + 1];
        for &label in labels {
            offsets[label as usize + 1] += 1;
        }
        for label in 0..count {
            offsets[label + 1] += offsets[label];
        }
        let mut next = offsets.clone();
        let mut nodes = vec![0; labels.len()];
        for (&label, node) in labels.iter().zip(0..) {
            let slot = &mut next[label as usize];
            nodes[*slot as usize] = node;
            *slot += 1;
        }
        Self { offsets, nodes }
    }

    /// Nodes of a label, in order.
    pub(super) fn of_label(&self, label: u32) -> &[u32] {
        let at = label as usize;
        &self.nodes[self.offsets[at] as usize..self.offsets[at + 1] as usize]
    }
}
