//! Answers that a chat model writes from numbered evidence, every sentence checked against what it cites.

use super::Engine;
use super::ask::{Way, context_request, extracted, unanswered, words_of};
use super::checker::Checker;
use super::context::leave_out;
use super::structured::ask_structured;
use crate::answer::{
    AnswerPrompts, AnswerSettings, Offer, Source, answer_request, offer, read_route, route_request,
};
use crate::language_model::{ChatModel, ChatRequest, ModelError, ModelErrorKind};
use crate::replies::{CachedModel, ReplyCache, StoredReply};
use crate::router::Route;
use crate::storage;
use crate::types::{
    Answer, AnswerSentence, AskMode, AskRequest, Citation, Context, ContextKind, DocumentKind,
    Sections, SpendingLimit,
};
use crate::{Error, Result};

/// Lines of the bill.
const STEP: &str = "answer";
const ROUTE: &str = "route";
/// Share of the question, its words weighted by rarity, that the best sentences must hold before a model is asked:
/// less than an answer without a model needs, because a model also reads what is put in other words.
const LEAST_COVERAGE: f64 = 0.3;
/// The best sentences.
const SENTENCES: usize = 8;
/// Share of the evidence that lines without a number may take.
pub(super) const BACKGROUND: f64 = 0.25;

/// What answers a question, and how much it may spend.
#[derive(Clone, Copy)]
pub struct AnswerRun<'a> {
    pub model: &'a dyn ChatModel,
    /// Writes the reports of communities that a question needs and nobody has written yet; `None`: central sentences
    /// of the documents are reports enough.
    pub reports: Option<&'a dyn ChatModel>,
    /// Decides how a question is answered that does not say it; `None`: rules over its words do.
    pub router: Option<&'a dyn ChatModel>,
    pub settings: &'a AnswerSettings,
    pub limit: SpendingLimit,
}

/// What a model is shown, before it is cut to the budget.
pub(super) struct Gathered {
    pub context: Context,
    /// Best first.
    pub quotes: Vec<Citation>,
    /// Lines that orient and cannot be cited.
    pub background: Vec<String>,
    pub communities: Option<(usize, usize)>,
    /// Of a global question: how its sections were read, and the quotes of each that has something to say.
    pub sections: Option<(Sections, Vec<Titled>)>,
    /// The store holds enough of the question to ask about it.
    pub is_known: bool,
}

/// A title, and the quotes that stand under it.
pub(super) type Titled = (String, Vec<Citation>);

/// A question on its way to a model.
pub(super) struct Asking<'a> {
    pub engine: &'a Engine,
    pub request: &'a AskRequest,
    pub run: &'a AnswerRun<'a>,
    pub prompts: &'a AnswerPrompts,
    pub replies: &'a ReplyCache<'a>,
    /// Earlier turns of the conversation.
    pub earlier: &'a [String],
    /// What was left out on the way.
    pub notes: Vec<String>,
}

