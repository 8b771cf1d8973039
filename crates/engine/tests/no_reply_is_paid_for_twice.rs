//! Replies through the store: kept before anything reads them, served again, claimed while asked for, and
//! never past the limit of spending.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use malha_engine::language_model::{
    ChatModel, ChatReply, ChatRequest, Message, ModelError, ModelErrorKind, Role,
};
use malha_engine::replies::CachedModel;
use malha_engine::types::{ModelPrice, SpendingLimit, UsageKey};
use malha_engine::{Engine, EngineConfig, Error};

/// Answers with the last message in capitals, slowly, and counts.
#[derive(Default)]
struct Echo {
    calls: AtomicUsize,
    fails: bool,
}

impl ChatModel for Echo {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn complete(
        &self,
        request: &ChatRequest,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, ModelError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(20));
        if self.fails {
            return Err(ModelError {
                kind: ModelErrorKind::Permanent,
                model: "echo".to_owned(),
                message: "out of order".to_owned(),
            });
        }
        let text = request.messages.last().unwrap().text.to_uppercase();
        on_text(&text);
        Ok(ChatReply {
            text,
            model: "echo".to_owned(),
            input_tokens: Some(100),
            output_tokens: Some(10),
            ..ChatReply::default()
        })
    }
}

fn request(text: &str) -> ChatRequest {
    ChatRequest {
        messages: vec![Message {
            role: Role::User,
            text: text.to_owned(),
        }],
        max_output_tokens: 40,
        temperature: 0.0,
        reply_schema: None,
    }
}

fn config() -> EngineConfig {
    EngineConfig {
        prices: vec![ModelPrice {
            model: "echo".to_owned(),
            input_per_million: 1_000.0,
            output_per_million: 10_000.0,
        }],
        ..EngineConfig::default()
    }
}

#[test]
fn a_stored_reply_serves_again_until_it_is_rejected() {
    let engine = Engine::in_memory(config()).unwrap();
    let echo = Echo::default();
    let replies = engine.replies(SpendingLimit::default());
    let model = CachedModel::new(&echo, &replies, "test");
    let ask = |text: &str| {
        model
            .ask(&request(text), Some("a.md"), &mut |_| {})
            .unwrap()
    };
    let first = ask("one");
    assert!(!first.is_cached);
    assert_eq!(first.text, "ONE");
    let second = ask("one");
    assert!(second.is_cached);
    assert_eq!(second.text, "ONE");
    assert_eq!(model.peek(&request("one")).unwrap().unwrap().id, first.id);
    assert!(model.peek(&request("two")).unwrap().is_none());
    // Another step, limit or temperature is another question.
    CachedModel::new(&echo, &replies, "other")
        .ask(&request("one"), None, &mut |_| {})
        .unwrap();
    let warm = ChatRequest {
        temperature: 0.5,
        ..request("one")
    };
    model.ask(&warm, None, &mut |_| {}).unwrap();
    assert_eq!(echo.calls.load(Ordering::SeqCst), 3);
    replies.reject(first.id, "no good").unwrap();
    assert!(!ask("one").is_cached);
    assert!(ask("one").is_cached);
    replies.flush().unwrap();

    let lines = engine.usage(UsageKey::Step).unwrap();
    let test = lines.iter().find(|line| line.name == "test").unwrap();
    assert_eq!((test.calls, test.rejected, test.cache_hits), (3, 1, 2));
    assert_eq!((test.input_tokens, test.output_tokens), (300, 30));
    assert!((test.cost - 3.0 * 0.2).abs() < 1e-9, "{}", test.cost);
    let by_document = engine.usage(UsageKey::Document).unwrap();
    assert_eq!(by_document.len(), 2, "a.md, and calls about no document");
    assert_eq!(engine.usage(UsageKey::Day).unwrap().len(), 1);
}

#[test]
fn many_threads_and_engines_that_ask_the_same_call_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("malha.db");
    let engines: Vec<Engine> = (0..3)
        .map(|_| Engine::create(&path, config()).unwrap())
        .collect();
    let echo = Echo::default();
    std::thread::scope(|threads| {
        for engine in &engines {
            let echo = &echo;
            threads.spawn(move || {
                let replies = engine.replies(SpendingLimit::default());
                let model = CachedModel::new(echo, &replies, "test");
                for number in 0..10 {
                    let reply = model.ask(&request(&number.to_string()), None, &mut |_| {});
                    assert_eq!(reply.unwrap().text, number.to_string());
                }
            });
        }
    });
    assert_eq!(echo.calls.load(Ordering::SeqCst), 10);
}

#[test]
fn a_failure_is_on_the_bill_and_is_asked_for_again() {
    let engine = Engine::in_memory(config()).unwrap();
    let echo = Echo {
        fails: true,
        ..Echo::default()
    };
    let replies = engine.replies(SpendingLimit::default());
    let model = CachedModel::new(&echo, &replies, "test");
    for _ in 0..2 {
        let error = model.ask(&request("x"), None, &mut |_| {}).unwrap_err();
        assert!(matches!(error, Error::Model(_)), "{error}");
    }
    assert_eq!(echo.calls.load(Ordering::SeqCst), 2);
    let line = &engine.usage(UsageKey::Model).unwrap()[0];
    assert_eq!((line.calls, line.failed, line.unpriced), (2, 2, 0));
}

#[test]
fn spending_stops_before_the_limit_and_what_is_stored_costs_nothing() {
    let engine = Engine::in_memory(config()).unwrap();
    let echo = Echo::default();
    let limit = SpendingLimit {
        cost: Some(0.45),
        ..SpendingLimit::default()
    };
    let replies = engine.replies(limit);
    let model = CachedModel::new(&echo, &replies, "test");
    let ask = |text: &str| model.ask(&request(text), None, &mut |_| {});
    ask("one").unwrap();
    ask("two").unwrap();
    let error = ask("three").unwrap_err();
    assert!(matches!(error, Error::BudgetReached { .. }), "{error}");
    assert!(ask("one").unwrap().is_cached);
    assert_eq!(echo.calls.load(Ordering::SeqCst), 2);
    // The claim was given up: with more money the call is made at once.
    let replies = engine.replies(SpendingLimit::default());
    let model = CachedModel::new(&echo, &replies, "test");
    assert!(
        model
            .try_ask(&request("three"), None, &mut |_| {})
            .unwrap()
            .is_some()
    );
}
