//! `ask --mode cypher`: queries that a chat model writes, or templates, and the answer that their rows give.

use std::fmt::Write as _;
use std::sync::Arc;

use super::described;
use super::question;
use super::rows;
use crate::answer::is_supported;
use crate::cypher::Parameters;
use crate::engine::Engine;
use crate::engine::ask::unanswered;
use crate::language_model::ChatModel;
use crate::replies::{CachedModel, ReplyCache};
use crate::text::detect_language;
use crate::text_to_cypher::{
    Outcome, Prompts, Requests, Sentence, read_queries, read_sentences, unknown,
};
use crate::types::{
    Answer, AnswerSentence, AskMode, AskRequest, Budget, Context, CypherRequest, GraphAnswer,
    SpendingLimit,
};
use crate::{Error, Result};

/// The line of the bill, and a part of the key of stored replies.
const STEP: &str = "cypher";
/// How often queries with a mistake are asked for again, and queries that found nothing.
const REPAIRS: usize = 2;
const OTHER_WAYS: usize = 1;
/// Most bytes of rows that the model is shown, and of the passage beside a row.
const SHOWN: usize = 24_000;
const QUOTED: usize = 240;

/// A chat model that writes queries and answers from their rows.
#[derive(Clone)]
pub struct QueryWriter {
    pub model: Arc<dyn ChatModel>,
    pub prompts: Prompts,
    /// Of one question.
    pub limit: SpendingLimit,
}

impl Engine {
    /// What the graph says about a question, by templates: who, what, which, how many, what lies between, in
    /// English, Portuguese and Chinese. No model is asked. Without a query in the answer the question names
    /// nothing that the graph knows.
    pub fn ask_graph(&self, question: &str) -> Result<GraphAnswer> {
        self.find_communities_for(question)?;
        self.on_graph_within(rows::limits(), |graph, now, budget| {
            question::ask(graph, question, now, budget)
        })
    }

    /// The same by queries that a model writes: up to three, twice repaired when the graph refuses them, once
    /// written in another way when they find nothing. They can only read.
    ///
    /// # Errors
    /// [`Error::Model`] when the model gives no answer, [`Error::BudgetReached`]; a store that cannot be written,
    /// because replies are kept in it.
    pub fn ask_graph_by(&self, question: &str, writer: &QueryWriter) -> Result<GraphAnswer> {
        let replies = self.replies(writer.limit);
        let answer = self.queried(question, writer, &replies);
        replies.flush()?;
        answer
    }

    /// The same engine, whose questions in [`AskMode::Cypher`] a model turns into queries.
    #[must_use]
    pub fn with_query_writer(mut self, writer: QueryWriter) -> Self {
        self.query_writer = Some(Arc::new(writer));
        self
    }

    /// Answers by the graph. Where no model is at hand, or it fails, templates ask.
    pub(in crate::engine) fn ask_by_graph(&self, request: &AskRequest) -> Result<Answer> {
        let mut answer = self.ask_by_whoever_can(request)?;
        if request.documents.is_some() {
            let note = "the graph was asked as a whole: a choice of documents does not apply to it";
            answer.notes.push(note.to_owned());
        }
        Ok(answer)
    }

    fn ask_by_whoever_can(&self, request: &AskRequest) -> Result<Answer> {
        let is_read_only = self.store().is_read_only();
        match &self.query_writer {
            Some(writer) if is_read_only => {
                let mut answer = self.ask_by_templates(request)?;
                let name = writer.model.name();
                answer.notes.push(format!(
                    "{name} was not asked: its replies are kept in the store, which cannot be written"
                ));
                Ok(answer)
            }
            Some(writer) => {
                let replies = self.replies(writer.limit);
                let answer = self.ask_by_model(request, writer, &replies);
                replies.flush()?;
                let mut answer = match answer {
                    Err(error @ (Error::Model(_) | Error::BudgetReached { .. })) => {
                        let mut answer = self.ask_by_templates(request)?;
                        answer.budget_reached = matches!(error, Error::BudgetReached { .. });
                        answer.failure = Some(error.to_string());
                        answer
                    }
                    answer => answer?,
                };
                answer.spent = replies.spent();
                Ok(answer)
            }
            None => self.ask_by_templates(request),
        }
    }

    fn ask_by_templates(&self, request: &AskRequest) -> Result<Answer> {
        let graph = self.ask_graph(&request.question)?;
        let sentences = rows_as_sentences(&graph);
        Ok(answer(request, graph, sentences, Vec::new()))
    }

