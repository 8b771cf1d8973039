//! `malha doctor`: is everything in good order, and if not, what to do.

mod models;

use std::fmt::Write as _;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use malha_engine::Engine;
use malha_engine::types::IssueSeverity;
use serde::Serialize;

use crate::config::Settings;
use crate::exit::{Exit, describe};
use crate::ui::{DIM, Output, count, painted, place, plain_line};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Ask every configured chat model for one word, to see whether it answers
    #[arg(long)]
    models: bool,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    state: State,
    message: String,
    /// What to do about it; empty when nothing needs doing.
    advice: String,
    /// The single things meant, one a line.
    details: Vec<String>,
}

/// Details shown to people; JSON has all of them.
const DETAILS_SHOWN: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Good,
    /// Works, but worth a look.
    Notice,
    Bad,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let mut findings = examine(settings);
    if args.models {
        findings.extend(models::answering(settings));
    }
    let mut out = Output::new();
    if settings.json {
        out.json(&findings)?;
    } else {
        for finding in &findings {
            write_finding(&mut out, finding)?;
        }
    }
    out.flush()?;
    let bad = findings.iter().any(|finding| finding.state == State::Bad);
    Ok(if bad { Exit::Failure } else { Exit::Success })
}

fn examine(settings: &Settings) -> Vec<Finding> {
    let mut findings = vec![configuration(settings), models::configured(settings)];
    let engine = match settings.open_read_only() {
        Ok(engine) => engine,
        Err(error) => {
            let advice = "`malha index` makes a new store from your notes; a damaged one can be moved away first";
            findings.push(bad("store", describe(&error), advice));
            return findings;
        }
    };
    let checks = [
        (
            "store",
            store as fn(&Engine) -> malha_engine::Result<Finding>,
        ),
        ("integrity", integrity),
        ("sources", sources),
        ("freshness", freshness),
        ("files", files),
        ("links", links),
        ("vectors", vectors),
    ];
    for (what, check) in checks {
        let finding = check(&engine);
        findings.push(finding.unwrap_or_else(|error| bad(what, error.to_string(), "")));
    }
    findings
}

fn configuration(settings: &Settings) -> Finding {
    let message = settings.config_file.as_ref().map_or_else(
        || "no malha.toml: defaults".to_owned(),
        |file| file.display().to_string(),
    );
    good("configuration", message)
}

fn store(engine: &Engine) -> malha_engine::Result<Finding> {
    let condition = engine.condition()?;
    let path = condition.path.unwrap_or_default();
    let mut message = format!(
        "{}, {:.1} MB, format {}, generation {}, SQLite {}",
        path.display(),
        condition.bytes as f64 / 1e6,
        condition.format,
        condition.generation,
        condition.sqlite,
    );
    if let Some(writer) = condition.writer {
        let _ = write!(message, "; being written by {writer}");
    }
    let namespaces = condition.namespaces.join(", ");
    if condition.namespaces.len() > 1 {
        let _ = write!(message, "; namespaces {namespaces}");
    }
    Ok(good("store", message))
}

fn integrity(engine: &Engine) -> malha_engine::Result<Finding> {
    let found = engine.verify()?;
    Ok(if found.violations.is_empty() {
        let checks = count(found.checks as u64, "check", "checks");
        good("integrity", format!("the store is whole ({checks})"))
    } else {
        let number = count(found.violations.len() as u64, "rule is", "rules are");
        let advice =
            "`malha verify` lists them; make a backup, remove the store, run `malha index`";
        bad("integrity", format!("{number} broken"), advice)
    })
}

fn sources(engine: &Engine) -> malha_engine::Result<Finding> {
    let roots: Vec<_> = engine
        .sources()?
        .into_iter()
        .map(|source| source.root)
        .collect();
    let missing: Vec<String> = roots
        .iter()
        .filter(|root| !root.exists())
        .map(|root| root.display().to_string())
        .collect();
    Ok(if roots.is_empty() {
        notice(
            "sources",
            "nothing is indexed yet".to_owned(),
            "run `malha index`",
        )
    } else if missing.is_empty() {
        let roots: Vec<String> = roots
            .iter()
            .map(|root| root.display().to_string())
            .collect();
        good("sources", roots.join(", "))
    } else {
        let advice = "what they held stays searchable until they are indexed again";
        notice("sources", format!("gone: {}", missing.join(", ")), advice)
    })
}

