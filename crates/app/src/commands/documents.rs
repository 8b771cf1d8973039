//! Which documents a question is about.

use malha_engine::types::{DocumentFilter, DocumentKind};

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Documents")]
pub(crate) struct DocumentArgs {
    /// Only documents that date themselves at this date or later
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Only documents that date themselves no later; `2024-03` takes in all of March
    #[arg(long, value_name = "DATE")]
    until: Option<String>,
    /// Only documents at or below this path
    #[arg(long, value_name = "PATH")]
    under: Vec<String>,
    /// Only documents with this tag
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Only documents of this kind
    #[arg(long, value_enum, value_name = "KIND")]
    kind: Vec<KindName>,
}

/// [`DocumentKind`] on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum KindName {
    Markdown,
    PlainText,
    Html,
    Pdf,
    Docx,
    Epub,
    /// Rows of tables and values of JSON files
    Row,
    /// What was said to be remembered
    Episode,
}

impl DocumentArgs {
    pub(crate) fn filter(&self) -> DocumentFilter {
        DocumentFilter {
            since: self.since.clone(),
            until: self.until.clone(),
            under: self.under.clone(),
            tags: self.tag.clone(),
            kinds: self.kind.iter().map(|&name| name.into()).collect(),
        }
    }
}

impl From<KindName> for DocumentKind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::Markdown => Self::Markdown,
            KindName::PlainText => Self::PlainText,
            KindName::Html => Self::Html,
            KindName::Pdf => Self::Pdf,
            KindName::Docx => Self::Docx,
            KindName::Epub => Self::Epub,
            KindName::Row => Self::Row,
            KindName::Episode => Self::Episode,
        }
    }
}
