use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::cached_model::{CachedModel, StoredReply};
use super::reply_cache::lock;
use super::silence::Silence;
use crate::language_model::{ChatModel as _, ChatRequest, ModelError};
use crate::types::Progress;
use crate::{Error, Result};

/// Replies to many requests, in their order; as many at once as the model allows. What one of them costs no other.
/// An interruption leaves the rest unasked, and so does a model that answers nothing any more.
///
/// # Errors
/// The store cannot be written. Failures of the model are in the list.
pub fn ask_all(
    model: &CachedModel<'_>,
    requests: &[ChatRequest],
    progress: &dyn Progress,
) -> Result<Vec<Result<StoredReply>>> {
    let next = AtomicUsize::new(0);
    let replies: Mutex<Vec<Option<Result<StoredReply>>>> =
        Mutex::new(requests.iter().map(|_| None).collect());
    let silence = Mutex::new((Silence::default(), None));
    let ask = |request: &ChatRequest| {
        if let Some(error) = &lock(&silence).1 {
            return Err(Error::Model(ModelError::clone(error)));
        }
        let reply = model.ask(request, None, &mut |_| {});
        let mut silence = lock(&silence);
        match &reply {
            Ok(_) => silence.0.break_off(),
            Err(Error::Model(error)) if silence.0.goes_on(error.kind) => {
                silence.1 = Some(error.clone());
            }
            Err(_) => {}
        }
        drop(silence);
        reply
    };
    let span = tracing::Span::current();
    let threads = model.concurrency().clamp(1, requests.len().max(1));
    model.cache().renewing(|| {
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let _entered = span.enter();
                    while let Some((at, request)) = {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        requests.get(at).map(|request| (at, request))
                    } {
                        let reply = if progress.interrupted() {
                            Err(Error::Interrupted)
                        } else {
                            ask(request)
                        };
                        progress.advance(1);
                        lock(&replies)[at] = Some(reply);
                    }
                });
            }
        });
        Ok(())
    })?;
    let replies = std::mem::take(&mut *lock(&replies));
    Ok(replies
        .into_iter()
        .map(|reply| reply.expect("every request was asked"))
        .collect())
}
