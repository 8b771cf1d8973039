//! Prompts: files beside the stage, each replaceable by one of the user's own, checked when loaded.

use std::collections::BTreeMap;

use crate::language_model::{PromptFiles, Template};

/// The prompts of extraction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompts {
    /// System message: `{{schema}}`, `{{language}}`.
    pub extract: Template,
    /// User message: `{{context}}`, `{{candidates}}`, `{{text}}`.
    pub passage: Template,
    /// What is added to the system message where several passages are asked about together.
    pub several: Template,
    /// Asks for what a first pass missed.
    pub again: Template,
    /// Asks for a readable reply: `{{reason}}`.
    pub repair: Template,
    /// Proposes a schema: `{{language}}`.
    pub infer: Template,
    /// Decides which names mean one thing.
    pub judge: Template,
    /// Makes one description of many: `{{name}}`, `{{language}}`.
    pub summary: Template,
}

impl Prompts {
    /// Names of the files that may replace one of ours.
    pub const FILES: [&'static str; 8] = [
        "extract.md",
        "passage.md",
        "several.md",
        "again.md",
        "repair.md",
        "infer.md",
        "judge.md",
        "summary.md",
    ];

    /// Our own texts, in the order of [`Prompts::FILES`].
    const TEXTS: [&'static str; 8] = [
        include_str!("prompts/extract.md"),
        include_str!("prompts/passage.md"),
        include_str!("prompts/several.md"),
        include_str!("prompts/again.md"),
        include_str!("prompts/repair.md"),
        include_str!("prompts/infer.md"),
        include_str!("prompts/judge.md"),
        include_str!("prompts/summary.md"),
    ];

    /// All texts by file name: our own but for those given.
    pub fn texts(own: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let ours = Self::FILES.iter().zip(Self::TEXTS);
        let mut texts: BTreeMap<String, String> = ours
            .map(|(&name, text)| (name.to_owned(), text.to_owned()))
            .collect();
        texts.extend(own.clone());
        texts
    }

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
        let load = |at: usize, known: &[&str], needed: &[&str]| {
            files.load(Self::FILES[at], Self::TEXTS[at], known, needed)
        };
        Ok(Self {
            extract: load(0, &["schema", "language"], &[])?,
            passage: load(1, &["context", "candidates", "text"], &["text"])?,
            several: load(2, &[], &[])?,
            again: load(3, &[], &[])?,
            repair: load(4, &["reason"], &[])?,
            infer: load(5, &["language"], &[])?,
            judge: load(6, &[], &[])?,
            summary: load(7, &["name", "language"], &[])?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_replaces_nothing_is_refused() {
        let own = [("extrat.md".to_owned(), String::new())].into();
        assert!(Prompts::new(&own).unwrap_err().contains("extrat.md"));
    }

    #[test]
    fn the_prompt_as_it_is_sent() {
        let prompts = Prompts::builtin();
        let filled = prompts.extract.fill(&[
            ("schema", "Entity types:\n- Person\n"),
            ("language", "in the language of the passage"),
        ]);
        assert!(
            filled.starts_with("You extract a knowledge graph"),
            "{filled}"
        );
        assert!(
            filled.contains("\nEntity types:\n- Person\n\nRules:"),
            "{filled}"
        );
        assert!(
            filled.ends_with("one sentence, in the language of the passage."),
            "{filled}"
        );
        assert!(!filled.contains("{{"), "{filled}");
        let user = prompts
            .passage
            .fill(&[("context", "Document: A\n"), ("text", "B {{text}}")]);
        assert_eq!(user, "Document: A\nPassage:\nB {{text}}");
    }
}
