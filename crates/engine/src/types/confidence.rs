use std::collections::BTreeMap;

/// Days until the confidence in a fact is half of what it was when its source was last seen to be fresh.
#[derive(Debug, Clone, PartialEq)]
pub struct HalfLives {
    /// Of relations and claims without one of their own; 0: confidence does not fade.
    pub days: f64,
    /// By relation or type of claim, as written in lower case; 0: its facts do not fade.
    pub of: BTreeMap<String, f64>,
}

impl Default for HalfLives {
    /// Two years.
    fn default() -> Self {
        Self {
            days: 730.0,
            of: BTreeMap::new(),
        }
    }
}

impl HalfLives {
    /// The half-life of a relation or type of claim, in days; `None`: it does not fade.
    pub fn of(&self, kind: &str) -> Option<f64> {
        let days = self.of.get(&kind.to_lowercase()).unwrap_or(&self.days);
        (*days > 0.0).then_some(*days)
    }
}
