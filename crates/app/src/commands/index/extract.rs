//! `malha index --extract llm`: facts found by a chat model.

use std::io::Write;

use malha_engine::types::{ExtractEstimate, ExtractReport, IngestReport};
use malha_engine::{Engine, ExtractionRun, SourceSpec};
use serde_json::json;

use super::report::Standing;
use super::{exit_of, summary};
use crate::commands::spending::SpendingArgs;
use crate::config::{Settings, Task};
use crate::exit::{Exit, Refusal};
use crate::ui::{Bar, Output, count, stderr};

/// Where facts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Extractor {
    /// A chat model ([models.extraction] of malha.toml)
    Llm,
}

/// Flags of extraction.
#[derive(Debug, Clone, clap::Args)]
#[group(id = "extraction")]
pub(crate) struct Args {
    /// Extract typed facts too
    #[arg(long, value_enum, value_name = "HOW")]
    extract: Option<Extractor>,
    /// Say what extraction would take, and send nothing
    #[arg(long, requires = "extract")]
    estimate: bool,
    /// With --estimate: ask about so many passages first, so that lengths of replies are known. They are part of
    /// the work and paid for once
    #[arg(long, value_name = "N", requires = "estimate", default_value_t = 0)]
    sample: usize,
    /// Ask the model of the configuration about every passage that it was not asked about, also where the reply of
    /// another model is stored
    #[arg(long, requires = "extract")]
    anew: bool,
    #[command(flatten)]
    spending: SpendingArgs,
}

impl Args {
    pub(super) const fn is_wanted(&self) -> bool {
        self.extract.is_some()
    }

    /// Limits of spending say something only where something is spent.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        if self.spending.is_stated() && !self.is_wanted() {
            let message = "limits of spending are for --extract llm";
            return Err(Refusal::new(Exit::Usage, message).into());
        }
        Ok(())
    }
}

pub(super) fn run(
    args: &Args,
    engine: &Engine,
    sources: &[SourceSpec],
    settings: &Settings,
) -> anyhow::Result<Exit> {
    let extraction = settings.extraction.load()?;
    let model = settings.models.connect(Task::Extraction)?;
    for warning in extraction.schema.check().warnings {
        stderr::warning(settings.verbosity, &format!("schema: {warning}"));
    }
    if extraction.passage_tokens > 1000 {
        let message = "passages of more than 1,000 tokens: models leave out more of longer ones";
        stderr::warning(settings.verbosity, message);
    }
    let limit = args.spending.limit(&[&*model], settings)?;
    let run = ExtractionRun {
        model: &*model,
        settings: &extraction,
        limit,
        anew: args.anew,
    };
    if args.estimate {
        return estimate(engine, sources, &run, args.sample, settings);
    }
    let bar = Bar::new(settings.verbosity);
    let result = engine.index_and_extract(sources, &run, &bar);
    bar.clear();
    let (indexed, extracted) = result?;
    show(engine, &indexed, &extracted, settings)?;
    Ok(if extracted.budget_reached {
        Exit::Budget
    } else if extracted.failed.is_empty() && extracted.stopped.is_none() {
        exit_of(&indexed)
    } else {
        Exit::Partial
    })
}

fn estimate(
    engine: &Engine,
    sources: &[SourceSpec],
    run: &ExtractionRun<'_>,
    sample: usize,
    settings: &Settings,
) -> anyhow::Result<Exit> {
    // Passages have to be cut before they can be counted; that costs nothing.
    super::once(engine, sources, settings)?;
    let bar = Bar::new(settings.verbosity);
    let estimate = engine.estimate_extraction(run, sample, &bar);
    bar.clear();
    let estimate = estimate?;
    let mut out = Output::new();
    if settings.json {
        out.json(&estimate)?;
    } else {
        for (name, value) in rows(&estimate) {
            writeln!(out, "{name:<22}{value:>14}")?;
        }
        for calls in &estimate.not_counted {
            writeln!(out, "not counted: {calls}")?;
        }
    }
    out.flush()?;
    if estimate.calls > 0 && estimate.learned_from == 0 {
        let message = "no reply is stored yet: lengths of replies and seconds may be off by a half; --sample 20 asks \
                       20 to know";
        stderr::note(settings.verbosity, message);
    }
    Ok(Exit::Success)
}

