use super::aggregate::renumber;
use super::network::Network;

/// Entries of each row looked at before the rest of a community is known to hang together.
const FIRST_LINKS: usize = 2;

/// Number of communities that their own edges do not connect.
pub fn disconnected(network: &Network, labels: &[u32]) -> usize {
    let mut split = labels.to_vec();
    let count = renumber(&mut split, bound(labels));
    let mut broken = vec![false; count];
    let mut root_of = vec![u32::MAX; count];
    let roots = connected_roots(network, &split, count);
    for (&root, &label) in roots.iter().zip(&split) {
        let first = &mut root_of[label as usize];
        if *first == u32::MAX {
            *first = root;
        }
        broken[label as usize] |= *first != root;
    }
    broken.iter().filter(|&&broken| broken).count()
}

/// Gives every connected piece of a community a label of its own, and numbers labels in order of appearance.
/// Returns how many there are.
pub(super) fn split_components(network: &Network, labels: &mut [u32]) -> usize {
    let count = bound(labels);
    let roots = connected_roots(network, labels, count);
    labels.copy_from_slice(&roots);
    renumber(labels, network.nodes())
}

/// Gives every connected piece of a community a label of its own past the others; the largest piece keeps the
/// community's.
pub(super) fn split_keeping(network: &Network, labels: &mut [u32]) {
    let count = bound(labels);
    let roots = connected_roots(network, labels, count);
    let mut size = vec![0_u32; network.nodes()];
    for &root in &roots {
        size[root as usize] += 1;
    }
    let mut keeps = vec![u32::MAX; count];
    for (&root, &label) in roots.iter().zip(&*labels) {
        let largest = &mut keeps[label as usize];
        if *largest == u32::MAX || size[root as usize] > size[*largest as usize] {
            *largest = root;
        }
    }
    let mut next = count as u32;
    let mut new_label = vec![u32::MAX; network.nodes()];
    for (root, label) in roots.iter().zip(labels) {
        if keeps[*label as usize] == *root {
            continue;
        }
        let fresh = &mut new_label[*root as usize];
        if *fresh == u32::MAX {
            *fresh = next;
            next += 1;
        }
        *label = *fresh;
    }
}

fn bound(labels: &[u32]) -> usize {
    labels.iter().max().map_or(0, |&most| most as usize + 1)
}

/// One node for each connected piece of a community, for every node of it. Most nodes find the bulk of their
/// community through their first links; only what is left outside of it looks at all of them (the idea of
/// Sutton, Ben-Nun and Barak 2018 for parallel components, here for each community).
fn connected_roots(network: &Network, labels: &[u32], count: usize) -> Vec<u32> {
    let nodes = network.nodes();
    let mut forest = Forest((0..nodes as u32).collect());
    for node in 0..nodes as u32 {
        let row = &network.neighbors[network.row(node)];
        let inside = row
            .iter()
            .filter(|&&neighbor| labels[neighbor as usize] == labels[node as usize]);
        for &neighbor in inside.take(FIRST_LINKS) {
            forest.join(node, neighbor);
        }
    }
    let mut size = vec![0_u32; nodes];
    for node in 0..nodes as u32 {
        size[forest.root(node) as usize] += 1;
    }
    let mut bulk = vec![u32::MAX; count];
    for node in 0..nodes as u32 {
        let root = forest.root(node);
        let largest = &mut bulk[labels[node as usize] as usize];
        if *largest == u32::MAX || size[root as usize] > size[*largest as usize] {
            *largest = root;
        }
    }
    for node in 0..nodes as u32 {
        let label = labels[node as usize];
        if forest.root(node) == forest.root(bulk[label as usize]) {
            continue;
        }
        for position in network.row(node) {
            let neighbor = network.neighbors[position];
            if labels[neighbor as usize] == label {
                forest.join(node, neighbor);
            }
        }
    }
    (0..nodes as u32).map(|node| forest.root(node)).collect()
}

/// Disjoint sets; the smallest node of a set is its root.
struct Forest(Vec<u32>);

impl Forest {
    fn root(&mut self, node: u32) -> u32 {
        let mut at = node;
        while self.0[at as usize] != at {
            // Halving the path keeps later look-ups short.
            let above = self.0[self.0[at as usize] as usize];
            self.0[at as usize] = above;
            at = above;
        }
        at
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        let (low, high) = (a.min(b), a.max(b));
        self.0[high as usize] = low;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_get_labels_of_their_own() {
        let check = |edges: &[(u32, u32)], labels: &[u32], expected: &[u32], broken: usize| {
            let (sources, targets): (Vec<u32>, Vec<u32>) = edges.iter().copied().unzip();
            let network = Network::from_edges(labels.len() as u32, &sources, &targets, &[]);
            assert_eq!(disconnected(&network, labels), broken);
            let mut split = labels.to_vec();
            split_components(&network, &mut split);
            assert_eq!(split, expected);
        };
        check(&[(0, 1), (2, 3)], &[0, 0, 0, 0], &[0, 0, 1, 1], 1);
        check(&[(0, 1), (1, 2), (2, 3)], &[0, 0, 1, 1], &[0, 0, 1, 1], 0);
        check(&[(0, 2), (2, 1)], &[0, 0, 1], &[0, 1, 2], 1);
        check(&[], &[0, 0], &[0, 1], 1);
        check(&[], &[], &[], 0);
        // A long way around, against the order of the nodes.
        let ring: Vec<_> = (0..20).map(|at| (at * 7 % 20, (at + 1) * 7 % 20)).collect();
        check(&ring, &[0; 20], &[0; 20], 0);
    }
}
