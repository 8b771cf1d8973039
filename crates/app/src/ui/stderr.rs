//! Everything that is no result. A closed stderr is nobody's failure, so errors of writing are dropped.

use std::io::{IsTerminal, Write};

use anstyle::{AnsiColor, Style};

use super::plain;
use super::style::{DIM, painted};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// How much is said on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Verbosity {
    /// Errors only.
    Quiet,
    #[default]
    Normal,
    Verbose,
    /// With the engine's own log.
    Debug,
}

impl Verbosity {
    pub(crate) fn new(quiet: bool, verbose: u8) -> Self {
        match (quiet, verbose) {
            (true, _) => Self::Quiet,
            (false, 0) => Self::Normal,
            (false, 1) => Self::Verbose,
            (false, _) => Self::Debug,
        }
    }
}

/// The engine's log, for those who asked for it.
#[cfg(not(feature = "otel"))]
pub(crate) struct Log;

#[cfg(not(feature = "otel"))]
impl Log {
    pub(crate) fn start(verbosity: Verbosity) -> Self {
        if verbosity >= Verbosity::Debug {
            tracing_subscriber::fmt()
                .with_writer(std::io::stderr)
                .with_max_level(tracing_subscriber::filter::LevelFilter::DEBUG)
                .with_ansi(false)
                .init();
        }
        Self
    }
}

pub(crate) fn error(message: &str) {
    line(&format!("{}: {}", painted(ERROR, "error"), plain(message)));
}

pub(crate) fn hint(message: &str) {
    line(&format!("{}: {}", painted(HINT, "hint"), plain(message)));
}

pub(crate) fn warning(verbosity: Verbosity, message: &str) {
    if verbosity > Verbosity::Quiet {
        line(&format!(
            "{}: {}",
            painted(WARNING, "warning"),
            plain(message)
        ));
    }
}

/// An item of a run that failed; the run itself went on.
pub(crate) fn failed(place: &str, reason: &str) {
    let (place, reason) = (plain(place), plain(reason));
    line(&format!("{}: {place}: {reason}", painted(ERROR, "failed")));
}

/// Something worth knowing that is no result.
pub(crate) fn note(verbosity: Verbosity, message: &str) {
    if verbosity > Verbosity::Quiet {
        line(&plain(message));
    }
}

/// Something for those who asked for more.
pub(crate) fn detail(verbosity: Verbosity, message: &str) {
    if verbosity >= Verbosity::Verbose {
        line(&painted(DIM, plain(message)));
    }
}

/// True when somebody watches: only then a progress bar is drawn.
pub(crate) fn is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

fn line(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}
