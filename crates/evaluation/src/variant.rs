//! Recipes as they are compared: whole, or without one of their parts.

use malha_engine::Engine;
use malha_engine::types::{GateSettings, Lane, Mode, SearchRequest};

/// A mode, perhaps without some of its lanes or with the gate held open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    pub mode: Mode,
    pub without: Vec<Lane>,
    /// Whether the gate may close.
    pub gate: bool,
}

impl From<Mode> for Variant {
    fn from(mode: Mode) -> Self {
        Self {
            mode,
            without: Vec::new(),
            gate: true,
        }
    }
}

impl Variant {
    /// The whole recipe, then the recipe without each part that it has.
    pub fn ablations(mode: Mode) -> Vec<Self> {
        let whole = Self::from(mode);
        let parts: &[Lane] = match mode {
            Mode::Keyword => &[],
            Mode::Vector | Mode::Hybrid => &[Lane::Vector, Lane::Rerank],
            Mode::Graph | Mode::Auto => &[Lane::Graph, Lane::Vector, Lane::Rerank],
            Mode::Notes => &[Lane::Links, Lane::Cards, Lane::Vector, Lane::Rerank],
        };
        let mut variants = vec![whole.clone()];
        variants.extend(parts.iter().map(|&lane| Self {
            without: vec![lane],
            ..whole.clone()
        }));
        if mode == Mode::Notes {
            variants.push(Self {
                gate: false,
                ..whole
            });
        }
        variants
    }

    /// `notes`, `notes-links`, `notes-gate`
    pub fn label(&self) -> String {
        let mut label = self.mode.as_str().to_owned();
        for lane in &self.without {
            label.push('-');
            label.push_str(lane.as_str());
        }
        if !self.gate {
            label.push_str("-gate");
        }
        label
    }

    /// The engine that this variant asks.
    pub(crate) fn engine(&self, engine: &Engine) -> Engine {
        let engine = engine.at(malha_engine::types::Times::default());
        if self.gate {
            return engine;
        }
        engine.with_gate(GateSettings {
            rules: Vec::new(),
            ..GateSettings::default()
        })
    }

    /// What it asks for this question.
    pub(crate) fn request(&self, question: &str) -> SearchRequest {
        SearchRequest {
            mode: self.mode,
            without: self.without.clone(),
            ..SearchRequest::new(question)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_a_recipe_is_left_out_once() {
        let check = |mode, expected: &[&str]| {
            let labels: Vec<String> = Variant::ablations(mode)
                .iter()
                .map(Variant::label)
                .collect();
            assert_eq!(labels, expected);
        };
        check(Mode::Keyword, &["keyword"]);
        check(
            Mode::Auto,
            &["auto", "auto-graph", "auto-vector", "auto-rerank"],
        );
        check(
            Mode::Notes,
            &[
                "notes",
                "notes-links",
                "notes-cards",
                "notes-vector",
                "notes-rerank",
                "notes-gate",
            ],
        );
    }
}
