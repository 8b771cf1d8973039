/// A stage of an indexing run, as progress shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Walk,
    Read,
    Match,
    Relate,
    Extract,
    Snapshot,
    Embed,
    Neighbours,
    Synonyms,
}

/// Told how a run goes on; may ask it to stop.
pub trait Progress: Sync {
    /// A stage starts, with this many items (0 when unknown).
    fn stage(&self, _stage: Stage, _items: usize) {}
    /// So many more items of the stage are done.
    fn advance(&self, _items: usize) {}
    /// True when the user wants the run to stop; what is done is kept.
    fn interrupted(&self) -> bool {
        false
    }
}

impl Progress for () {}
