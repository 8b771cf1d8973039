//! Documents as lists and as texts.

use super::Engine;
use crate::storage;
use crate::types::DocumentView;
use crate::{Error, Result};

impl Engine {
    /// Up to `limit` current documents whose uris start with `prefix`, by uri, after the uri `after`.
    pub fn documents(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<DocumentView>> {
        let store = self.asked()?;
        match store.namespace(&self.namespace)? {
            Some(namespace) => storage::documents_after(
                store.connection(),
                namespace.0,
                prefix,
                after.unwrap_or_default(),
                limit,
            ),
            None => Ok(Vec::new()),
        }
    }

    /// The text of a document as far as the store holds it: all of it, or its passages in their order.
    ///
    /// # Errors
    /// [`Error::NotFound`] when no current document has this uri.
    pub fn document_text(&self, uri: &str) -> Result<String> {
        let store = self.asked()?;
        let found = match store.namespace(&self.namespace)? {
            Some(namespace) => storage::text_of_document(store.connection(), namespace.0, uri)?,
            None => None,
        };
        found.ok_or_else(|| Error::NotFound {
            kind: "document",
            name: uri.to_owned(),
        })
    }
}
