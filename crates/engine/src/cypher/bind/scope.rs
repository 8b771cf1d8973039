use std::sync::Arc;

use super::kind::Kind;
use crate::cypher::plan::Slot;

/// The names that an expression may use.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    variables: Vec<Variable>,
}

#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub name: Arc<str>,
    pub slot: Slot,
    pub kind: Kind,
}

impl Scope {
    pub(super) fn find(&self, name: &str) -> Option<&Variable> {
        self.variables
            .iter()
            .rev()
            .find(|variable| *variable.name == *name)
    }

    /// Adds a name; one of the same name is hidden until [`Scope::shrink`].
    pub(super) fn add(&mut self, name: &str, slot: Slot, kind: Kind) {
        self.variables.push(Variable {
            name: Arc::from(name),
            slot,
            kind,
        });
    }

    pub(super) fn len(&self) -> usize {
        self.variables.len()
    }

    /// Forgets the names that were added last.
    pub(super) fn shrink(&mut self, length: usize) {
        self.variables.truncate(length);
    }

    pub(super) fn variables(&self) -> &[Variable] {
        &self.variables
    }

    pub(super) fn slots(&self) -> Vec<Slot> {
        self.variables
            .iter()
            .map(|variable| variable.slot)
            .collect()
    }
}
