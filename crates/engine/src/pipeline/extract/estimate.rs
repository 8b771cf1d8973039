//! What asking for all that is not stored yet would take.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::STEP;
use super::plan::Plan;
use crate::Result;
use crate::language_model::{ChatModel, ChatRequest};
use crate::replies::ReplyCache;
use crate::text::count_tokens;
use crate::types::ExtractEstimate;

/// Tokens of a reply for each of the passage, before there is a reply to learn from: gpt-4o-mini found 14 entities
/// and 9 relations in 1,000 tokens of prose (a `LightRAG` run over 199 passages), which take 1,800 in our format,
/// with a description of each entity and with fact and quote of each relation.
const REPLY_SHARE: f64 = 1.8;
/// Seconds of a call before one was measured: half a second, and what providers of small models write in a second
/// (gpt-4o-mini some 80 tokens; a model on a laptop a tenth of that).
const CALL_SECONDS: f64 = 0.5;
const TOKENS_PER_SECOND: f64 = 80.0;
/// Stored replies that are looked at: more would cost more than they teach.
const REPLIES: usize = 200;

/// Counts calls and tokens of asking about these positions of a plan, without sending anything.
pub(crate) fn estimate(
    plan: &Plan,
    wanted: &[usize],
    replies: &ReplyCache<'_>,
    model: &dyn ChatModel,
    seconds_per_call: Option<f64>,
) -> Result<ExtractEstimate> {
    let dropped = plan
        .items
        .iter()
        .filter(|item| plan.is_dropped(item))
        .count();
    let mut estimate = ExtractEstimate {
        passages: plan.items.len(),
        known: plan.items.len() - wanted.len() - dropped,
        ..ExtractEstimate::default()
    };
    let learned = learn(plan, replies, model)?;
    estimate.learned_from = learned.replies;
    let (mut input, mut output) = (0.0, 0.0);
    for call in plan.calls(wanted) {
        let request = match call[..] {
            [at] => plan.request(&plan.items[at]),
            _ => plan.together(&call),
        };
        let passages: usize = call
            .iter()
            .map(|&at| count_tokens(&plan.items[at].passage.text))
            .sum();
        let asked = tokens_of(&request) * learned.input;
        let answered = passages as f64 * learned.output.unwrap_or(REPLY_SHARE);
        estimate.calls += 1;
        input += asked;
        output += answered;
        if plan.settings().second_pass {
            // The first reply goes back with the second question.
            estimate.calls += 1;
            input += asked + answered;
            output += answered * learned.second;
        }
    }
    estimate.input_tokens = input as u64;
    estimate.output_tokens = output as u64;
    estimate.cost = replies
        .price(model.name())
        .map(|price| price.cost(estimate.input_tokens, estimate.output_tokens));
    estimate.seconds_are_measured = seconds_per_call.is_some();
    let each = seconds_per_call.unwrap_or_else(|| {
        CALL_SECONDS + output / (estimate.calls.max(1) as f64 * TOKENS_PER_SECOND)
    });
    let rounds = estimate.calls.div_ceil(model.concurrency().max(1) as u64);
    estimate.seconds = each * rounds as f64;
    estimate.not_counted = not_counted(plan);
    Ok(estimate)
}

/// Calls that nobody can foretell.
fn not_counted(plan: &Plan) -> Vec<String> {
    let settings = plan.settings();
    let mut calls = vec![
        "a reply that cannot be read is asked for once more, and a passage that does not fit in halves",
    ];
    if settings.judge {
        calls.push("names that may be one thing: one call for ten pairs");
    }
    if settings.summarize {
        calls.push("descriptions that outgrow their limit: one call each");
    }
    calls.into_iter().map(str::to_owned).collect()
}

/// What stored replies teach.
struct Learned {
    replies: usize,
    /// Tokens of prompts as the provider bills them, for each of ours.
    input: f64,
    /// Tokens of replies for each of the passage, as the provider bills them.
    output: Option<f64>,
    /// Tokens of second replies for each of the first ones.
    second: f64,
}

/// A stored reply about several passages.
#[derive(Default)]
struct Shared {
    /// Tokens of prompt and reply.
    billed: (u64, u64),
    /// Passages that were asked about.
    of: usize,
    /// Of those that are here: tokens, and number of the part with position in the plan.
    tokens: usize,
    members: Vec<(usize, usize)>,
}

fn learn(plan: &Plan, replies: &ReplyCache<'_>, model: &dyn ChatModel) -> Result<Learned> {
    let mut shared: BTreeMap<i64, Shared> = BTreeMap::new();
    let mut seen = FxHashSet::default();
    let (mut asked, mut billed) = (0.0, 0);
    let (mut passages, mut answered) = (0, 0);
    let (mut first, mut second) = (0, 0);
    for (at, item) in plan.items.iter().enumerate() {
        if seen.len() == REPLIES {
            break;
        }
        let request = plan.request(item);
        let Some(reply) = replies.peek_any(STEP, model.name(), &request)? else {
            continue;
        };
        seen.insert(reply.id);
        let tokens = count_tokens(&item.passage.text);
        if let Some(part) = reply.part {
            let known = shared.entry(reply.id).or_default();
            known.billed = (reply.input_tokens, reply.output_tokens);
            known.of = part.of;
            known.tokens += tokens;
            known.members.push((part.number, at));
            continue;
        }
        passages += tokens;
        answered += reply.output_tokens;
        asked += tokens_of(&request);
        billed += reply.input_tokens;
        let again = plan.again(&request, &reply.text);
        if let Some(again) = replies.peek(STEP, model.name(), &again)? {
            first += reply.output_tokens;
            second += again.output_tokens;
        }
    }
    for mut reply in shared.into_values() {
        // Passages that changed since are in the bill and not here.
        if reply.members.len() != reply.of {
            continue;
        }
        reply.members.sort_unstable();
        let positions: Vec<usize> = reply.members.iter().map(|&(_, at)| at).collect();
        asked += tokens_of(&plan.together(&positions));
        billed += reply.billed.0;
        passages += reply.tokens;
        answered += reply.billed.1;
    }
    let share = |part: u64, whole: f64| (whole > 0.0).then(|| part as f64 / whole);
    Ok(Learned {
        replies: seen.len(),
        input: share(billed, asked).unwrap_or(1.0),
        output: share(answered, passages as f64),
        second: share(second, first as f64).unwrap_or(1.0),
    })
}

fn tokens_of(request: &ChatRequest) -> f64 {
    let texts = request.messages.iter().map(|message| &message.text);
    texts.map(|text| count_tokens(text)).sum::<usize>() as f64
}
