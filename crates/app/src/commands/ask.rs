//! `malha ask QUESTION`

use std::io::{self, Write};

use malha_engine::types::{
    Answer, AnswerSentence, AskMode, AskRequest, CommunityLevel, CommunitySelection, GraphAnswer,
    Sections,
};
use malha_engine::{AnswerRun, Engine};

use crate::commands::documents::DocumentArgs;
use crate::commands::spending::SpendingArgs;
use crate::config::{Settings, Task};
use crate::exit::Exit;
use crate::ui::{DIM, Output, PATH, STRONG, count, painted, place, plain_line, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The question
    #[arg(required = true, value_name = "QUESTION")]
    question: Vec<String>,
    /// How to look for the evidence
    #[arg(short, long, value_enum, default_value_t = AskModeName::Auto)]
    mode: AskModeName,
    /// Most tokens of evidence; otherwise 8000, and 12000 for a global question
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    budget: Option<u32>,
    #[command(flatten)]
    documents: DocumentArgs,
    /// Go on with the conversation of this name: a question may leave out what it is about
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Communities that a question about the whole reads at most
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    communities: u32,
    /// Which communities those are: of one level, or from the coarsest down to what the question is about
    #[arg(long, value_enum, default_value_t = SelectionName::Coarse)]
    level: SelectionName,
    /// Answer with sentences of the documents, though a chat model is configured
    #[arg(long)]
    no_model: bool,
    /// Show the way taken, the lanes, and the evidence with its scores and cuts
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    spending: SpendingArgs,
}

/// [`AskMode`] on the command line.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum AskModeName {
    Auto,
    Hybrid,
    Local,
    Global,
    Drift,
    /// Queries to the graph, by the model of [models.answers] or by templates
    Cypher,
}

impl From<AskModeName> for AskMode {
    fn from(name: AskModeName) -> Self {
        match name {
            AskModeName::Auto => Self::Auto,
            AskModeName::Hybrid => Self::Hybrid,
            AskModeName::Local => Self::Local,
            AskModeName::Global => Self::Global,
            AskModeName::Drift => Self::Drift,
            AskModeName::Cypher => Self::Cypher,
        }
    }
}

/// [`CommunitySelection`] on the command line.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum SelectionName {
    Coarse,
    Middle,
    Fine,
    Dynamic,
}

impl From<SelectionName> for CommunitySelection {
    fn from(name: SelectionName) -> Self {
        match name {
            SelectionName::Coarse => Self::Level(CommunityLevel::Coarse),
            SelectionName::Middle => Self::Level(CommunityLevel::Middle),
            SelectionName::Fine => Self::Level(CommunityLevel::Fine),
            SelectionName::Dynamic => Self::Dynamic,
        }
    }
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let request = AskRequest {
        mode: args.mode.into(),
        budget: args.budget.map(|tokens| tokens as usize),
        communities: args.communities as usize,
        selection: args.level.into(),
        filter: args.documents.filter(),
        session: args.session.clone(),
        ..AskRequest::new(args.question.join(" "))
    };
    let mut out = Output::new();
    let mut heard = Vec::new();
    let answer = if args.no_model || settings.models.answers.is_none() {
        settings
            .with_schema(open(settings, args.session.is_some())?)?
            .ask(&request)?
    } else {
        let model = settings.models.connect(Task::Answers)?;
        let answers = settings.answers.load()?;
        let reports = settings
            .models
            .reports
            .is_some()
            .then(|| settings.models.connect(Task::Reports))
            .transpose()?;
        let router = settings
            .models
            .router
            .is_some()
            .then(|| settings.models.connect(Task::Router))
            .transpose()?;
        let asked = [Some(&*model), reports.as_deref(), router.as_deref()];
        let asked: Vec<_> = asked.into_iter().flatten().collect();
        let limit = args.spending.limit(&asked, settings)?;
        let run = AnswerRun {
            model: &*model,
            reports: reports.as_deref(),
            router: router.as_deref(),
            settings: &answers,
            limit,
        };
        settings.check_store_exists()?;
        // Replies are stored before they are read, so the store is opened to be written.
        let engine = Engine::open(&settings.store, settings.engine.clone())?.at(settings.times);
        let engine = settings.with_graph_questions(settings.with_models(engine), limit)?;
        let mut said = Ok(());
        let answer = engine.answer(&request, &run, &mut |sentence| {
            if !settings.json && said.is_ok() {
                said = write_sentence(&mut out, sentence).and_then(|()| out.flush());
                heard.push(sentence.clone());
            }
        })?;
        said?;
        answer
    };
    if settings.json {
        out.json(&answer)?;
    } else {
        if answer.is_refusal || heard != answer.sentences {
            if !heard.is_empty() {
                writeln!(out)?;
            }
            write_sentences(&mut out, &answer)?;
        }
        write_places(&mut out, &answer)?;
        if args.explain {
            write_explanation(&mut out, &answer)?;
        }
    }
    out.flush()?;
    warn(&answer, settings);
    Ok(if answer.is_refusal {
        Exit::NotFound
    } else if answer.budget_reached {
        Exit::Budget
    } else if answer.failure.is_some() {
        Exit::Partial
    } else {
        Exit::Success
    })
}

