use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::cached_model::{StoredReply, key, stored};
use super::spending::Spending;
use crate::Result;
use crate::language_model::ChatRequest;
use crate::storage::{self, Member, Presence, Store, WriteTransaction};
use crate::types::{Cancel, Clock, ModelPrice, Namespace, SpendingLimit, Spent, Timestamp};

/// How long a stored reply waits for another writer: it was paid for and is not to be lost.
const LEASE_WAIT: Duration = Duration::from_mins(10);
/// How long a claim holds unless it is renewed, which happens much more often.
const CLAIM_MS: i64 = 20_000;
const RENEW_EVERY: Duration = Duration::from_secs(4);

/// Replies of chat models in a store.
pub struct ReplyCache<'a> {
    store: &'a Mutex<Store>,
    namespace: &'a Namespace,
    clock: &'a dyn Clock,
    prices: &'a [ModelPrice],
    pub(super) spending: Spending,
    /// Tells this user of the store from others, in this process too.
    owner: String,
    presence: OnceLock<Presence>,
    /// Stored replies that served again, written by [`ReplyCache::flush`].
    hits: Mutex<BTreeMap<i64, u64>>,
    pub(super) cancel: Cancel,
}

impl<'a> ReplyCache<'a> {
    /// The cache of a namespace. Nobody may hold `store` while a model is asked through it.
    pub fn new(
        store: &'a Mutex<Store>,
        namespace: &'a Namespace,
        clock: &'a dyn Clock,
        prices: &'a [ModelPrice],
        limit: SpendingLimit,
    ) -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static CACHES: AtomicU64 = AtomicU64::new(0);
        let number = CACHES.fetch_add(1, Ordering::Relaxed);
        Self {
            store,
            namespace,
            clock,
            prices,
            spending: Spending::new(limit),
            owner: format!("{}-{number}-{}", std::process::id(), clock.now().0),
            presence: OnceLock::new(),
            hits: Mutex::default(),
            cancel: Cancel::default(),
        }
    }

    /// The same cache, which asks no model any more once `cancel` is asked: that is [`crate::Error::Interrupted`]. A reply
    /// that is under way is waited for and kept.
    #[must_use]
    pub fn until(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Calls, tokens and money since the cache was opened.
    pub fn spent(&self) -> Spent {
        self.spending.spent()
    }

    /// The same, by step of the work.
    pub fn spent_by_step(&self) -> BTreeMap<String, Spent> {
        self.spending.by_step()
    }

    /// The price of a model, where the table has one.
    pub fn price(&self, model: &str) -> Option<&ModelPrice> {
        self.prices.iter().find(|price| price.model == model)
    }

    /// Keeps the claims on calls in flight alive; [`ReplyCache::renewing`] does it for as long as some work takes.
    pub fn renew(&self) -> Result<()> {
        let expires_at = Timestamp(self.now().0 + CLAIM_MS);
        self.write(|transaction, _| {
            storage::renew_jobs(transaction.connection(), &self.owner, expires_at)?;
            Ok(())
        })
    }

    /// Runs `work` and keeps the claims on its calls alive meanwhile, so that no other process makes them too.
    ///
    /// # Errors
    /// Those of `work`; the store cannot be written.
    pub fn renewing<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let is_over = Mutex::new(false);
        let bell = Condvar::new();
        std::thread::scope(|scope| {
            let beat = scope.spawn(|| -> Result<()> {
                let mut guard = lock(&is_over);
                while !*guard {
                    guard = bell
                        .wait_timeout(guard, RENEW_EVERY)
                        .unwrap_or_else(PoisonError::into_inner)
                        .0;
                    if !*guard {
                        self.renew()?;
                    }
                }
                Ok(())
            });
            let ending = Ending {
                is_over: &is_over,
                bell: &bell,
            };
            let done = work();
            drop(ending);
            let kept = beat.join().expect("the renewing thread does not panic");
            done.and_then(|value| kept.map(|()| value))
        })
    }

    /// Writes down how often stored replies served.
    pub fn flush(&self) -> Result<()> {
        let hits = std::mem::take(&mut *lock(&self.hits));
        if hits.is_empty() {
            return Ok(());
        }
        self.write(|transaction, _| {
            for (id, hits) in hits {
                storage::add_hits(transaction.connection(), id, hits)?;
            }
            Ok(())
        })
    }

    /// Marks a reply as unusable: it stays on the bill, and the same question is asked anew.
    pub fn reject(&self, id: i64, reason: &str) -> Result<()> {
        self.write(|transaction, _| storage::reject_reply(transaction.connection(), id, reason))
    }

    /// The stored reply of a model of this name to a request of this step, if there is one that can be used.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn peek(
        &self,
        step: &str,
        model: &str,
        request: &ChatRequest,
    ) -> Result<Option<StoredReply>> {
        self.look_up(&key(step, model, request), storage::find_reply)
    }

    /// [`ReplyCache::peek`], or the reply to several requests, this one among them.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn peek_any(
        &self,
        step: &str,
        model: &str,
        request: &ChatRequest,
    ) -> Result<Option<StoredReply>> {
        self.look_up(&key(step, model, request), find_any)
    }

    /// Whether any reply of a step is stored.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn has_replies(&self, step: &str) -> Result<bool> {
        let store = lock(self.store);
        match store.namespace(self.namespace)? {
            Some(namespace) => storage::has_replies(store.connection(), namespace.0, step),
            None => Ok(false),
        }
    }

    fn look_up(&self, key: &[u8], find: Find) -> Result<Option<StoredReply>> {
        let store = lock(self.store);
        let Some(namespace) = store.namespace(self.namespace)? else {
            return Ok(None);
        };
        Ok(find(store.connection(), namespace.0, key)?.map(stored))
    }

    pub(super) fn count_hit(&self, id: i64, step: &'static str) {
        *lock(&self.hits).entry(id).or_default() += 1;
        self.spending.hit(step);
    }

    /// The stored reply, or the right to ask for it; `None` while somebody else is asking. `any`: a reply to several
    /// requests, this one among them, counts too.
    pub(super) fn find_or_claim(&self, key: &[u8], any: bool) -> Result<Option<Claim>> {
        let find: Find = if any { find_any } else { storage::find_reply };
        {
            let store = lock(self.store);
            if let Some(namespace) = store.namespace(self.namespace)?
                && let Some(row) = find(store.connection(), namespace.0, key)?
            {
                return Ok(Some(Claim::Stored(row)));
            }
        }
        self.show_presence();
        self.write(|transaction, namespace| {
            let connection = transaction.connection();
            // Somebody may have stored it since.
            if let Some(row) = find(connection, namespace, key)? {
                return Ok(Some(Claim::Stored(row)));
            }
            let is_ours = self.claim(connection, namespace, key)?;
            Ok(is_ours.then_some(Claim::Ours))
        })
    }

    /// Positions of the keys that nobody has a reply to or is asking about: they are ours to ask about.
    pub(super) fn claim_open(&self, keys: &[[u8; 32]]) -> Result<Vec<usize>> {
        self.show_presence();
        self.write(|transaction, namespace| {
            let connection = transaction.connection();
            let mut ours = Vec::new();
            for (at, key) in keys.iter().enumerate() {
                if find_any(connection, namespace, key)?.is_none()
                    && self.claim(connection, namespace, key)?
                {
                    ours.push(at);
                }
            }
            Ok(ours)
        })
    }

    /// Claims a key, unless somebody who is there is asking for it: of others that shows by their files, and where it
    /// does not (another thread of ours, a file system without locks) by the time.
    fn claim(&self, connection: &Connection, namespace: i64, key: &[u8]) -> Result<bool> {
        let now = self.now();
        let gone = self.presence.get().map(Presence::take_gone);
        self.clear_gone(connection, gone.unwrap_or_default())?;
        if let Some((owner, expires_at)) = storage::claim_on(connection, namespace, key)? {
            let is_there = if owner == self.owner {
                None
            } else {
                self.presence.get().and_then(|presence| presence.of(&owner))
            };
            match is_there {
                Some(true) => return Ok(false),
                Some(false) => self.clear_gone(connection, vec![owner])?,
                None if expires_at > now => return Ok(false),
                None => {}
            }
        }
        let expires_at = Timestamp(now.0 + CLAIM_MS);
        storage::claim_job(connection, namespace, key, &self.owner, expires_at)?;
        Ok(true)
    }

    /// Gives up what those held who are gone.
    fn clear_gone(&self, connection: &Connection, owners: Vec<String>) -> Result<()> {
        for owner in owners {
            storage::release_owner(connection, &owner)?;
            if let Some(presence) = self.presence.get() {
                presence.clear(&owner);
            }
        }
        Ok(())
    }

    /// Shows the others that we are there, before anything is claimed.
    fn show_presence(&self) {
        self.presence
            .get_or_init(|| Presence::show(lock(self.store).path(), &self.owner));
    }

    pub(super) fn release(&self, keys: &[[u8; 32]]) -> Result<()> {
        self.write(|transaction, namespace| {
            for key in keys {
                storage::release_job(transaction.connection(), namespace, key)?;
            }
            Ok(())
        })
    }

    /// Stores what came back, and returns the reply that counts: of two to one question the first, though both are on
    /// the bill. `None` for a failure. `members` are the keys that were asked about together.
    pub(super) fn save(
        &self,
        call: &storage::CallValues<'_>,
        members: &[Member],
    ) -> Result<Option<StoredReply>> {
        let now = self.now();
        self.write(|transaction, namespace| {
            let connection = transaction.connection();
            let first = storage::insert_call(connection, namespace, call, now)?;
            if let Some(id) = first {
                storage::insert_parts(connection, namespace, id, members)?;
            }
            for member in members {
                storage::release_job(connection, namespace, &member.key)?;
            }
            Ok(match call.outcome {
                Ok(_) => storage::find_reply(connection, namespace, call.key)?.map(stored),
                Err(_) => None,
            })
        })
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A short transaction of its own. The graph does not depend on it, so its caches stay fresh.
    fn write<T>(&self, work: impl FnOnce(&WriteTransaction<'_>, i64) -> Result<T>) -> Result<T> {
        let store = lock(self.store);
        let lease = store.write_lease("malha (storing a model's reply)", LEASE_WAIT)?;
        let transaction = lease.transaction()?;
        let namespace = transaction.namespace(self.namespace)?;
        let value = work(&transaction, namespace.0)?;
        transaction.commit_bookkeeping()?;
        Ok(value)
    }
}

/// Looks for a reply by its key.
type Find = fn(&Connection, i64, &[u8]) -> Result<Option<storage::ReplyRow>>;

fn find_any(
    connection: &Connection,
    namespace: i64,
    key: &[u8],
) -> Result<Option<storage::ReplyRow>> {
    match storage::find_reply(connection, namespace, key)? {
        None => storage::find_part(connection, namespace, key),
        found => Ok(found),
    }
}

/// Ends the renewing thread, also when the work panics: nobody would ever join it otherwise.
struct Ending<'a> {
    is_over: &'a Mutex<bool>,
    bell: &'a Condvar,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        *lock(self.is_over) = true;
        self.bell.notify_all();
    }
}

/// What [`ReplyCache::find_or_claim`] found.
pub(super) enum Claim {
    Stored(storage::ReplyRow),
    Ours,
}

/// A panic in another thread left at worst an open transaction, which was rolled back when it unwound.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
