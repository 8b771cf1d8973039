//! `malha review …`: what extraction found, decided by people.

use std::io::{BufRead, IsTerminal, Write};

use malha_engine::Engine;
use malha_engine::types::{MergeStatus, MergeView, ReviewFact, TypePrecision};
use serde_json::json;

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{DIM, Output, STRONG, Table, count, painted, place, plain, plain_line, stderr};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Decide which names mean one thing
    #[command(subcommand)]
    Merges(Merges),
    /// Judge a sample of the facts that a model found, beside their passages
    Extraction(Extraction),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Extraction {
    /// Facts to show, of those that nobody has judged
    #[arg(long, value_name = "N", default_value_t = 20)]
    sample: usize,
    /// Another sample
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Judge a fact by its number instead of being asked; repeatable
    #[arg(long, value_name = "NUMBER=right|wrong", value_parser = verdict)]
    verdict: Vec<(i64, bool)>,
}

fn verdict(written: &str) -> Result<(i64, bool), String> {
    let (number, word) = written
        .split_once('=')
        .ok_or("not of the form NUMBER=right|wrong")?;
    let id = number
        .trim()
        .parse()
        .map_err(|_| format!("{number:?} is no number"))?;
    match word.trim() {
        "right" => Ok((id, true)),
        "wrong" => Ok((id, false)),
        other => Err(format!("{other:?} is neither `right` nor `wrong`")),
    }
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Merges {
    /// List pairs of names that wait for a decision, were joined, or are kept apart
    List(ListArgs),
    /// They are one thing
    Accept(Pairs),
    /// They are two things, and stay so
    Reject(Pairs),
    /// Take a decision back
    Undo(Pairs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Only pairs of this standing
    #[arg(long, value_enum)]
    status: Option<Status>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Status {
    Proposed,
    Merged,
    Apart,
}

impl Status {
    const fn of_engine(self) -> MergeStatus {
        match self {
            Self::Proposed => MergeStatus::Proposed,
            Self::Merged => MergeStatus::Merged,
            Self::Apart => MergeStatus::Apart,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Pairs {
    /// Numbers of the list
    #[arg(value_name = "NUMBER", required = true)]
    ids: Vec<i64>,
}

pub(crate) fn run(command: &Command, settings: &Settings) -> anyhow::Result<Exit> {
    match command {
        Command::Merges(Merges::List(args)) => list(args, settings),
        Command::Merges(Merges::Accept(pairs)) => decide(pairs, Some(true), settings),
        Command::Merges(Merges::Reject(pairs)) => decide(pairs, Some(false), settings),
        Command::Merges(Merges::Undo(pairs)) => decide(pairs, None, settings),
        Command::Extraction(args) => extraction(args, settings),
    }
}

fn extraction(args: &Extraction, settings: &Settings) -> anyhow::Result<Exit> {
    settings.check_store_exists()?;
    let engine = Engine::open(&settings.store, settings.engine.clone())?;
    let mut out = Output::new();
    let mut sample = Vec::new();
    if args.verdict.is_empty() {
        sample = engine.facts_to_review(args.sample, args.seed)?;
        let asks = !settings.json && std::io::stdin().is_terminal() && stderr::is_terminal();
        let mut verdicts = Vec::new();
        for (at, fact) in sample.iter().enumerate() {
            if settings.json {
                break;
            }
            write_fact(&mut out, fact, at + 1, sample.len())?;
            out.flush()?;
            if asks {
                match ask()? {
                    Said::Verdict(is_right) => verdicts.push((fact.id, is_right)),
                    Said::Nothing => {}
                    Said::Enough => break,
                }
            }
        }
        if !verdicts.is_empty() {
            engine.judge_facts(&verdicts)?;
        }
    } else {
        engine.judge_facts(&args.verdict)?;
    }
    let precision = engine.precision()?;
    if settings.json {
        out.json(&json!({ "sample": sample, "precision": precision }))?;
    } else {
        write_precision(&mut out, &precision)?;
        if precision.is_empty() && sample.is_empty() {
            stderr::note(settings.verbosity, "no fact of a model to review");
        }
    }
    out.flush()?;
    Ok(Exit::Success)
}

/// What a person says of a fact.
enum Said {
    Verdict(bool),
    Nothing,
    Enough,
}

fn ask() -> anyhow::Result<Said> {
    loop {
        eprint!("right? [y]es, [n]o, [s]kip, [q]uit: ");
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(Said::Enough);
        }
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(Said::Verdict(true)),
            "n" | "no" => return Ok(Said::Verdict(false)),
            "s" | "skip" | "" => return Ok(Said::Nothing),
            "q" | "quit" => return Ok(Said::Enough),
            _ => {}
        }
    }
}

/// The fact, then its passage with the words that say it.
fn write_fact(
    out: &mut Output,
    fact: &ReviewFact,
    number: usize,
    of: usize,
) -> std::io::Result<()> {
    let (source, kind, target) = (
        plain_line(&fact.source),
        plain_line(&fact.kind),
        plain_line(&fact.target),
    );
    writeln!(
        out,
        "{number}/{of}  {}",
        painted(STRONG, format!("{source}  {kind}  {target}"))
    )?;
    if let Some(sentence) = &fact.fact {
        writeln!(out, "  says: {}", plain_line(sentence))?;
    }
    let grounding = match fact.confidence {
        c if c >= 1.0 => "quoted",
        c if c >= 0.8 => "both names in these sentences",
        _ => "implied",
    };
    let at = place(&fact.uri, fact.line);
    writeln!(
        out,
        "  number {}, {}, {grounding}",
        fact.id,
        plain_line(&at)
    )?;
    let end = fact.quote_start + fact.quote.len();
    let parts = (
        fact.passage.get(..fact.quote_start),
        fact.passage.get(fact.quote_start..end),
        fact.passage.get(end..),
    );
    if let (Some(before), Some(quote), Some(after)) = parts {
        let (before, after) = (painted(DIM, plain(before)), painted(DIM, plain(after)));
        writeln!(
            out,
            "{before}{}{after}",
            painted(STRONG, format!("«{}»", plain(quote)))
        )?;
    } else {
        writeln!(out, "{}", plain(&fact.passage))?;
    }
    writeln!(out)
}

fn write_precision(out: &mut Output, precision: &[TypePrecision]) -> std::io::Result<()> {
    if precision.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&["type", ">right", ">wrong", ">precision", "95 % within"]);
    for row in precision {
        let kind = if row.kind.is_empty() {
            "all"
        } else {
            &row.kind
        };
        table.row([
            kind.to_owned(),
            row.right.to_string(),
            row.wrong.to_string(),
            format!("{:.1}", row.precision),
            format!("{:.1} to {:.1}", row.low, row.high),
        ]);
    }
    table.write(out)
}

fn list(args: &ListArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let mut pairs = settings.open_read_only()?.merges()?;
    pairs.retain(|pair| {
        args.status
            .is_none_or(|status| pair.status == status.of_engine())
    });
    show(&pairs, settings)?;
    Ok(Exit::Success)
}

fn show(pairs: &[MergeView], settings: &Settings) -> anyhow::Result<()> {
    let mut out = Output::new();
    if settings.json {
        out.json(&pairs)?;
    } else if pairs.is_empty() {
        stderr::note(settings.verbosity, "no pair of names");
    } else {
        let mut table = Table::new(&[
            ">number",
            "name",
            "goes into",
            "because",
            "standing",
            "decided by",
        ]);
        for pair in pairs {
            table.row([
                pair.id.to_string(),
                pair.one.clone(),
                pair.other.clone(),
                pair.rule.as_str().replace('_', " "),
                pair.status.as_str().to_owned(),
                pair.decided_by.clone().unwrap_or_default(),
            ]);
        }
        table.write(&mut out)?;
    }
    out.flush()?;
    Ok(())
}

fn decide(pairs: &Pairs, is_same: Option<bool>, settings: &Settings) -> anyhow::Result<Exit> {
    settings.check_store_exists()?;
    let engine = Engine::open(&settings.store, settings.engine.clone())?;
    engine.decide_merges(&pairs.ids, is_same)?;
    if settings.json {
        let mut decided = engine.merges()?;
        decided.retain(|pair| pairs.ids.contains(&pair.id));
        show(&decided, settings)?;
    }
    let number = count(pairs.ids.len() as u64, "pair", "pairs");
    let what = match is_same {
        Some(true) => "of names: one thing",
        Some(false) => "of names: two things, kept apart",
        None => "of names: decision taken back",
    };
    stderr::note(settings.verbosity, &format!("{number} {what}"));
    Ok(Exit::Success)
}
