use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::prompt::Prompts;
use super::request::Requests;
use super::schema::Schema;
use crate::{Error, Result};

/// How passages are made and asked about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExtractionSettings {
    pub schema: Schema,
    /// Prompts of the user's own, by file name.
    pub prompts: BTreeMap<String, String>,
    /// All prompts as they were sent: another version of this program may have others. Empty: those of this one.
    pub sent: BTreeMap<String, String>,
    /// Language of descriptions; `None`: the passage's own.
    pub language: Option<String>,
    /// Neighbouring chunks are joined up to this many tokens.
    pub passage_tokens: usize,
    /// Small passages share a call up to this many tokens together; 0: each has its own.
    pub together_tokens: usize,
    /// Room for a reply.
    pub max_output_tokens: u32,
    /// Ask once more for what the first reply missed.
    pub second_pass: bool,
    /// Ask the model about names that may mean one thing and that nothing else settles.
    pub judge: bool,
    /// Let the model make one description where passages give more than fits.
    pub summarize: bool,
}

impl Default for ExtractionSettings {
    fn default() -> Self {
        Self {
            schema: Schema::default(),
            prompts: BTreeMap::new(),
            sent: BTreeMap::new(),
            language: None,
            passage_tokens: 800,
            together_tokens: 0,
            max_output_tokens: 4096,
            second_pass: false,
            judge: false,
            summarize: false,
        }
    }
}

impl ExtractionSettings {
    /// The same, with the texts of the prompts.
    pub(crate) fn with_prompts(mut self) -> Self {
        if self.sent.is_empty() {
            self.sent = Prompts::texts(&self.prompts);
        }
        self
    }

    /// What makes the requests.
    ///
    /// # Errors
    /// [`Error::Usage`]: a prompt or the schema cannot be used; the message names file and line.
    pub fn requests(&self) -> Result<Requests> {
        let errors = self.schema.check().errors;
        if !errors.is_empty() {
            return Err(Error::Usage(format!("the schema: {}", errors.join("; "))));
        }
        let texts = if self.sent.is_empty() {
            &self.prompts
        } else {
            &self.sent
        };
        let prompts = Prompts::new(texts).map_err(Error::Usage)?;
        Ok(Requests::new(
            prompts,
            &self.schema,
            self.language.as_deref(),
            self.max_output_tokens,
        ))
    }
}
