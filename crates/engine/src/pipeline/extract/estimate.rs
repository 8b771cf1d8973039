//! What asking for all that is not stored yet would take.

use super::plan::{Derived, Plan};
use crate::Result;
use crate::language_model::ChatModel;
use crate::replies::ReplyCache;
use crate::storage::PastCalls;
use crate::text::count_tokens;
use crate::types::ExtractEstimate;

/// Tokens of a reply for each of the passage, before there is a reply to learn from: gpt-4o-mini found nine
/// entities and ten relations in 1,200 tokens of prose (a `LightRAG` run over 199 passages), which take 0.75 in our
/// format.
const REPLY_SHARE: f64 = 0.75;

/// Counts calls and tokens without sending anything.
pub(crate) fn estimate(
    plan: &Plan,
    replies: &ReplyCache<'_>,
    model: &dyn ChatModel,
    past: &PastCalls,
) -> Result<ExtractEstimate> {
    let mut estimate = ExtractEstimate {
        passages: plan.items.len(),
        ..ExtractEstimate::default()
    };
    let passes = if plan.settings().second_pass { 2 } else { 1 };
    for item in &plan.items {
        if plan.is_dropped(item) {
            continue;
        }
        if matches!(plan.derive(replies, item)?, Derived::Read { .. }) {
            estimate.known += 1;
            continue;
        }
        let messages = plan.request(item).messages;
        let input: usize = messages
            .iter()
            .map(|message| count_tokens(&message.text))
            .sum();
        let output = past.output_share.map_or_else(
            || count_tokens(&item.passage.text) as f64 * REPLY_SHARE,
            |share| share * input as f64,
        );
        estimate.calls += passes;
        estimate.input_tokens += input as u64;
        estimate.output_tokens += output as u64;
        if passes == 2 {
            // The first reply goes back with the second question.
            estimate.input_tokens += input as u64 + output as u64;
        }
    }
    estimate.cost = replies
        .price(model.name())
        .map(|price| price.cost(estimate.input_tokens, estimate.output_tokens));
    estimate.seconds = past
        .seconds_per_call
        .map(|seconds| seconds * estimate.calls as f64 / model.concurrency().max(1) as f64);
    Ok(estimate)
}