impl Engine {
    /// As [`Engine::ask`], but a chat model writes the answer from the evidence. `on_sentence` hears each sentence as
    /// soon as it is checked; should the model fail in the middle, or think aloud, the answer that is returned is
    /// another one than was heard. Where the store holds no evidence no model is asked.
    ///
    /// A model that fails, or that may not be asked for lack of money, costs the answer its words only: sentences of
    /// the documents stand in, and [`Answer::failure`] says why.
    ///
    /// # Errors
    /// [`Error::Usage`] for a question without words, or a prompt that cannot be used.
    pub fn answer(
        &self,
        request: &AskRequest,
        run: &AnswerRun<'_>,
        on_sentence: &mut dyn FnMut(&AnswerSentence),
    ) -> Result<Answer> {
        let prompts = AnswerPrompts::new(&run.settings.prompts).map_err(Error::Usage)?;
        let prepared = self.prepared(request)?;
        let request = &prepared.request;
        let replies = self.replies(run.limit);
        let mut asking = Asking {
            engine: self,
            request,
            run,
            prompts: &prompts,
            replies: &replies,
            earlier: &prepared.earlier,
            notes: Vec::new(),
        };
        let proposed = asking.proposed_way()?;
        let (mode, reason) = match self.way(request, proposed)? {
            Way::Answered(mut answer) => {
                answer.notes.splice(0..0, asking.notes);
                replies.flush()?;
                answer.spent += replies.spent();
                return self.finished(*answer, &prepared);
            }
            Way::By(mode, reason) => (mode, reason),
        };
        let gathered = asking.gather(mode)?;
        let communities = gathered.communities;
        let written = if gathered.is_known {
            asking.write(&gathered, on_sentence)
        } else {
            Ok(None)
        };
        let mut answer = match written {
            Ok(Some(answer)) => answer,
            Ok(None) => self.refuse(request, gathered.context)?,
            Err(error @ (Error::Model(_) | Error::BudgetReached { .. })) => {
                let mut answer = self.ask_in(mode, request)?;
                answer.budget_reached = matches!(error, Error::BudgetReached { .. });
                answer.failure = Some(error.to_string());
                answer
            }
            Err(error) => {
                replies.flush()?;
                return Err(error);
            }
        };
        answer.notes.splice(0..0, asking.notes);
        answer.mode = mode;
        answer.reason = reason;
        answer.communities = communities;
        replies.flush()?;
        answer.spent = replies.spent();
        self.finished(answer, &prepared)
    }

    /// The evidence of a prompt, with what is known of its sources.
    pub(super) fn offered(
        &self,
        background: &[String],
        quotes: &[Citation],
        budget: usize,
        share: f64,
    ) -> Result<Offer> {
        let store = self.asked()?;
        let sources: Vec<(DocumentKind, Option<String>)> = quotes
            .iter()
            .map(|quote| storage::document_source(store.connection(), quote.document))
            .collect::<Result<_>>()?;
        let quotes: Vec<(Citation, Source<'_>)> = quotes
            .iter()
            .zip(&sources)
            .map(|(quote, (kind, date))| {
                let date = date.as_deref();
                (quote.clone(), Source { kind: *kind, date })
            })
            .collect();
        Ok(offer(background, &quotes, budget, share))
    }
}

impl<'a> Asking<'a> {
    pub(super) fn question(&self) -> &'a str {
        &self.request.question
    }

