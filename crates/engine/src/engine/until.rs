//! Questions whose caller may give up.

use std::sync::{Arc, MutexGuard};

use super::Engine;
use crate::Result;
use crate::storage::{Stoppable, Store};
use crate::types::Cancel;

impl Engine {
    /// The same store and caches, whose questions end with [`crate::Error::Interrupted`] once `cancel` is asked: as soon
    /// as it is their turn, in the middle of a statement or a query, and between the steps of everything else. A model
    /// that is being asked is waited for, its reply is kept, and no other one is asked.
    ///
    /// For questions only: what writes ([`Engine::remember`], [`Engine::forget`] …) would keep its transactions whole,
    /// but could end between two of them.
    #[must_use]
    pub fn until(&self, cancel: Cancel) -> Self {
        Self {
            cancel,
            ..self.same()
        }
    }

    /// The same store, caches and models.
    pub(super) fn same(&self) -> Self {
        Self {
            config: self.config.clone(),
            namespace: self.namespace.clone(),
            clock: Arc::clone(&self.clock),
            store: Arc::clone(&self.store),
            graph: Arc::clone(&self.graph),
            names: Arc::clone(&self.names),
            schema: self.schema.clone(),
            query_writer: self.query_writer.clone(),
            times: self.times,
            cancel: self.cancel.clone(),
            embedder: self.embedder.clone(),
            reranker: self.reranker.clone(),
            vectors: Arc::clone(&self.vectors),
            rankers: self.rankers.clone(),
        }
    }

    /// The store for a question: when it is its turn, and as long as nobody asks it to stop.
    pub(super) fn asked(&self) -> Result<Stoppable<MutexGuard<'_, Store>>> {
        self.cancel.go_on()?;
        let store = self.store();
        self.cancel.go_on()?;
        let cancel = self.cancel.clone();
        Stoppable::new(store, move || cancel.is_cancelled())
    }
}
