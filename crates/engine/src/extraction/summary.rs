//! One description out of many.

use super::prompt::Prompts;
use crate::language_model::{ChatRequest, Message, Role};

/// Room for a summary, and characters of it that are kept.
const TOKENS: u32 = 300;

/// Asks for one description out of what passages say. `language`: of the summary; `None`: their own.
pub fn summary_request(
    prompts: &Prompts,
    language: Option<&str>,
    name: &str,
    descriptions: &[&str],
) -> ChatRequest {
    let language = language.map_or_else(
        || "in the language that they are in".to_owned(),
        |language| format!("in {language}"),
    );
    ChatRequest {
        messages: vec![
            Message {
                role: Role::System,
                text: prompts
                    .summary
                    .fill(&[("name", name), ("language", &language)]),
            },
            Message {
                role: Role::User,
                text: format!("- {}\n", descriptions.join("\n- ")),
            },
        ],
        max_output_tokens: TOKENS,
        temperature: 0.0,
        reply_schema: None,
    }
}