    fn ask_by_model(
        &self,
        request: &AskRequest,
        writer: &QueryWriter,
        replies: &ReplyCache<'_>,
    ) -> Result<Answer> {
        let graph = self.queried(&request.question, writer, replies)?;
        if !graph.knows() {
            return Ok(answer(request, graph, Vec::new(), Vec::new()));
        }
        let mut notes = Vec::new();
        if graph.queries.iter().any(|query| query.is_cut) {
            notes.push(format!(
                "only the first {} rows of a query count",
                rows::ROWS
            ));
        }
        let sentences = match told(&graph, writer, replies)? {
            Ok(sentences) => sentences,
            Err(reason) => {
                notes.push(format!("the rows are shown as they are: {reason}"));
                rows_as_sentences(&graph)
            }
        };
        Ok(answer(request, graph, sentences, notes))
    }

    /// Whether a question names labels, relationship types or several entities of the graph.
    pub(in crate::engine) fn has_types_of(&self, question: &str) -> Result<bool> {
        self.on_graph(|graph, _| question::is_structural(graph, question))
    }

    /// The model's queries and their rows.
    fn queried(
        &self,
        question: &str,
        writer: &QueryWriter,
        replies: &ReplyCache<'_>,
    ) -> Result<GraphAnswer> {
        let (schema, entities, names) = self.on_graph(|graph, _| {
            let entities = question::named(graph, question)?;
            let names = described::named(graph, &entities)?;
            Ok((described::schema(graph)?, entities, names))
        })?;
        let model = CachedModel::new(&*writer.model, replies, STEP);
        let requests = Requests::new(&writer.prompts, question);
        let mut answer = GraphAnswer {
            question: question.to_owned(),
            model: Some(writer.model.name().to_owned()),
            ..GraphAnswer::default()
        };
        let mut request = requests.queries(&schema, &names);
        let (mut repairs, mut other_ways) = (0, 0);
        loop {
            let reply = replies.renewing(|| model.ask(&request, None, &mut |_| {}))?;
            let outcomes = match read_queries(&reply.text) {
                Ok(queries) => self.outcomes(&queries, &entities, &mut answer)?,
                Err(reason) => vec![Outcome {
                    query: String::new(),
                    rows: Err(reason),
                }],
            };
            let is_wrong = outcomes.iter().any(|outcome| outcome.rows.is_err());
            if is_wrong && repairs < REPAIRS {
                repairs += 1;
                request = requests.repair(&request, &reply.text, &outcomes);
            } else if !answer.knows() && !is_wrong && other_ways < OTHER_WAYS {
                other_ways += 1;
                request = requests.again(&request, &reply.text, &outcomes);
            } else {
                break;
            }
        }
        Ok(answer)
    }

    /// Runs the queries that were not run yet.
    fn outcomes(
        &self,
        queries: &[String],
        entities: &[u32],
        answer: &mut GraphAnswer,
    ) -> Result<Vec<Outcome>> {
        let mut outcomes = Vec::with_capacity(queries.len());
        for query in queries {
            let known = answer.queries.iter().any(|known| known.query == *query);
            if known {
                continue;
            }
            let before = answer.rows.len();
            // What can not be bound is told to the model by the run below.
            if let Ok(true) = self.lacks_communities(&CypherRequest::new(query.as_str())) {
                self.update_communities()?;
            }
            self.on_graph_within(rows::limits(), |graph, now, budget| {
                let none = Parameters::default();
                rows::run((graph, now, budget), query, &none, entities, answer)
            })?;
            let error = answer.queries.last().and_then(|run| run.error.clone());
            let texts = answer.rows[before..].iter().map(|row| row.text.clone());
            outcomes.push(Outcome {
                query: query.clone(),
                rows: error.map_or_else(|| Ok(texts.collect()), Err),
            });
        }
        Ok(outcomes)
    }
}

