use serde::{Deserialize, Serialize};

/// Why the gate closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateRule {
    /// A tool of the list.
    Tool,
    /// `parse_config`
    SnakeCase,
    /// `NotebookLM`, `PyTorch`
    CamelCase,
    /// Capitalised, but no acronym; or in quotation marks for names (《》「」).
    ProperName,
}

impl GateRule {
    /// Every rule.
    pub const ALL: [Self; 4] = [
        Self::Tool,
        Self::SnakeCase,
        Self::CamelCase,
        Self::ProperName,
    ];
}

text_names!(GateRule {
    Tool => "tool",
    SnakeCase => "snake_case",
    CamelCase => "camel_case",
    ProperName => "proper_name",
});

/// When links of notes are not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateSettings {
    /// Rules that may close the gate; with none it is always open.
    pub rules: Vec<GateRule>,
    /// Names of tools, compared folded.
    pub tools: Vec<String>,
    /// Languages that capitalise common nouns, by name: there a capital says nothing.
    pub capital_nouns: Vec<String>,
}

impl Default for GateSettings {
    fn default() -> Self {
        Self {
            rules: GateRule::ALL.to_vec(),
            tools: Vec::new(),
            capital_nouns: vec!["german".to_owned()],
        }
    }
}

/// Whether links may be followed for a question, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateDecision {
    pub open: bool,
    /// The rule that closed it.
    pub rule: Option<GateRule>,
    pub reason: String,
}
