use super::leiden::Objective;
use super::network::Network;

/// How good a partition is: modularity (Newman and Girvan 2004, at most 1), or the constant Potts model's sum of
/// inner weight minus resolution × pairs of members.
pub fn quality(network: &Network, labels: &[u32], objective: Objective, resolution: f64) -> f64 {
    let count = labels.iter().max().map_or(0, |&most| most as usize + 1);
    let mut inside = vec![0.0_f64; count];
    let mut strength = vec![0.0_f64; count];
    let mut size = vec![0.0_f64; count];
    for (node, &label) in labels.iter().enumerate() {
        let at = label as usize;
        inside[at] += f64::from(network.loops[node]);
        for (neighbor, weight) in network.neighbors(node as u32) {
            if labels[neighbor as usize] == label {
                inside[at] += f64::from(weight);
            }
        }
        strength[at] += network.strength(node as u32);
        size[at] += 1.0;
    }
    let total: f64 = strength.iter().sum();
    match objective {
        Objective::Modularity if total > 0.0 => inside
            .iter()
            .zip(&strength)
            .map(|(inside, strength)| inside / total - resolution * (strength / total).powi(2))
            .sum(),
        Objective::Modularity => 0.0,
        Objective::ConstantPotts => inside
            .iter()
            .zip(&size)
            .map(|(inside, size)| inside / 2.0 - resolution * size * (size - 1.0) / 2.0)
            .sum(),
    }
}