/// The model's answer from the rows; the inner error is why it wrote none that can be read.
fn told(
    graph: &GraphAnswer,
    writer: &QueryWriter,
    replies: &ReplyCache<'_>,
) -> Result<Result<Vec<AnswerSentence>, String>> {
    let request = Requests::new(&writer.prompts, &graph.question).answer(&shown(graph));
    let model = CachedModel::new(&*writer.model, replies, STEP);
    let reply = match replies.renewing(|| model.ask(&request, None, &mut |_| {})) {
        Ok(reply) => reply,
        Err(error @ (Error::Model(_) | Error::BudgetReached { .. })) => {
            return Ok(Err(error.to_string()));
        }
        Err(error) => return Err(error),
    };
    Ok(match read_sentences(&reply.text) {
        Ok(sentences) => Ok(sentences
            .into_iter()
            .map(|sentence| grounded(graph, sentence))
            .collect()),
        Err(reason) => {
            replies.reject(reply.id, &reason)?;
            Err(reason)
        }
    })
}

/// Queries with their numbered rows, and beside each row a passage that states it.
fn shown(graph: &GraphAnswer) -> String {
    let mut out = String::new();
    let mut query = 0;
    for (row, number) in graph.rows.iter().zip(1..) {
        if out.len() > SHOWN {
            break;
        }
        if row.query != query {
            query = row.query;
            let _ = writeln!(out, "query: {}", graph.queries[query - 1].query);
        }
        let _ = writeln!(out, "[{number}] {}", row.text);
        if let Some(first) = row.evidence.first() {
            let passage = &graph.evidence[first - 1];
            let words: Vec<&str> = passage.quote.split_whitespace().collect();
            let quote: String = words.join(" ").chars().take(QUOTED).collect();
            let _ = writeln!(out, "    stated in {}: {quote}", passage.uri);
        }
    }
    out
}

/// A sentence of the model with what it rests on: rows that there are, and their passages. It is supported when they
/// hold most of its words.
fn grounded(graph: &GraphAnswer, sentence: Sentence) -> AnswerSentence {
    let mut rows = sentence.rows;
    rows.retain(|row| (1..=graph.rows.len()).contains(row));
    rows.dedup();
    let mut basis = String::new();
    for row in &rows {
        let row = &graph.rows[row - 1];
        // What a query asks for holds in its rows.
        basis.push_str(&graph.queries[row.query - 1].query);
        basis.push('\n');
        basis.push_str(&row.text);
        for relation in &row.relations {
            let parts = [&relation.source, &relation.relation, &relation.target];
            for part in parts {
                basis.push('\n');
                basis.push_str(part);
            }
        }
        for number in &row.evidence {
            basis.push('\n');
            basis.push_str(&graph.evidence[number - 1].quote);
        }
    }
    let language = detect_language(&sentence.text);
    let is_supported = !rows.is_empty() && is_supported(&sentence.text, &basis, language);
    AnswerSentence {
        markers: markers(graph, &rows),
        rows,
        text: sentence.text,
        is_supported,
    }
}

/// Numbers of the passages that state these rows.
fn markers(graph: &GraphAnswer, rows: &[usize]) -> Vec<usize> {
    let mut markers: Vec<usize> = rows
        .iter()
        .flat_map(|row| graph.rows[row - 1].evidence.iter().copied())
        .collect();
    markers.sort_unstable();
    markers.dedup();
    markers
}

/// Without a model the rows speak for themselves.
fn rows_as_sentences(graph: &GraphAnswer) -> Vec<AnswerSentence> {
    let rows = graph.rows.iter().zip(1..);
    rows.map(|(row, number)| AnswerSentence {
        text: row.text.clone(),
        markers: markers(graph, &[number]),
        rows: vec![number],
        is_supported: true,
    })
    .collect()
}

/// The answer made of these sentences; without any the graph does not know.
fn answer(
    request: &AskRequest,
    mut graph: GraphAnswer,
    sentences: Vec<AnswerSentence>,
    notes: Vec<String>,
) -> Answer {
    let is_refusal = sentences.is_empty();
    let text = if is_refusal {
        unknown(detect_language(&request.question)).to_owned()
    } else {
        let lines: Vec<String> = sentences.iter().map(AnswerSentence::marked).collect();
        lines.join("\n")
    };
    let context = Context {
        query: request.question.clone(),
        items: Vec::new(),
        budget: Budget::tokens(request.budget.unwrap_or(AskMode::Cypher.budget())),
        used: 0,
        cut: Vec::new(),
        entry_entities: Vec::new(),
        record: Vec::new(),
        notes: Vec::new(),
    };
    Answer {
        mode: AskMode::Cypher,
        text,
        sentences,
        citations: std::mem::take(&mut graph.evidence),
        is_refusal,
        model: graph.model.clone(),
        notes,
        graph: Some(graph),
        ..unanswered(request, context)
    }
}
