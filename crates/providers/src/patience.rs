//! Tries again what may pass, at growing intervals, within the provider's limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use malha_engine::language_model::{ChatModel, ChatReply, ChatRequest, ModelError, ModelErrorKind};

use crate::limiter::Limiter;

/// How often and at what intervals a failed call is tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries after the first one.
    pub retries: u32,
    /// Pause before the first retry; doubles with each.
    pub first_pause: Duration,
    /// No pause is longer; a provider that asks for more is given up.
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
    /// The pause before retry `number` (from 1), without jitter, as long as the provider asks for; `None` when that is
    /// longer than anybody should wait.
    pub(crate) fn pause_after(&self, number: u32, asked: Option<Duration>) -> Option<Duration> {
        match asked {
            Some(asked) => (asked <= self.longest_pause).then_some(asked),
            None => Some(self.pause(number, u64::MAX)),
        }
    }

    /// The pause before retry `number` (from 1): between half and all of the exponential interval, so
    /// that calls that failed together do not come back together.
    fn pause(&self, number: u32, random: u64) -> Duration {
        let doubled = self
            .first_pause
            .saturating_mul(1 << (number - 1).min(20))
            .min(self.longest_pause);
        let share = (random >> 11) as f64 / (1_u64 << 53) as f64;
        doubled.mul_f64(0.5 + share / 2.0)
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
        let mut waited = Duration::ZERO;
        let mut retries = 0;
        loop {
            let permit = self.limiter.acquire(tokens);
            waited += permit.waited;
            let mut has_spoken = false;
            let result = self.model.complete(request, &mut |text| {
                has_spoken |= !text.is_empty();
                on_text(text);
            });
            let mut error = match result {
                Ok(mut reply) => {
                    let used = reply.input_tokens.zip(reply.output_tokens);
                    permit.succeeded(used.map(|(input, output)| (input + output) as f64));
                    reply.retries = retries;
                    reply.waited = waited;
                    return Ok(reply);
                }
                Err(error) => error,
            };
            let ModelErrorKind::Transient { retry_after } = error.kind else {
                return Err(error);
            };
            let too_patient = retry_after.is_some_and(|asked| asked > self.policy.longest_pause);
            if too_patient {
                permit.refused(None);
            } else {
                permit.refused(retry_after);
            }
            // What was heard cannot be taken back, so it is not said twice.
            if has_spoken || too_patient || retries >= self.policy.retries {
                if retries > 0 {
                    error.message = format!("{} (after {} tries)", error.message, retries + 1);
                }
                return Err(error);
            }
            retries += 1;
            let pause = match retry_after {
                // The limiter holds everybody back that long; only the jitter is added.
                Some(_) => self.policy.first_pause.mul_f64(0.1),
                None => self.policy.pause(retries, self.random()),
            };
            tracing::debug!(model = self.name(), retries, ?pause, "{}", error.message);
            std::thread::sleep(pause);
            waited += pause;
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
                let pause = policy.pause(number, random).as_millis();
                assert!((low..=high).contains(&pause), "{number}: {pause}");
            }
        };
        check(1, 250, 500);
        check(2, 500, 1000);
        check(3, 1000, 2000);
        check(9, 1500, 3000);
    }
}
