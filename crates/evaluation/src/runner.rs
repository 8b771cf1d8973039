use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use malha_engine::exchange::ForeignFormat;
use malha_engine::language_model::Embedder;
use malha_engine::types::{ConflictPolicy, IngestReport, Memory, SearchRequest};
use malha_engine::{DocumentInput, Engine, EngineConfig, parse_moment};

use crate::Result;
use crate::comparison::ModeRun;
use crate::dataset::{Passage, Question};
use crate::variant::Variant;

/// What the uris of episodes start with.
const EPISODES: &str = "memory/";

/// What an evaluation run did besides ranking.
#[derive(Debug, Default)]
pub struct RunLog {
    pub stores: usize,
    pub chunks: usize,
    pub index_time: Duration,
    /// Time spent making vectors.
    pub embed_time: Duration,
    /// Relations that were found by another program.
    pub relations: usize,
    /// Time spent searching, for every mode in turn.
    pub search_time: Vec<Duration>,
    /// Passages the engine refused, with its reason.
    pub refused: Vec<String>,
    /// Questions whose scope holds no passage; they rank nothing.
    pub without_passages: usize,
}

/// Indexes the passages and ranks them for every question under every variant. With scopes, every scope becomes a
/// store of its own, so that a question only sees its own conversation or document. `open_ie`: entities and triples
/// that another program found in the passages, by id.
pub fn run_modes(
    passages: &[Passage],
    questions: &[Question],
    variants: &[Variant],
    depth: usize,
    config: &EngineConfig,
    embedder: Option<&Arc<dyn Embedder>>,
    open_ie: Option<&Path>,
) -> Result<(Vec<ModeRun>, RunLog)> {
    let mut log = RunLog {
        search_time: vec![Duration::ZERO; variants.len()],
        ..RunLog::default()
    };
    let mut runs: Vec<ModeRun> = variants
        .iter()
        .map(|variant| ModeRun {
            mode: variant.label(),
            ranked: vec![Vec::new(); questions.len()],
        })
        .collect();
    let mut by_scope: BTreeMap<Option<&str>, (Vec<&Passage>, Vec<usize>)> = BTreeMap::new();
    for passage in passages {
        by_scope
            .entry(passage.scope.as_deref())
            .or_default()
            .0
            .push(passage);
    }
    for (n, question) in questions.iter().enumerate() {
        by_scope
            .entry(question.scope.as_deref())
            .or_default()
            .1
            .push(n);
    }
    for (passages, members) in by_scope.values() {
        if passages.is_empty() {
            log.without_passages += members.len();
            continue;
        }
        if members.is_empty() {
            continue;
        }
        let engine = store_of(passages, config, embedder, &mut log)?;
        if let Some(path) = open_ie {
            let found = engine.import_foreign(ForeignFormat::OpenIe, path, "openie", &())?;
            log.relations += found.relations;
        }
        for ((run, variant), time) in runs.iter_mut().zip(variants).zip(&mut log.search_time) {
            let engine = variant.engine(&engine);
            let start = Instant::now();
            for &n in members {
                let request = variant.request(&questions[n].text);
                run.ranked[n] = rank_documents(&engine, &request, depth)?;
            }
            *time += start.elapsed();
        }
    }
    Ok((runs, log))
}

/// A store that holds the passages, with vectors where there is a model for them.
pub(crate) fn store_of(
    passages: &[&Passage],
    config: &EngineConfig,
    embedder: Option<&Arc<dyn Embedder>>,
    log: &mut RunLog,
) -> Result<Engine> {
    let engine = index_passages(passages, config, log)?;
    let Some(embedder) = embedder else {
        return Ok(engine);
    };
    let start = Instant::now();
    let embedder = Arc::clone(embedder);
    let engine = engine.with_embedder(Box::new(move || Ok(Arc::clone(&embedder))));
    let report = engine.embed(&())?;
    let failed = report.failed.iter();
    log.refused
        .extend(failed.map(|item| format!("{}: {}", item.uri, item.reason)));
    log.embed_time += start.elapsed();
    Ok(engine)
}

/// A store that holds the passages, one document each, under their ids as uris.
fn index_passages(
    passages: &[&Passage],
    config: &EngineConfig,
    log: &mut RunLog,
) -> Result<Engine> {
    let start = Instant::now();
    let engine = Engine::in_memory(config.clone())?;
    if passages.iter().all(|passage| passage.turn.is_some()) {
        remember_turns(&engine, passages, log)?;
        log.stores += 1;
        log.index_time += start.elapsed();
        return Ok(engine);
    }
    let documents: Vec<DocumentInput> = passages
        .iter()
        .map(|passage| DocumentInput {
            uri: passage.id.clone(),
            title: passage.title.clone(),
            text: passage.text.clone(),
        })
        .collect();
    let report: IngestReport = engine.index_documents("", &documents, &())?;
    log.stores += 1;
    log.chunks += report.chunks_added;
    log.index_time += start.elapsed();
    let failed = report.failed.iter().map(|item| (&item.uri, &item.reason));
    let skipped = report.skipped.iter().map(|item| (&item.uri, &item.reason));
    log.refused.extend(
        failed
            .chain(skipped)
            .map(|(uri, reason)| format!("{uri}: {reason}")),
    );
    Ok(engine)
}

/// Turns of conversations become episodes, in their order.
fn remember_turns(engine: &Engine, passages: &[&Passage], log: &mut RunLog) -> Result<()> {
    let memories: Vec<Memory> = passages
        .iter()
        .filter_map(|passage| {
            let turn = passage.turn.as_ref()?;
            Some(Memory {
                text: passage.text.clone(),
                speaker: Some(turn.speaker.clone()),
                session: Some(turn.session.clone()),
                // A time that is not understood must not cost the turn.
                time: turn.time.clone().filter(|time| parse_moment(time).is_ok()),
                id: Some(passage.id.clone()),
                ..Memory::default()
            })
        })
        .collect();
    let report = engine.remember(&memories, ConflictPolicy::Close)?;
    log.chunks += engine.stats()?.chunks as usize;
    log.refused.extend(
        report
            .failed
            .into_iter()
            .map(|item| format!("{}: {}", passages[item.line - 1].id, item.reason)),
    );
    Ok(())
}

/// The best `depth` documents for a request by uri, each at the rank of its best chunk.
pub(crate) fn rank_documents(
    engine: &Engine,
    request: &SearchRequest,
    depth: usize,
) -> Result<Vec<String>> {
    let mut limit = depth;
    loop {
        let response = engine.search(&SearchRequest {
            limit,
            ..request.clone()
        })?;
        let mut seen = HashSet::new();
        let ranked: Vec<String> = response
            .results
            .iter()
            .map(|evidence| {
                let uri = evidence.uri.as_str();
                uri.strip_prefix(EPISODES).unwrap_or(uri)
            })
            .filter(|uri| seen.insert(*uri))
            .take(depth)
            .map(str::to_owned)
            .collect();
        // Long documents fill the list with their chunks: look further until there are enough documents or no
        // more chunks. The bound keeps a question that matches one huge document from asking for all of it.
        if ranked.len() == depth || response.results.len() < limit || limit >= depth * 64 {
            return Ok(ranked);
        }
        limit *= 2;
    }
}
