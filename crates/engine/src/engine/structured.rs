//! Requests for JSON: many at once, each asked once more when its reply cannot be used.

use crate::answer::repaired;
use crate::language_model::ChatRequest;
use crate::replies::{CachedModel, StoredReply, ask_all};
use crate::{Error, Result};

/// Why there is nothing to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unusable {
    pub reason: String,
    /// The model answered twice, and neither reply could be used: asking a third time would only cost.
    pub is_reply: bool,
    /// The limit of spending left no room.
    pub is_budget: bool,
}

/// What `read` makes of the replies, in the order of the requests. Replies that cannot be used stay on the bill.
///
/// # Errors
/// The store cannot be read or written.
pub(super) fn ask_structured<T>(
    model: &CachedModel<'_>,
    requests: &[ChatRequest],
    read: impl Fn(usize, &str) -> Result<T, String>,
) -> Result<Vec<Result<T, Unusable>>> {
    let take = |at: usize, reply: Result<StoredReply>| -> Result<Result<T, Unusable>> {
        match reply {
            Ok(reply) => match read(at, &reply.text) {
                Ok(value) => Ok(Ok(value)),
                Err(reason) => {
                    model.cache().reject(reply.id, &reason)?;
                    Ok(Err(Unusable {
                        reason,
                        is_reply: true,
                        is_budget: false,
                    }))
                }
            },
            Err(error @ (Error::Model(_) | Error::BudgetReached { .. })) => Ok(Err(Unusable {
                reason: error.to_string(),
                is_reply: false,
                is_budget: matches!(error, Error::BudgetReached { .. }),
            })),
            Err(error) => Err(error),
        }
    };
    let mut found: Vec<Result<T, Unusable>> = ask_all(model, requests, &())?
        .into_iter()
        .enumerate()
        .map(|(at, reply)| take(at, reply))
        .collect::<Result<_>>()?;
    let (again, places): (Vec<ChatRequest>, Vec<usize>) = requests
        .iter()
        .zip(&found)
        .enumerate()
        .filter_map(|(at, (request, found))| {
            let unusable = found.as_ref().err()?;
            let request = unusable
                .is_reply
                .then(|| repaired(request, &unusable.reason));
            Some((request?, at))
        })
        .unzip();
    for (reply, at) in ask_all(model, &again, &())?.into_iter().zip(places) {
        found[at] = take(at, reply)?;
    }
    Ok(found)
}
