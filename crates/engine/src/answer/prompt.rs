//! Prompts of answers: files beside the stage, each replaceable by one of the user's own, checked when loaded.

use std::collections::BTreeMap;

use crate::language_model::{PromptFiles, Template};

/// The prompts of answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerPrompts {
    /// System message of an answer: `{{language}}`.
    pub answer: Template,
    /// User message of everything about a question: `{{evidence}}`, `{{question}}`.
    pub question: Template,
    /// System message about one section of a global question: `{{language}}`.
    pub map: Template,
    /// System message that asks for follow-up questions: `{{language}}`, `{{steps}}`.
    pub primer: Template,
    /// System message of a community's report: `{{language}}`.
    pub report: Template,
    /// System message that asks how a question is to be answered; no placeholder.
    pub route: Template,
}

impl AnswerPrompts {
    /// Names of the files that may replace one of ours.
    pub const FILES: [&'static str; 6] = [
        "answer.md",
        "question.md",
        "map.md",
        "primer.md",
        "report.md",
        "route.md",
    ];

    /// Our own prompts but for those given by file name.
    ///
    /// # Errors
    /// An unknown or a missing placeholder, with file and line; a name that is none of [`AnswerPrompts::FILES`].
    pub fn new(own: &BTreeMap<String, String>) -> Result<Self, String> {
        let files = PromptFiles::new(own, &Self::FILES)?;
        Ok(Self {
            answer: files.load(
                "answer.md",
                include_str!("prompts/answer.md"),
                &["language"],
                &[],
            )?,
            question: files.load(
                "question.md",
                include_str!("prompts/question.md"),
                &["evidence", "question"],
                &["evidence", "question"],
            )?,
            map: files.load("map.md", include_str!("prompts/map.md"), &["language"], &[])?,
            primer: files.load(
                "primer.md",
                include_str!("prompts/primer.md"),
                &["language", "steps"],
                &[],
            )?,
            report: files.load(
                "report.md",
                include_str!("prompts/report.md"),
                &["language"],
                &[],
            )?,
            route: files.load("route.md", include_str!("prompts/route.md"), &[], &[])?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_that_cannot_work_is_refused_with_its_line() {
        let check = |name: &str, text: &str, expected: &str| {
            let own = [(name.to_owned(), text.to_owned())].into();
            let error = AnswerPrompts::new(&own).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check(
            "answer.md",
            "a\n{{langage}}",
            "answer.md:2: unknown placeholder",
        );
        check("question.md", "{{question}}", "{{evidence}} is missing");
        check("awnser.md", "", "awnser.md is none of");
        assert!(AnswerPrompts::new(&BTreeMap::new()).is_ok());
    }
}
