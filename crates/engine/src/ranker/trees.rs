//! The learned part of the order: small trees that ask the same questions of every candidate.

use serde::{Deserialize, Serialize};

use super::features::{FEATURES, Features, NAMES};

/// A tree whose levels each ask one question, so that its leaves are numbered by the answers: bit `n` is set when
/// the feature of split `n` is above its threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    pub splits: Vec<Split>,
    /// `2^splits` values.
    pub leaves: Vec<f64>,
}

/// One question.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// Place in [`NAMES`].
    pub feature: usize,
    pub above: f64,
}

/// What is added to the score of the lanes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranker {
    /// Names of the features that it was trained with.
    pub features: Vec<String>,
    /// Names of the sets that it was trained on.
    pub trained_on: Vec<String>,
    /// What the score of the lanes counts.
    pub base: f64,
    pub trees: Vec<Tree>,
}

/// Why weights cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RankerError {
    #[error("the weights are no JSON of a ranker: {0}")]
    Syntax(String),
    #[error("the weights are for other features: retrain them with `malha eval train`")]
    OtherFeatures,
    #[error("tree {0} of the weights is not whole")]
    BrokenTree(usize),
}

impl Ranker {
    /// Leaves every score as it is.
    pub fn neutral() -> Self {
        Self {
            features: NAMES.map(str::to_owned).to_vec(),
            trained_on: Vec::new(),
            base: 1.0,
            trees: Vec::new(),
        }
    }

    /// Reads weights and checks them.
    pub fn from_json(json: &str) -> Result<Self, RankerError> {
        let ranker: Self =
            serde_json::from_str(json).map_err(|error| RankerError::Syntax(error.to_string()))?;
        if ranker.features != NAMES {
            return Err(RankerError::OtherFeatures);
        }
        let is_whole = |tree: &Tree| {
            tree.splits.len() < 16
                && tree.leaves.len() == 1 << tree.splits.len()
                && tree
                    .splits
                    .iter()
                    .all(|split| split.feature < FEATURES && split.above.is_finite())
                && tree.leaves.iter().all(|leaf| leaf.is_finite())
        };
        match ranker.trees.iter().position(|tree| !is_whole(tree)) {
            Some(broken) => Err(RankerError::BrokenTree(broken)),
            None => Ok(ranker),
        }
    }

    /// The score of a candidate, from the one that the lanes gave it.
    pub fn score(&self, lanes: f64, features: &Features) -> f64 {
        self.score_values(lanes, &features.values())
    }

    /// The same from features that were gathered before.
    pub fn score_values(&self, lanes: f64, values: &[f64; FEATURES]) -> f64 {
        let learned: f64 = self.trees.iter().map(|tree| tree.value(values)).sum();
        self.base * lanes + learned
    }
}

impl Tree {
    /// The value of the leaf that these features lead to.
    pub fn value(&self, values: &[f64; FEATURES]) -> f64 {
        let answers = self.splits.iter().enumerate();
        let leaf = answers.fold(0, |leaf, (level, split)| {
            leaf | (usize::from(values[split.feature] > split.above) << level)
        });
        self.leaves[leaf]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_levels() -> Ranker {
        Ranker {
            features: NAMES.map(str::to_owned).to_vec(),
            trained_on: Vec::new(),
            base: 0.5,
            trees: vec![Tree {
                splits: vec![
                    Split {
                        feature: 4,
                        above: 0.3,
                    },
                    Split {
                        feature: 8,
                        above: 0.5,
                    },
                ],
                leaves: vec![0.0, 1.0, 2.0, 4.0],
            }],
        }
    }

    #[test]
    fn leaves_are_numbered_by_the_answers() {
        let ranker = two_levels();
        let check = |keyword_rank, to_title, expected: f64| {
            let features = Features {
                keyword_rank,
                to_title,
                ..Features::default()
            };
            let score = ranker.score(10.0, &features);
            assert!((score - 5.0 - expected).abs() < 1e-12, "{score}");
        };
        check(0.3, 0.5, 0.0);
        check(0.4, 0.5, 1.0);
        check(0.3, 0.6, 2.0);
        check(1.0, 1.0, 4.0);
    }

    #[test]
    fn weights_that_do_not_fit_are_refused() {
        let check = |change: &dyn Fn(&mut Ranker), expected: Option<&RankerError>| {
            let mut ranker = two_levels();
            change(&mut ranker);
            let read = Ranker::from_json(&serde_json::to_string(&ranker).unwrap());
            assert_eq!(read.as_ref().err(), expected);
        };
        check(&|_| {}, None);
        check(
            &|ranker| drop(ranker.features.pop()),
            Some(&RankerError::OtherFeatures),
        );
        let broken = RankerError::BrokenTree(0);
        check(&|ranker| ranker.trees[0].leaves.truncate(3), Some(&broken));
        check(
            &|ranker| ranker.trees[0].splits[0].feature = FEATURES,
            Some(&broken),
        );
        assert!(matches!(
            Ranker::from_json("{"),
            Err(RankerError::Syntax(_))
        ));
    }
}
