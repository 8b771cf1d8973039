use super::network::{Network, Unit, Weights};

/// Marks a node that waits in the queue; labels are below it.
const QUEUED: u32 = 1 << 31;
/// A move must gain more than this share of the weights at hand: rounding is no gain.
const LEAST_GAIN: f64 = 1e-9;

/// What a community gains from a node: the weight of the edges between them, minus `rate` × the product of their
/// masses. For modularity a node's mass is its strength and the rate is resolution / 2m; for the constant Potts
/// model its mass is 1 and the rate is the resolution.
#[derive(Debug, Clone)]
pub(super) struct Masses {
    pub(super) of: Vec<f64>,
    pub(super) rate: f64,
}

impl Masses {
    /// Sum of the masses of each label's nodes.
    pub(super) fn totals(&self, labels: &[u32], count: usize) -> Vec<f64> {
        let mut totals = vec![0.0; count];
        for (&label, mass) in labels.iter().zip(&self.of) {
            totals[label as usize] += mass;
        }
        totals
    }
}

/// Adds up the weights to each label around a node. Kept between calls: all sums are 0 in between.
#[derive(Debug)]
pub(super) struct Gather {
    pub(super) sums: Vec<f32>,
    pub(super) touched: Vec<u32>,
}

impl Gather {
    pub(super) fn new(labels: usize) -> Self {
        Self {
            sums: vec![0.0; labels],
            touched: vec![0; labels + 1],
        }
    }

    /// Adds a weight to a label and returns how many labels have been touched. Which label is new is hard to
    /// foresee, so there is no branch on it.
    #[inline]
    pub(super) fn add(&mut self, label: u32, weight: f32, touched: usize) -> usize {
        let sum = &mut self.sums[label as usize];
        let is_new = *sum == 0.0;
        *sum += weight;
        self.touched[touched] = label;
        touched + usize::from(is_new)
    }
}

/// Moves nodes to the neighbouring community that gains most, beginning with `queue`, then whatever a move may have
/// unsettled, until a round makes at most `few` moves. Returns whether any node moved.
pub(super) fn move_nodes(
    network: &Network,
    masses: &Masses,
    labels: &mut [u32],
    totals: &mut [f64],
    queue: Vec<u32>,
    few: usize,
    gather: &mut Gather,
) -> bool {
    if network.weights.is_empty() {
        move_weighted(network, Unit, masses, labels, totals, queue, few, gather)
    } else {
        let weights = network.weights.as_slice();
        move_weighted(network, weights, masses, labels, totals, queue, few, gather)
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "one call site, which names them all"
)]
fn move_weighted<W: Weights>(
    network: &Network,
    weights: W,
    masses: &Masses,
    labels: &mut [u32],
    totals: &mut [f64],
    mut queue: Vec<u32>,
    few: usize,
    gather: &mut Gather,
) -> bool {
    for &node in &queue {
        labels[node as usize] |= QUEUED;
    }
    let mut next: Vec<u32> = Vec::new();
    let mut has_moved = false;
    while !queue.is_empty() {
        let mut moves = 0;
        for &node in &queue {
            let own = labels[node as usize] & !QUEUED;
            labels[node as usize] = own;
            let row = network.row(node);
            let mut touched = 0;
            for (&neighbor, position) in network.neighbors[row.clone()].iter().zip(row.clone()) {
                let label = labels[neighbor as usize] & !QUEUED;
                touched = gather.add(label, weights.at(position), touched);
            }
            let mass = masses.of[node as usize];
            let cost = mass * masses.rate;
            let staying =
                f64::from(gather.sums[own as usize]) - cost * (totals[own as usize] - mass);
            let (mut best, mut best_gain) = (own, staying + LEAST_GAIN * (1.0 + staying.abs()));
            for &label in &gather.touched[..touched] {
                let sum = f64::from(std::mem::take(&mut gather.sums[label as usize]));
                // The cost only lowers it, so most labels need no look at their totals.
                if sum <= best_gain || label == own {
                    continue;
                }
                let gain = sum - cost * totals[label as usize];
                if gain > best_gain {
                    (best, best_gain) = (label, gain);
                }
            }
            if best == own {
                continue;
            }
            moves += 1;
            totals[own as usize] -= mass;
            totals[best as usize] += mass;
            labels[node as usize] = best;
            for &neighbor in &network.neighbors[row] {
                let label = &mut labels[neighbor as usize];
                if *label & QUEUED == 0 && *label != best {
                    *label |= QUEUED;
                    next.push(neighbor);
                }
            }
        }
        has_moved |= moves > 0;
        if moves <= few {
            break;
        }
        queue.clear();
        std::mem::swap(&mut queue, &mut next);
    }
    for &node in &next {
        labels[node as usize] &= !QUEUED;
    }
    has_moved
}
