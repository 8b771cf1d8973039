use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::types::{SpendingLimit, Spent};
use crate::{Error, Result};

/// Lets calls through while there is room for the most they can take: their prompt, and all the room for their reply.
///
/// Replies are mostly shorter than that. A call without room waits while others are on their way, whose rest may be
/// room for it: near the limit fewer run at once, and the last ones one at a time.
#[derive(Debug, Default)]
pub(super) struct Spending {
    limit: SpendingLimit,
    state: Mutex<State>,
    settled: Condvar,
}

#[derive(Debug)]
struct State {
    spent: Spent,
    by_step: BTreeMap<&'static str, Spent>,
    reserved_calls: u64,
    reserved: Amount,
    /// Tokens of prompts as providers count them, for each of ours; the most that was seen.
    overcount: f64,
}

impl Default for State {
    fn default() -> Self {
        Self {
            spent: Spent::default(),
            by_step: BTreeMap::new(),
            reserved_calls: 0,
            reserved: Amount::default(),
            overcount: 1.0,
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Amount {
    tokens: u64,
    cost: f64,
}

/// Room that a call has taken; what it does not use is given back when this is dropped.
#[derive(Debug)]
pub(super) struct Reservation<'a> {
    spending: &'a Spending,
    /// Tokens of the prompt as we count them.
    prompt: u64,
    amount: Amount,
}

impl Spending {
    pub(super) fn new(limit: SpendingLimit) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    pub(super) fn spent(&self) -> Spent {
        self.lock().spent
    }

    pub(super) fn by_step(&self) -> BTreeMap<String, Spent> {
        let state = self.lock();
        let steps = state.by_step.iter();
        steps
            .map(|(step, spent)| ((*step).to_owned(), *spent))
            .collect()
    }

    pub(super) fn hit(&self, step: &'static str) {
        let mut state = self.lock();
        state.spent.cache_hits += 1;
        state.by_step.entry(step).or_default().cache_hits += 1;
    }

    /// Whether a limit is one of tokens or money: then calls have to say what they may take.
    pub(super) const fn counts_tokens(&self) -> bool {
        self.limit.tokens.is_some() || self.limit.cost.is_some()
    }

    /// Room for one more call: a `prompt` of so many tokens as we count them, and at most `reply` more. `cost` is
    /// that of tokens of both kinds.
    pub(super) fn reserve(
        &self,
        prompt: u64,
        reply: u64,
        cost: impl Fn(u64, u64) -> f64,
    ) -> Result<Reservation<'_>> {
        let mut state = self.lock();
        loop {
            let input = (prompt as f64 * state.overcount).ceil() as u64;
            let amount = Amount {
                tokens: input + reply,
                cost: cost(input, reply),
            };
            if let Some(reason) = self.reached(&state, amount) {
                return Err(Error::BudgetReached { reason });
            }
            if self.has_room(&state, amount) {
                state.reserved_calls += 1;
                state.reserved.tokens += amount.tokens;
                state.reserved.cost += amount.cost;
                return Ok(Reservation {
                    spending: self,
                    prompt,
                    amount,
                });
            }
            state = self
                .settled
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Why there is no room, and none to wait for.
    fn reached(&self, state: &State, amount: Amount) -> Option<String> {
        let SpendingLimit {
            calls,
            tokens,
            cost,
        } = self.limit;
        let spent = &state.spent;
        let used = spent.input_tokens + spent.output_tokens;
        if calls.is_some_and(|limit| spent.calls + state.reserved_calls + 1 > limit) {
            Some(format!("{} calls so far", spent.calls))
        } else if tokens.is_some_and(|limit| used + amount.tokens > limit) {
            Some(format!(
                "{used} tokens so far, and the next call may take {} with all the room for its reply",
                amount.tokens
            ))
        } else if cost.is_some_and(|limit| spent.cost + amount.cost > limit) {
            Some(format!(
                "{:.4} of money so far, and the next call may cost {:.4} with all the room for its reply",
                spent.cost, amount.cost
            ))
        } else {
            None
        }
    }

    fn has_room(&self, state: &State, amount: Amount) -> bool {
        let spent = &state.spent;
        let tokens = spent.input_tokens + spent.output_tokens + state.reserved.tokens;
        let cost = spent.cost + state.reserved.cost;
        // Sums of money may be off in their last digit when nothing is reserved any more.
        state.reserved_calls == 0
            || (self.limit.tokens).is_none_or(|limit| tokens + amount.tokens <= limit)
                && (self.limit.cost).is_none_or(|limit| cost + amount.cost <= limit)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation<'_> {
    /// The call is over, and this is what it took. `counted` are the tokens of its prompt as the provider counts
    /// them.
    pub(super) fn settle(self, step: &'static str, took: Spent, counted: Option<u64>) {
        let mut state = self.spending.lock();
        state.spent += took;
        *state.by_step.entry(step).or_default() += took;
        if let Some(counted) = counted.filter(|_| self.prompt > 0) {
            state.overcount = state.overcount.max(counted as f64 / self.prompt as f64);
        }
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut state = self.spending.lock();
        state.reserved_calls -= 1;
        state.reserved.tokens -= self.amount.tokens;
        state.reserved.cost -= self.amount.cost;
        drop(state);
        self.spending.settled.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn took(input_tokens: u64, output_tokens: u64) -> Spent {
        Spent {
            calls: 1,
            input_tokens,
            output_tokens,
            ..Spent::default()
        }
    }

    fn limited(calls: Option<u64>, tokens: Option<u64>, cost: Option<f64>) -> Spending {
        Spending::new(SpendingLimit {
            calls,
            tokens,
            cost,
        })
    }

    fn reason(refused: Result<Reservation<'_>>) -> String {
        refused.unwrap_err().to_string()
    }

    #[test]
    fn a_call_is_let_through_where_the_most_it_can_take_has_room() {
        let spending = limited(Some(2), Some(100), None);
        let reserve = || spending.reserve(20, 20, |_, _| 0.0);
        let (first, second) = (reserve().unwrap(), reserve().unwrap());
        first.settle("a", took(10, 0), Some(10));
        second.settle("a", took(0, 5), None);
        assert_eq!(reason(reserve()), "the budget is used up: 2 calls so far");
        assert_eq!(
            spending.spent(),
            Spent {
                calls: 2,
                ..took(10, 5)
            }
        );
        assert_eq!(spending.by_step()["a"], spending.spent());
    }

    #[test]
    fn a_limit_below_one_call_says_so() {
        let spending = limited(None, Some(100), Some(0.5));
        assert_eq!(
            reason(spending.reserve(30, 71, |_, _| 0.0)),
            "the budget is used up: 0 tokens so far, and the next call may take 101 with all the room for its reply"
        );
        assert_eq!(
            reason(spending.reserve(1, 1, |_, _| 0.75)),
            "the budget is used up: 0.0000 of money so far, and the next call may cost 0.7500 with all the room for \
             its reply"
        );
        spending.reserve(30, 70, |_, _| 0.5).unwrap();
    }

    #[test]
    fn a_provider_that_counts_more_is_believed() {
        let spending = limited(None, Some(100), None);
        let first = spending.reserve(10, 10, |_, _| 0.0).unwrap();
        first.settle("a", took(30, 10), Some(30));
        // 40 spent; 20 tokens of ours are 60 of theirs.
        assert!(spending.reserve(20, 1, |_, _| 0.0).is_err());
        spending.reserve(20, 0, |_, _| 0.0).unwrap();
    }

    #[test]
    fn a_call_waits_for_room_that_others_may_leave() {
        let spending = limited(None, Some(100), None);
        let first = spending.reserve(30, 30, |_, _| 0.0).unwrap();
        std::thread::scope(|threads| {
            let second = threads.spawn(|| spending.reserve(30, 30, |_, _| 0.0).map(drop));
            first.settle("a", took(30, 5), Some(30));
            second.join().unwrap().unwrap();
        });
        let first = spending.reserve(30, 30, |_, _| 0.0).unwrap();
        std::thread::scope(|threads| {
            let second = threads.spawn(|| spending.reserve(30, 30, |_, _| 0.0).map(drop));
            first.settle("a", took(30, 30), Some(30));
            assert!(second.join().unwrap().is_err());
        });
    }
}
