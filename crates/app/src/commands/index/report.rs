//! What an indexing run did, in words.

use malha_engine::types::{IngestReport, ItemFailure, Skipped};

use crate::ui::stderr::{self, Verbosity};
use crate::ui::{DIM, PATH, count, painted, plain_line};

/// How many warnings are shown before the rest is only counted.
const WARNINGS_SHOWN: usize = 10;

/// Prints the summary of a run on stderr. Failures are always listed: nothing is lost silently.
pub(crate) fn summary(report: &IngestReport, verbosity: Verbosity) {
    for failure in &report.failed {
        stderr::failed(&place(failure), &failure.reason);
    }
    let shown = if verbosity >= Verbosity::Verbose {
        report.warnings.len()
    } else {
        WARNINGS_SHOWN
    };
    for warning in report.warnings.iter().take(shown) {
        let message = format!("{}: {}", place(warning), warning.reason);
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
    for line in lines(report) {
        stderr::note(verbosity, &line);
    }
}

fn lines(report: &IngestReport) -> Vec<String> {
    let files = count(report.seen as u64, "file", "files");
    let mut counts = vec![
        format!("{} read", report.read),
        format!("{} unchanged", report.unchanged),
        format!("{} skipped", report.skipped.len()),
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
    lines
}

/// A skipped file as a line of output.
pub(super) fn skipped_line(skipped: &Skipped) -> String {
    let uri = painted(PATH, plain_line(&skipped.uri));
    let reason = painted(DIM, plain_line(&skipped.reason));
    format!("{uri}  {reason}")
}

fn place(item: &ItemFailure) -> String {
    if item.line == 0 {
        item.uri.clone()
    } else {
        format!("{}:{}", item.uri, item.line)
    }
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
            skipped: vec![Skipped {
                uri: "a".to_owned(),
                reason: "empty".to_owned(),
            }],
            elapsed_ms: 240,
            ..IngestReport::default()
        };
        let lines = lines(&report);
        assert_eq!(
            lines[0],
            "1,200 files: 3 read, 1196 unchanged, 1 skipped, 0 failed (0.2 s)"
        );
        assert!(lines[1].starts_with("documents: 2 changed, 1 removed; "));
    }
}
