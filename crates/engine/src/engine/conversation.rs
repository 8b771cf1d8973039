//! Questions on their way in and answers on their way out: filters, and conversations that go on.

use rustc_hash::FxHashSet;

use super::Engine;
use crate::answer::standalone;
use crate::storage::{self, ConversationTurn};
use crate::types::{Answer, AskRequest, DocumentCounts};
use crate::{Error, Result};

/// Turns that a follow-up looks back at.
const TURNS: usize = 3;
/// Names that a question hands on.
const NAMES: usize = 3;
/// Characters of an earlier answer that a model is shown.
const SHOWN: usize = 300;

/// A question as it is answered.
pub(super) struct Prepared {
    /// It stands alone, and says which documents it is about.
    pub request: AskRequest,
    /// Earlier turns of its conversation, as a prompt shows them.
    pub earlier: Vec<String>,
    asked: String,
    counts: Option<DocumentCounts>,
}

impl Engine {
    /// Turns a filter into documents, and a follow-up into a question that stands alone.
    ///
    /// # Errors
    /// [`Error::Usage`] for a question without words, or a filter that cannot be read.
    pub(super) fn prepared(&self, request: &AskRequest) -> Result<Prepared> {
        if request.question.trim().is_empty() {
            return Err(Error::Usage("the question is empty".to_owned()));
        }
        let (mut request, counts) = self.filtered(request)?;
        let asked = request.question.clone();
        let turns = self.turns_of(&request)?;
        if let Some(last) = turns.last() {
            let names = self.named_in(&asked)?;
            if let Some(question) = standalone(&asked, names, &last.subject) {
                request.question = question;
            }
        }
        let earlier = turns
            .iter()
            .map(|turn| {
                let answer: String = turn.answer.chars().take(SHOWN).collect();
                format!(
                    "Asked before: {} Answered: {}",
                    turn.question,
                    answer.replace('\n', " ")
                )
            })
            .collect();
        Ok(Prepared {
            request,
            earlier,
            asked,
            counts,
        })
    }

    /// Says how the question was understood, counts the documents, and keeps the turn in its conversation.
    pub(super) fn finished(&self, mut answer: Answer, prepared: &Prepared) -> Result<Answer> {
        if prepared.request.question != prepared.asked {
            answer.understood_as = Some(prepared.request.question.clone());
        }
        answer.question.clone_from(&prepared.asked);
        answer.documents = prepared.counts.map(|counts| {
            let cited: FxHashSet<_> = answer.citations.iter().map(|one| one.document).collect();
            DocumentCounts {
                cited: cited.len(),
                ..counts
            }
        });
        if let Some(name) = &prepared.request.session {
            self.keep_turn(name, &answer)?;
        }
        Ok(answer)
    }

    fn turns_of(&self, request: &AskRequest) -> Result<Vec<ConversationTurn>> {
        let Some(name) = &request.session else {
            return Ok(Vec::new());
        };
        let store = self.store();
        match store.namespace(&self.namespace)? {
            Some(namespace) => storage::conversation(store.connection(), namespace.0, name, TURNS),
            None => Ok(Vec::new()),
        }
    }

    fn keep_turn(&self, name: &str, answer: &Answer) -> Result<()> {
        let entries = answer.context.entry_entities.iter().take(NAMES);
        let mut subject: Vec<String> = entries.map(|entry| entry.name.clone()).collect();
        if subject.is_empty() {
            let titles = answer
                .citations
                .iter()
                .map(|citation| citation.title.clone());
            subject.extend(titles.filter(|title| !title.is_empty()).take(1));
        }
        let turn = ConversationTurn {
            question: answer.question.clone(),
            answer: answer.text.clone(),
            subject,
        };
        let store = self.store();
        let lease = store.write_lease("malha ask", self.config.lease_wait)?;
        let transaction = lease.transaction()?;
        let namespace = transaction.namespace(&self.namespace)?;
        let now = self.clock.now();
        storage::add_conversation_turn(transaction.connection(), namespace.0, name, &turn, now)?;
        transaction.commit_bookkeeping()
    }
}
