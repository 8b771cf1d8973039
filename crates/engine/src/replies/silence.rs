use crate::language_model::ModelErrorKind;

/// Failures one after the other, without an answer between them, that no later call would mend: a wrong key, an unknown
/// model, a spent quota, a provider that wants to be left alone for hours.
const HOPELESS: usize = 5;
/// Failures of any kind one after the other, each after all its tries: nobody is there.
const NOBODY: usize = 20;

/// Failures since the last answer.
#[derive(Debug, Default)]
pub(crate) struct Silence {
    failed: usize,
    /// Of them the last ones, that no later call would mend.
    hopeless: usize,
}

impl Silence {
    /// The model answered, whatever the answer is worth.
    pub(crate) fn break_off(&mut self) {
        *self = Self::default();
    }

    /// Adds a failure; true when there were enough to give up.
    pub(crate) fn goes_on(&mut self, kind: ModelErrorKind) -> bool {
        let is_hopeless = match kind {
            ModelErrorKind::Permanent => true,
            ModelErrorKind::Transient { retry_after } => retry_after.is_some(),
            // It answers, but not this.
            ModelErrorKind::Refused | ModelErrorKind::TooLong => {
                self.break_off();
                return false;
            }
        };
        self.failed += 1;
        self.hopeless = if is_hopeless { self.hopeless + 1 } else { 0 };
        self.hopeless >= HOPELESS || self.failed >= NOBODY
    }

    /// Failures since the last answer.
    pub(crate) const fn length(&self) -> usize {
        self.failed
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_model_is_given_up_after_enough_failures_in_a_row() {
        const DOWN: ModelErrorKind = ModelErrorKind::Transient { retry_after: None };
        const LATER: ModelErrorKind = ModelErrorKind::Transient {
            retry_after: Some(Duration::from_hours(1)),
        };
        let check = |kinds: &[ModelErrorKind], expected: Option<usize>| {
            let mut silence = Silence::default();
            let mut endless = kinds.iter().cycle().take(60);
            let given_up = endless.position(|kind| silence.goes_on(*kind));
            assert_eq!(given_up.map(|at| at + 1), expected, "{kinds:?}");
        };
        check(&[ModelErrorKind::Permanent], Some(5));
        check(&[LATER], Some(5));
        check(&[LATER, ModelErrorKind::Permanent], Some(5));
        check(&[DOWN], Some(20));
        check(&[DOWN, ModelErrorKind::Permanent], Some(20));
        check(&[ModelErrorKind::Refused], None);
        check(&[ModelErrorKind::Permanent, ModelErrorKind::TooLong], None);
        let mut silence = Silence::default();
        silence.goes_on(DOWN);
        assert_eq!(silence.length(), 1);
        silence.break_off();
        assert_eq!(silence.length(), 0);
    }
}
