//! What an indexing run did, in words.

use malha_engine::Engine;
use malha_engine::types::{IngestReport, Issue, IssueSeverity, ItemFailure};

use crate::ui::stderr::{self, Verbosity};
use crate::ui::{DIM, PATH, count, painted, place, plain_line};

/// How many warnings are shown before the rest is only counted.
const WARNINGS_SHOWN: usize = 10;

/// What stands in the store of files that this run and earlier ones left out.
pub(crate) struct Standing {
    /// Files and folders that were left out, by uri.
    pub(super) skipped: Vec<Issue>,
    /// Files that failed in an earlier run and have not changed since.
    failed_before: usize,
}

impl Standing {
    pub(crate) fn after(report: &IngestReport, engine: &Engine) -> malha_engine::Result<Self> {
        let issues = engine.issues()?;
        let is_new = |issue: &Issue| {
            let mut failed = report.failed.iter();
            failed.any(|failure| (&failure.uri, failure.line) == (&issue.uri, issue.line))
        };
        let of = |severity| {
            issues
                .iter()
                .filter(move |issue| issue.severity == severity)
        };
        Ok(Self {
            failed_before: of(IssueSeverity::Failed)
                .filter(|issue| !is_new(issue))
                .count(),
            skipped: of(IssueSeverity::Skipped).cloned().collect(),
        })
    }
}

/// Prints the summary of a run on stderr. Failures are always listed: nothing is lost silently.
pub(crate) fn summary(report: &IngestReport, standing: &Standing, verbosity: Verbosity) {
    for failure in &report.failed {
        stderr::failed(&place_of(failure), &failure.reason);
    }
    let shown = if verbosity >= Verbosity::Verbose {
        report.warnings.len()
    } else {
        WARNINGS_SHOWN
    };
    for warning in report.warnings.iter().take(shown) {
        let message = format!("{}: {}", place_of(warning), warning.reason);
        stderr::warning(verbosity, &message);
    }
    if report.warnings.len() > shown {
        let more = count(
            (report.warnings.len() - shown) as u64,
            "more warning",
            "more warnings",
        );
        stderr::note(verbosity, &format!("{more}; -v shows them"));
    }
    for line in lines(report, standing) {
        stderr::note(verbosity, &line);
    }
}

fn lines(report: &IngestReport, standing: &Standing) -> Vec<String> {
    let files = count(report.seen as u64, "file", "files");
    let mut counts = vec![
        format!("{} read", report.read),
        format!("{} unchanged", report.unchanged),
        format!("{} skipped", standing.skipped.len()),
        format!("{} failed", report.failed.len()),
    ];
    if !report.warnings.is_empty() {
        let warnings = count(report.warnings.len() as u64, "warning", "warnings");
        counts.push(warnings);
    }
    let seconds = report.elapsed_ms as f64 / 1000.0;
    let mut lines = vec![format!("{files}: {} ({seconds:.1} s)", counts.join(", "))];
    let changes: Vec<String> = [
        ("added", report.added),
        ("changed", report.changed),
        ("renamed", report.renamed),
        ("removed", report.removed),
    ]
    .iter()
    .filter(|(_, number)| *number > 0)
    .map(|(what, number)| format!("{number} {what}"))
    .collect();
    if changes.is_empty() {
        lines.push("nothing has changed".to_owned());
    } else {
        lines.push(format!(
            "documents: {}; passages: +{} −{}; relations: +{} −{}; entities: +{} −{}",
            changes.join(", "),
            report.chunks_added,
            report.chunks_closed,
            report.relations_added,
            report.relations_closed,
            report.entities_added,
            report.entities_removed,
        ));
    }
    if standing.failed_before > 0 {
        let files = count(standing.failed_before as u64, "failure", "failures");
        lines.push(format!(
            "{files} of earlier runs in files that are unchanged; `malha doctor` lists them"
        ));
    }
    lines
}

/// A skipped file as a line of output.
pub(super) fn skipped_line(skipped: &Issue) -> String {
    let uri = painted(PATH, plain_line(&skipped.uri));
    let reason = painted(DIM, plain_line(&skipped.reason));
    format!("{uri}  {reason}")
}

fn place_of(item: &ItemFailure) -> String {
    place(&item.uri, item.line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_counts_everything() {
        let report = IngestReport {
            seen: 1200,
            read: 3,
            unchanged: 1196,
            changed: 2,
            removed: 1,
            elapsed_ms: 240,
            ..IngestReport::default()
        };
        let standing = Standing {
            skipped: vec![Issue {
                severity: IssueSeverity::Skipped,
                uri: "a".to_owned(),
                line: 0,
                reason: "empty".to_owned(),
            }],
            failed_before: 2,
        };
        let lines = lines(&report, &standing);
        assert_eq!(
            lines[0],
            "1,200 files: 3 read, 1196 unchanged, 1 skipped, 0 failed (0.2 s)"
        );
        assert!(lines[1].starts_with("documents: 2 changed, 1 removed; "));
        assert!(lines[2].starts_with("2 failures of earlier runs"));
    }
}
