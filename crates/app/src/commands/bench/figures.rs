//! Figures of a bench by name, and percentiles.

use std::io::Write;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::ui::{Output, Table};

/// Names and numbers, in the order they are shown. The unit ends the name: `cpu_s`, `peak_mb`, `p95_ms`.
#[derive(Debug, Default)]
pub(super) struct Figures(Vec<(String, Value)>);

impl Figures {
    /// Adds a measured number, with three digits behind the point.
    pub(super) fn push(&mut self, name: impl Into<String>, value: f64) {
        let rounded = (value * 1000.0).round() / 1000.0;
        self.0.push((name.into(), rounded.into()));
    }

    /// Adds a number whose sixth digit still says something.
    pub(super) fn push_precise(&mut self, name: &str, value: f64) {
        let rounded = (value * 1e6).round() / 1e6;
        self.0.push((name.to_owned(), rounded.into()));
    }

    /// Adds a number where the system tells it.
    pub(super) fn push_some(&mut self, name: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.push(name, value);
        }
    }

    /// Adds a count.
    pub(super) fn count(&mut self, name: impl Into<String>, count: usize) {
        self.0.push((name.into(), count.into()));
    }

    /// Adds p50, p95 and p99 of these times, their names starting with `name`.
    pub(super) fn latencies(&mut self, name: &str, times: &[Duration]) {
        let mut ms: Vec<f64> = times
            .iter()
            .map(|time| time.as_secs_f64() * 1000.0)
            .collect();
        ms.sort_by(f64::total_cmp);
        for (label, share) in [("p50", 0.50), ("p95", 0.95), ("p99", 0.99)] {
            self.push(format!("{name}_{label}_ms"), percentile(&ms, share));
        }
    }

    /// Adds figures of another bench under a prefix.
    pub(super) fn extend(&mut self, prefix: &str, figures: &Map<String, Value>, names: &[&str]) {
        for name in names {
            if let Some(value) = figures.get(*name) {
                self.0.push((format!("{prefix}_{name}"), value.clone()));
            }
        }
    }

    pub(super) fn print(self, json: bool) -> anyhow::Result<()> {
        let mut out = Output::new();
        if json {
            out.json(&Value::Object(self.0.into_iter().collect()))?;
        } else {
            let mut table = Table::new(&["figure", ">value"]);
            for (name, value) in &self.0 {
                table.row([name.as_str(), &value.to_string()]);
            }
            table.write(&mut out)?;
        }
        Ok(out.flush()?)
    }
}

/// The value at this share of the sorted values (nearest rank); 0 for none.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_nearest_rank() {
        let values: Vec<f64> = (1..=200).map(f64::from).collect();
        let check = |share, expected: f64| {
            assert!(
                (percentile(&values, share) - expected).abs() < 1e-9,
                "{share}"
            );
        };
        check(0.5, 100.0);
        check(0.95, 190.0);
        check(0.99, 198.0);
        check(1.0, 200.0);
        assert!(percentile(&[], 0.5).abs() < 1e-9);
    }
}
