//! The log of real searches, written when nobody waits for it any more.

use std::time::Duration;

use malha_engine::Engine;
use malha_engine::types::{SearchRequest, SearchResponse};

use crate::config::Settings;
use crate::ui::stderr;

/// Logs a search of the command line, whose results have been printed. What goes wrong costs no search: it is said
/// with `-v`.
pub(crate) fn after_search(
    engine: &Engine,
    settings: &Settings,
    request: &SearchRequest,
    response: &SearchResponse,
    took: Duration,
) {
    if !settings.engine.log_queries || !settings.times.is_present() {
        return;
    }
    let logged = engine.observe(request, response, took).and_then(|query| {
        Engine::open(&settings.store, settings.engine.clone())?.log_query(&query)
    });
    match logged {
        Ok(true) => {}
        Ok(false) => stderr::detail(
            settings.verbosity,
            "not logged: the store is being written, or does not know the namespace",
        ),
        Err(error) => stderr::detail(settings.verbosity, &format!("not logged: {error}")),
    }
}

/// Logs a search of the agent server beside its answer.
pub(crate) fn beside_answer(
    engine: &Engine,
    request: SearchRequest,
    response: SearchResponse,
    took: Duration,
) {
    if !engine.config().log_queries {
        return;
    }
    let engine = engine.at(malha_engine::types::Times::default());
    std::thread::spawn(move || {
        // A search goes unlogged rather than failing.
        if let Ok(query) = engine.observe(&request, &response, took) {
            let _ = engine.log_query(&query);
        }
    });
}
