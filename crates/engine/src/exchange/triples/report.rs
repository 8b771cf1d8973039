use super::TripleSyntax;
use crate::types::ItemFailure;

/// How a file of facts is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TripleOptions {
    /// `None`: told by the file's name, then by its first character.
    pub syntax: Option<TripleSyntax>,
    /// Keep facts whose subject and object are the same entity.
    pub allow_self_loops: bool,
    /// Relations that a subject has to one thing at a time, compared without case: such a fact ends where the
    /// next one begins. A line may say so of itself.
    pub exclusive: Vec<String>,
    /// Names are one entity only when they are written alike. Otherwise case, accents and signs do not count.
    pub exact_names: bool,
}

/// What became of the lines of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct TripleReport {
    /// Lines that are neither blank nor a comment nor the names of the columns.
    pub lines: usize,
    /// Lines that state a fact that is now in the store.
    pub facts: usize,
    /// Lines that repeat a fact of the same file and source.
    pub repeated: usize,
    /// Lines of facts or entities that were forgotten or corrected and are not taken in again.
    pub suppressed: usize,
    /// Lines whose subject and object turned out to be the same entity.
    pub self_loops: usize,
    /// Lines that could not be used; the first are listed in `failures`.
    pub failed: usize,
    pub failures: Vec<ItemFailure>,
    /// Oddities of lines that were kept, such as dates that were not understood.
    pub warnings: Vec<ItemFailure>,
    pub entities_added: usize,
    pub relations_added: usize,
    /// Relations that only an earlier version of the file stated.
    pub relations_closed: usize,
    /// Relations whose end follows anew from what comes after them.
    pub relations_ended: usize,
    /// Moments at which several exclusive facts of one subject begin: none ends the others. The warnings list them.
    pub conflicts: usize,
    /// The same file was loaded before, and nothing was done.
    pub unchanged: bool,
}
