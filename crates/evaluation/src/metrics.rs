use std::collections::HashSet;

use crate::dataset::Question;

/// Names of the figures of a set, in the order they are printed: for every k `recall`, `all`, `hit` and, where
/// questions have groups, `group`; then `mrr@10`.
///
/// - `recall@k`: mean over questions of the share of gold passages in the top k
/// - `all@k`: share of questions whose gold passages are all in the top k
/// - `hit@k`: share of questions with at least one gold passage in the top k
/// - `group@k`: mean share of gold groups with a hit in the top k; 0 for a question without groups
/// - `mrr@10`: mean reciprocal rank of the first gold passage among the first ten
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metrics {
    ks: Vec<usize>,
    groups: bool,
}

impl Metrics {
    /// The figures for these questions.
    pub fn new(ks: &[usize], questions: &[Question]) -> Self {
        let mut ks = ks.to_vec();
        ks.dedup();
        Self {
            ks,
            groups: questions.iter().any(|question| !question.groups.is_empty()),
        }
    }

    /// Their names, in order.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for k in &self.ks {
            names.push(format!("recall@{k}"));
            names.push(format!("all@{k}"));
            names.push(format!("hit@{k}"));
            if self.groups {
                names.push(format!("group@{k}"));
            }
        }
        names.push("mrr@10".to_owned());
        names
    }

    /// How many ranked passages a question needs.
    pub fn depth(&self) -> usize {
        self.ks.iter().copied().max().unwrap_or(0).max(10)
    }

    /// One question's values (0 to 1) in the order of [`Metrics::names`]. A repeated id in `ranked` counts once,
    /// at its first place; without a prediction everything is 0.
    pub fn score(&self, question: &Question, ranked: &[String]) -> Vec<f64> {
        let mut seen = HashSet::new();
        let ranked: Vec<&str> = ranked
            .iter()
            .map(String::as_str)
            .filter(|id| seen.insert(*id))
            .collect();
        let gold: HashSet<&str> = question.gold.iter().map(String::as_str).collect();
        let mut values = Vec::new();
        for &k in &self.ks {
            let top = &ranked[..k.min(ranked.len())];
            let found = top.iter().filter(|id| gold.contains(*id)).count();
            values.push(found as f64 / gold.len() as f64);
            values.push(f64::from(u8::from(found == gold.len())));
            values.push(f64::from(u8::from(found > 0)));
            if self.groups {
                values.push(group_share(question, top));
            }
        }
        let first = ranked.iter().take(10).position(|id| gold.contains(id));
        values.push(first.map_or(0.0, |place| 1.0 / (place + 1) as f64));
        values
    }
}

fn group_share(question: &Question, top: &[&str]) -> f64 {
    if question.groups.is_empty() {
        return 0.0;
    }
    let hit = question
        .groups
        .iter()
        .filter(|group| group.iter().any(|id| top.contains(&id.as_str())))
        .count();
    hit as f64 / question.groups.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(gold: &[&str], groups: &[&[&str]]) -> Question {
        let own = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        Question {
            qid: "q".into(),
            text: "?".into(),
            gold: own(gold),
            groups: groups.iter().map(|group| own(group)).collect(),
            scope: None,
            part: None,
        }
    }

    fn check(gold: &[&str], groups: &[&[&str]], ranked: &str, expected: &[f64]) {
        let question = question(gold, groups);
        let metrics = Metrics::new(&[2, 3], std::slice::from_ref(&question));
        let ranked: Vec<String> = ranked.split_whitespace().map(str::to_owned).collect();
        let values = metrics.score(&question, &ranked);
        assert_eq!(values.len(), metrics.names().len());
        for (value, expected) in values.iter().zip(expected) {
            assert!((value - expected).abs() < 1e-12, "{ranked:?}: {values:?}");
        }
    }

    #[test]
    fn hand_computed_values() {
        // recall@2 all@2 hit@2 | recall@3 all@3 hit@3 | mrr@10
        check(&["a", "b"], &[], "a b c", &[1., 1., 1., 1., 1., 1., 1.]);
        check(&["a", "b"], &[], "x a b", &[0.5, 0., 1., 1., 1., 1., 0.5]);
        check(
            &["a", "b"],
            &[],
            "x y b",
            &[0., 0., 0., 0.5, 0., 1., 1. / 3.],
        );
        check(
            &["a", "b", "c"],
            &[],
            "c",
            &[1. / 3., 0., 1., 1. / 3., 0., 1., 1.],
        );
        // No prediction scores 0.
        check(&["a"], &[], "", &[0.; 7]);
        // A repeated id counts once, at its first place: b moves up to rank 2.
        check(&["b"], &[], "x x b", &[1., 1., 1., 1., 1., 1., 0.5]);
        // Beyond rank ten the reciprocal rank is 0.
        check(&["k"], &[], "0 1 2 3 4 5 6 7 8 9 k", &[0.; 7]);
        check(
            &["k"],
            &[],
            "0 1 2 3 4 5 6 7 8 k",
            &[0., 0., 0., 0., 0., 0., 0.1],
        );
    }

    #[test]
    fn groups_need_one_hit_each() {
        // recall all hit group, for k 2 and 3, mrr
        check(
            &["a", "b", "c"],
            &[&["a", "b"], &["c"]],
            "b x c",
            &[1. / 3., 0., 1., 0.5, 2. / 3., 0., 1., 1., 1.],
        );
    }

    #[test]
    fn names_follow_the_cut_offs() {
        assert_eq!(
            Metrics::new(&[5], &[question(&["a"], &[])]).names(),
            ["recall@5", "all@5", "hit@5", "mrr@10"]
        );
        assert_eq!(Metrics::new(&[5], &[]).depth(), 10);
        assert_eq!(Metrics::new(&[2, 20], &[]).depth(), 20);
    }
}
