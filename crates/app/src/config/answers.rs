//! `[answers]`: how answers are asked for.

use std::path::PathBuf;

use malha_engine::answer::{AnswerPrompts, AnswerSettings};
use malha_engine::text_to_cypher::Prompts;
use malha_engine::types::Likeness;
use serde::Deserialize;

use super::extraction::read_prompts;

const SET: &str = "the example file sets every key of [answers] but the path";

/// `[answers]` as written.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Answers {
    pub(super) prompts: Option<PathBuf>,
    max_output_tokens: Option<u32>,
    known_likeness: Option<f64>,
    supported_likeness: Option<f64>,
}

/// `[answers]`, checked; the files it names are read when a command needs them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnswerFiles {
    prompts: Option<PathBuf>,
    max_output_tokens: u32,
}

impl Answers {
    pub(super) fn overlaid_by(self, over: Self) -> Self {
        Self {
            prompts: over.prompts.or(self.prompts),
            max_output_tokens: over.max_output_tokens.or(self.max_output_tokens),
            known_likeness: over.known_likeness.or(self.known_likeness),
            supported_likeness: over.supported_likeness.or(self.supported_likeness),
        }
    }

    /// From which cosine on texts mean the same.
    pub(super) fn likeness(&self) -> Likeness {
        Likeness {
            known: self.known_likeness.expect(SET),
            supported: self.supported_likeness.expect(SET),
        }
    }

    /// Prompts come from a stated folder only.
    pub(super) fn check(self) -> AnswerFiles {
        AnswerFiles {
            prompts: self.prompts,
            max_output_tokens: self.max_output_tokens.expect(SET),
        }
    }

    /// The value of `MALHA_ANSWERS_…`; `None` when there is no such setting.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Option<Result<(), String>> {
        Some(match name {
            "PROMPTS" => {
                self.prompts = Some(value.into());
                Ok(())
            }
            "MAX_OUTPUT_TOKENS" => value
                .trim()
                .parse()
                .map(|number| self.max_output_tokens = Some(number))
                .map_err(|_| format!("`{value}` is not a whole number")),
            "KNOWN_LIKENESS" => cosine(value).map(|number| self.known_likeness = Some(number)),
            "SUPPORTED_LIKENESS" => {
                cosine(value).map(|number| self.supported_likeness = Some(number))
            }
            _ => return None,
        })
    }
}

fn cosine(value: &str) -> Result<f64, String> {
    let number: Option<f64> = value.trim().parse().ok();
    let number = number.filter(|number| number.is_finite());
    number.ok_or_else(|| format!("`{value}` is not a number"))
}

impl AnswerFiles {
    /// Reads the prompts of questions to the graph, which stand in the folder `cypher` of the others.
    pub(crate) fn query_prompts(&self) -> anyhow::Result<Prompts> {
        let folder = self.prompts.as_ref().map(|folder| folder.join("cypher"));
        let folder = folder.filter(|folder| folder.is_dir());
        let own = read_prompts(folder.as_deref(), &Prompts::FILES, Prompts::new)?;
        Ok(Prompts::new(&own).expect("checked when they were read"))
    }

    /// Reads the prompts.
    pub(crate) fn load(&self) -> anyhow::Result<AnswerSettings> {
        let folder = self.prompts.as_deref();
        let prompts = read_prompts(folder, &AnswerPrompts::FILES, AnswerPrompts::new)?;
        Ok(AnswerSettings {
            prompts,
            max_output_tokens: self.max_output_tokens,
        })
    }
}
