use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use malha_engine::resolution::{Decisions, Named, resolve};
use malha_engine::text::{Language, name_key};
use malha_engine::types::MergeStatus;
use serde::Serialize;
use serde_json::Value;

use crate::Result;
use crate::dataset::BrokenRow;
use crate::dataset::rows::read_rows;

/// How well names of one thing were joined.
#[derive(Debug, Default, Serialize)]
pub struct ClusterReport {
    pub documents: usize,
    /// Names of different spelling.
    pub names: usize,
    /// Equal names are one thing, others are not.
    pub same_name: Clusters,
    /// What resolution joins on its own.
    pub resolved: Clusters,
    /// Pairs that it proposes: how many are one thing.
    pub proposed: usize,
    pub proposed_right: usize,
    /// Wrong joins by the rule that made them, and right ones.
    pub rules: BTreeMap<String, (usize, usize)>,
    pub broken: Vec<BrokenRow>,
}

/// B³ precision and recall over mentions (Bagga and Baldwin 1998), in percent.
#[derive(Debug, Default, Clone, Copy, Serialize)]
pub struct Clusters {
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
}

/// A mention: what it is called, and the entity that it is of.
struct Mention {
    key: String,
    entity: usize,
}

/// Joins the names of documents {entities: [{type, mentions: [{name}]}]}, each on its own, and compares with the
/// entities that the data set gives.
pub fn evaluate_clusters(documents: &Path) -> Result<ClusterReport> {
    let mut report = ClusterReport::default();
    let listed = read_rows(documents)?;
    report.broken.extend(listed.broken);
    let mut sums = [[0.0; 2]; 2];
    let mut total = 0;
    for row in listed.rows {
        let Some(entities) = row.fields.get("entities").and_then(Value::as_array) else {
            report.broken.push(row.broken("no `entities`"));
            continue;
        };
        let mut mentions = Vec::new();
        let mut names: BTreeMap<String, Named> = BTreeMap::new();
        for (entity, value) in entities.iter().enumerate() {
            let kind = value["type"].as_str().map(str::to_owned);
            for mention in value["mentions"].as_array().into_iter().flatten() {
                let Some(written) = mention["name"].as_str() else {
                    continue;
                };
                let key = name_key(written);
                let name = names.entry(key.clone()).or_default();
                name.key.clone_from(&key);
                name.spellings.insert(written.to_owned());
                name.kinds.extend(kind.clone());
                name.documents.insert(1);
                name.languages.insert(Language::English);
                name.count += 1;
                mentions.push(Mention { key, entity });
            }
        }
        report.documents += 1;
        report.names += names.len();
        let names: Vec<Named> = names.into_values().collect();
        let resolved = resolve(&names, &Decisions::default());
        total += mentions.len();
        let plain = |mention: &Mention| mention.key.clone();
        let joined = |mention: &Mention| {
            resolved
                .into
                .get(&mention.key)
                .unwrap_or(&mention.key)
                .clone()
        };
        add(&mut sums[0], &mentions, &plain);
        add(&mut sums[1], &mentions, &joined);
        for merge in &resolved.merges {
            let of = |key: &str| -> BTreeSet<usize> {
                mentions
                    .iter()
                    .filter(|mention| mention.key == key)
                    .map(|mention| mention.entity)
                    .collect()
            };
            let is_right = !of(&merge.one).is_disjoint(&of(&merge.other));
            if merge.status == MergeStatus::Merged {
                let counts = report
                    .rules
                    .entry(merge.rule.as_str().to_owned())
                    .or_default();
                *(if is_right {
                    &mut counts.1
                } else {
                    &mut counts.0
                }) += 1;
            } else {
                report.proposed += 1;
                report.proposed_right += usize::from(is_right);
            }
        }
    }
    let figures = |sums: [f64; 2]| {
        let [precision, recall] = sums
            .map(|sum| 100.0 * sum / f64::from(u32::try_from(total).unwrap_or(u32::MAX).max(1)));
        Clusters {
            precision,
            recall,
            f1: if precision + recall == 0.0 {
                0.0
            } else {
                2.0 * precision * recall / (precision + recall)
            },
        }
    };
    report.same_name = figures(sums[0]);
    report.resolved = figures(sums[1]);
    Ok(report)
}

/// Adds, for every mention, the share of its cluster that is right and the share of its entity that is in it.
fn add(sums: &mut [f64; 2], mentions: &[Mention], cluster: &dyn Fn(&Mention) -> String) {
    let mut together: BTreeMap<(String, usize), usize> = BTreeMap::new();
    let mut clusters: BTreeMap<String, usize> = BTreeMap::new();
    let mut entities: BTreeMap<usize, usize> = BTreeMap::new();
    for mention in mentions {
        let cluster = cluster(mention);
        *together
            .entry((cluster.clone(), mention.entity))
            .or_default() += 1;
        *clusters.entry(cluster).or_default() += 1;
        *entities.entry(mention.entity).or_default() += 1;
    }
    for ((cluster, entity), &count) in &together {
        let count = count as f64;
        sums[0] += count * count / clusters[cluster] as f64;
        sums[1] += count * count / entities[entity] as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_definition() {
        // One entity of three mentions split into two clusters, one of them with a stranger.
        let mentions: Vec<Mention> = [("a", 0), ("a", 0), ("b", 0), ("b", 1)]
            .map(|(key, entity)| Mention {
                key: key.to_owned(),
                entity,
            })
            .into();
        let mut sums = [0.0; 2];
        add(&mut sums, &mentions, &|mention| mention.key.clone());
        assert!((sums[0] / 4.0 - 0.75).abs() < 1e-9);
        assert!((sums[1] / 4.0 - (2.0 / 3.0 * 2.0 + 1.0 / 3.0 + 1.0) / 4.0).abs() < 1e-9);
    }
}
