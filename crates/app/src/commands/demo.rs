//! `malha demo`: a small vault in three languages, and three questions whose answers are two hops away.

mod vault;

use std::io::{self, Write};

use malha_engine::types::{PathView, SearchRequest, SearchResponse};
use malha_engine::{Engine, EngineConfig, SourceSpec};
use serde::Serialize;

use super::graph::write_path;
use super::search::write_evidence;
use crate::cli::Global;
use crate::exit::Exit;
use crate::locate;
use crate::ui::{DIM, Highlighter, Output, STRONG, count, painted};

/// Results shown for each question.
const SHOWN: usize = 3;

/// Each names one thing; the note that answers it names none of the question's. The note between them
/// links the two.
const QUESTIONS: [&str; 3] = [
    "Onde se formou quem poliu a lente do Farol da Ponta Rasa?",
    "Which trade ruined the lungs of the Grey Heron's skipper?",
    "重抄《潮信录》的人住在哪里？",
];

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// A question with what was found, and how the results hang together with what it names.
#[derive(Serialize)]
struct Answered {
    #[serde(flatten)]
    response: SearchResponse,
    connections: Vec<PathView>,
}

pub(crate) fn run(_args: &Args, global: &Global) -> anyhow::Result<Exit> {
    let folder = tempfile::tempdir()?;
    let notes = folder.path().join("vault");
    vault::write_to(&notes)?;
    let store = notes.join(locate::STORE_FOLDER).join(locate::STORE_FILE);
    std::fs::create_dir_all(notes.join(locate::STORE_FOLDER))?;
    let engine = Engine::create(&store, EngineConfig::default())?;
    let source = SourceSpec {
        root: notes,
        convention: None,
    };
    let report = engine.index(&[source], &())?;
    let answers = QUESTIONS
        .iter()
        .map(|question| answer(&engine, question))
        .collect::<anyhow::Result<Vec<_>>>()?;

    let mut out = Output::new();
    if global.json {
        out.json(&answers)?;
    } else {
        let notes = count(report.added as u64, "note", "notes");
        let links = count(report.relations_added as u64, "relation", "relations");
        writeln!(
            out,
            "A small vault in Portuguese, English and Chinese: {notes}, {links}, indexed in {} ms.\n\
             No model, no network. Every question needs two notes: one that it names, and one that it does not.",
            report.elapsed_ms
        )?;
        for answered in &answers {
            write_answer(&mut out, answered)?;
        }
    }
    out.flush()?;
    Ok(Exit::Success)
}

fn answer(engine: &Engine, question: &str) -> anyhow::Result<Answered> {
    let response = engine.search(&SearchRequest {
        limit: SHOWN,
        ..SearchRequest::new(question)
    })?;
    let mut connections = Vec::new();
    if let Some(entry) = response.entry_entities.first() {
        for evidence in &response.results {
            if evidence.title != entry.name {
                connections.extend(engine.paths(&entry.name, &evidence.title, 2, 1)?);
            }
        }
    }
    Ok(Answered {
        response,
        connections,
    })
}

fn write_answer(out: &mut impl Write, answered: &Answered) -> io::Result<()> {
    let response = &answered.response;
    writeln!(out, "\n{}", painted(STRONG, &response.query))?;
    let highlighter = Highlighter::new(&response.query);
    for evidence in &response.results {
        writeln!(out)?;
        write_evidence(out, evidence, &highlighter)?;
    }
    writeln!(out, "\n    {}", painted(DIM, "how they are connected"))?;
    for path in &answered.connections {
        write_path(out, path, "    ")?;
    }
    Ok(())
}
