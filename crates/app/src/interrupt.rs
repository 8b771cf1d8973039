//! Ctrl-C and termination: a run that writes stops at its next safe point, anything else stops at once.
//! Every write is a transaction, so the store stays whole either way.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::Exit;

static STOPPABLE: AtomicBool = AtomicBool::new(false);
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Installs the handler. Call once, first.
pub(crate) fn install() {
    // Without a handler Ctrl-C still ends the process; that is no reason to fail.
    let _ = ctrlc::set_handler(|| {
        let second_time = REQUESTED.swap(true, Ordering::SeqCst);
        if second_time || !STOPPABLE.load(Ordering::SeqCst) {
            std::process::exit(Exit::Interrupted as i32);
        }
    });
}

/// From now on the first Ctrl-C only asks; the run looks at [`requested`].
pub(crate) fn stop_at_safe_points() {
    STOPPABLE.store(true, Ordering::SeqCst);
}

/// True once the user wants the run to stop.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
