//! Training of the ranker: gradient boosting of small trees against the softmax over a question's candidates.
//! No randomness and no clock: the same questions give the same weights.

use malha_engine::ranker::{FEATURES, NAMES, Ranker, Split, Tree};

/// A candidate: what it is judged by, and whether it is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    pub values: [f64; FEATURES],
    /// What the lanes gave it.
    pub lanes: f64,
    pub is_gold: bool,
}

/// How a ranker is trained. The defaults were chosen on one pair of sets at a time, each judged on the third.
#[derive(Debug, Clone, PartialEq)]
pub struct Boosting {
    pub trees: usize,
    /// Questions that a tree asks.
    pub depth: usize,
    /// Share of what a tree finds that is taken.
    pub rate: f64,
    /// Keeps leaves of few candidates near 0.
    pub penalty: f64,
    /// Thresholds tried for a feature.
    pub thresholds: usize,
    /// What the score of the lanes counts from the start.
    pub base: f64,
    /// Places in [`NAMES`] of the features that may be asked for.
    pub features: Vec<usize>,
}

impl Default for Boosting {
    fn default() -> Self {
        Self {
            trees: 80,
            depth: 3,
            rate: 0.1,
            penalty: 3.0,
            thresholds: 24,
            base: 1.0,
            features: (0..FEATURES).collect(),
        }
    }
}

/// Candidates of every question one after the other.
struct Table {
    /// By feature, then by candidate: the number of thresholds that its value is above.
    bins: Vec<Vec<u8>>,
    /// By feature.
    thresholds: Vec<Vec<f64>>,
    /// First candidate of each question, and their number at the end.
    starts: Vec<usize>,
    /// Share of the question's gold.
    target: Vec<f64>,
    score: Vec<f64>,
}

impl Boosting {
    /// Learns from questions, each a list of candidates. Those without gold among them teach nothing. A set of few
    /// questions counts as much as one of many: `weights` has one number a question.
    pub fn train(
        &self,
        questions: &[Vec<Example>],
        weights: &[f64],
        trained_on: &[String],
    ) -> Ranker {
        let taught: Vec<(&Vec<Example>, f64)> = questions
            .iter()
            .zip(weights.iter().copied())
            .filter(|(question, _)| question.iter().any(|example| example.is_gold))
            .collect();
        let mut table = self.table(&taught);
        let mut trees = Vec::new();
        for _ in 0..self.trees {
            let (slope, bend) = table.slopes(&taught);
            let Some(tree) = self.tree(&table, &slope, &bend) else {
                break;
            };
            for row in 0..table.score.len() {
                table.score[row] += tree.0.leaves[tree.1[row]];
            }
            trees.push(tree.0);
        }
        Ranker {
            features: NAMES.map(str::to_owned).to_vec(),
            trained_on: trained_on.to_vec(),
            base: self.base,
            trees,
        }
    }

    fn table(&self, questions: &[(&Vec<Example>, f64)]) -> Table {
        let rows: Vec<&Example> = questions
            .iter()
            .flat_map(|(question, _)| *question)
            .collect();
        let mut table = Table {
            bins: Vec::new(),
            thresholds: Vec::new(),
            starts: vec![0],
            target: Vec::new(),
            score: rows.iter().map(|row| self.base * row.lanes).collect(),
        };
        for (question, _) in questions {
            let gold = question.iter().filter(|example| example.is_gold).count();
            let share = 1.0 / gold as f64;
            let target = question.iter();
            table
                .target
                .extend(target.map(|example| if example.is_gold { share } else { 0.0 }));
            table.starts.push(table.target.len());
        }
        for feature in 0..FEATURES {
            let mut values: Vec<f64> = rows.iter().map(|row| row.values[feature]).collect();
            values.sort_unstable_by(f64::total_cmp);
            let mut thresholds: Vec<f64> = (1..=self.thresholds)
                .filter_map(|n| {
                    values
                        .get(n * values.len() / (self.thresholds + 1))
                        .copied()
                })
                .map(|value| (value * 1e6).round() / 1e6)
                .collect();
            thresholds.dedup();
            table.bins.push(
                rows.iter()
                    .map(|row| {
                        thresholds.partition_point(|above| row.values[feature] > *above) as u8
                    })
                    .collect(),
            );
            table.thresholds.push(thresholds);
        }
        table
    }

    /// The tree that lowers the loss most, level by level, and the leaf of each candidate.
    fn tree(&self, table: &Table, slope: &[f64], bend: &[f64]) -> Option<(Tree, Vec<usize>)> {
        let mut leaf_of = vec![0_usize; slope.len()];
        let mut splits = Vec::new();
        for level in 0..self.depth {
            let best = self.best_split(table, slope, bend, &leaf_of, 1 << level);
            let Some(best) = best else {
                break;
            };
            for (leaf, &bin) in leaf_of.iter_mut().zip(&table.bins[best.0]) {
                *leaf |= usize::from(usize::from(bin) > best.1) << level;
            }
            splits.push(Split {
                feature: best.0,
                above: table.thresholds[best.0][best.1],
            });
        }
        if splits.is_empty() {
            return None;
        }
        let mut sums = vec![(0.0, 0.0); 1 << splits.len()];
        for ((&leaf, slope), bend) in leaf_of.iter().zip(slope).zip(bend) {
            sums[leaf].0 += slope;
            sums[leaf].1 += bend;
        }
        let leaves = sums
            .into_iter()
            .map(|(slope, bend): (f64, f64)| {
                let step = -self.rate * slope / (bend + self.penalty);
                (step * 1e6).round() / 1e6
            })
            .collect();
        Some((Tree { splits, leaves }, leaf_of))
    }

