//! Models through the store: the reply cache and the bill.

use super::Engine;
use crate::Result;
use crate::replies::ReplyCache;
use crate::storage;
use crate::types::{SpendingLimit, UsageKey, UsageLine};

impl Engine {
    /// The replies stored in this namespace. `limit` counts from now on.
    pub fn replies(&self, limit: SpendingLimit) -> ReplyCache<'_> {
        ReplyCache::new(
            &self.store,
            &self.namespace,
            &*self.clock,
            &self.config.prices,
            limit,
        )
        .until(self.cancel.clone())
    }

    /// What models were asked and what it cost, split by `by`, largest lines first.
    pub fn usage(&self, by: UsageKey) -> Result<Vec<UsageLine>> {
        let store = self.store();
        match store.namespace(&self.namespace)? {
            Some(namespace) => storage::usage(store.connection(), namespace.0, by),
            None => Ok(Vec::new()),
        }
    }
}
