//! `malha search QUERY`

use std::io::{self, Write};
use std::time::Instant;

use malha_engine::Engine;
use malha_engine::types::{
    Connection, Evidence, Lane, LaneRecord, LaneStatus, SearchRequest, SearchResponse,
};
use serde::Serialize;

use super::documents::DocumentArgs;
use super::index;
use crate::config::{ModeName, Settings};
use crate::exit::{Exit, Refusal};
use crate::interrupt;
use crate::telemetry;
use crate::ui::{DIM, Highlighter, Output, PATH, STRONG, count, painted, plain_line, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The question, or words to look for
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Retrieval recipe
    #[arg(short, long, value_enum)]
    mode: Option<ModeName>,
    /// Results wanted
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Fail when no reranker put the results in order
    #[arg(long)]
    require_rerank: bool,
    /// Index what changed on disk first
    #[arg(long)]
    fresh: bool,
    #[command(flatten)]
    documents: DocumentArgs,
}

/// Said when the graph had nothing to start from.
const UNNAMED: &str = "note: the question holds no name that the notes know; ranked by its words";

/// What `--json` prints: the engine's response, and how far behind the sources the store is.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    response: &'a SearchResponse,
    /// Files that changed since they were indexed.
    stale: usize,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    settings.check_store_exists()?;
    if args.fresh {
        settings.check_writes_now()?;
        interrupt::stop_at_safe_points();
        let engine = Engine::open(&settings.store, settings.engine.clone())?;
        let report = index::once(&engine, &[], settings)?;
        let standing = index::Standing::after(&report, &engine)?;
        index::summary(&report, &standing, settings.verbosity);
    }
    let engine = settings.open_read_only()?;
    let filter = args.documents.filter();
    let documents = if filter.is_empty() {
        None
    } else {
        Some(engine.documents_matching(&filter)?.0)
    };
    let request = SearchRequest {
        documents,
        mode: args.mode.map_or(settings.search_mode, Into::into),
        limit: args
            .limit
            .map_or(settings.search_limit, |limit| limit as usize),
        ..SearchRequest::new(args.query.join(" "))
    };
    let start = Instant::now();
    let response = engine.search(&request)?;
    let took = start.elapsed();
    if args.require_rerank {
        check_reranked(&response)?;
    }
    let stale = engine.stale()?;

    let mut out = Output::new();
    if settings.json {
        let response = &response;
        out.json(&Answer { response, stale })?;
    } else {
        let highlighter = Highlighter::new(&response.query);
        for (place, evidence) in response.results.iter().enumerate() {
            if place > 0 {
                writeln!(out)?;
            }
            write_evidence(&mut out, evidence, &highlighter)?;
        }
    }
    out.flush()?;
    if response.results.is_empty() {
        stderr::note(
            settings.verbosity,
            &why_nothing(&response, &engine, settings)?,
        );
    }
    explain(&response, stale, settings);
    telemetry::after_search(&engine, settings, &request, &response, took);
    Ok(Exit::Success)
}

/// For those who would rather have no answer than one in another order.
fn check_reranked(response: &SearchResponse) -> anyhow::Result<()> {
    let record = response
        .record
        .iter()
        .find(|record| record.lane == Lane::Rerank);
    let reason = match record {
        Some(record) if record.status == LaneStatus::Ran => return Ok(()),
        // There is no order of nothing.
        Some(_) if response.results.is_empty() => return Ok(()),
        Some(record) => record.reason.as_str(),
        None => "no reranker configured",
    };
    let message = format!("the results were not reranked: {reason}");
    Err(Refusal::new(Exit::Failure, message)
        .hint("`[rerank]` in malha.toml says what reranks; malha.example.toml shows how")
        .into())
}