    /// Feature and place of the threshold that cut every leaf best together; `None` when no cut gains anything.
    fn best_split(
        &self,
        table: &Table,
        slope: &[f64],
        bend: &[f64],
        leaf_of: &[usize],
        leaves: usize,
    ) -> Option<(usize, usize)> {
        let gain = |(slope, bend): (f64, f64)| slope * slope / (bend + self.penalty);
        let mut best: Option<((usize, usize), f64)> = None;
        for &feature in &self.features {
            let bins = table.thresholds[feature].len() + 1;
            let mut sums = vec![(0.0, 0.0); leaves * bins];
            for (row, &bin) in table.bins[feature].iter().enumerate() {
                let sum: &mut (f64, f64) = &mut sums[leaf_of[row] * bins + usize::from(bin)];
                sum.0 += slope[row];
                sum.1 += bend[row];
            }
            for threshold in 0..bins - 1 {
                let total: f64 = sums
                    .chunks(bins)
                    .map(|leaf| {
                        let add = |a: (f64, f64), b: &(f64, f64)| (a.0 + b.0, a.1 + b.1);
                        let (low, high) = leaf.split_at(threshold + 1);
                        let low = low.iter().fold((0.0, 0.0), add);
                        let high = high.iter().fold((0.0, 0.0), add);
                        gain(low) + gain(high) - gain(add(low, &high))
                    })
                    .sum();
                if total > best.map_or(1e-9, |best| best.1) {
                    best = Some(((feature, threshold), total));
                }
            }
        }
        best.map(|best| best.0)
    }
}

impl Table {
    /// First and second derivative of the loss by each score.
    fn slopes(&self, questions: &[(&Vec<Example>, f64)]) -> (Vec<f64>, Vec<f64>) {
        let mut slope = Vec::with_capacity(self.score.len());
        let mut bend = Vec::with_capacity(self.score.len());
        for (range, (_, weight)) in self.starts.windows(2).zip(questions) {
            let scores = &self.score[range[0]..range[1]];
            let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let shares: Vec<f64> = scores
                .iter()
                .map(|score| libm::exp(score - highest))
                .collect();
            let total: f64 = shares.iter().sum();
            for (share, target) in shares.iter().zip(&self.target[range[0]..range[1]]) {
                let share = share / total;
                slope.push(weight * (share - target));
                bend.push(weight * share * (1.0 - share));
            }
        }
        (slope, bend)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(first: f64, noise: f64, is_gold: bool) -> Example {
        let mut values = [0.0; FEATURES];
        values[4] = first;
        values[9] = noise;
        Example {
            values,
            lanes: noise,
            is_gold,
        }
    }

    /// The wanted candidate has the higher first feature; the lanes say nothing of it.
    fn questions() -> Vec<Vec<Example>> {
        (0..40_u32)
            .map(|n| {
                let noise = |k: u32| f64::from((n * 7 + k * 13) % 10) / 10.0;
                (0..5)
                    .map(|k| example(if k == n % 5 { 0.9 } else { 0.2 }, noise(k), k == n % 5))
                    .collect()
            })
            .collect()
    }

    #[test]
    fn what_tells_gold_apart_is_learned_and_always_the_same() {
        let questions = questions();
        let weights = vec![1.0; questions.len()];
        let boosting = Boosting::default();
        let ranker = boosting.train(&questions, &weights, &["made".to_owned()]);
        assert_eq!(
            ranker,
            boosting.train(&questions, &weights, &["made".to_owned()])
        );
        let learned = |example: &Example| {
            let trees: f64 = ranker
                .trees
                .iter()
                .map(|tree| tree.value(&example.values))
                .sum();
            ranker.base * example.lanes + trees
        };
        for question in &questions {
            let best = question
                .iter()
                .max_by(|a, b| learned(a).total_cmp(&learned(b)));
            assert!(best.unwrap().is_gold);
        }
        let json = serde_json::to_string(&ranker).unwrap();
        assert_eq!(Ranker::from_json(&json).unwrap(), ranker);
    }

    #[test]
    fn nothing_to_learn_gives_no_trees() {
        let boosting = Boosting::default();
        let without_gold = vec![vec![example(0.1, 0.2, false), example(0.3, 0.1, false)]];
        assert_eq!(boosting.train(&without_gold, &[1.0], &[]).trees, []);
        assert_eq!(boosting.train(&[], &[], &[]).trees, []);
    }
}
