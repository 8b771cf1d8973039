use rusqlite::Connection;

use crate::graph::vocabulary::{Known, NameLookup};
use crate::{Result, storage};

/// The folded forms of the alias table as known names.
pub(crate) struct StoredNames<'a> {
    pub connection: &'a Connection,
    pub namespace: i64,
}

impl NameLookup for StoredNames<'_> {
    type Error = crate::Error;

    fn lookup(&mut self, prefix: &str) -> Result<Known> {
        let (name, longer) = storage::forms_from(self.connection, self.namespace, prefix)?;
        Ok(Known { name, longer })
    }
}
