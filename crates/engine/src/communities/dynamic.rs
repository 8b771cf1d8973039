use super::components::split_keeping;
use super::leiden::{LeidenOptions, masses};
use super::moves::{Gather, move_nodes};
use super::network::Network;

/// An edge that came or went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    pub source: u32,
    pub target: u32,
    pub is_added: bool,
}

/// The partition after a change of the graph, from the one before. Only nodes that the change can have unsettled
/// move, and then what their moves unsettle: ends of new edges between communities and of lost edges inside one
/// (the dynamic frontier of Sahu 2024), and new nodes, which are those past the end of `before`.
///
/// Communities keep their labels; new ones are numbered after them. So labels may have gaps, and a community whose
/// label has the same nodes as before is unchanged. Every community is connected.
pub fn update(
    network: &Network,
    before: &[u32],
    changes: &[Change],
    options: &LeidenOptions,
) -> Vec<u32> {
    let known = before.len().min(network.nodes());
    let mut labels = before[..known].to_vec();
    let mut bound = before.iter().max().map_or(0, |&most| most + 1);
    while labels.len() < network.nodes() {
        labels.push(bound);
        bound += 1;
    }
    let mut is_queued = vec![false; network.nodes()];
    for change in changes {
        let (source, target) = (change.source as usize, change.target as usize);
        if (labels[source] != labels[target]) == change.is_added {
            is_queued[source] = true;
            is_queued[target] = true;
        }
    }
    is_queued[known..].fill(true);
    let queue = (0..network.nodes() as u32)
        .filter(|&node| is_queued[node as usize])
        .collect();
    let masses = masses(network, options);
    let mut totals = masses.totals(&labels, bound as usize);
    let mut gather = Gather::new(bound as usize);
    move_nodes(
        network,
        &masses,
        &mut labels,
        &mut totals,
        queue,
        0,
        &mut gather,
    );
    split_keeping(network, &mut labels);
    labels
}
