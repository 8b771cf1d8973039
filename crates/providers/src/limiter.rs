//! One a provider: how many requests and tokens a minute it takes, and how many calls at once.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::settings::ProviderLimits;

/// Holds calls back until the provider takes them.
///
/// Concurrency adapts as TCP does: each success raises the allowance a little, up to the configured
/// number; a refusal halves it, and everybody waits as long as the provider asked for.
#[derive(Debug)]
pub(crate) struct Limiter {
    concurrency: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    requests: Bucket,
    tokens: Bucket,
    in_flight: usize,
    /// Calls at once that are allowed at present.
    allowed: f64,
    /// Nobody calls before.
    not_before: Option<Instant>,
}

/// Fills at a steady rate up to a minute's worth.
#[derive(Debug)]
struct Bucket {
    /// 0 is no limit.
    per_minute: f64,
    level: f64,
    at: Instant,
}

impl Bucket {
    fn new(per_minute: u32, now: Instant) -> Self {
        Self {
            per_minute: f64::from(per_minute),
            level: f64::from(per_minute),
            at: now,
        }
    }

    /// How long until it holds `amount`; more than a full bucket is asked of a full one.
    fn wait_for(&mut self, amount: f64, now: Instant) -> Duration {
        if self.per_minute == 0.0 {
            return Duration::ZERO;
        }
        let since = now.saturating_duration_since(self.at).as_secs_f64();
        self.level = (self.level + since * self.per_minute / 60.0).min(self.per_minute);
        self.at = now;
        let missing = amount.min(self.per_minute) - self.level;
        if missing <= 0.0 {
            return Duration::ZERO;
        }
        Duration::from_secs_f64(missing * 60.0 / self.per_minute)
    }

    /// Takes `amount`, which may leave a debt that later calls wait for.
    fn take(&mut self, amount: f64) {
        if self.per_minute > 0.0 {
            self.level -= amount;
        }
    }
}

/// The right to one call; given back when dropped.
#[derive(Debug)]
pub(crate) struct Permit<'a> {
    limiter: &'a Limiter,
    asked_tokens: f64,
    /// Time spent waiting for it.
    pub(crate) waited: Duration,
}

impl Limiter {
    pub(crate) fn new(limits: &ProviderLimits) -> Self {
        let now = Instant::now();
        let concurrency = limits.concurrency.max(1);
        Self {
            concurrency,
            state: Mutex::new(State {
                requests: Bucket::new(limits.requests_per_minute, now),
                tokens: Bucket::new(limits.tokens_per_minute, now),
                in_flight: 0,
                allowed: concurrency as f64,
                not_before: None,
            }),
            changed: Condvar::new(),
        }
    }

    /// Calls at once, at most.
    pub(crate) const fn concurrency(&self) -> usize {
        self.concurrency
    }

    /// Waits until a call of about so many tokens may be made.
    pub(crate) fn acquire(&self, tokens: f64) -> Permit<'_> {
        let start = Instant::now();
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let pause = state
                .not_before
                .map_or(Duration::ZERO, |at| at.saturating_duration_since(now));
            let wait = pause
                .max(state.requests.wait_for(1.0, now))
                .max(state.tokens.wait_for(tokens, now));
            let has_room = (state.in_flight as f64) < state.allowed.max(1.0).floor();
            if wait.is_zero() && has_room {
                break;
            }
            // Without room only the end of another call helps, and that wakes us.
            let wait = if wait.is_zero() {
                Duration::from_mins(1)
            } else {
                wait
            };
            state = self
                .changed
                .wait_timeout(state, wait)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        state.in_flight += 1;
        state.requests.take(1.0);
        state.tokens.take(tokens);
        Permit {
            limiter: self,
            asked_tokens: tokens,
            waited: start.elapsed(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit<'_> {
    /// The call went through; `tokens` is what it really took.
    pub(crate) fn succeeded(self, tokens: Option<f64>) {
        let mut state = self.limiter.lock();
        if let Some(tokens) = tokens {
            state.tokens.take(tokens - self.asked_tokens);
        }
        let allowed = state.allowed;
        state.allowed = (allowed + 1.0 / allowed.max(1.0)).min(self.limiter.concurrency as f64);
    }

    /// The provider was asked too much: fewer at once, and nobody before `pause` is over.
    pub(crate) fn refused(self, pause: Option<Duration>) {
        let mut state = self.limiter.lock();
        state.allowed = (state.allowed / 2.0).max(1.0);
        if let Some(pause) = pause {
            let at = Instant::now() + pause;
            state.not_before = Some(state.not_before.map_or(at, |known| known.max(at)));
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.limiter.lock().in_flight -= 1;
        self.limiter.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(requests: u32, tokens: u32, concurrency: usize) -> ProviderLimits {
        ProviderLimits {
            requests_per_minute: requests,
            tokens_per_minute: tokens,
            concurrency,
            proxy: None,
        }
    }

    #[test]
    fn a_bucket_refills_and_remembers_debts() {
        let start = Instant::now();
        let mut bucket = Bucket::new(60, start);
        assert_eq!(bucket.wait_for(60.0, start), Duration::ZERO);
        bucket.take(60.0);
        assert_eq!(bucket.wait_for(1.0, start), Duration::from_secs(1));
        assert_eq!(
            bucket.wait_for(1.0, start + Duration::from_secs(1)),
            Duration::ZERO
        );
        bucket.take(31.0);
        let later = start + Duration::from_secs(1);
        assert_eq!(bucket.wait_for(1.0, later), Duration::from_secs(31));
        // More than a minute's worth cannot be waited for: a full bucket has to do.
        let full = later + Duration::from_secs(91);
        assert_eq!(bucket.wait_for(1e9, full), Duration::ZERO);
    }

    #[test]
    fn refusals_halve_what_runs_at_once_and_successes_raise_it() {
        let limiter = Limiter::new(&limits(0, 0, 8));
        limiter.acquire(1.0).refused(None);
        limiter.acquire(1.0).refused(None);
        assert!((limiter.lock().allowed - 2.0).abs() < 1e-9);
        for _ in 0..100 {
            limiter.acquire(1.0).succeeded(None);
        }
        assert!((limiter.lock().allowed - 8.0).abs() < 1e-9);
        assert_eq!(limiter.lock().in_flight, 0);
    }

    #[test]
    fn never_more_at_once_than_allowed() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let limiter = Limiter::new(&limits(0, 0, 3));
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|threads| {
            for _ in 0..12 {
                threads.spawn(|| {
                    let permit = limiter.acquire(1.0);
                    let running = now.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(running, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(3));
                    now.fetch_sub(1, Ordering::SeqCst);
                    permit.succeeded(None);
                });
            }
        });
        assert_eq!(most.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn everybody_waits_as_long_as_the_provider_asked() {
        let limiter = Limiter::new(&limits(0, 0, 4));
        limiter
            .acquire(1.0)
            .refused(Some(Duration::from_millis(40)));
        let permit = limiter.acquire(1.0);
        assert!(permit.waited >= Duration::from_millis(40));
    }
}
