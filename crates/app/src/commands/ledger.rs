//! `malha ledger`: what agents were asked and did.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use malha_engine::Engine;
use malha_engine::types::{LedgerReport, TurnView};

use super::index::open_or_create;
use crate::cli::Global;
use crate::config::{self, Settings};
use crate::exit::{Exit, Refusal};
use crate::ui::{DIM, Output, PATH, STRONG, count, painted, plain_line, stderr};

/// Longest event that a hook reads.
const EVENT_BYTES: u64 = 1 << 20;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Read a transcript, or every `.jsonl` below a folder, from where the last time ended
    Ingest(IngestArgs),
    /// For the stop event of an agent, as JSON on stdin: reads its transcript, and never fails
    Hook(HookArgs),
    /// Show the latest turns, or one
    Show(ShowArgs),
    /// Find turns by their words, and by the names that the files they touched speak of
    Search(SearchArgs),
    /// Count what the ledger holds
    Stats,
}

#[derive(Debug, clap::Args)]
pub(crate) struct IngestArgs {
    /// File or folder; `-` is stdin
    path: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct HookArgs {
    /// Whatever the agent adds; not looked at
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _rest: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// Number of one turn, shown whole
    turn: Option<i64>,
    /// Only turns of this conversation
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Turns at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    /// What to look for
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Turns at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    limit: usize,
}

pub(crate) fn run(command: Command, settings: &Settings) -> anyhow::Result<Exit> {
    match command {
        Command::Ingest(args) => ingest(&args.path, settings),
        Command::Hook(_) => unreachable!("handled before the configuration is read"),
        Command::Show(args) => show(&args, settings),
        Command::Search(args) => {
            let engine = settings.open_read_only()?;
            list(
                &engine.search_turns(&args.query.join(" "), args.limit)?,
                settings,
            )
        }
        Command::Stats => stats(settings),
    }
}

fn ingest(path: &Path, settings: &Settings) -> anyhow::Result<Exit> {
    let report = if path == Path::new("-") {
        open_or_create(settings)?.ledger_read(io::stdin().lock())?
    } else if path.exists() {
        open_or_create(settings)?.ledger_ingest(path)?
    } else {
        let message = format!("{}: no such file or folder", path.display());
        return Err(Refusal::new(Exit::NotFound, message).into());
    };
    if settings.json {
        let mut out = Output::new();
        out.json(&report)?;
        out.flush()?;
    }
    for line in &report.broken {
        stderr::failed(&format!("{} byte {}", line.path, line.offset), &line.reason);
    }
    stderr::note(settings.verbosity, &summary(&report));
    Ok(if report.broken.is_empty() {
        Exit::Success
    } else {
        Exit::Partial
    })
}

fn summary(report: &LedgerReport) -> String {
    format!(
        "{}: turns: +{}, {} updated; {} failed",
        count(report.transcripts as u64, "transcript", "transcripts"),
        report.turns_added,
        report.turns_updated,
        count(report.broken.len() as u64, "line", "lines"),
    )
}

/// An agent must not feel that its hook fails: whatever happens ends in success, and a row of the log says
/// what it was.
pub(crate) fn hook(global: &Global) -> Exit {
    let done = std::panic::catch_unwind(|| {
        let mut event = Vec::new();
        io::stdin().take(EVENT_BYTES).read_to_end(&mut event)?;
        let event = String::from_utf8_lossy(&event);
        let settings = config::load(global)?;
        settings.check_store_exists()?;
        let engine = Engine::open(&settings.store, settings.engine.clone())?;
        if let Err(error) = engine.ledger_hook(&event) {
            engine.ledger_log(&error.to_string())?;
        }
        anyhow::Ok(())
    });
    // Without a store there is no log.
    match done {
        Ok(Ok(())) => {}
        Ok(Err(error)) => stderr::error(&format!("malha ledger hook: {error:#}")),
        Err(_) => stderr::error("malha ledger hook: stopped by a mistake of its own"),
    }
    Exit::Success
}

fn show(args: &ShowArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let engine = settings.open_read_only()?;
    let Some(id) = args.turn else {
        return list(
            &engine.turns(args.session.as_deref(), args.limit)?,
            settings,
        );
    };
    let turn = engine.turn(id)?;
    let mut out = Output::new();
    if settings.json {
        out.json(&turn)?;
    } else {
        write_head(&mut out, &turn)?;
        writeln!(out, "\n{}", crate::ui::plain(&turn.question))?;
        writeln!(out, "\n{}", crate::ui::plain(&turn.answer))?;
        let decisions: Vec<String> = turn
            .decisions
            .iter()
            .map(|decision| {
                format!(
                    "{} (bytes {}–{})",
                    decision.text, decision.start, decision.end
                )
            })
            .collect();
        for (name, items) in [
            ("decisions", &decisions),
            ("files", &turn.files),
            ("commands", &turn.commands),
            ("tools", &turn.tools),
        ] {
            if !items.is_empty() {
                writeln!(out, "\n{}", painted(STRONG, name))?;
            }
            for item in items {
                writeln!(out, "  {}", plain_line(item))?;
            }
        }
    }
    out.flush()?;
    Ok(Exit::Success)
}

fn list(turns: &[TurnView], settings: &Settings) -> anyhow::Result<Exit> {
    let mut out = Output::new();
    if settings.json {
        out.json(&turns)?;
    } else {
        for turn in turns {
            write_head(&mut out, turn)?;
            writeln!(out, "  {}", first_line(&turn.question))?;
            if !turn.answer.is_empty() {
                writeln!(out, "  → {}", first_line(&turn.answer))?;
            }
            for decision in turn.decisions.iter().take(3) {
                writeln!(out, "  ! {}", first_line(&decision.text))?;
            }
            if !turn.found_by.is_empty() {
                let reasons = plain_line(&turn.found_by.join("; "));
                writeln!(out, "  {}", painted(DIM, format!("found by {reasons}")))?;
            }
        }
    }
    out.flush()?;
    Ok(Exit::Success)
}

fn write_head(out: &mut impl Write, turn: &TurnView) -> io::Result<()> {
    let place = match (turn.start, turn.end) {
        (Some(start), Some(end)) => format!("{} bytes {start}–{end}", turn.transcript),
        _ => format!("{}, which does not hold it any more", turn.transcript),
    };
    writeln!(
        out,
        "{}  {}  {}",
        painted(STRONG, format!("turn {}", turn.id)),
        turn.asked_at.as_deref().unwrap_or("-"),
        painted(PATH, plain_line(&place)),
    )
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let line: String = line.chars().take(160).collect();
    plain_line(&line)
}

fn stats(settings: &Settings) -> anyhow::Result<Exit> {
    let stats = settings.open_read_only()?.ledger_stats()?;
    let mut out = Output::new();
    if settings.json {
        out.json(&stats)?;
    } else {
        for (name, number) in [
            ("transcripts", stats.transcripts),
            ("sessions", stats.sessions),
            ("turns", stats.turns),
            ("decisions", stats.decisions),
            ("files touched", stats.files),
            ("of them documents", stats.documents),
            ("failures of hooks", stats.failures),
        ] {
            writeln!(out, "{name:<18} {number:>8}")?;
        }
        for (tool, turns) in &stats.tools {
            writeln!(out, "tool {:<13} {turns:>8}", plain_line(tool))?;
        }
        for failure in &stats.last_failures {
            writeln!(out, "failed: {}", plain_line(failure))?;
        }
    }
    out.flush()?;
    Ok(Exit::Success)
}
