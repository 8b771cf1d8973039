use super::Engine;
use crate::types::LinkConvention;
use crate::{Result, storage};

impl Engine {
    /// States the link convention of every source indexed so far; with `None`, the next run detects it again.
    /// The next run reads the files of a source whose convention is another one then.
    ///
    /// # Errors
    /// A store that another process is writing to, or that was opened read-only.
    pub fn state_convention(&self, convention: Option<LinkConvention>) -> Result<()> {
        let store = self.store();
        let Some(namespace) = store.namespace(&self.namespace)? else {
            return Ok(());
        };
        let lease = store.write_lease("malha index", self.config.lease_wait)?;
        let transaction = lease.transaction()?;
        storage::state_conventions(transaction.connection(), namespace.0, convention)?;
        transaction.commit_bookkeeping()
    }
}