    /// A model behind the store's replies, for one line of the bill.
    pub(super) fn cached(&self, model: &'a dyn ChatModel, step: &'static str) -> CachedModel<'a> {
        CachedModel::new(model, self.replies, step)
    }

    /// What the model of the router says. One that fails leaves the decision to the rules.
    fn proposed_way(&mut self) -> Result<Option<Route>> {
        let Some(model) = self
            .run
            .router
            .filter(|_| self.request.mode == AskMode::Auto)
        else {
            return Ok(None);
        };
        let room = self.run.settings.max_output_tokens;
        let asked = route_request(self.prompts, self.question(), room);
        let model = self.cached(model, ROUTE);
        let read = ask_structured(&model, &[asked], |_, reply| read_route(reply))?;
        match read.into_iter().next() {
            Some(Ok((mode, reason))) => Ok(Some(Route {
                mode,
                reason: format!("{} says: {reason}", model.name()),
            })),
            Some(Err(unusable)) => {
                self.notes.push(format!(
                    "the model of the router gave no way, rules did: {}",
                    unusable.reason
                ));
                Ok(None)
            }
            None => Ok(None),
        }
    }

    fn gather(&mut self, mode: AskMode) -> Result<Gathered> {
        let with_graph = mode != AskMode::Hybrid;
        let wanted = context_request(self.request, mode, with_graph);
        let context = self.engine.context(&wanted)?;
        let lines = context.items.iter();
        let mut gathered = Gathered {
            quotes: context.passages().cloned().collect(),
            background: lines
                .filter(|item| item.kind != ContextKind::Passage)
                .map(|item| item.text.clone())
                .collect(),
            communities: None,
            sections: None,
            is_known: false,
            context,
        };
        if mode == AskMode::Global {
            self.read_sections(&mut gathered)?;
            gathered
                .background
                .splice(0..0, self.earlier.iter().cloned());
            return Ok(gathered);
        }
        let near = self.engine.sentences_for(self.question(), self.request)?;
        let held = near.coverage(words_of(&near, &extracted(&near, SENTENCES)));
        gathered.is_known = !gathered.quotes.is_empty()
            && (held >= LEAST_COVERAGE
                || self
                    .engine
                    .knows_by_meaning(self.question(), self.request.documents.as_deref())?);
        if mode == AskMode::Drift && gathered.is_known {
            self.follow_up(&mut gathered)?;
        }
        gathered
            .background
            .splice(0..0, self.earlier.iter().cloned());
        Ok(gathered)
    }

    /// The model's answer; `None` when it finds nothing in the evidence.
    fn write(
        &mut self,
        gathered: &Gathered,
        on_sentence: &mut dyn FnMut(&AnswerSentence),
    ) -> Result<Option<Answer>> {
        let budget = gathered.context.budget.amount;
        let (background, quotes) = (&gathered.background, &gathered.quotes);
        let offer = self
            .engine
            .offered(background, quotes, budget, BACKGROUND)?;
        let room = self.run.settings.max_output_tokens;
        let asked = answer_request(self.prompts, self.question(), &offer.text, room);
        let model = self.cached(self.run.model, STEP);
        let mut checker = Checker::new(self.engine, &offer.citations, self.question());
        let reply = listen(&model, &asked, &mut checker, on_sentence)?;
        if checker.found_nothing {
            return Ok(None);
        }
        if checker.unknown > 0 {
            let unknown = checker.unknown;
            let note =
                format!("{unknown} markers of the model point to evidence that it was not shown");
            self.notes.push(note);
        }
        if reply.is_truncated {
            let note =
                "the model's answer was cut off; [answers] max_output_tokens gives it more room";
            self.notes.push(note.to_owned());
        }
        let mut context = gathered.context.clone();
        show(&mut context, &offer, gathered);
        let mut answer = unanswered(self.request, context);
        answer.text = checker
            .sentences
            .iter()
            .map(AnswerSentence::marked)
            .collect::<Vec<_>>()
            .join("\n");
        answer.sentences = checker.sentences;
        answer.citations = checker.citations;
        answer.model = Some(reply.model);
        if let Some((counts, titled)) = &gathered.sections {
            let mut counts = counts.clone();
            counts.not_covered = titled
                .iter()
                .filter(|(_, quotes)| !quotes.iter().any(|quote| offer.citations.contains(quote)))
                .map(|(title, _)| title.clone())
                .collect();
            answer.sections = Some(counts);
        }
        Ok(Some(answer))
    }
}

/// Asks, and checks each sentence as soon as it will not change any more.
fn listen(
    model: &CachedModel<'_>,
    asked: &ChatRequest,
    checker: &mut Checker<'_>,
    on_sentence: &mut dyn FnMut(&AnswerSentence),
) -> Result<StoredReply> {
    let mut heard = String::new();
    let mut failure = Ok(());
    let reply = model.cache().renewing(|| {
        model.ask(asked, None, &mut |text| {
            heard.push_str(text);
            if failure.is_ok() {
                failure = checker.hear(&heard, false, on_sentence);
            }
        })
    })?;
    failure?;
    checker.hear(&reply.text, true, on_sentence)?;
    if checker.sentences.is_empty() && !checker.found_nothing {
        model.cache().reject(reply.id, "no answer in it")?;
        return Err(Error::Model(ModelError::new(
            ModelErrorKind::Permanent,
            reply.model,
            "there is no answer in the reply",
        )));
    }
    Ok(reply)
}

/// The context becomes what the model was shown.
fn show(context: &mut Context, offer: &Offer, gathered: &Gathered) {
    let lines = &gathered.background[..offer.background];
    context.items.retain(|item| match &item.citation {
        Some(citation) => offer.citations.contains(citation),
        None => lines.contains(&item.text),
    });
    context.used = offer.tokens;
    let left_out = gathered.quotes.len() - offer.citations.len();
    if left_out > 0 {
        leave_out(&mut context.cut, ContextKind::Passage, left_out);
    }
}