/// Rank, place, title and heading path; the quote; how it hangs together with the question.
pub(crate) fn write_evidence(
    out: &mut impl Write,
    evidence: &Evidence,
    highlighter: &Highlighter,
) -> io::Result<()> {
    let place = format!("{}:{}", plain_line(&evidence.uri), evidence.quote_line);
    writeln!(
        out,
        "{:>2}  {}  {}",
        painted(DIM, format!("{:>2}", evidence.rank)).trim_start(),
        painted(PATH, place),
        painted(STRONG, heading(evidence)),
    )?;
    for line in highlighter.lines(&evidence.quote) {
        writeln!(out, "    {line}")?;
    }
    if let Some(connection) = connection_line(evidence.rank, &evidence.connections) {
        writeln!(out, "    {}", painted(DIM, connection))?;
    }
    Ok(())
}

fn heading(evidence: &Evidence) -> String {
    let mut parts = vec![plain_line(&evidence.title)];
    for part in &evidence.heading_path {
        let part = plain_line(part);
        if parts.last() != Some(&part) {
            parts.push(part);
        }
    }
    parts.join(" › ")
}

/// `↳ named in the question: A, B; shares C with 1`. What a later result shares is said there.
fn connection_line(rank: usize, connections: &[Connection]) -> Option<String> {
    let mut parts = Vec::new();
    let named: Vec<String> = connections
        .iter()
        .filter(|connection| connection.through.is_none())
        .map(|connection| plain_line(&connection.entity))
        .collect();
    if !named.is_empty() {
        parts.push(format!("named in the question: {}", named.join(", ")));
    }
    for connection in connections {
        if let Some(other) = connection.through.filter(|other| *other < rank) {
            let entity = plain_line(&connection.entity);
            parts.push(format!("shares {entity} with {other}"));
        }
    }
    (!parts.is_empty()).then(|| format!("↳ {}", parts.join("; ")))
}

/// Why a search found nothing: the words do not occur, or there is nothing to search in.
fn why_nothing(
    response: &SearchResponse,
    engine: &Engine,
    settings: &Settings,
) -> malha_engine::Result<String> {
    if let Some(entry) = response.entry_entities.first() {
        let name = &entry.name;
        return Ok(format!(
            "nothing found in passages; `malha graph neighbors` shows the relations of {name}"
        ));
    }
    if engine.stats()?.documents > 0 {
        return Ok("nothing found".to_owned());
    }
    let namespace = settings.engine.namespace.as_str();
    Ok(format!(
        "nothing found: namespace `{namespace}` of the store holds no documents yet; `malha index` adds them"
    ))
}

/// What the reader should know beyond the results.
fn explain(response: &SearchResponse, stale: usize, settings: &Settings) {
    let verbosity = settings.verbosity;
    let is_said_by_a_lane = |note: &String| response.record.iter().any(|lane| lane.reason == *note);
    for note in &response.notes {
        if !is_said_by_a_lane(note) {
            stderr::note(verbosity, &format!("note: {note}"));
        }
    }
    for record in &response.record {
        let line = record_line(record);
        match record.status {
            LaneStatus::Skipped
                if record.lane == Lane::Graph && response.entry_entities.is_empty() =>
            {
                // Of nothing there is no order to explain.
                if !response.results.is_empty() {
                    stderr::note(verbosity, UNNAMED);
                }
            }
            LaneStatus::Failed => stderr::warning(verbosity, &line),
            LaneStatus::Ran => stderr::detail(verbosity, &line),
            LaneStatus::Skipped | LaneStatus::Cut => stderr::note(verbosity, &line),
        }
    }
    if stale > 0 {
        let files = count(stale as u64, "file", "files");
        let message =
            format!("stale: {stale} ({files} changed since indexing; --fresh reads them first)");
        stderr::note(verbosity, &message);
    }
}

fn record_line(record: &LaneRecord) -> String {
    let lane = record.lane.as_str();
    let status = record.status.as_str();
    if record.reason.is_empty() {
        let candidates = count(record.candidates as u64, "candidate", "candidates");
        format!("{lane}: {status}, {candidates}")
    } else {
        format!("{lane}: {status}: {}", record.reason)
    }
}
