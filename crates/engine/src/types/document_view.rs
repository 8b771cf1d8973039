use serde::{Deserialize, Serialize};

use super::DocumentKind;

/// A document in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentView {
    pub uri: String,
    pub title: String,
    pub kind: DocumentKind,
}
