//! One a provider: how many requests and tokens a minute it takes, and how many calls at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::settings::ProviderLimits;

/// Holds calls back until the provider takes them.
///
/// Concurrency adapts as TCP does: each success raises the allowance a little, up to the configured
/// number; a refusal halves it, and everybody waits as long as the provider asked for.
#[derive(Debug)]
pub(crate) struct Limiter {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    requests: Bucket,
    tokens: Bucket,
    in_flight: usize,
    /// Calls at once, at most.
    concurrency: usize,
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

    fn tighten(&mut self, per_minute: u32) {
        let per_minute = f64::from(per_minute);
        if per_minute > 0.0 && (self.per_minute == 0.0 || per_minute < self.per_minute) {
            let was_unlimited = self.per_minute == 0.0;
            self.level = if was_unlimited {
                per_minute
            } else {
                self.level.min(per_minute)
            };
            self.per_minute = per_minute;
        }
    }

    /// Takes `amount`, which may leave a debt that later calls wait for.
    fn take(&mut self, amount: f64) {
        if self.per_minute > 0.0 {
            self.level -= amount;
        }
    }
}

impl State {
    /// The smaller of two limits of each kind.
    fn tighten(&mut self, limits: &ProviderLimits) {
        self.requests.tighten(limits.requests_per_minute);
        self.tokens.tighten(limits.tokens_per_minute);
        self.concurrency = self.concurrency.min(limits.concurrency.max(1));
        self.allowed = self.allowed.min(self.concurrency as f64);
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
            state: Mutex::new(State {
                concurrency,
                requests: Bucket::new(limits.requests_per_minute, now),
                tokens: Bucket::new(limits.tokens_per_minute, now),
                in_flight: 0,
                allowed: concurrency as f64,
                not_before: None,
            }),
            changed: Condvar::new(),
        }
    }

    /// The limiter of an address in this process. Where several clients state different limits for one address, the
    /// smallest of each kind count.
    pub(crate) fn of(base_url: &str, limits: &ProviderLimits) -> Arc<Self> {
        static ALL: Mutex<BTreeMap<String, Weak<Limiter>>> = Mutex::new(BTreeMap::new());
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(base_url).and_then(Weak::upgrade) {
            known.lock().tighten(limits);
            return known;
        }
        all.retain(|_, limiter| limiter.strong_count() > 0);
        let limiter = Arc::new(Self::new(limits));
        all.insert(base_url.to_owned(), Arc::downgrade(&limiter));
        limiter
    }

    /// Calls at once, at most.
    pub(crate) fn concurrency(&self) -> usize {
        self.lock().concurrency
    }

    /// Waits until a call of about so many tokens may be made. How long nobody may call, where that is longer than
    /// `patience`.
    pub(crate) fn acquire(&self, tokens: f64, patience: Duration) -> Result<Permit<'_>, Duration> {
        let start = Instant::now();
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let pause = state
                .not_before
                .map_or(Duration::ZERO, |at| at.saturating_duration_since(now));
            if pause > patience {
                return Err(pause);
            }
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
        Ok(Permit {
            limiter: self,
            asked_tokens: tokens,
            waited: start.elapsed(),
        })
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
        state.allowed = (allowed + 1.0 / allowed.max(1.0)).min(state.concurrency as f64);
    }

    /// The provider was asked too much: fewer at once, and nobody before `pause` is over.
    pub(crate) fn refused(self, pause: Option<Duration>) {
        let mut state = self.limiter.lock();
        state.allowed = (state.allowed / 2.0).max(1.0);
        // A pause beyond all clocks is one that the caller gives up at once.
        if let Some(at) = pause.and_then(|pause| Instant::now().checked_add(pause)) {
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
        limiter.acquire(1.0, Duration::MAX).unwrap().refused(None);
        limiter.acquire(1.0, Duration::MAX).unwrap().refused(None);
        assert!((limiter.lock().allowed - 2.0).abs() < 1e-9);
        for _ in 0..100 {
            limiter.acquire(1.0, Duration::MAX).unwrap().succeeded(None);
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
                    let permit = limiter.acquire(1.0, Duration::MAX).unwrap();
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
            .acquire(1.0, Duration::MAX)
            .unwrap()
            .refused(Some(Duration::from_millis(40)));
        let permit = limiter.acquire(1.0, Duration::MAX).unwrap();
        assert!(permit.waited >= Duration::from_millis(40));
    }

    #[test]
    fn nobody_waits_longer_than_their_patience() {
        let limiter = Limiter::new(&limits(0, 0, 4));
        let hour = Duration::from_hours(1);
        let permit = limiter.acquire(1.0, Duration::ZERO).unwrap();
        permit.refused(Some(hour));
        let rest = limiter.acquire(1.0, Duration::from_mins(2)).unwrap_err();
        assert!(rest <= hour && rest > Duration::from_mins(2), "{rest:?}");
    }

    #[test]
    fn clients_of_one_address_share_the_smallest_of_their_limits() {
        let first = Limiter::of("http://shared.test", &limits(60, 0, 8));
        let second = Limiter::of("http://shared.test", &limits(0, 500, 3));
        let other = Limiter::of("http://other.test", &limits(0, 0, 5));
        assert!(Arc::ptr_eq(&first, &second) && !Arc::ptr_eq(&first, &other));
        let state = first.lock();
        assert_eq!(state.concurrency, 3);
        let rates =
            [&state.requests, &state.tokens].map(|bucket| (bucket.per_minute, bucket.level));
        assert_eq!(rates, [(60.0, 60.0), (500.0, 500.0)]);
        drop(state);
        drop((first, second));
        let fresh = Limiter::of("http://shared.test", &limits(0, 0, 8));
        assert_eq!(fresh.concurrency(), 8);
    }
}