fn warn(answer: &Answer, settings: &Settings) {
    let warning = |message: &str| stderr::warning(settings.verbosity, &plain_line(message));
    if let Some(failure) = &answer.failure {
        let instead = match &answer.graph {
            Some(_) => "templates asked the graph instead",
            None => "sentences of the documents stand in for the model's answer",
        };
        warning(&format!("{failure}; {instead}"));
    }
    for note in &answer.notes {
        warning(note);
    }
    let unsupported = answer
        .sentences
        .iter()
        .filter(|sentence| !sentence.is_supported)
        .count();
    if unsupported > 0 {
        let sentences = count(unsupported as u64, "sentence", "sentences");
        warning(&format!("{sentences} not supported by what is cited"));
    }
}

/// Communities and their reports are kept where the store can be written; a reader makes them anew each time.
fn open(settings: &Settings, keeps_turn: bool) -> anyhow::Result<Engine> {
    settings.check_store_exists()?;
    if keeps_turn {
        let engine = Engine::open(&settings.store, settings.engine.clone())?;
        return Ok(settings.with_models(engine.at(settings.times)));
    }
    if settings.times.is_present()
        && let Ok(engine) = Engine::open(&settings.store, settings.engine.clone())
    {
        return Ok(settings.with_models(engine));
    }
    settings.open_read_only()
}

fn write_sentences(out: &mut impl Write, answer: &Answer) -> io::Result<()> {
    if answer.is_refusal {
        return writeln!(out, "{}", plain_line(&answer.text));
    }
    for sentence in &answer.sentences {
        write_sentence(out, sentence)?;
    }
    Ok(())
}

fn write_sentence(out: &mut impl Write, sentence: &AnswerSentence) -> io::Result<()> {
    write!(out, "{}", plain_line(&sentence.text))?;
    if !sentence.markers.is_empty() {
        let markers: Vec<String> = sentence.markers.iter().map(usize::to_string).collect();
        write!(
            out,
            "{}",
            painted(STRONG, format!(" [{}]", markers.join(", ")))
        )?;
    }
    if !sentence.is_supported {
        write!(out, " (not supported)")?;
    }
    writeln!(out)
}

/// The relations that the answer rests on, each once; nodes without one by name.
fn write_relations(out: &mut impl Write, graph: &GraphAnswer) -> io::Result<()> {
    let mut told: Vec<String> = Vec::new();
    for row in &graph.rows {
        let relations = row.relations.iter().map(|relation| {
            let (source, target) = (&relation.source, &relation.target);
            format!("({source})-[{}]->({target})", relation.relation)
        });
        let mut parts: Vec<String> = relations.collect();
        if parts.is_empty() {
            let nodes = row.nodes.iter().map(|node| format!("({})", node.name));
            parts = nodes.collect();
        }
        for part in parts {
            if !told.contains(&part) {
                writeln!(out, "{}", painted(DIM, plain_line(&part)))?;
                told.push(part);
            }
        }
    }
    Ok(())
}

