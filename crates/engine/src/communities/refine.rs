use super::moves::{Gather, Masses};
use super::network::{Network, Unit, Weights};

/// A merge must gain more than this: rounding is no gain.
const LEAST_GAIN: f64 = 1e-9;
/// The links of a node into its community are not added up yet.
const UNKNOWN: f32 = -1.0;

/// Splits each community into well-connected parts: starting alone, a node joins the part inside its community that
/// gains most, when both are well connected to the rest of the community (Traag et al. 2019, refinement phase,
/// without its randomness). A part grows only by nodes that touch it, so parts are connected.
///
/// Returns one part a node, named after one of its nodes.
pub(super) fn refine(
    network: &Network,
    masses: &Masses,
    labels: &[u32],
    totals: &[f64],
    order: &[u32],
    gather: &mut Gather,
) -> Vec<u32> {
    if network.weights.is_empty() {
        refine_weighted(network, Unit, masses, labels, totals, order, gather)
    } else {
        let weights = network.weights.as_slice();
        refine_weighted(network, weights, masses, labels, totals, order, gather)
    }
}

fn refine_weighted<W: Weights>(
    network: &Network,
    weights: W,
    masses: &Masses,
    labels: &[u32],
    totals: &[f64],
    order: &[u32],
    gather: &mut Gather,
) -> Vec<u32> {
    let nodes = network.nodes();
    let mut parts: Vec<u32> = (0..nodes as u32).collect();
    let mut part_mass: Vec<f64> = masses.of.clone();
    // Weight between a part and the rest of its community.
    let mut outside = vec![UNKNOWN; nodes];
    let mut is_settled = vec![false; nodes];
    for &node in order {
        let at = node as usize;
        if is_settled[at] {
            continue;
        }
        let label = labels[at];
        let row = network.row(node);
        let mut touched = 0;
        let mut inside = 0.0_f32;
        for (&neighbor, position) in network.neighbors[row.clone()].iter().zip(row) {
            if labels[neighbor as usize] == label {
                let weight = weights.at(position);
                inside += weight;
                touched = gather.add(parts[neighbor as usize], weight, touched);
            }
        }
        outside[at] = inside;
        let total = totals[label as usize];
        let cost = masses.of[at] * masses.rate;
        let is_well_connected = f64::from(inside) >= cost * (total - masses.of[at]);
        let mut best = None;
        let mut best_gain = LEAST_GAIN;
        for &part in &gather.touched[..touched] {
            let sum = std::mem::take(&mut gather.sums[part as usize]);
            let mass = part_mass[part as usize];
            if !is_well_connected || f64::from(sum) - cost * mass <= best_gain {
                continue;
            }
            let links = &mut outside[part as usize];
            if *links < 0.0 {
                // A node that was not visited yet, so it is alone.
                *links = network
                    .row(part)
                    .filter(|&position| labels[network.neighbors[position] as usize] == label)
                    .map(|position| weights.at(position))
                    .sum();
            }
            if f64::from(*links) >= mass * masses.rate * (total - mass) {
                best_gain = f64::from(sum) - cost * mass;
                best = Some((part, sum));
            }
        }
        if let Some((part, sum)) = best {
            parts[at] = part;
            is_settled[at] = true;
            is_settled[part as usize] = true;
            part_mass[part as usize] += masses.of[at];
            outside[part as usize] += inside - 2.0 * sum;
        }
    }
    parts
}
