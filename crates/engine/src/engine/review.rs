//! What people decide about extraction: which names are one thing, which facts are right.

use rusqlite::Connection;
use sha2::{Digest as _, Sha256};

use super::Engine;
use crate::memory::buried_fact;
use crate::storage::{self, Buried, FactToReview};
use crate::text::name_key;
use crate::types::{MergeView, RelationId, ReviewFact, TypePrecision};
use crate::{Error, Result};

impl Engine {
    /// Pairs of names that became one entity, wait for a decision, or were decided to be two; those that wait
    /// come first.
    pub fn merges(&self) -> Result<Vec<MergeView>> {
        let store = self.store();
        match store.namespace(&self.namespace)? {
            Some(id) => storage::merges(store.connection(), id.0),
            None => Ok(Vec::new()),
        }
    }

    /// Decides that the names of each pair are one thing, or two, and brings the graph in line; `None` takes a
    /// decision back. What was decided holds whatever is indexed or extracted later.
    ///
    /// # Errors
    /// [`Error::NotFound`]: there is no pair of one of these numbers; then nothing is decided.
    pub fn decide_merges(&self, ids: &[i64], is_same: Option<bool>) -> Result<()> {
        {
            let store = self.store();
            let lease = store.write_lease("malha review", self.config.lease_wait)?;
            let transaction = lease.transaction()?;
            let namespace = transaction.namespace(&self.namespace)?;
            let now = self.clock.now();
            for &id in ids {
                if !storage::decide_merge(transaction.connection(), namespace.0, id, is_same, now)?
                {
                    return Err(Error::NotFound {
                        kind: "pair of names",
                        name: id.to_string(),
                    });
                }
            }
            storage::set_unfollowed(transaction.connection(), namespace.0, true)?;
            transaction.commit_bookkeeping()?;
        }
        self.follow_documents(&())?;
        Ok(())
    }
}

impl Engine {
    /// Facts of models that nobody has judged, `count` of them: the same for the same content and seed.
    pub fn facts_to_review(&self, count: usize, seed: u64) -> Result<Vec<ReviewFact>> {
        let store = self.store();
        let Some(namespace) = store.namespace(&self.namespace)? else {
            return Ok(Vec::new());
        };
        let connection = store.connection();
        let mut facts: Vec<([u8; 32], ReviewFact)> =
            storage::facts_to_review(connection, namespace.0)?
                .into_iter()
                .map(|FactToReview { fact, key }| {
                    let mut hash = Sha256::new();
                    hash.update(seed.to_le_bytes());
                    hash.update(key);
                    (hash.finalize().into(), fact)
                })
                .collect();
        facts.sort_by_key(|(hash, fact)| (*hash, fact.id));
        let mut chosen = Vec::new();
        for (_, fact) in facts {
            if chosen.len() == count {
                break;
            }
            let (parts, _) = parts_of(connection, RelationId(fact.id))?;
            let parts = parts.each_ref().map(String::as_str);
            if !storage::has_verdict(connection, namespace.0, &parts)? {
                chosen.push(fact);
            }
        }
        Ok(chosen)
    }

    /// Takes verdicts on facts, by their numbers. What is wrong goes, and no later extraction brings it back; what
    /// is right after all comes back with its passage.
    ///
    /// # Errors
    /// [`Error::NotFound`]: a number is no fact of a model; then nothing is judged.
    pub fn judge_facts(&self, verdicts: &[(i64, bool)]) -> Result<()> {
        {
            let store = self.store();
            let lease = store.write_lease("malha review", self.config.lease_wait)?;
            let transaction = lease.transaction()?;
            let namespace = transaction.namespace(&self.namespace)?.0;
            let connection = transaction.connection();
            let now = self.clock.now();
            for &(id, is_right) in verdicts {
                let id = RelationId(id);
                if !storage::is_fact_of_model(connection, namespace, id)? {
                    return Err(Error::NotFound {
                        kind: "fact of a model",
                        name: id.0.to_string(),
                    });
                }
                let (parts, kind) = parts_of(connection, id)?;
                let parts = parts.each_ref().map(String::as_str);
                storage::save_verdict(connection, namespace, &parts, &kind, is_right, now)?;
                if is_right {
                    storage::unbury(connection, namespace, Buried::Fact, &parts)?;
                } else {
                    storage::bury(connection, namespace, Buried::Fact, &parts, now)?;
                }
            }
            storage::set_unfollowed(transaction.connection(), namespace, true)?;
            transaction.commit_bookkeeping()?;
        }
        self.follow_documents(&())?;
        Ok(())
    }

    /// How right the judged facts were, by type of relation, and all together under an empty name at the end.
    pub fn precision(&self) -> Result<Vec<TypePrecision>> {
        let store = self.store();
        let counts = match store.namespace(&self.namespace)? {
            Some(namespace) => storage::verdict_counts(store.connection(), namespace.0)?,
            None => Vec::new(),
        };
        let sum = counts.iter().fold((0, 0), |sum, (_, right, wrong)| {
            (sum.0 + right, sum.1 + wrong)
        });
        let mut found: Vec<TypePrecision> = counts
            .into_iter()
            .map(|(kind, right, wrong)| TypePrecision::new(kind, right, wrong))
            .collect();
        if found.len() > 1 {
            found.push(TypePrecision::new(String::new(), sum.0, sum.1));
        }
        Ok(found)
    }
}

/// What a fact is known by, and the name of its type.
fn parts_of(connection: &Connection, id: RelationId) -> Result<([String; 5], String)> {
    let named = storage::named_fact(connection, id)?;
    let (source, target) = (name_key(&named.source), name_key(&named.target));
    let parts = buried_fact(&source, &named.relation, &target, named.from, named.to);
    Ok((parts, named.relation))
}
