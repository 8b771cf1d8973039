use std::cell::LazyCell;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::reply_cache::{Claim, ReplyCache};
use super::spending::Reservation;
use crate::language_model::{ChatModel, ChatReply, ChatRequest, ModelError, ModelErrorKind, Role};
use crate::storage::{CallValues, Member};
use crate::text::count_tokens;
use crate::types::{ModelPrice, ReplyPart, Spent};
use crate::{Error, Result};

/// Pause between two looks at a call that another process is making.
const POLL: Duration = Duration::from_millis(100);

/// A chat model whose replies are stored, for one step of the work.
#[derive(Clone, Copy)]
pub struct CachedModel<'a> {
    model: &'a dyn ChatModel,
    cache: &'a ReplyCache<'a>,
    step: &'static str,
}

/// A reply that is in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredReply {
    /// What [`ReplyCache::reject`] knows it by.
    pub id: i64,
    pub text: String,
    /// The model that answered.
    pub model: String,
    /// As the provider counted, or as we do where it does not say.
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub is_truncated: bool,
    /// Nothing was paid this time.
    pub is_cached: bool,
    /// Which part of it answers, where several requests were asked together.
    pub part: Option<ReplyPart>,
}

impl<'a> CachedModel<'a> {
    /// `model` behind `cache`; `step` is the line of the bill (`extraction`, `report`, `answer` …) and part
    /// of the key.
    pub fn new(model: &'a dyn ChatModel, cache: &'a ReplyCache<'a>, step: &'static str) -> Self {
        Self { model, cache, step }
    }

    /// The cache in front of the model.
    pub fn cache(&self) -> &'a ReplyCache<'a> {
        self.cache
    }

