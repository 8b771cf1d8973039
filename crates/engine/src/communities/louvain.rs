use super::components::split_components;
use super::leiden::{LeidenOptions, masses};
use super::moves::{Gather, move_nodes};
use super::network::Network;
use super::order::{Rng, visiting_order};
use super::quality::quality;

/// Moves single nodes until none gains, `restarts` times in different orders, and keeps the best of the partitions
/// (the first level of Blondel et al. 2008). For small graphs and as a baseline: which partition one run reaches
/// depends on the order of its visits, so a single run is no answer. Pieces that a move cut off become communities
/// of their own.
pub fn louvain(network: &Network, options: &LeidenOptions, restarts: usize) -> Vec<u32> {
    let masses = masses(network, options);
    let mut gather = Gather::new(network.nodes());
    let mut best: Option<(f64, Vec<u32>)> = None;
    for restart in 0..restarts.max(1) as u64 {
        let mut labels: Vec<u32> = (0..network.nodes() as u32).collect();
        let mut totals = masses.of.clone();
        let mut rng = Rng::new(options.seed.wrapping_add(restart));
        let order = visiting_order(network.nodes(), &mut rng);
        move_nodes(
            network,
            &masses,
            &mut labels,
            &mut totals,
            order,
            0,
            &mut gather,
        );
        split_components(network, &mut labels);
        let reached = quality(network, &labels, options.objective, options.resolution);
        if best.as_ref().is_none_or(|(most, _)| reached > *most) {
            best = Some((reached, labels));
        }
    }
    best.map(|(_, labels)| labels).unwrap_or_default()
}
