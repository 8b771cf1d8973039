//! `[answers]`: how answers are asked for.

use std::path::{Path, PathBuf};

use malha_engine::answer::{AnswerPrompts, AnswerSettings};
use malha_engine::text_to_cypher::Prompts;
use serde::Deserialize;

use super::extraction::read_prompts;
use crate::exit::{Exit, Refusal};

/// `[answers]` as written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Answers {
    pub(super) prompts: Option<PathBuf>,
    max_output_tokens: Option<u32>,
}

/// `[answers]`, checked; the files it names are read when a command needs them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnswerFiles {
    prompts: PathBuf,
    max_output_tokens: u32,
}

impl Answers {
    pub(super) fn overlaid_by(self, over: Self) -> Self {
        Self {
            prompts: over.prompts.or(self.prompts),
            max_output_tokens: over.max_output_tokens.or(self.max_output_tokens),
        }
    }

    /// Without a stated place, prompts stand beside the configuration.
    pub(super) fn check(self, base: &Path) -> AnswerFiles {
        const SET: &str = "the example file sets every key of [answers] but the path";
        AnswerFiles {
            prompts: self.prompts.unwrap_or_else(|| base.join("prompts")),
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
            _ => return None,
        })
    }
}

impl AnswerFiles {
    /// Reads the prompts of questions to the graph, which stand in the folder `cypher` of the others.
    pub(crate) fn query_prompts(&self) -> anyhow::Result<Prompts> {
        let folder = self.prompts.join("cypher");
        let own = read_prompts(&folder, &Prompts::FILES)?;
        Prompts::new(&own).map_err(|reason| {
            let message = format!("{}: {reason}", folder.display());
            Refusal::new(Exit::Configuration, message).into()
        })
    }

    /// Reads the prompts.
    pub(crate) fn load(&self) -> anyhow::Result<AnswerSettings> {
        let prompts = read_prompts(&self.prompts, &AnswerPrompts::FILES)?;
        // Checked here, where the folder's name is known.
        AnswerPrompts::new(&prompts).map_err(|reason| {
            let message = format!("{}: {reason}", self.prompts.display());
            Refusal::new(Exit::Configuration, message)
        })?;
        Ok(AnswerSettings {
            prompts,
            max_output_tokens: self.max_output_tokens,
        })
    }
}
