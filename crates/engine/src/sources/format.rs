use serde::{Deserialize, Serialize};

/// A file format that has a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    Markdown,
    PlainText,
    Html,
    Pdf,
    Docx,
    Epub,
    /// Comma-, semicolon- or tab-separated rows under a header row.
    Csv,
    /// One object, or an array of objects.
    Json,
    /// One object a line.
    JsonLines,
}

impl Format {
    /// The format that a file of this path is read as, by its extension in any case;
    /// `None` for an attachment.
    pub fn of_path(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let (stem, extension) = name.rsplit_once('.')?;
        if stem.is_empty() {
            return None;
        }
        Some(match extension.to_ascii_lowercase().as_str() {
            "md" | "markdown" | "mdown" | "mkd" | "mdx" | "qmd" | "rmd" => Self::Markdown,
            "txt" | "text" | "org" | "rst" | "adoc" | "asciidoc" | "tex" => Self::PlainText,
            "html" | "htm" | "xhtml" => Self::Html,
            "pdf" => Self::Pdf,
            "docx" | "docm" => Self::Docx,
            "epub" => Self::Epub,
            "csv" | "tsv" => Self::Csv,
            "json" => Self::Json,
            "jsonl" | "ndjson" => Self::JsonLines,
            _ => return None,
        })
    }

    /// The format's name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Markdown => "Markdown",
            Self::PlainText => "plain text",
            Self::Html => "HTML",
            Self::Pdf => "PDF",
            Self::Docx => "DOCX",
            Self::Epub => "EPUB",
            Self::Csv => "CSV",
            Self::Json => "JSON",
            Self::JsonLines => "JSONL",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extension_decides() {
        let check = |path, expected| assert_eq!(Format::of_path(path), expected, "{path}");
        check("a/b.md", Some(Format::Markdown));
        check("B.MD", Some(Format::Markdown));
        check("notes/a.b.Txt", Some(Format::PlainText));
        check("x.ndjson", Some(Format::JsonLines));
        check("x.tsv", Some(Format::Csv));
        check("image.png", None);
        check("board.canvas", None);
        check("README", None);
        check(".md", None);
        check("a.md/file", None);
    }
}