fn rows(estimate: &ExtractEstimate) -> Vec<(&'static str, String)> {
    let number = |number: u64| count(number, "", "").trim().to_owned();
    let mut rows = vec![
        ("passages", number(estimate.passages as u64)),
        ("stored already", number(estimate.known as u64)),
        ("calls", number(estimate.calls)),
        ("tokens of prompts", number(estimate.input_tokens)),
        ("tokens of replies", number(estimate.output_tokens)),
        (
            "cost",
            estimate
                .cost
                .map_or_else(|| "no price".to_owned(), |cost| format!("{cost:.4}")),
        ),
        (
            "seconds",
            if estimate.seconds_are_measured {
                format!("{:.0}", estimate.seconds)
            } else {
                format!("about {:.0}", estimate.seconds)
            },
        ),
        ("replies learned from", number(estimate.learned_from as u64)),
    ];
    let sampled = &estimate.sampled;
    if sampled.calls > 0 {
        rows.push(("calls of the sample", number(sampled.calls)));
        let tokens = sampled.input_tokens + sampled.output_tokens;
        rows.push(("tokens of the sample", number(tokens)));
    }
    rows
}

fn show(
    engine: &Engine,
    indexed: &IngestReport,
    extracted: &ExtractReport,
    settings: &Settings,
) -> anyhow::Result<()> {
    if settings.json {
        let mut out = Output::new();
        out.json(&json!({ "index": indexed, "extract": extracted }))?;
        out.flush()?;
    }
    summary(
        indexed,
        &Standing::after(indexed, engine)?,
        settings.verbosity,
    );
    let verbosity = settings.verbosity;
    for failure in &extracted.failed {
        let message = format!("{}:{}: {}", failure.uri, failure.line, failure.reason);
        stderr::warning(verbosity, &message);
    }
    for warning in &extracted.warnings {
        stderr::warning(verbosity, warning);
    }
    let spent = &extracted.spent;
    stderr::note(
        verbosity,
        &format!(
            "{} passages: {} stored already, {} extracted, {} failed, {} left; {} calls, {} tokens in, {} out{}",
            extracted.passages,
            extracted.known,
            extracted.extracted,
            extracted.failed.len(),
            extracted.left,
            spent.calls,
            spent.input_tokens,
            spent.output_tokens,
            if spent.cost > 0.0 {
                format!(", cost {:.4}", spent.cost)
            } else {
                String::new()
            },
        ),
    );
    let claims = if extracted.claims + extracted.claims_closed > 0 {
        format!(
            ", {} claims ({} added, {} closed)",
            extracted.claims, extracted.claims_added, extracted.claims_closed
        )
    } else {
        String::new()
    };
    stderr::note(
        verbosity,
        &format!(
            "{} entities, {} relations ({} added, {} closed){}; {} items not stored (malha quarantine list)",
            extracted.entities,
            extracted.relations,
            extracted.relations_added,
            extracted.relations_closed,
            claims,
            extracted.items_rejected,
        ),
    );
    if extracted.merged + extracted.proposed > 0 {
        let message = format!(
            "names: {} joined with another, {} that may be (malha review merges list)",
            extracted.merged, extracted.proposed
        );
        stderr::note(verbosity, &message);
    }
    if extracted.passages > 0 && extracted.entities == 0 && extracted.left == 0 {
        stderr::warning(
            verbosity,
            "nothing was extracted: no passage names a thing of the schema",
        );
    }
    if let Some(reason) = &extracted.stopped {
        let advice = if extracted.budget_reached {
            "run the command again with a higher limit to go on"
        } else {
            "nothing was asked about the rest; run the command again to go on"
        };
        stderr::warning(verbosity, &format!("{reason}; {advice}"));
    } else if !extracted.failed.is_empty() {
        let message = "failed passages are asked about again by the next run; `malha quarantine list` has them";
        stderr::note(verbosity, message);
    }
    Ok(())
}
