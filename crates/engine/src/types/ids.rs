use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

macro_rules! row_id {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub i64);
    )*};
}

row_id! {
    /// Row id of a document.
    DocumentId,
    /// Row id of a chunk.
    ChunkId,
    /// Row id of an entity.
    EntityId,
    /// Row id of a relation version.
    RelationId,
    /// Row id of a claim version.
    ClaimId,
    /// Row id of a relation type.
    RelationTypeId,
}

/// Public id: 128 bits of SHA-256 over namespace, kind and key, in lower-case hex. Fixed at creation,
/// kept through rename and merge.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PublicId(pub String);

impl PublicId {
    /// The id of the item of this kind that was created under `key`.
    pub fn new(namespace: &str, kind: &str, key: &str) -> Self {
        let mut hash = Sha256::new();
        for part in [namespace, kind, key] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        let mut half = [0; 16];
        half.copy_from_slice(&hash.finalize()[..16]);
        Self(format!("{:032x}", u128::from_be_bytes(half)))
    }
}
