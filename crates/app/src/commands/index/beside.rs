//! Embedding in a thread of its own, beside a run that goes on indexing.

use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::Duration;

use malha_engine::{Engine, Error, Progress, Stage};

use crate::commands::embed;
use crate::config::Settings;
use crate::interrupt;
use crate::ui::stderr;

/// How long to wait for a run that is indexing before storing vectors is tried again.
const PAUSE: Duration = Duration::from_millis(200);

/// The thread that makes vectors.
pub(super) struct Embedding<'a> {
    wake: &'a SyncSender<()>,
}

impl Embedding<'_> {
    /// There may be passages without a vector.
    pub(super) fn go_on(&self) {
        // Full means that it has been told already, closed that it has said why it ended.
        let _ = self.wake.try_send(());
    }
}

/// Makes vectors for what is there and for what `work` brings, until `work` ends or the user interrupts.
pub(super) fn embedding<T>(
    settings: &Settings,
    work: impl FnOnce(&Embedding<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    // An engine of its own: one store, two connections.
    let engine = settings.with_models(Engine::open(&settings.store, settings.engine.clone())?);
    let (wake, woken) = mpsc::sync_channel(1);
    std::thread::scope(|scope| {
        scope.spawn(|| until_closed(&engine, woken, settings));
        let embedding = Embedding { wake: &wake };
        embedding.go_on();
        let done = work(&embedding);
        drop(wake);
        done
    })
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the channel ends with the thread"
)]
fn until_closed(engine: &Engine, woken: Receiver<()>, settings: &Settings) {
    while woken.recv().is_ok() && !interrupt::requested() {
        loop {
            match engine.embed(&UntilInterrupted) {
                Err(Error::Busy { .. }) if !interrupt::requested() => std::thread::sleep(PAUSE),
                Err(error) => {
                    // The next change tries again.
                    stderr::warning(settings.verbosity, &format!("embedding: {error}"));
                    break;
                }
                Ok(report) => {
                    if report.embedded > 0 || !report.failed.is_empty() {
                        embed::show(&report, settings);
                    }
                    break;
                }
            }
        }
    }
}

/// Without a bar: the lines of the runs beside it would break it.
struct UntilInterrupted;

impl Progress for UntilInterrupted {
    fn stage(&self, _: Stage, _: usize) {}

    fn advance(&self, _: usize) {}

    fn interrupted(&self) -> bool {
        interrupt::requested()
    }
}
