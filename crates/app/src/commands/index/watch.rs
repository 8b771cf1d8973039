//! `--watch`: wait for changes on disk and index them once they have settled.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::Context;
use malha_engine::Error;
use notify::{Event, EventKind, RecursiveMode, Watcher};

use crate::interrupt;
use crate::locate::STORE_FOLDER;
use crate::ui::stderr::{self, Verbosity};

/// How often Ctrl-C is looked at.
const TICK: Duration = Duration::from_millis(100);
/// A vault that never rests is indexed anyway after this long.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Calls `index` after every burst of changes, until the user interrupts.
pub(super) fn until_interrupted(
    roots: &[PathBuf],
    quiet: Duration,
    verbosity: Verbosity,
    mut index: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (sender, changes) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // An error means that events may be missing: index then, too.
        if event.as_ref().map_or(true, concerns_sources) {
            let _ = sender.send(());
        }
    })
    .context("cannot watch for changes")?;
    for root in roots {
        watcher
            .watch(root, RecursiveMode::Recursive)
            .with_context(|| format!("cannot watch {}", root.display()))?;
    }
    stderr::note(verbosity, "watching for changes; Ctrl-C ends it");
    while settled(&changes, quiet) {
        match index() {
            Err(error) if interrupted(&error) => return Ok(()),
            // Another process writing, a folder that vanished for a moment: the next change tries again.
            Err(error) => stderr::warning(verbosity, &format!("{error:#}")),
            Ok(()) => {}
        }
    }
    Ok(())
}

/// Waits for a change and then for quiet; false when the user interrupts.
fn settled(changes: &mpsc::Receiver<()>, quiet: Duration) -> bool {
    let mut first: Option<Instant> = None;
    let mut last = Instant::now();
    loop {
        if interrupt::requested() {
            return false;
        }
        match changes.recv_timeout(TICK.min(quiet)) {
            Ok(()) => {
                last = Instant::now();
                first.get_or_insert(last);
            }
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Some(first) = first
            && (last.elapsed() >= quiet || first.elapsed() >= LONGEST_WAIT)
        {
            return true;
        }
    }
}

/// Reading a file is no change, and our own store's writes are not the user's.
fn concerns_sources(event: &Event) -> bool {
    !matches!(event.kind, EventKind::Access(_))
        && !event.paths.iter().all(|path| in_store_folder(path))
}

fn in_store_folder(path: &Path) -> bool {
    path.components()
        .any(|part| part.as_os_str() == STORE_FOLDER)
}

fn interrupted(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Error::Interrupted))
}
