use std::collections::BTreeMap;

/// How a model is asked for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerSettings {
    /// Prompts of the user's own, by file name.
    pub prompts: BTreeMap<String, String>,
    /// Room for a reply.
    pub max_output_tokens: u32,
}

impl Default for AnswerSettings {
    fn default() -> Self {
        Self {
            prompts: BTreeMap::new(),
            max_output_tokens: 1024,
        }
    }
}
