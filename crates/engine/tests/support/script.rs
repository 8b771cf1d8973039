//! A chat model that answers by a function, for tests of answers.

use std::sync::Mutex;

use malha_engine::answer::AnswerSettings;
use malha_engine::language_model::{ChatModel, ChatReply, ChatRequest, ModelError, ModelErrorKind};
use malha_engine::types::{Answer, AskRequest, SpendingLimit};
use malha_engine::{AnswerRun, Engine};

/// Answers by a function of the request, a few letters at a time, and remembers what it was asked.
pub(crate) struct Script<F> {
    answer: F,
    asked: Mutex<Vec<ChatRequest>>,
}

impl<F: Fn(&ChatRequest) -> String + Send + Sync> Script<F> {
    pub(crate) fn new(answer: F) -> Self {
        Self {
            answer,
            asked: Mutex::default(),
        }
    }

    pub(crate) fn asked(&self) -> Vec<ChatRequest> {
        self.asked.lock().unwrap().clone()
    }
}

impl<F: Fn(&ChatRequest) -> String + Send + Sync> ChatModel for Script<F> {
    fn name(&self) -> &'static str {
        "script"
    }

    fn complete(
        &self,
        request: &ChatRequest,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, ModelError> {
        self.asked.lock().unwrap().push(request.clone());
        let text = (self.answer)(request);
        if text == "FAIL" {
            return Err(ModelError::new(
                ModelErrorKind::Permanent,
                "script",
                "out of order",
            ));
        }
        let letters: Vec<char> = text.chars().collect();
        for piece in letters.chunks(3) {
            on_text(&piece.iter().collect::<String>());
        }
        Ok(ChatReply {
            text,
            model: "script".to_owned(),
            ..ChatReply::default()
        })
    }
}

/// Which of our prompts a request is.
pub(crate) fn step(request: &ChatRequest) -> &'static str {
    let system = &request.messages[0].text;
    [
        ("You write a report", "report"),
        ("You read one section", "map"),
        ("You plan how", "primer"),
        ("You answer a question", "answer"),
    ]
    .into_iter()
    .find(|(start, _)| system.starts_with(start))
    .map_or("other", |(_, step)| step)
}

pub(crate) fn steps(asked: &[ChatRequest]) -> Vec<&'static str> {
    asked.iter().map(step).collect()
}

/// Cites everything that it is shown.
pub(crate) fn cite_all(request: &ChatRequest) -> String {
    let evidence = &request.messages[1].text;
    let numbered = evidence.lines().filter_map(|line| {
        let (number, quote) = line.split_once("| ")?;
        number
            .parse::<usize>()
            .ok()
            .map(|number| format!("{quote} [{number}]"))
    });
    numbered.collect::<Vec<_>>().join("\n")
}

pub(crate) fn answer_to(
    engine: &Engine,
    model: &dyn ChatModel,
    request: &AskRequest,
    limit: SpendingLimit,
) -> (Answer, Vec<String>) {
    answer_with(engine, model, None, request, limit)
}

pub(crate) fn answer_with(
    engine: &Engine,
    model: &dyn ChatModel,
    reports: Option<&dyn ChatModel>,
    request: &AskRequest,
    limit: SpendingLimit,
) -> (Answer, Vec<String>) {
    let settings = AnswerSettings::default();
    let run = AnswerRun {
        model,
        reports,
        router: None,
        settings: &settings,
        limit,
    };
    let mut heard = Vec::new();
    let answer = engine
        .answer(request, &run, &mut |sentence| {
            heard.push(sentence.text.clone());
        })
        .unwrap();
    (answer, heard)
}

/// The number that the evidence gives to the quote with these words.
pub(crate) fn number_of(request: &ChatRequest, words: &str) -> usize {
    let evidence = &request.messages.last().unwrap().text;
    let numbered = evidence.lines().filter(|line| line.contains(words));
    let mut numbers = numbered.filter_map(|line| line.split('|').next()?.parse().ok());
    numbers
        .next()
        .unwrap_or_else(|| panic!("{words} in {evidence}"))
}

pub(crate) fn answer(
    engine: &Engine,
    model: &dyn ChatModel,
    question: &str,
) -> (Answer, Vec<String>) {
    let request = AskRequest::new(question);
    answer_to(engine, model, &request, SpendingLimit::default())
}
