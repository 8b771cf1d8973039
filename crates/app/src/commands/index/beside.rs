//! Embedding in a thread of its own, beside a run that goes on indexing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use malha_engine::{Engine, Error, Progress, Stage};

use crate::commands::embed;
use crate::config::Settings;
use crate::interrupt;
use crate::ui::stderr;

/// How long to wait for a run that is indexing before another try.
const BUSY_PAUSE: Duration = Duration::from_millis(200);
/// The same after a failure of the model, first and at most; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

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
    let until = UntilEnded(AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| until_ended(&engine, woken, &until, settings));
        let embedding = Embedding { wake: &wake };
        embedding.go_on();
        let done = work(&embedding);
        until.0.store(true, Ordering::SeqCst);
        drop(wake);
        done
    })
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the channel ends with the thread"
)]
fn until_ended(engine: &Engine, woken: Receiver<()>, until: &UntilEnded, settings: &Settings) {
    let mut pause: Option<Duration> = None;
    let mut said = String::new();
    loop {
        let told = match pause {
            None => woken.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(pause) => woken.recv_timeout(pause),
        };
        if told == Err(RecvTimeoutError::Disconnected) || until.interrupted() {
            return;
        }
        pause = match engine.embed(until) {
            Ok(report) => {
                if report.embedded > 0 || !report.failed.is_empty() {
                    embed::show(&report, settings);
                }
                said.clear();
                None
            }
            Err(Error::Busy { .. } | Error::Interrupted) => Some(BUSY_PAUSE),
            Err(error) => {
                let message = format!("embedding: {error}; it is tried again");
                if message != said {
                    stderr::warning(settings.verbosity, &message);
                    said = message;
                }
                Some(pause.map_or(FIRST_PAUSE, |last| {
                    (2 * last).clamp(FIRST_PAUSE, LONGEST_PAUSE)
                }))
            }
        };
    }
}

/// Without a bar: the lines of the runs beside it would break it.
struct UntilEnded(AtomicBool);

impl Progress for UntilEnded {
    fn stage(&self, _: Stage, _: usize) {}

    fn advance(&self, _: usize) {}

    fn interrupted(&self) -> bool {
        interrupt::requested() || self.0.load(Ordering::SeqCst)
    }
}