fn write_queries(out: &mut impl Write, graph: &GraphAnswer) -> io::Result<()> {
    let by = graph.model.as_deref().unwrap_or("templates");
    writeln!(out, "queries by {}", plain_line(by))?;
    for query in &graph.queries {
        writeln!(out, "query: {}", plain_line(&query.query))?;
        match &query.error {
            Some(error) => writeln!(out, "  {}", plain_line(error))?,
            None => writeln!(out, "  {} rows", query.answer.rows.len())?,
        }
    }
    Ok(())
}

/// Where the markers lead.
fn write_places(out: &mut impl Write, answer: &Answer) -> io::Result<()> {
    if let Some(counts) = &answer.documents {
        let matching = count(
            counts.matching as u64,
            "document matches",
            "documents match",
        );
        let undated = match counts.undated {
            0 => String::new(),
            undated => format!(", {undated} without a date left out"),
        };
        let line = format!("{matching}, {} cited{undated}", counts.cited);
        writeln!(out, "{}", painted(DIM, line))?;
    }
    if answer.is_refusal {
        return Ok(());
    }
    writeln!(out)?;
    for (citation, marker) in answer.citations.iter().zip(1..) {
        let place = place(&plain_line(&citation.uri), citation.line);
        let bytes = format!("bytes {}–{}", citation.start, citation.end);
        writeln!(
            out,
            "[{marker}] {}  {}",
            painted(PATH, place),
            painted(DIM, bytes)
        )?;
    }
    if let Some(graph) = &answer.graph {
        write_relations(out, graph)?;
    }
    if let Some((read, all)) = answer.communities {
        writeln!(
            out,
            "{}",
            painted(DIM, format!("{read} of {all} communities read"))
        )?;
    }
    if let Some(sections) = &answer.sections {
        write_sections(out, sections)?;
    }
    Ok(())
}

fn write_sections(out: &mut impl Write, sections: &Sections) -> io::Result<()> {
    if sections.total > 1 {
        let line = format!(
            "read in {} parts: {} say nothing about it, {} could not be read",
            sections.total, sections.not_supported, sections.failed
        );
        writeln!(out, "{}", painted(DIM, line))?;
    }
    if !sections.not_covered.is_empty() {
        let titles = plain_line(&sections.not_covered.join("; "));
        writeln!(out, "{}", painted(DIM, format!("not covered: {titles}")))?;
    }
    Ok(())
}

fn write_explanation(out: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let context = &answer.context;
    writeln!(out)?;
    if let Some(graph) = &answer.graph {
        write_queries(out, graph)?;
    }
    let reason = if answer.reason.is_empty() {
        "as asked"
    } else {
        &answer.reason
    };
    if let Some(question) = &answer.understood_as {
        writeln!(out, "understood as: {}", plain_line(question))?;
    }
    writeln!(
        out,
        "mode: {} ({})",
        answer.mode.as_str(),
        plain_line(reason)
    )?;
    for lane in &context.record {
        let reason = plain_line(&lane.reason);
        writeln!(
            out,
            "lane {}: {}, {} candidates {reason}",
            lane.lane.as_str(),
            lane.status.as_str(),
            lane.candidates
        )?;
    }
    if let Some(model) = &answer.model {
        let spent = &answer.spent;
        writeln!(
            out,
            "model {}: {} calls, {} tokens in, {} out, {} replies from the store",
            plain_line(model),
            spent.calls,
            spent.input_tokens,
            spent.output_tokens,
            spent.cache_hits
        )?;
    }
    writeln!(
        out,
        "evidence: {} of {} {}",
        context.used,
        context.budget.amount,
        context.budget.unit.as_str()
    )?;
    for cut in &context.cut {
        writeln!(out, "cut: {} of kind {}", cut.left_out, cut.kind.as_str())?;
    }
    for item in &context.items {
        let text: String = plain_line(&item.text).chars().take(100).collect();
        writeln!(out, "{:>8} {:.3}  {text}", item.kind.as_str(), item.score)?;
    }
    Ok(())
}
