use crate::rng::Rng;

/// Resamples drawn for every interval.
pub const RESAMPLES: usize = 10_000;

/// A 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// Whether 0 lies outside: a difference with such an interval is no chance result.
    pub fn excludes_zero(self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    /// Whether two intervals share a value.
    pub fn overlaps(self, other: Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// Values of questions (rows) under several figures (columns), one row after the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    columns: usize,
    values: Vec<f64>,
}

impl Table {
    /// An empty table of this width.
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            columns,
            values: Vec::new(),
        }
    }

    /// Adds one question's values; there are as many as columns.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = f64>) {
        self.values.extend(row);
        debug_assert_eq!(self.values.len() % self.columns, 0);
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// The mean of every column; 0 for an empty table.
    pub(crate) fn means(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.columns];
        for row in self.values.chunks_exact(self.columns) {
            add(&mut sums, row);
        }
        let n = self.len().max(1) as f64;
        sums.iter().map(|sum| sum / n).collect()
    }
}

/// Percentile bootstrap over questions (Efron and Tibshirani 1993, ch. 13): the middle 95 % of the means of
/// resampled questions, for every column, and for every pair `(a, b)` of columns that of `a - b` over the same
/// resamples. Deterministic for a seed.
pub(crate) fn intervals(
    table: &Table,
    pairs: &[(usize, usize)],
    resamples: usize,
    seed: u64,
) -> (Vec<Interval>, Vec<Interval>) {
    let n = table.len();
    if n == 0 || resamples == 0 {
        let none = Interval {
            low: 0.0,
            high: 0.0,
        };
        return (vec![none; table.columns], vec![none; pairs.len()]);
    }
    let mut rng = Rng::new(seed);
    let mut means = vec![Vec::with_capacity(resamples); table.columns];
    let mut differences = vec![Vec::with_capacity(resamples); pairs.len()];
    let mut sums = vec![0.0; table.columns];
    for _ in 0..resamples {
        sums.fill(0.0);
        for _ in 0..n {
            let start = rng.below(n) * table.columns;
            add(&mut sums, &table.values[start..start + table.columns]);
        }
        for (of_column, sum) in means.iter_mut().zip(&sums) {
            of_column.push(sum / n as f64);
        }
        for (of_pair, &(a, b)) in differences.iter_mut().zip(pairs) {
            of_pair.push((sums[a] - sums[b]) / n as f64);
        }
    }
    (
        means.into_iter().map(middle).collect(),
        differences.into_iter().map(middle).collect(),
    )
}

fn add(sums: &mut [f64], row: &[f64]) {
    for (sum, value) in sums.iter_mut().zip(row) {
        *sum += value;
    }
}

/// The middle 95 % of the values.
fn middle(mut values: Vec<f64>) -> Interval {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    Interval {
        low: at(0.025),
        high: at(0.975),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A column of `ones` ones and `zeros` zeros, another that is 1 where the first is 0, and a constant one.
    fn table(ones: usize, zeros: usize) -> Table {
        let mut table = Table::new(3);
        for row in 0..ones + zeros {
            let value = f64::from(u8::from(row < ones));
            table.push([value, 1.0 - value, 0.25]);
        }
        table
    }

    #[test]
    fn the_interval_of_a_share_is_the_binomial_one() {
        // 30 of 100: standard error 4.58 points, so about 21 to 39.
        let (of_columns, _) = intervals(&table(30, 70), &[], 5_000, 1);
        assert!((of_columns[0].low - 0.21).abs() < 0.02, "{of_columns:?}");
        assert!((of_columns[0].high - 0.39).abs() < 0.02, "{of_columns:?}");
        let constant = Interval {
            low: 0.25,
            high: 0.25,
        };
        assert_eq!(of_columns[2], constant);
    }

    #[test]
    fn differences_are_paired() {
        // The sum of the two columns is always 1, so the difference varies twice as much as each; two equal columns
        // never differ at all.
        let (of_columns, of_pairs) = intervals(&table(30, 70), &[(0, 1), (0, 0)], 2_000, 1);
        let width = |interval: Interval| interval.high - interval.low;
        assert!((width(of_pairs[0]) - 2.0 * width(of_columns[0])).abs() < 1e-9);
        assert!(of_pairs[0].excludes_zero());
        let never = Interval {
            low: 0.0,
            high: 0.0,
        };
        assert_eq!(of_pairs[1], never);
        assert!(!of_pairs[1].excludes_zero());
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let run = |seed| intervals(&table(13, 29), &[(0, 2)], 500, seed);
        assert_eq!(run(5), run(5));
        let few = |seed| intervals(&table(13, 29), &[], 1, seed).0[0].low;
        assert!((1..9).any(|seed| (few(seed) - few(0)).abs() > 1e-6));
    }

    #[test]
    fn means_and_an_empty_table() {
        assert!((table(1, 3).means()[1] - 0.75).abs() < 1e-12);
        let empty = Table::new(2);
        assert_eq!(empty.len(), 0);
        assert!(empty.means().iter().all(|mean| mean.abs() < 1e-12));
        assert_eq!(intervals(&empty, &[(0, 1)], 10, 1).1.len(), 1);
    }

    #[test]
    fn intervals_overlap_or_not() {
        let interval = |low, high| Interval { low, high };
        assert!(interval(0.0, 2.0).overlaps(interval(2.0, 3.0)));
        assert!(!interval(0.0, 1.0).overlaps(interval(2.0, 3.0)));
    }
}
