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

/// Nodes that changes of the edges can have unsettled: ends of new edges between communities and of lost edges
/// inside one (the dynamic frontier of Sahu 2024), and all nodes past the end of `labels`.
pub fn frontier(nodes: usize, labels: &[u32], changes: &[Change]) -> Vec<u32> {
    let label = |node: u32| labels.get(node as usize);
    let mut is_queued = vec![false; nodes];
    for change in changes {
        let (source, target) = (label(change.source), label(change.target));
        if (source.is_none() || source != target) == change.is_added {
            is_queued[change.source as usize] = true;
            is_queued[change.target as usize] = true;
        }
    }
    is_queued[labels.len().min(nodes)..].fill(true);
    (0..nodes as u32)
        .filter(|&node| is_queued[node as usize])
        .collect()
}

/// The partition after a change of the graph, from the one before: the nodes of `frontier` move, and then what their
/// moves unsettle. Nodes past the end of `before` are new and start alone.
///
/// Communities keep their labels; new ones are numbered after them. So labels may have gaps, and a community whose
/// label has the same nodes as before is unchanged. Every community is connected.
pub fn update(
    network: &Network,
    before: &[u32],
    frontier: Vec<u32>,
    options: &LeidenOptions,
) -> Vec<u32> {
    let known = before.len().min(network.nodes());
    let mut labels = before[..known].to_vec();
    let mut bound = before.iter().max().map_or(0, |&most| most + 1);
    while labels.len() < network.nodes() {
        labels.push(bound);
        bound += 1;
    }
    let masses = masses(network, options);
    let mut totals = masses.totals(&labels, bound as usize);
    let mut gather = Gather::new(bound as usize);
    move_nodes(
        network,
        &masses,
        &mut labels,
        &mut totals,
        frontier,
        0,
        &mut gather,
    );
    split_keeping(network, &mut labels);
    labels
}
