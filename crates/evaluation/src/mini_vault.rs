//! The mini-vault of this repository: 300 linked notes in three languages, and 200 questions to them by class.
//! `scripts/mini-vault.py` makes both; the texts are our own.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use malha_engine::language_model::Embedder;
use malha_engine::{Engine, EngineConfig, RerankerSource, SourceSpec};
use serde::Deserialize;

use crate::comparison::ModeRun;
use crate::dataset::Question;
use crate::runner::rank_documents;
use crate::variant::Variant;
use crate::{Error, Result};

const NOTES: &str = include_str!("../data/mini_vault/notes.jsonl");
const QUESTIONS: &str = include_str!("../data/mini_vault/questions.jsonl");

#[derive(Deserialize)]
struct Note {
    id: String,
    text: String,
}

#[derive(Deserialize)]
struct Asked {
    qid: String,
    question: String,
    gold: Vec<String>,
    class: String,
    language: String,
}

/// How the questions are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MiniVaultParts {
    /// topic, name, relation, point
    Class,
    Language,
}

/// The questions, each with its part.
pub fn mini_vault_questions(parts: MiniVaultParts) -> Result<Vec<Question>> {
    rows::<Asked>(QUESTIONS, "questions.jsonl")?
        .into_iter()
        .map(|asked| {
            Ok(Question {
                qid: asked.qid,
                text: asked.question,
                gold: asked.gold,
                groups: Vec::new(),
                scope: None,
                part: Some(match parts {
                    MiniVaultParts::Class => asked.class,
                    MiniVaultParts::Language => asked.language,
                }),
            })
        })
        .collect()
}

/// Writes the notes as files below an empty folder.
pub fn write_mini_vault(folder: &Path) -> Result<usize> {
    let notes = rows::<Note>(NOTES, "notes.jsonl")?;
    for note in &notes {
        let path = folder.join(&note.id);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(Error::io(parent))?;
        }
        fs::write(&path, &note.text).map_err(Error::io(&path))?;
    }
    Ok(notes.len())
}

/// Indexes the vault in `folder` and ranks its notes for every question under every variant.
pub fn rank_mini_vault(
    folder: &Path,
    questions: &[Question],
    variants: &[Variant],
    depth: usize,
    config: &EngineConfig,
    embedder: Option<Arc<dyn Embedder>>,
    reranker: Option<RerankerSource>,
) -> Result<Vec<ModeRun>> {
    let mut engine = Engine::in_memory(config.clone())?;
    let source = SourceSpec {
        root: folder.to_owned(),
        convention: None,
    };
    engine.index(&[source], &())?;
    if let Some(embedder) = embedder {
        engine = engine.with_embedder(Box::new(move || Ok(Arc::clone(&embedder))));
        engine.embed(&())?;
    }
    if let Some(reranker) = reranker {
        engine = engine.with_reranker(reranker);
    }
    // A source's uris start with the name of its folder.
    let without_folder = |uri: String| match uri.split_once('/') {
        Some((_, rest)) if rest.contains('/') => rest.to_owned(),
        _ => uri,
    };
    variants
        .iter()
        .map(|variant| {
            let engine = variant.engine(&engine);
            let ranked: Result<Vec<Vec<String>>> = questions
                .iter()
                .map(|question| {
                    let found = rank_documents(&engine, &variant.request(&question.text), depth)?;
                    Ok(found.into_iter().map(without_folder).collect())
                })
                .collect();
            Ok(ModeRun {
                mode: variant.label(),
                ranked: ranked?,
            })
        })
        .collect()
}

fn rows<'a, T: Deserialize<'a>>(text: &'a str, file: &str) -> Result<Vec<T>> {
    (1..)
        .zip(text.lines())
        .map(|(line, row)| {
            serde_json::from_str(row)
                .map_err(|error| Error::Usage(format!("mini_vault/{file}:{line}: {error}")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn every_question_has_its_notes_in_every_class_and_language() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(write_mini_vault(folder.path()).unwrap(), 300);
        let questions = mini_vault_questions(MiniVaultParts::Class).unwrap();
        assert_eq!(questions.len(), 200);
        let mut classes: BTreeMap<String, usize> = BTreeMap::new();
        for question in &questions {
            *classes.entry(question.part.clone().unwrap()).or_default() += 1;
            for gold in &question.gold {
                assert!(folder.path().join(gold).is_file(), "{gold}");
            }
        }
        assert_eq!(
            classes.keys().collect::<Vec<_>>(),
            ["name", "point", "relation", "topic"]
        );
        assert!(classes.values().all(|&count| count >= 48), "{classes:?}");
        let texts: BTreeSet<&String> = questions.iter().map(|question| &question.text).collect();
        assert_eq!(texts.len(), 200);
    }

    #[test]
    fn its_notes_are_found_by_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let vault = folder.path().join("vault");
        write_mini_vault(&vault).unwrap();
        let mut questions = mini_vault_questions(MiniVaultParts::Class).unwrap();
        questions.retain(|question| question.part.as_deref() == Some("name"));
        let variants = [malha_engine::types::Mode::Keyword.into()];
        let runs = rank_mini_vault(
            &vault,
            &questions,
            &variants,
            5,
            &EngineConfig::default(),
            None,
            None,
        )
        .unwrap();
        let found = runs[0].ranked.iter().zip(&questions);
        let found = found.filter(|(ranked, question)| ranked.contains(&question.gold[0]));
        assert!(found.count() > questions.len() / 2);
    }
}
