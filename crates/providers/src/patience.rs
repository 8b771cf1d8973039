//! Tries again what may pass, at growing intervals, within the provider's limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use malha_engine::language_model::{
    ChatModel, ChatReply, ChatRequest, Effort, ModelError, ModelErrorKind,
};

use crate::limiter::Limiter;

/// How often and at what intervals a failed call is tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries after the first one.
    pub retries: u32,
    /// Pause before the first retry; doubles with each.
    pub first_pause: Duration,
    /// No pause is longer; a provider that asks for more is given up, and not asked before that time.
    pub longest_pause: Duration,
    /// Of the jitter.
    pub seed: u64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: 4,
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_mins(2),
            seed: 0,
        }
    }
}

impl RetryPolicy {
    /// The pause before retry `number` (from 1): between half and all of the exponential interval, so that calls that
    /// failed together do not come back together. Never shorter than the provider asked for, and then up to a quarter
    /// longer, for the same reason. `None` when it asks for more than anybody should wait.
    pub(crate) fn pause(
        &self,
        number: u32,
        asked: Option<Duration>,
        random: u64,
    ) -> Option<Duration> {
        if asked.is_some_and(|asked| asked > self.longest_pause) {
            return None;
        }
        let doubled = self
            .first_pause
            .saturating_mul(1 << (number - 1).min(20))
            .min(self.longest_pause);
        let share = (random >> 11) as f64 / (1_u64 << 53) as f64;
        let own = doubled.mul_f64(0.5 + share / 2.0);
        Some(asked.map_or(own, |asked| asked.mul_f64(1.0 + share / 4.0).max(own)))
    }
}

/// A model with limits and retries in front of it.
pub(crate) struct Patient {
    model: Box<dyn ChatModel>,
    limiter: Arc<Limiter>,
    policy: RetryPolicy,
    /// Steps of the jitter's random numbers taken so far.
    drawn: AtomicU64,
}

impl Patient {
    pub(crate) fn new(
        model: Box<dyn ChatModel>,
        limiter: Arc<Limiter>,
        policy: RetryPolicy,
    ) -> Self {
        Self {
            model,
            limiter,
            policy,
            drawn: AtomicU64::new(0),
        }
    }

    fn random(&self) -> u64 {
        let step = self.drawn.fetch_add(1, Ordering::Relaxed) + 1;
        split_mix(
            self.policy
                .seed
                .wrapping_add(step.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        )
    }
}

/// The output function of `SplitMix64` (Steele, Lea and Flood 2014).
const fn split_mix(mut state: u64) -> u64 {
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

impl ChatModel for Patient {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn concurrency(&self) -> usize {
        self.limiter.concurrency()
    }

    fn complete(
        &self,
        request: &ChatRequest,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, ModelError> {
        let tokens = rough_tokens(request);
        let mut effort = Effort::default();
        loop {
            let permit = match self.limiter.acquire(tokens, self.policy.longest_pause) {
                Ok(permit) => permit,
                Err(rest) => {
                    let kind = ModelErrorKind::Transient {
                        retry_after: Some(rest),
                    };
                    let message = format!("it takes no call for {} s more", rest.as_secs());
                    let mut error = ModelError::new(kind, self.name(), message);
                    error.effort = effort;
                    return Err(error);
                }
            };
            effort.waited += permit.waited;
            let mut has_spoken = false;
            let result = self.model.complete(request, &mut |text| {
                has_spoken |= !text.is_empty();
                on_text(text);
            });
            let mut error = match result {
                Ok(mut reply) => {
                    let used = reply.input_tokens.zip(reply.output_tokens);
                    permit.succeeded(used.map(|(input, output)| (input + output) as f64));
                    reply.effort = effort;
                    return Ok(reply);
                }
                Err(error) => error,
            };
            effort.lost += error.effort.lost;
            error.effort = effort;
            let ModelErrorKind::Transient { retry_after } = error.kind else {
                return Err(error);
            };
            // Everybody waits that long, however long it is.
            permit.refused(retry_after);
            let retries = effort.retries;
            let pause = self.policy.pause(retries + 1, retry_after, self.random());
            // What was heard cannot be taken back, so it is not said twice.
            let Some(pause) = pause.filter(|_| !has_spoken && retries < self.policy.retries) else {
                if retries > 0 {
                    error.message = format!("{} (after {} tries)", error.message, retries + 1);
                }
                return Err(error);
            };
            effort.retries += 1;
            tracing::debug!(model = self.name(), retries, ?pause, "{}", error.message);
            std::thread::sleep(pause);
            effort.waited += pause;
        }
    }
}

/// Tokens that a request may take, near enough for a limit a minute: four bytes a token and half of
/// the room for the reply.
pub(crate) fn rough_tokens(request: &ChatRequest) -> f64 {
    let bytes: usize = request.messages.iter().map(|one| one.text.len()).sum();
    bytes as f64 / 4.0 + f64::from(request.max_output_tokens) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_within_half_of_the_interval() {
        let policy = RetryPolicy {
            longest_pause: Duration::from_secs(3),
            ..RetryPolicy::default()
        };
        let check = |number, low, high| {
            for random in [0, 1 << 63, u64::MAX] {
                let pause = policy.pause(number, None, random).unwrap().as_millis();
                assert!((low..=high).contains(&pause), "{number}: {pause}");
            }
        };
        check(1, 250, 500);
        check(2, 500, 1000);
        check(3, 1000, 2000);
        check(9, 1500, 3000);
    }

    #[test]
    fn a_pause_is_at_least_what_the_provider_asked_for_and_no_two_are_alike() {
        let policy = RetryPolicy {
            longest_pause: Duration::from_secs(100),
            ..RetryPolicy::default()
        };
        let check = |number, asked, low, high| {
            let asked = Some(Duration::from_secs(asked));
            let pause = |random| policy.pause(number, asked, random).unwrap().as_millis();
            assert_eq!(
                (pause(0), pause(u64::MAX)),
                (low, high),
                "{number} {asked:?}"
            );
        };
        check(1, 8, 8000, 10_000);
        // Growing, where the provider always asks for the same.
        check(6, 8, 8000, 16_000);
        check(7, 1, 16_000, 32_000);
        let asked = Some(Duration::from_secs(101));
        assert_eq!(policy.pause(1, asked, 0), None);
    }
}