    /// The stored reply to this request, if there is one that can be used.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn peek(&self, request: &ChatRequest) -> Result<Option<StoredReply>> {
        self.cache.peek(self.step, self.model.name(), request)
    }

    /// The stored reply, or a new one, which is stored before this returns. Waits while another process
    /// asks the same. `document` is the uri that the bill names.
    ///
    /// # Errors
    /// [`Error::Model`] when the model gave no answer, [`Error::BudgetReached`] when the limit leaves no
    /// room for the call, [`Error::Interrupted`] when it is not to be asked any more ([`ReplyCache::until`]).
    pub fn ask(
        &self,
        request: &ChatRequest,
        document: Option<&str>,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<StoredReply> {
        loop {
            if let Some(reply) = self.try_ask(request, document, on_text)? {
                return Ok(reply);
            }
            std::thread::sleep(POLL);
        }
    }

    /// [`CachedModel::ask`], but `None` at once when another process is asking the same.
    ///
    /// # Errors
    /// As [`CachedModel::ask`].
    pub fn try_ask(
        &self,
        request: &ChatRequest,
        document: Option<&str>,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<Option<StoredReply>> {
        self.claim_and_ask(request, document, on_text, false)
    }

    /// [`CachedModel::try_ask`], content with the reply to several requests, this one among them.
    ///
    /// # Errors
    /// As [`CachedModel::ask`].
    pub fn try_ask_any(
        &self,
        request: &ChatRequest,
        document: Option<&str>,
    ) -> Result<Option<StoredReply>> {
        self.claim_and_ask(request, document, &mut |_| {}, true)
    }

    fn claim_and_ask(
        &self,
        request: &ChatRequest,
        document: Option<&str>,
        on_text: &mut dyn FnMut(&str),
        any: bool,
    ) -> Result<Option<StoredReply>> {
        self.cache.cancel.go_on()?;
        let key = key(self.step, self.model.name(), request);
        match self.cache.find_or_claim(&key, any)? {
            None => Ok(None),
            Some(Claim::Stored(row)) => {
                // A part is used once by each request that it answers.
                if row.part.is_none() {
                    self.cache.count_hit(row.id, self.step);
                }
                let reply = stored(row);
                on_text(&reply.text);
                Ok(Some(reply))
            }
            Some(Claim::Ours) => self.call(&key, &[], request, document, on_text).map(Some),
        }
    }

    /// Asks about those of `singles`, each with the uri of its document, that nobody has a reply to or is asking about,
    /// with the one request that `together` makes of their positions. Each of them is then answered by its part of the
    /// reply ([`ReplyCache::peek_any`]). Does nothing where fewer than two are left.
    ///
    /// # Errors
    /// As [`CachedModel::ask`].
    pub fn ask_together(
        &self,
        singles: &[(ChatRequest, &str)],
        together: &dyn Fn(&[usize]) -> ChatRequest,
    ) -> Result<()> {
        self.cache.cancel.go_on()?;
        let of = |request| key(self.step, self.model.name(), request);
        let keys: Vec<[u8; 32]> = singles.iter().map(|(request, _)| of(request)).collect();
        let ours = self.cache.claim_open(&keys)?;
        if ours.len() < 2 {
            let claimed: Vec<[u8; 32]> = ours.iter().map(|&at| keys[at]).collect();
            return self.cache.release(&claimed);
        }
        let members: Vec<Member> = ours
            .iter()
            .map(|&at| Member {
                key: keys[at],
                document: singles[at].1.to_owned(),
            })
            .collect();
        let first = singles[ours[0]].1;
        let is_one = ours.iter().all(|&at| singles[at].1 == first);
        let document = is_one.then_some(first);
        let request = together(&ours);
        self.call(&of(&request), &members, &request, document, &mut |_| {})?;
        Ok(())
    }

    /// `members`: the requests that this one stands for; none where it is its own.
    fn call(
        &self,
        key: &[u8; 32],
        members: &[Member],
        request: &ChatRequest,
        document: Option<&str>,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<StoredReply> {
        let span = self.span();
        let _entered = span.enter();
        // Counting takes longer than all else about a call: only where it is asked for.
        let asked_tokens = LazyCell::new(|| prompt_tokens(request));
        let prompt = if self.cache.spending.counts_tokens() {
            *asked_tokens
        } else {
            0
        };
        let reserved = self.reserve(prompt, request);
        // It may have waited for room, and nobody for it by now.
        let reserved = reserved.and_then(|room| self.cache.cancel.go_on().map(|()| room));
        let reservation = match reserved {
            Ok(reservation) => reservation,
            Err(error) => {
                let keys = members.iter().map(|member| member.key);
                self.cache
                    .release(&keys.chain([*key]).collect::<Vec<_>>())?;
                return Err(error);
            }
        };
        let start = Instant::now();
        let result = self.model.complete(request, on_text);
        let took_ms = start.elapsed().as_millis() as u64;
        let (effort, counted) = match &result {
            Ok(reply) => (reply.effort, reply.input_tokens),
            Err(error) => (error.effort, None),
        };
        // Of a try that came to nothing the prompt may be on the bill.
        let lost_tokens = match u64::from(effort.lost) {
            0 => 0,
            lost => lost * *asked_tokens,
        };
        let waited_ms = effort.waited.as_millis() as u64;
        span.record("retries", effort.retries);
        span.record("waited_ms", waited_ms);
        let mut call = CallValues {
            key,
            step: self.step,
            model: self.model.name(),
            answered_by: self.model.name(),
            document,
            outcome: Err(""),
            is_truncated: false,
            input_tokens: lost_tokens,
            output_tokens: 0,
            cost: None,
            retries: effort.retries,
            waited_ms,
            took_ms,
        };
        let took = |call: &CallValues<'_>| Spent {
            calls: 1,
            input_tokens: call.input_tokens,
            output_tokens: call.output_tokens,
            cost: call.cost.unwrap_or_default(),
            retries: u64::from(effort.retries),
            waited_ms,
            failed: u64::from(call.outcome.is_err()),
            ..Spent::default()
        };
        let reply = match result {
            Ok(reply) => reply,
            Err(error) => {
                let message = error.to_string();
                span.record("error", kind_of(&error));
                call.outcome = Err(&message);
                let price = self.cache.price(self.model.name());
                call.cost = price.map(|price| price.cost(lost_tokens, 0));
                let saved = self.cache.save(&call, members);
                reservation.settle(self.step, took(&call), None);
                saved?;
                return Err(Error::Model(error));
            }
        };
        let answered_by = if reply.model.is_empty() {
            self.model.name().to_owned()
        } else {
            reply.model
        };
        call.answered_by = &answered_by;
        call.outcome = Ok(&reply.text);
        call.is_truncated = reply.is_truncated;
        call.input_tokens += counted.unwrap_or_else(|| *asked_tokens);
        call.output_tokens = reply
            .output_tokens
            .unwrap_or_else(|| count_tokens(&reply.text) as u64);
        let price = self.cache.price(&answered_by);
        call.cost = price.map(|price| price.cost(call.input_tokens, call.output_tokens));
        span.record("input_tokens", call.input_tokens);
        span.record("output_tokens", call.output_tokens);
        if let Some(cost) = call.cost {
            span.record("cost", cost);
        }
        let saved = self.cache.save(&call, members);
        reservation.settle(self.step, took(&call), counted);
        Ok(StoredReply {
            is_cached: false,
            ..saved?.expect("a reply is stored")
        })
    }

    /// Of a call; what it took is recorded when it is over.
    fn span(&self) -> tracing::Span {
        tracing::info_span!(
            "chat",
            step = self.step,
            model = self.model.name(),
            input_tokens = tracing::field::Empty,
            output_tokens = tracing::field::Empty,
            cost = tracing::field::Empty,
            retries = tracing::field::Empty,
            waited_ms = tracing::field::Empty,
            error = tracing::field::Empty,
        )
    }

    /// Room for the most that a call can take, whichever model of the chain answers.
    fn reserve(&self, prompt: u64, request: &ChatRequest) -> Result<Reservation<'a>> {
        let names = self.model.names();
        let prices: Vec<&ModelPrice> = names
            .iter()
            .filter_map(|name| self.cache.price(name))
            .collect();
        let reply = u64::from(request.max_output_tokens);
        self.cache.spending.reserve(prompt, reply, |input, output| {
            let costs = prices.iter().map(|price| price.cost(input, output));
            costs.fold(0.0, f64::max)
        })
    }
}

