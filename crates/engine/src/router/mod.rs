//! Which way of answering fits a question, by its words alone: no model, the same everywhere, and nothing that a
//! document says can change it.

mod cues;

use crate::types::AskMode;

/// What the store knows about a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Features {
    /// Number of known names in it.
    pub named: usize,
    /// It names labels, relationship types or several entities of the graph.
    pub in_graph: bool,
}

/// The way taken, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub mode: AskMode,
    pub reason: String,
}

/// Whether a question asks for what only rows give: a number, a list, a path.
pub fn asks_for_rows(question: &str) -> bool {
    let folded = format!(" {} ", words(question));
    cues::first(&folded, question, cues::ROWS).is_some()
}

/// Numbers, lists and paths of what the graph has types for are queries to it. Questions about the whole corpus go to
/// its communities, questions about how things hang together to the graph, the rest to passages. A question that
/// names something it asks about is not about the whole corpus, unless it says so.
pub fn route(question: &str, features: Features) -> Route {
    let folded = format!(" {} ", words(question));
    let found = |cues: &'static [&'static str]| cues::first(&folded, question, cues);
    let decided = |mode, reason: String| Route { mode, reason };
    let names = features.named.max(capitalised(question));
    if features.in_graph
        && let Some(cue) = found(cues::ROWS)
    {
        return decided(
            AskMode::Cypher,
            format!("asks the graph for rows: `{}`", cue.trim()),
        );
    }
    if let Some(cue) = found(cues::CORPUS) {
        return decided(
            AskMode::Global,
            format!("asks about the whole: `{}`", cue.trim()),
        );
    }
    if let Some(cue) = found(cues::RELATION) {
        return decided(
            AskMode::Local,
            format!("asks how things hang together: `{}`", cue.trim()),
        );
    }
    if names == 0
        && let Some(cue) = found(cues::OVERVIEW)
    {
        return decided(
            AskMode::Global,
            format!("an overview that names nothing: `{}`", cue.trim()),
        );
    }
    if let Some(cue) = found(cues::CHAIN) {
        return decided(
            AskMode::Local,
            format!("one thing through another: `{}`", cue.trim()),
        );
    }
    decided(AskMode::Hybrid, "a point question".to_owned())
}

/// Lower-case words with single blanks between them.
fn words(question: &str) -> String {
    let mut text = String::with_capacity(question.len());
    for c in question.chars() {
        if c.is_alphanumeric() || c == '\'' {
            text.extend(c.to_lowercase());
        } else if !text.ends_with(' ') {
            text.push(' ');
        }
    }
    text.trim().to_owned()
}

/// Capitalised words that do not start the question: most likely names.
fn capitalised(question: &str) -> usize {
    question
        .split_whitespace()
        .skip(1)
        .filter(|word| word.chars().next().is_some_and(char::is_uppercase))
        .count()
}
