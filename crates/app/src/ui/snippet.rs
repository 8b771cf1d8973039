use super::plain;

/// Words of a question, to be shown in colour where a text holds them.
pub(crate) struct Highlighter {}

impl Highlighter {
    pub(crate) fn new(_question: &str) -> Self {
        Self {}
    }

    /// The lines of a text, blank ones left out, harmless for a terminal.
    pub(crate) fn lines(&self, text: &str) -> Vec<String> {
        text.lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(|line| plain(line).into_owned())
            .collect()
    }
}
