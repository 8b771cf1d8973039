use serde::{Deserialize, Serialize};

use super::DocumentId;

/// The syntax a link was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// `[[target]]`
    Wikilink,
    /// `![[target]]`
    Embed,
    /// `[text](target.md)`
    Markdown,
    /// `![text](image.png)`
    MarkdownEmbed,
    /// `[[target]]` inside a value of the front matter.
    FrontMatter,
}

/// A link as written in a document, before resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkDraft {
    pub kind: LinkKind,
    /// Byte range of the whole link in the document's text.
    pub start: usize,
    pub end: usize,
    /// Target without `#anchor`, `|label` and `.md`, trimmed, percent-decoded for markdown links.
    /// Empty for a link into the same document.
    pub target: String,
    /// Heading or `^block` after `#`, as written.
    pub anchor: Option<String>,
    pub label: Option<String>,
    /// Relation type when written `relation [[Target]]`, `relation:: [[Target]]` or as a front-matter key.
    pub relation: Option<String>,
}

/// The scheme of a web or mail address (`https` of `https://…`, `mailto`) and what follows its colon.
/// A single letter is a drive, no scheme.
pub(crate) fn scheme(address: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = address.split_once(':')?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    is_scheme.then_some((scheme, rest))
}

/// What became of a link's target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkStatus {
    Resolved,
    Unresolved,
    Ambiguous,
    Attachment,
    External,
}

/// The rule that resolved a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResolutionRule {
    /// `[[#heading]]`: the document itself.
    SameDocument,
    /// Path from the vault's root.
    FullPath,
    /// Path relative to the linking note.
    RelativePath,
    /// Same folder as the linking note.
    SameFolder,
    /// The only note with this stem.
    UniqueStem,
    /// The only note whose path ends so.
    PathSuffix,
    /// The only note with this alias (our extension; Obsidian leaves it open).
    Alias,
}

/// Result of resolving one link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    Resolved {
        document: DocumentId,
        rule: ResolutionRule,
    },
    /// Several notes fit equally well; sorted by uri. Never guessed.
    Ambiguous {
        candidates: Vec<DocumentId>,
    },
    Unresolved,
    /// A file that exists but is no note.
    Attachment {
        path: String,
    },
    /// A web address or mail address.
    External,
}

text_names!(LinkKind { Wikilink => "wikilink", Embed => "embed", Markdown => "markdown", MarkdownEmbed => "markdown_embed", FrontMatter => "front_matter" });

text_names!(LinkStatus { Resolved => "resolved", Unresolved => "unresolved", Ambiguous => "ambiguous", Attachment => "attachment", External => "external" });

text_names!(ResolutionRule { SameDocument => "same_document", FullPath => "full_path", RelativePath => "relative_path", SameFolder => "same_folder", UniqueStem => "unique_stem", PathSuffix => "path_suffix", Alias => "alias" });
