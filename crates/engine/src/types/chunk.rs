/// A chunk before it is stored. `document.text[start..end]` is its text, exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkDraft {
    /// Bytes in the document's text.
    pub start: usize,
    pub end: usize,
    /// Line of `start` in the document's text, from 1.
    pub line: usize,
    /// Headings above the chunk's start, outermost first.
    pub heading_path: Vec<String>,
    /// Size in tokens as the chunker counts them.
    pub tokens: usize,
}
