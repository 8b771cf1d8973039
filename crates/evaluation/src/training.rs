//! Rankers trained on some sets and judged on others.

use std::collections::HashSet;

use malha_engine::ranker::Ranker;
use malha_engine::types::{Mode, SearchRequest};
use malha_engine::{Engine, EngineConfig};
use std::sync::Arc;

use malha_engine::language_model::Embedder;

use crate::Result;
use crate::boosting::{Boosting, Example};
use crate::comparison::ModeRun;
use crate::dataset::{Passage, Question};
use crate::runner::{RunLog, store_of};

/// The questions of a set with the candidates of each.
#[derive(Debug)]
pub struct JudgedSet {
    pub name: String,
    pub questions: Vec<Question>,
    /// By question, best first by the weights of the lanes: uri and example. None when it names nothing.
    candidates: Vec<Vec<(String, Example)>>,
    /// By question: what a search without a ranker gives.
    plain: Vec<Vec<String>>,
}

/// Results looked at behind the candidates.
const DEPTH: usize = 20;

impl JudgedSet {
    /// Indexes the passages and asks the questions.
    pub fn gather(
        name: &str,
        passages: &[Passage],
        questions: Vec<Question>,
        config: &EngineConfig,
        embedder: Option<&Arc<dyn Embedder>>,
        log: &mut RunLog,
    ) -> Result<Self> {
        let all: Vec<&Passage> = passages.iter().collect();
        let engine = store_of(&all, config, embedder, log)?;
        let mut candidates = Vec::with_capacity(questions.len());
        let mut plain = Vec::with_capacity(questions.len());
        for question in &questions {
            candidates.push(candidates_of(&engine, question)?);
            let request = SearchRequest {
                mode: Mode::Auto,
                limit: DEPTH,
                ..SearchRequest::new(&question.text)
            };
            let found = engine.search(&request)?.results.into_iter();
            plain.push(distinct(found.map(|evidence| evidence.uri)));
        }
        Ok(Self {
            name: name.to_owned(),
            questions,
            candidates,
            plain,
        })
    }

    /// What the lanes alone find, and what a ranker makes of their candidates.
    pub fn runs(&self, ranker: &Ranker) -> Vec<ModeRun> {
        let ranked = self
            .candidates
            .iter()
            .zip(&self.plain)
            .map(|(candidates, plain)| {
                let mut order: Vec<(f64, &String)> = candidates
                    .iter()
                    .map(|(uri, example)| {
                        (ranker.score_values(example.lanes, &example.values), uri)
                    })
                    .collect();
                // Stable: equal scores keep the order of the lanes.
                order.sort_by(|a, b| b.0.total_cmp(&a.0));
                let ranked = order.into_iter().map(|(_, uri)| uri.clone());
                distinct(ranked.chain(plain.iter().cloned()))
            });
        vec![
            ModeRun {
                mode: "graph".to_owned(),
                ranked: self.plain.clone(),
            },
            ModeRun {
                mode: "ranker".to_owned(),
                ranked: ranked.collect(),
            },
        ]
    }
}

/// A ranker of all the sets but the one of this name.
pub fn train_without(sets: &[JudgedSet], left_out: Option<&str>, boosting: &Boosting) -> Ranker {
    let taught: Vec<&JudgedSet> = sets
        .iter()
        .filter(|set| Some(set.name.as_str()) != left_out)
        .collect();
    let mut questions = Vec::new();
    let mut weights = Vec::new();
    for set in &taught {
        // Every set counts the same.
        let weight = 200.0 / set.questions.len().max(1) as f64;
        for candidates in &set.candidates {
            questions.push(
                candidates
                    .iter()
                    .map(|(_, example)| example.clone())
                    .collect(),
            );
            weights.push(weight);
        }
    }
    let names: Vec<String> = taught.iter().map(|set| set.name.clone()).collect();
    boosting.train(&questions, &weights, &names)
}

fn candidates_of(engine: &Engine, question: &Question) -> Result<Vec<(String, Example)>> {
    let request = SearchRequest {
        mode: Mode::Graph,
        ..SearchRequest::new(&question.text)
    };
    let candidates = engine.candidates(&request)?.into_iter();
    Ok(candidates
        .map(|candidate| {
            let example = Example {
                values: candidate.features.values(),
                lanes: candidate.score,
                is_gold: question.gold.contains(&candidate.uri),
            };
            (candidate.uri, example)
        })
        .collect())
}

fn distinct(uris: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    uris.filter(|uri| seen.insert(uri.clone())).collect()
}