impl ChatModel for CachedModel<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn names(&self) -> Vec<&str> {
        self.model.names()
    }

    fn concurrency(&self) -> usize {
        self.model.concurrency()
    }

    /// [`CachedModel::ask`]; what goes wrong in the store, or with the budget, is a permanent failure.
    fn complete(
        &self,
        request: &ChatRequest,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, ModelError> {
        match self.ask(request, None, on_text) {
            Ok(reply) => Ok(ChatReply {
                text: reply.text,
                model: reply.model,
                input_tokens: Some(reply.input_tokens),
                output_tokens: Some(reply.output_tokens),
                is_truncated: reply.is_truncated,
                ..ChatReply::default()
            }),
            Err(Error::Model(error)) => Err(error),
            Err(error) => Err(ModelError::new(
                ModelErrorKind::Permanent,
                self.name().to_owned(),
                error.to_string(),
            )),
        }
    }
}

/// What a span says of a failure: its message may hold words of the server, which may repeat a prompt.
fn kind_of(error: &ModelError) -> String {
    let kind = match error.kind {
        ModelErrorKind::Transient { .. } => "transient",
        ModelErrorKind::Permanent => "permanent",
        ModelErrorKind::Refused => "refused",
        ModelErrorKind::TooLong => "too long",
    };
    let status = error
        .message
        .strip_prefix("HTTP ")
        .and_then(|rest| rest.get(..3));
    match status.filter(|status| status.bytes().all(|byte| byte.is_ascii_digit())) {
        Some(status) => format!("{kind}, HTTP {status}"),
        None => kind.to_owned(),
    }
}

/// Tokens of all messages as we count them.
fn prompt_tokens(request: &ChatRequest) -> u64 {
    let texts = request.messages.iter().map(|message| &message.text);
    texts.map(|text| count_tokens(text) as u64).sum()
}

/// A row as callers see it.
pub(super) fn stored(row: crate::storage::ReplyRow) -> StoredReply {
    StoredReply {
        id: row.id,
        text: row.text,
        model: row.answered_by,
        input_tokens: row.input_tokens,
        output_tokens: row.output_tokens,
        is_truncated: row.is_truncated,
        is_cached: true,
        part: row.part,
    }
}

/// Over everything that shapes the reply.
pub(super) fn key(step: &str, model: &str, request: &ChatRequest) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut field = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    field(step.as_bytes());
    field(model.as_bytes());
    field(&request.max_output_tokens.to_le_bytes());
    field(&request.temperature.to_le_bytes());
    let schema = request.reply_schema.as_ref().map(ToString::to_string);
    field(schema.unwrap_or_default().as_bytes());
    for message in &request.messages {
        field(match message.role {
            Role::System => b"system",
            Role::User => b"user",
            Role::Assistant => b"assistant",
        });
        field(message.text.as_bytes());
    }
    hash.finalize().into()
}
