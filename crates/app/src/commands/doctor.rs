//! `malha doctor`: is everything in good order, and if not, what to do.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use malha_engine::Engine;
use serde::Serialize;

use crate::config::Settings;
use crate::exit::Exit;
use crate::ui::{DIM, Output, count, painted, plain_line};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    state: State,
    message: String,
    /// What to do about it; empty when nothing needs doing.
    advice: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Good,
    /// Works, but worth a look.
    Notice,
    Bad,
}

pub(crate) fn run(_args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let findings = examine(settings);
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
    let mut findings = vec![configuration(settings)];
    let engine = match settings.open_read_only() {
        Ok(engine) => engine,
        Err(error) => {
            let advice = "`malha index` makes a new store from your notes; a damaged one can be moved away first";
            findings.push(bad("store", format!("{error:#}"), advice));
            return findings;
        }
    };
    findings.push(good("store", settings.store.display().to_string()));
    let checks = [
        ("integrity", integrity as fn(&Engine) -> malha_engine::Result<Finding>),
        ("sources", sources),
        ("freshness", freshness),
        ("files", files),
        ("links", links),
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

fn integrity(engine: &Engine) -> malha_engine::Result<Finding> {
    let problems = engine.check()?;
    Ok(if problems.is_empty() {
        good("integrity", "the store is whole".to_owned())
    } else {
        let advice = "make a backup, then remove the store and run `malha index`";
        bad("integrity", problems.join("; "), advice)
    })
}

fn sources(engine: &Engine) -> malha_engine::Result<Finding> {
    let roots: Vec<_> = engine.sources()?.into_iter().map(|source| source.root).collect();
    let missing: Vec<String> = roots
        .iter()
        .filter(|root| !root.exists())
        .map(|root| root.display().to_string())
        .collect();
    Ok(if roots.is_empty() {
        notice("sources", "nothing is indexed yet".to_owned(), "run `malha index`")
    } else if missing.is_empty() {
        let roots: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
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
        notice("files", message, "`malha index` lists the failed ones again when they change")
    })
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
    }
}

fn notice(what: &'static str, message: String, advice: &str) -> Finding {
    Finding {
        what,
        state: State::Notice,
        message,
        advice: advice.to_owned(),
    }
}

fn bad(what: &'static str, message: String, advice: &str) -> Finding {
    Finding {
        what,
        state: State::Bad,
        message,
        advice: advice.to_owned(),
    }
}

fn write_finding(out: &mut impl Write, finding: &Finding) -> io::Result<()> {
    let (mark, style): (_, Style) = match finding.state {
        State::Good => ("good", AnsiColor::Green.on_default()),
        State::Notice => ("note", AnsiColor::Yellow.on_default()),
        State::Bad => ("bad ", AnsiColor::Red.on_default().bold()),
    };
    let message = plain_line(&finding.message);
    writeln!(out, "{}  {:<13}  {message}", painted(style, mark), finding.what)?;
    if !finding.advice.is_empty() {
        writeln!(out, "{:21}{}", "", painted(DIM, &finding.advice))?;
    }
    Ok(())
}
