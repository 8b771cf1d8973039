//! What else a model is asked once the passages are read: which names are one thing, and one description out of
//! many. Both only where the settings say so, and every answer is stored.

use std::collections::BTreeSet;

use rusqlite::Connection;

use super::plan::Plan;
use super::read::{Read, gather, identity_of};
use crate::extraction::{JudgedName, Prompts, judge_request, read_verdicts, summary_request};
use crate::language_model::{ChatModel, ChatRequest};
use crate::replies::{CachedModel, ReplyCache, StoredReply, ask_all};
use crate::resolution::Named;
use crate::storage::{self, MergeRow};
use crate::types::{Progress, Stage};
use crate::{Error, Result};

/// Lines of the bill.
pub(crate) const JUDGE: &str = "resolution";
pub(crate) const SUMMARY: &str = "summary";
/// Pairs of one question.
const PAIRS: usize = 10;
/// Relations of a name that a question shows.
const TIES_SHOWN: usize = 3;

/// A pair that nobody has decided.
pub(crate) struct OpenPair {
    row: MergeRow,
    names: (JudgedName, JudgedName),
}

/// What a model said of a pair; `None`: it does not know either.
pub(crate) type Verdict = (MergeRow, Option<bool>);

/// The pairs that neither a person nor a model was asked about.
pub(crate) fn open_pairs(
    connection: &Connection,
    namespace: i64,
    plan: &Plan,
    read: &Read,
) -> Result<Vec<OpenPair>> {
    let asked: BTreeSet<(String, String)> = storage::merge_decisions(connection, namespace)?
        .into_iter()
        .map(|(low, high, _)| (low, high))
        .collect();
    let identity = identity_of(connection, namespace, plan, read)?;
    let pairs = identity
        .open_pairs()
        .into_iter()
        .filter(|(row, ..)| !asked.contains(&row.pair));
    Ok(pairs
        .map(|(row, one, other)| {
            let judged = |name: &str, about: &Named| JudgedName {
                name: name.to_owned(),
                about: about_name(about),
            };
            OpenPair {
                names: (judged(&row.shown.0, one), judged(&row.shown.1, other)),
                row,
            }
        })
        .collect())
}

/// Types, description and a few relations of a name.
fn about_name(name: &Named) -> String {
    let mut parts: Vec<String> = Vec::new();
    if !name.kinds.is_empty() {
        parts.push(name.kinds.iter().cloned().collect::<Vec<_>>().join(", "));
    }
    parts.extend(name.description.clone());
    parts.extend(
        name.ties
            .iter()
            .take(TIES_SHOWN)
            .map(|(kind, leads_away, end)| {
                if *leads_away {
                    format!("{kind} → {end}")
                } else {
                    format!("{end} → {kind}")
                }
            }),
    );
    parts.join("; ")
}

/// Asks about all pairs. What went wrong is in `warnings`; those pairs stay open.
///
/// # Errors
/// The store fails, the budget is used up, or the user wants to stop: with what was said so far lost to no one,
/// since replies are stored.
pub(crate) fn judge(
    pairs: &[OpenPair],
    prompts: &Prompts,
    model: &dyn ChatModel,
    replies: &ReplyCache<'_>,
    progress: &dyn Progress,
    warnings: &mut Vec<String>,
) -> Result<Vec<Verdict>> {
    let batches: Vec<&[OpenPair]> = pairs.chunks(PAIRS).collect();
    let requests: Vec<ChatRequest> = batches
        .iter()
        .map(|batch| {
            let names: Vec<_> = batch.iter().map(|pair| pair.names.clone()).collect();
            judge_request(prompts, &names)
        })
        .collect();
    let mut verdicts = Vec::new();
    for (batch, reply) in batches
        .iter()
        .zip(ask(&requests, JUDGE, model, replies, progress)?)
    {
        let said = reply.and_then(|reply| {
            read_verdicts(&reply.text, batch.len()).or_else(|reason| {
                replies
                    .reject(reply.id, &reason)
                    .map_err(|error| error.to_string())?;
                Err(reason)
            })
        });
        match said {
            Ok(said) => {
                let rows = batch.iter().map(|pair| pair.row.clone());
                verdicts.extend(rows.zip(said));
            }
            Err(reason) => warnings.push(format!(
                "{} pairs of names were not judged: {reason}",
                batch.len()
            )),
        }
    }
    Ok(verdicts)
}

/// A description that is longer than what is kept, and the question about it.
pub(crate) struct LongDescription {
    /// Of the entity.
    pub(crate) key: String,
    pub(crate) request: ChatRequest,
}

/// Entities that passages say more of than fits.
pub(crate) fn long_descriptions(
    connection: &Connection,
    namespace: i64,
    plan: &Plan,
    read: &Read,
) -> Result<Vec<LongDescription>> {
    let prompts = Prompts::new(&plan.settings().prompts).map_err(Error::Usage)?;
    let (gathered, ..) = gather(connection, namespace, plan, read)?;
    let long = gathered
        .entities
        .iter()
        .filter(|(_, entity)| entity.is_long());
    Ok(long
        .map(|(key, entity)| LongDescription {
            key: key.clone(),
            request: summary_request(
                &prompts,
                plan.settings().language.as_deref(),
                entity.shown(key),
                &entity.distinct_descriptions(),
            ),
        })
        .collect())
}

/// Asks for all summaries; what went wrong is in `warnings`, and those descriptions are cut instead.
pub(crate) fn summarize(
    long: &[LongDescription],
    model: &dyn ChatModel,
    replies: &ReplyCache<'_>,
    progress: &dyn Progress,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let requests: Vec<ChatRequest> = long.iter().map(|long| long.request.clone()).collect();
    for (long, reply) in long
        .iter()
        .zip(ask(&requests, SUMMARY, model, replies, progress)?)
    {
        if let Err(reason) = reply {
            warnings.push(format!(
                "{}: its descriptions were not summarised: {reason}",
                long.key
            ));
        }
    }
    Ok(())
}

/// Asks every question; a failure of the model costs only its own answer.
fn ask(
    requests: &[ChatRequest],
    step: &'static str,
    model: &dyn ChatModel,
    replies: &ReplyCache<'_>,
    progress: &dyn Progress,
) -> Result<Vec<Result<StoredReply, String>>> {
    progress.stage(Stage::Extract, requests.len());
    let model = CachedModel::new(model, replies, step);
    ask_all(&model, requests, progress)?
        .into_iter()
        .map(|answer| match answer {
            Ok(reply) => Ok(Ok(reply)),
            Err(Error::Model(error)) => Ok(Err(error.to_string())),
            Err(error) => Err(error),
        })
        .collect()
}
