use serde::{Deserialize, Serialize};

use super::EntityId;

/// Where an alias was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AliasSource {
    /// Title, file stem or first heading.
    Title,
    /// `aliases:` of the front matter.
    FrontMatter,
    /// A title without its bracketed qualifier.
    Unqualified,
    /// A name as written in text.
    Name,
    /// Given directly.
    Stated,
    /// Given by a model, and found in the text.
    Extracted,
}

/// One way to write an entity's name. Several entities may share one alias.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alias {
    pub written: String,
    /// [`crate::text::fold`] of `written`.
    pub folded: String,
    /// [`crate::text::squash`] of `written`: no spaces, no punctuation.
    pub squashed: String,
    pub entity: EntityId,
    pub source: AliasSource,
}

text_names!(AliasSource { Title => "title", FrontMatter => "front_matter", Unqualified => "unqualified", Name => "name", Stated => "stated", Extracted => "extracted" });