fn freshness(engine: &Engine) -> malha_engine::Result<Finding> {
    let stale = engine.stale()? as u64;
    Ok(if stale == 0 {
        good("freshness", "the store is up to date".to_owned())
    } else {
        let files = count(stale, "file", "files");
        let message = format!("{files} changed since indexing");
        notice("freshness", message, "`malha index` reads them")
    })
}

fn files(engine: &Engine) -> malha_engine::Result<Finding> {
    let stats = engine.stats()?;
    let message = format!(
        "{} in the store; {} skipped, {} failed, {}",
        count(stats.documents, "document", "documents"),
        stats.issues_skipped,
        stats.issues_failed,
        count(stats.issues_warning, "warning", "warnings"),
    );
    Ok(if stats.issues_failed == 0 {
        good("files", message)
    } else {
        let failed: Vec<String> = engine
            .issues()?
            .into_iter()
            .filter(|issue| issue.severity == IssueSeverity::Failed)
            .map(|issue| format!("{}: {}", place(&issue.uri, issue.line), issue.reason))
            .collect();
        Finding {
            details: failed,
            ..notice(
                "files",
                message,
                "mend them and index again, or exclude them in `.malhaignore`",
            )
        }
    })
}

fn vectors(engine: &Engine) -> malha_engine::Result<Finding> {
    let Some(state) = engine.embedding_state()? else {
        return Ok(good("vectors", "none; `malha embed` makes them".to_owned()));
    };
    let made = count(state.vectors as u64, "vector", "vectors");
    let mut message = format!("{made} of {}", state.space.model);
    if let Some((model, missing)) = state.building {
        let missing = count(missing as u64, "passage", "passages");
        let _ = write!(
            message,
            "; those of {model} still lack {missing}, `malha reembed` goes on"
        );
    }
    if state.missing == 0 {
        return Ok(good("vectors", message));
    }
    let missing = count(state.missing as u64, "passage has", "passages have");
    let _ = write!(message, "; {missing} none");
    if state.failed > 0 {
        let _ = write!(message, ", the model failed on {}", state.failed);
    }
    Ok(notice(
        "vectors",
        message,
        "`malha embed` makes what is missing",
    ))
}

fn links(engine: &Engine) -> malha_engine::Result<Finding> {
    let stats = engine.stats()?;
    let message = format!(
        "{} resolved, {} to no note, {} to several",
        stats.links_resolved, stats.links_unresolved, stats.links_ambiguous
    );
    Ok(if stats.links_unresolved + stats.links_ambiguous == 0 {
        good("links", message)
    } else {
        notice("links", message, "`malha graph unresolved` lists them")
    })
}

fn good(what: &'static str, message: String) -> Finding {
    Finding {
        what,
        state: State::Good,
        message,
        advice: String::new(),
        details: Vec::new(),
    }
}

fn notice(what: &'static str, message: String, advice: &str) -> Finding {
    Finding {
        what,
        state: State::Notice,
        message,
        advice: advice.to_owned(),
        details: Vec::new(),
    }
}

fn bad(what: &'static str, message: String, advice: &str) -> Finding {
    Finding {
        what,
        state: State::Bad,
        message,
        advice: advice.to_owned(),
        details: Vec::new(),
    }
}

fn write_finding(out: &mut impl Write, finding: &Finding) -> io::Result<()> {
    let (mark, style): (_, Style) = match finding.state {
        State::Good => ("good", AnsiColor::Green.on_default()),
        State::Notice => ("note", AnsiColor::Yellow.on_default()),
        State::Bad => ("bad ", AnsiColor::Red.on_default().bold()),
    };
    let message = plain_line(&finding.message);
    writeln!(
        out,
        "{}  {:<13}  {message}",
        painted(style, mark),
        finding.what
    )?;
    let mut line = |text: &str| writeln!(out, "{:21}{}", "", painted(DIM, plain_line(text)));
    for detail in finding.details.iter().take(DETAILS_SHOWN) {
        line(detail)?;
    }
    if finding.details.len() > DETAILS_SHOWN {
        let more = finding.details.len() - DETAILS_SHOWN;
        line(&format!("and {more} more; --json lists all"))?;
    }
    if !finding.advice.is_empty() {
        line(&finding.advice)?;
    }
    Ok(())
}
