use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use malha_engine::{Progress, Stage};

use super::stderr::{self, Verbosity};
use crate::interrupt;

/// Progress of an indexing run: a bar on stderr when that is a terminal, and the user's Ctrl-C.
pub(crate) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    pub(crate) fn new(verbosity: Verbosity) -> Self {
        let bar = if verbosity > Verbosity::Quiet && stderr::is_terminal() {
            ProgressBar::new(0)
        } else {
            ProgressBar::hidden()
        };
        Self { bar }
    }

    /// Removes the bar; what was printed above it stays.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Bar {
    fn stage(&self, stage: Stage, items: usize) {
        let template = if items == 0 {
            "{spinner} {msg}"
        } else {
            "{spinner} {msg:<18} {bar:30} {pos}/{len}  {per_sec:.dim}"
        };
        self.bar.reset();
        self.bar.set_style(
            ProgressStyle::with_template(template)
                .expect("the templates are constants")
                .progress_chars("━╸─"),
        );
        self.bar.set_length(items as u64);
        self.bar.set_message(match stage {
            Stage::Walk => "looking for files",
            Stage::Read => "reading",
            Stage::Match => "finding names",
            Stage::Relate => "linking",
            Stage::Extract => "asking the model",
            Stage::Snapshot => "packing the graph",
            Stage::Embed => "embedding",
            Stage::Neighbours => "joining neighbours",
            Stage::Synonyms => "comparing names",
        });
        self.bar.enable_steady_tick(Duration::from_millis(120));
    }

    fn advance(&self, items: usize) {
        self.bar.inc(items as u64);
    }

    fn interrupted(&self) -> bool {
        interrupt::requested()
    }
}
