//! `malha ask QUESTION`

use std::io::{self, Write};

use malha_engine::Engine;
use malha_engine::types::{Answer, AskMode, AskRequest};

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{DIM, Output, PATH, STRONG, count, painted, plain_line, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The question
    #[arg(required = true, value_name = "QUESTION")]
    question: Vec<String>,
    /// How to look for the evidence
    #[arg(short, long, value_enum, default_value_t = AskModeName::Auto)]
    mode: AskModeName,
    /// Most tokens of evidence
    #[arg(long, default_value_t = 12_000, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    budget: u32,
    /// Show the way taken, the lanes, and the evidence with its scores and cuts
    #[arg(long)]
    explain: bool,
}

/// [`AskMode`] on the command line.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum AskModeName {
    Auto,
    Hybrid,
    Local,
    Global,
    Drift,
}

impl From<AskModeName> for AskMode {
    fn from(name: AskModeName) -> Self {
        match name {
            AskModeName::Auto => Self::Auto,
            AskModeName::Hybrid => Self::Hybrid,
            AskModeName::Local => Self::Local,
            AskModeName::Global => Self::Global,
            AskModeName::Drift => Self::Drift,
        }
    }
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let engine = open(settings)?;
    let answer = engine.ask(&AskRequest {
        mode: args.mode.into(),
        budget: args.budget as usize,
        ..AskRequest::new(args.question.join(" "))
    })?;
    let mut out = Output::new();
    if settings.json {
        out.json(&answer)?;
    } else {
        write_answer(&mut out, &answer)?;
        if args.explain {
            write_explanation(&mut out, &answer)?;
        }
    }
    out.flush()?;
    let unsupported = answer
        .sentences
        .iter()
        .filter(|sentence| !sentence.is_supported);
    let unsupported = unsupported.count();
    if unsupported > 0 {
        let sentences = count(unsupported as u64, "sentence", "sentences");
        stderr::warning(
            settings.verbosity,
            &format!("{sentences} not supported by what is cited"),
        );
    }
    Ok(if answer.is_refusal {
        Exit::NotFound
    } else {
        Exit::Success
    })
}

/// Communities and their reports are kept where the store can be written; a reader makes them anew each time.
fn open(settings: &Settings) -> anyhow::Result<Engine> {
    settings.check_store_exists()?;
    if settings.times.is_present()
        && let Ok(engine) = Engine::open(&settings.store, settings.engine.clone())
    {
        return Ok(settings.with_models(engine));
    }
    settings.open_read_only()
}

fn write_answer(out: &mut impl Write, answer: &Answer) -> io::Result<()> {
    if answer.is_refusal {
        return writeln!(out, "{}", plain_line(&answer.text));
    }
    for sentence in &answer.sentences {
        let markers: Vec<String> = sentence.markers.iter().map(usize::to_string).collect();
        let markers = format!(" [{}]", markers.join(", "));
        let doubt = if sentence.is_supported {
            ""
        } else {
            " (not supported)"
        };
        writeln!(
            out,
            "{}{}{doubt}",
            plain_line(&sentence.text),
            painted(STRONG, markers)
        )?;
    }
    writeln!(out)?;
    for (citation, marker) in answer.citations.iter().zip(1..) {
        let place = format!("{}:{}", plain_line(&citation.uri), citation.line);
        let bytes = format!("bytes {}–{}", citation.start, citation.end);
        writeln!(
            out,
            "[{marker}] {}  {}",
            painted(PATH, place),
            painted(DIM, bytes)
        )?;
    }
    if let Some((read, all)) = answer.communities {
        writeln!(
            out,
            "{}",
            painted(DIM, format!("{read} of {all} communities read"))
        )?;
    }
    Ok(())
}

fn write_explanation(out: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let context = &answer.context;
    writeln!(out)?;
    let reason = if answer.reason.is_empty() {
        "as asked"
    } else {
        &answer.reason
    };
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
