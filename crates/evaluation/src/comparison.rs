use crate::bootstrap::{Interval, RESAMPLES, Table, intervals};
use crate::dataset::{Half, Question, halves};
use crate::metrics::Metrics;

/// What one mode ranked: for every question, in the set's order, the passage ids, best first.
#[derive(Debug, Clone, Default)]
pub struct ModeRun {
    pub mode: String,
    pub ranked: Vec<Vec<String>>,
}

/// One figure in percent with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    pub value: f64,
    pub interval: Interval,
}

/// The figures of one group of questions: `modes[m][f]`, and `differences[m][f]` = mode m minus the first mode.
#[derive(Debug, Clone)]
pub struct Figures {
    pub n: usize,
    pub modes: Vec<Vec<Figure>>,
    pub differences: Vec<Vec<Figure>>,
    /// Whether some question of the group has gold groups (`group@k` means something).
    pub groups: bool,
}

/// How several modes did on one set of questions.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// Names of the figures.
    pub metrics: Vec<String>,
    pub modes: Vec<String>,
    pub all: Figures,
    /// The two halves of the set: whole scopes where there are several, else by a hash of the qid.
    pub halves: [Figures; 2],
    /// Whether no scope is in both halves.
    pub halves_of_scopes: bool,
    /// One entry for every value of the chosen field, sorted by its label.
    pub parts: Vec<(String, Figures)>,
}

impl Comparison {
    /// Scores the runs; every run has one ranking for each question. `seed` is that of the bootstrap.
    pub fn new(metrics: &Metrics, questions: &[Question], runs: &[ModeRun], seed: u64) -> Self {
        let width = metrics.names().len();
        let rows: Vec<Vec<f64>> = questions
            .iter()
            .enumerate()
            .map(|(n, question)| {
                let scores = runs
                    .iter()
                    .flat_map(|run| metrics.score(question, &run.ranked[n]));
                scores.collect()
            })
            .collect();
        let of_half = halves(questions);
        let figures = |belongs: &dyn Fn(usize, &Question) -> bool| {
            let mut table = Table::new(width * runs.len());
            let mut groups = false;
            for (n, (question, row)) in questions.iter().zip(&rows).enumerate() {
                if belongs(n, question) {
                    table.push(row.iter().copied());
                    groups |= !question.groups.is_empty();
                }
            }
            figures(&table, width, groups, seed)
        };
        let mut labels: Vec<&String> = questions.iter().filter_map(|q| q.part.as_ref()).collect();
        labels.sort();
        labels.dedup();
        Self {
            metrics: metrics.names(),
            modes: runs.iter().map(|run| run.mode.clone()).collect(),
            all: figures(&|_, _| true),
            halves: [Half::First, Half::Second].map(|half| figures(&|n, _| of_half[n] == half)),
            halves_of_scopes: scopes_of(questions) > 1,
            parts: labels
                .into_iter()
                .map(|label| {
                    (
                        label.clone(),
                        figures(&|_, q| q.part.as_ref() == Some(label)),
                    )
                })
                .collect(),
        }
    }

    /// Position of a figure by name.
    pub fn metric(&self, name: &str) -> Option<usize> {
        self.metrics.iter().position(|metric| metric == name)
    }
}

fn scopes_of(questions: &[Question]) -> usize {
    let mut scopes: Vec<&String> = questions.iter().filter_map(|q| q.scope.as_ref()).collect();
    scopes.sort_unstable();
    scopes.dedup();
    scopes.len()
}

fn figures(table: &Table, width: usize, groups: bool, seed: u64) -> Figures {
    let means = table.means();
    let pairs: Vec<(usize, usize)> = (0..means.len()).map(|c| (c, c % width)).collect();
    let (of_columns, of_pairs) = intervals(table, &pairs, RESAMPLES, seed);
    let percent = |value: f64, interval: Interval| Figure {
        value: 100.0 * value,
        interval: Interval {
            low: 100.0 * interval.low,
            high: 100.0 * interval.high,
        },
    };
    let columns: Vec<usize> = (0..means.len()).collect();
    let by_mode = |figure: &dyn Fn(usize) -> Figure| {
        columns
            .chunks(width)
            .map(|of_mode| of_mode.iter().map(|&c| figure(c)).collect())
            .collect()
    };
    Figures {
        n: table.len(),
        modes: by_mode(&|c| percent(means[c], of_columns[c])),
        differences: by_mode(&|c| percent(means[c] - means[c % width], of_pairs[c])),
        groups,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn questions() -> Vec<Question> {
        (0..60)
            .map(|n| Question {
                qid: format!("q{n}"),
                text: "?".into(),
                gold: vec![format!("p{n}")],
                groups: Vec::new(),
                scope: None,
                part: Some(format!("kind={}", n % 3)),
            })
            .collect()
    }

    /// Finds the gold passage of every question with `n % every == 0` at rank one, else nothing.
    fn run(mode: &str, every: usize) -> ModeRun {
        ModeRun {
            mode: mode.to_owned(),
            ranked: (0..60)
                .map(|n| {
                    if n % every == 0 {
                        vec![format!("p{n}")]
                    } else {
                        Vec::new()
                    }
                })
                .collect(),
        }
    }

    #[test]
    fn modes_are_compared_on_the_same_questions() {
        let questions = questions();
        let metrics = Metrics::new(&[5], &questions);
        let comparison = Comparison::new(&metrics, &questions, &[run("a", 4), run("b", 2)], 1);
        let recall = comparison.metric("recall@5").unwrap();
        let value = |figures: &Figures, mode: usize| figures.modes[mode][recall].value;
        assert_eq!(comparison.all.n, 60);
        assert!((value(&comparison.all, 0) - 25.0).abs() < 1e-9);
        assert!((value(&comparison.all, 1) - 50.0).abs() < 1e-9);
        let difference = comparison.all.differences[1][recall];
        assert!((difference.value - 25.0).abs() < 1e-9);
        assert!(difference.interval.excludes_zero());
        assert!(
            !comparison.all.differences[0][recall]
                .interval
                .excludes_zero()
        );
    }

    #[test]
    fn parts_and_halves_cover_the_set_once() {
        let questions = questions();
        let metrics = Metrics::new(&[5], &questions);
        let comparison = Comparison::new(&metrics, &questions, &[run("a", 3)], 1);
        assert_eq!(comparison.halves[0].n + comparison.halves[1].n, 60);
        let parts: Vec<_> = comparison
            .parts
            .iter()
            .map(|(label, figures)| (label.as_str(), figures.n, figures.modes[0][0].value))
            .collect();
        assert_eq!(
            parts,
            [
                ("kind=0", 20, 100.0),
                ("kind=1", 20, 0.0),
                ("kind=2", 20, 0.0)
            ]
        );
    }
}
