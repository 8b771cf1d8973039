//! What the process says when it ends: its exit code, and for a failure `error:` and `hint:` lines.

use std::io::ErrorKind;

use malha_engine::Error;
use malha_engine::cypher::Phase;
use malha_engine::language_model::ModelErrorKind;

use crate::ui;

/// Exit codes. Code 2 is clap's own too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Also a search without hits.
    Success = 0,
    Failure = 1,
    Usage = 2,
    /// A named thing is not there.
    NotFound = 3,
    /// The run went through, but some items failed.
    Partial = 4,
    /// The limit of spending was reached; running again goes on from there.
    Budget = 5,
    /// Another process holds the store.
    Busy = 75,
    Configuration = 78,
    Interrupted = 130,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// A failure that the command line itself found, with its code and advice.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Refusal {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            hint: None,
        }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

/// Prints what went wrong and what to do about it, and gives the exit code.
pub(crate) fn report(error: &anyhow::Error) -> Exit {
    if is_broken_pipe(error) {
        return Exit::Success;
    }
    let (exit, hint) = classify(error);
    ui::stderr::error(&describe(error));
    if let Some(hint) = hint {
        ui::stderr::hint(&hint);
    }
    exit
}

/// The error and its causes in one line. Many errors state their cause already; it is not said twice.
pub(crate) fn describe(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if message.is_empty() {
            message = cause;
        } else if !message.contains(&cause) {
            message.push_str(": ");
            message.push_str(&cause);
        }
    }
    message
}

fn classify(error: &anyhow::Error) -> (Exit, Option<String>) {
    if let Some(refusal) = error.downcast_ref::<Refusal>() {
        return (refusal.exit, refusal.hint.clone());
    }
    let Some(error) = error.downcast_ref::<Error>() else {
        let io = error.chain().find_map(|cause| cause.downcast_ref());
        return io.map_or((Exit::Failure, None), of_file);
    };
    let (exit, hint) = match error {
        Error::NotFound {
            kind: "relation type",
            ..
        } => (
            Exit::NotFound,
            "`malha sql \"SELECT name FROM relation_type\"` lists them",
        ),
        Error::NotFound { .. } => (
            Exit::NotFound,
            "`malha search` finds text; `malha graph hubs` lists the best connected names",
        ),
        // Its message says what to do.
        Error::Usage(_) => return (Exit::Usage, None),
        Error::Cypher(error) => (
            match error.phase {
                Phase::CompileTime => Exit::Usage,
                Phase::Runtime => Exit::Failure,
            },
            "`malha cypher 'CALL show_tables()'` lists labels and relationship types",
        ),
        Error::Busy { .. } => (
            Exit::Busy,
            "reading commands work meanwhile; `[index] lease_wait_ms` sets how long to wait",
        ),
        Error::Store { .. } => (
            Exit::Failure,
            "`malha doctor` says more; the store can always be rebuilt from its sources",
        ),
        Error::Io { source, .. } => return of_file(source),
        Error::Import { .. } => (
            Exit::Failure,
            "nothing of the file was imported; mend the line and run it again",
        ),
        Error::BudgetReached { .. } => (
            Exit::Budget,
            "what was paid for is kept; run the command again with a higher limit to go on",
        ),
        Error::Model(error) => (
            Exit::Failure,
            match error.kind {
                ModelErrorKind::Transient { .. } => {
                    "the model's server could not answer; try again later"
                }
                ModelErrorKind::Permanent => {
                    "check [models] in malha.toml: address, model and the variable of the key"
                }
                ModelErrorKind::Refused => {
                    "another model may answer: `fallback` under [models] in malha.toml names it"
                }
                ModelErrorKind::TooLong => {
                    "the question does not fit into the model's context; ask for less evidence"
                }
            },
        ),
        Error::Interrupted => (
            Exit::Interrupted,
            "what was done is kept; run the command again to go on",
        ),
        _ => return (Exit::Failure, None),
    };
    (exit, Some(hint.to_owned()))
}

/// A file or folder that is not there, or may not be used.
fn of_file(error: &std::io::Error) -> (Exit, Option<String>) {
    match error.kind() {
        ErrorKind::NotFound => (
            Exit::NotFound,
            Some("check the spelling of the path".to_owned()),
        ),
        ErrorKind::PermissionDenied => (
            Exit::Failure,
            Some("check the permissions of the path".to_owned()),
        ),
        _ => (Exit::Failure, None),
    }
}

/// Whoever read our stdout went away: that is their decision, not a failure.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|io| io.kind() == ErrorKind::BrokenPipe)
            || cause
                .downcast_ref::<serde_json::Error>()
                .is_some_and(|json| json.io_error_kind() == Some(ErrorKind::BrokenPipe))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_its_code() {
        let check = |error: anyhow::Error, expected| assert_eq!(classify(&error).0, expected);
        let not_found = Error::NotFound {
            kind: "entity",
            name: "Nobody".to_owned(),
        };
        check(not_found.into(), Exit::NotFound);
        check(Error::Usage("no".to_owned()).into(), Exit::Usage);
        check(Error::Interrupted.into(), Exit::Interrupted);
        let busy = Error::Busy {
            holder: "pid 1".to_owned(),
        };
        check(busy.into(), Exit::Busy);
        check(
            Refusal::new(Exit::Configuration, "bad").into(),
            Exit::Configuration,
        );
        check(anyhow::anyhow!("other"), Exit::Failure);
    }

    #[test]
    fn a_cause_is_said_once() {
        let denied = || std::io::Error::from(ErrorKind::PermissionDenied);
        let io = Error::Io {
            path: "a.db".into(),
            source: denied(),
        };
        let check = |error: anyhow::Error, expected: &str| assert_eq!(describe(&error), expected);
        check(io.into(), "a.db: permission denied");
        check(
            anyhow::Error::from(denied()).context("cannot watch a"),
            "cannot watch a: permission denied",
        );
    }

    #[test]
    fn broken_pipe_is_success() {
        let pipe = std::io::Error::from(ErrorKind::BrokenPipe);
        assert_eq!(report(&anyhow::Error::from(pipe)), Exit::Success);
    }
}
