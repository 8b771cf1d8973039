//! Prompts: files beside this one, each replaceable by one of the user's own.

use std::collections::BTreeMap;

use crate::language_model::{PromptFiles, Template};

/// The prompts of questions to the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompts {
    /// System message of whoever writes queries: `{{schema}}`.
    pub(super) query: Template,
    /// User message: `{{question}}`, `{{names}}`.
    pub(super) question: Template,
    /// Asks for queries without the mistakes: `{{result}}`.
    pub(super) repair: Template,
    /// Asks for other queries, where the first ones found nothing: `{{result}}`.
    pub(super) again: Template,
    /// System message of whoever answers.
    pub(super) answer: Template,
    /// User message: `{{question}}`, `{{rows}}`.
    pub(super) rows: Template,
}

impl Prompts {
    /// Names of the files that may replace one of ours.
    pub const FILES: [&'static str; 6] = [
        "query.md",
        "question.md",
        "repair.md",
        "again.md",
        "answer.md",
        "rows.md",
    ];

    /// Our own prompts.
    pub fn builtin() -> Self {
        Self::new(&BTreeMap::new()).expect("our own prompts are read by a test")
    }

    /// Our own prompts but for those given by file name.
    ///
    /// # Errors
    /// An unknown or a missing placeholder, with file and line; a name that is none of [`Prompts::FILES`].
    pub fn new(own: &BTreeMap<String, String>) -> Result<Self, String> {
        let files = PromptFiles::new(own, &Self::FILES)?;
        Ok(Self {
            query: files.load(
                "query.md",
                include_str!("prompts/query.md"),
                &["schema"],
                &["schema"],
            )?,
            question: files.load(
                "question.md",
                include_str!("prompts/question.md"),
                &["question", "names"],
                &["question"],
            )?,
            repair: files.load(
                "repair.md",
                include_str!("prompts/repair.md"),
                &["result"],
                &["result"],
            )?,
            again: files.load(
                "again.md",
                include_str!("prompts/again.md"),
                &["result"],
                &[],
            )?,
            answer: files.load("answer.md", include_str!("prompts/answer.md"), &[], &[])?,
            rows: files.load(
                "rows.md",
                include_str!("prompts/rows.md"),
                &["question", "rows"],
                &["question", "rows"],
            )?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_prompts_replace_ours_and_mistakes_are_named() {
        let own =
            |name: &str, text: &str| Prompts::new(&[(name.to_owned(), text.to_owned())].into());
        assert_eq!(Prompts::builtin(), Prompts::new(&BTreeMap::new()).unwrap());
        assert_ne!(
            Prompts::builtin(),
            own("query.md", "Graph: {{schema}}").unwrap()
        );
        assert!(
            own("query.md", "no graph")
                .unwrap_err()
                .contains("{{schema}} is missing")
        );
        assert!(
            own("rows.md", "{{question}}\n{{row}}")
                .unwrap_err()
                .contains("rows.md:2")
        );
        assert!(own("quary.md", "").unwrap_err().contains("quary.md"));
    }
}
