use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::types::{SpendingLimit, Spent};
use crate::{Error, Result};

/// Lets calls through while there is room for their estimate.
#[derive(Debug, Default)]
pub(super) struct Spending {
    limit: SpendingLimit,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    spent: Spent,
    by_step: BTreeMap<&'static str, Spent>,
    reserved_calls: u64,
    reserved_tokens: u64,
    reserved_cost: f64,
}

/// What a call is expected to take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Estimate {
    pub tokens: u64,
    pub cost: f64,
}

impl Spending {
    pub(super) fn new(limit: SpendingLimit) -> Self {
        Self {
            limit,
            state: Mutex::default(),
        }
    }

    pub(super) fn spent(&self) -> Spent {
        self.lock(|state| state.spent)
    }

    pub(super) fn by_step(&self) -> BTreeMap<String, Spent> {
        self.lock(|state| {
            let steps = state.by_step.iter();
            steps
                .map(|(step, spent)| ((*step).to_owned(), *spent))
                .collect()
        })
    }

    pub(super) fn hit(&self, step: &'static str) {
        self.lock(|state| {
            state.spent.cache_hits += 1;
            state.by_step.entry(step).or_default().cache_hits += 1;
        });
    }

    /// Room for one more call.
    pub(super) fn reserve(&self, estimate: Estimate) -> Result<()> {
        let limit = self.limit;
        self.lock(|state| {
            let calls = state.spent.calls + state.reserved_calls + 1;
            let tokens = state.spent.input_tokens
                + state.spent.output_tokens
                + state.reserved_tokens
                + estimate.tokens;
            let cost = state.spent.cost + state.reserved_cost + estimate.cost;
            let reached = if limit.calls.is_some_and(|limit| calls > limit) {
                Some(format!("{} calls", state.spent.calls))
            } else if limit.tokens.is_some_and(|limit| tokens > limit) {
                let tokens = state.spent.input_tokens + state.spent.output_tokens;
                Some(format!("{tokens} tokens"))
            } else if limit.cost.is_some_and(|limit| cost > limit) {
                Some(format!("{:.4} of money", state.spent.cost))
            } else {
                None
            };
            if let Some(spent) = reached {
                return Err(Error::BudgetReached { spent });
            }
            state.reserved_calls += 1;
            state.reserved_tokens += estimate.tokens;
            state.reserved_cost += estimate.cost;
            Ok(())
        })
    }

    /// The call is over: its estimate goes, what it really took is added.
    pub(super) fn settle(&self, step: &'static str, estimate: Estimate, add: impl Fn(&mut Spent)) {
        self.lock(|state| {
            state.reserved_calls -= 1;
            state.reserved_tokens -= estimate.tokens;
            state.reserved_cost -= estimate.cost;
            for spent in [&mut state.spent, state.by_step.entry(step).or_default()] {
                spent.calls += 1;
                add(spent);
            }
        });
    }

    fn lock<T>(&self, with: impl FnOnce(&mut State) -> T) -> T {
        with(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_in_flight_count_at_their_estimate() {
        let spending = Spending::new(SpendingLimit {
            calls: Some(3),
            tokens: Some(100),
            cost: None,
        });
        let estimate = Estimate {
            tokens: 40,
            cost: 0.0,
        };
        spending.reserve(estimate).unwrap();
        spending.reserve(estimate).unwrap();
        assert!(spending.reserve(estimate).is_err(), "120 of 100 tokens");
        spending.settle("a", estimate, |spent| spent.input_tokens += 5);
        spending.reserve(estimate).unwrap();
        spending.settle("a", estimate, |spent| spent.input_tokens += 5);
        let error = spending.reserve(estimate).unwrap_err();
        assert_eq!(error.to_string(), "the budget is used up: 2 calls so far");
        assert_eq!(spending.spent().input_tokens, 10);
        assert_eq!(spending.by_step()["a"], spending.spent());
    }
}
