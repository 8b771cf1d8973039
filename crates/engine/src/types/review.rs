use serde::{Deserialize, Serialize};

/// A fact that a model stated, beside the passage that it was found in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewFact {
    /// What a verdict names it by.
    pub id: i64,
    pub source: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub target: String,
    /// As a sentence, where the model gave one.
    pub fact: Option<String>,
    /// 1 with a quote of the model's, 0.8 with a sentence that holds both names, 0.6 where it is only implied.
    pub confidence: f64,
    pub uri: String,
    pub line: usize,
    /// The text of the passage; the quote begins at this byte of it.
    pub passage: String,
    pub quote: String,
    pub quote_start: usize,
}

/// How many facts of a type were found right, and how sure that is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TypePrecision {
    #[serde(rename = "type")]
    pub kind: String,
    pub right: usize,
    pub wrong: usize,
    /// Share of right ones, and the bounds within which it lies with 95 % confidence (Wilson 1927), in percent.
    pub precision: f64,
    pub low: f64,
    pub high: f64,
}

impl TypePrecision {
    /// From counts; at least one of them is not 0.
    pub fn new(kind: String, right: usize, wrong: usize) -> Self {
        const Z: f64 = 1.959_964;
        let n = (right + wrong) as f64;
        let share = right as f64 / n;
        let spread = Z * ((share * (1.0 - share) + Z * Z / (4.0 * n)) / n).sqrt();
        let bound = |value: f64| (100.0 * value / (1.0 + Z * Z / n)).clamp(0.0, 100.0);
        let middle = share + Z * Z / (2.0 * n);
        Self {
            kind,
            right,
            wrong,
            precision: 100.0 * share,
            low: bound(middle - spread),
            high: bound(middle + spread),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_wilson() {
        let check = |right: usize, wrong: usize, low: f64, high: f64| {
            let found = TypePrecision::new(String::new(), right, wrong);
            assert!(
                (found.low - low).abs() < 0.05 && (found.high - high).abs() < 0.05,
                "{found:?}"
            );
        };
        check(9, 1, 59.6, 98.2);
        check(0, 10, 0.0, 27.8);
        check(10, 0, 72.2, 100.0);
        check(50, 50, 40.4, 59.6);
    }
}
