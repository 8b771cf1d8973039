use rusqlite::{OptionalExtension, params};

use super::{Store, WriteTransaction};
use crate::Result;
use crate::types::Namespace;

/// Row id of a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamespaceId(pub i64);

impl Store {
    /// The namespace's row; `None` when nothing was ever stored in it.
    pub fn namespace(&self, name: &Namespace) -> Result<Option<NamespaceId>> {
        Ok(self
            .connection()
            .prepare_cached("SELECT id FROM namespace WHERE name = ?1")?
            .query_row(params![name.as_str()], |row| row.get(0).map(NamespaceId))
            .optional()?)
    }

    /// Names of all namespaces, sorted.
    pub fn namespaces(&self) -> Result<Vec<String>> {
        let mut statement = self
            .connection()
            .prepare_cached("SELECT name FROM namespace ORDER BY name")?;
        let names = statement.query_map([], |row| row.get(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }
}

impl WriteTransaction<'_> {
    /// The namespace's row, made if it is not there.
    pub fn namespace(&self, name: &Namespace) -> Result<NamespaceId> {
        self.connection()
            .prepare_cached("INSERT INTO namespace (name) VALUES (?1) ON CONFLICT DO NOTHING")?
            .execute(params![name.as_str()])?;
        Ok(self
            .connection()
            .prepare_cached("SELECT id FROM namespace WHERE name = ?1")?
            .query_row(params![name.as_str()], |row| row.get(0).map(NamespaceId))?)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn made_once_and_gone_after_rollback() {
        let store = Store::in_memory().unwrap();
        let name = Namespace::new("my-group").unwrap();
        let lease = store.write_lease("test", Duration::ZERO).unwrap();
        let transaction = lease.transaction().unwrap();
        let id = transaction.namespace(&name).unwrap();
        assert_eq!(transaction.namespace(&name).unwrap(), id);
        drop(transaction);
        assert_eq!(store.namespace(&name).unwrap(), None);
        assert_eq!(store.generation().unwrap(), 0);
        let transaction = lease.transaction().unwrap();
        transaction.namespace(&name).unwrap();
        transaction.commit().unwrap();
        assert_eq!(store.namespaces().unwrap(), ["default", "my-group"]);
        assert!(store.generation().unwrap() > 0);
    }
}
