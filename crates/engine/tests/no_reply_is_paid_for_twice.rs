//! Replies through the store: kept before anything reads them, served again, claimed while asked for, and
//! never past the limit of spending.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use malha_engine::language_model::{
    ChatModel, ChatReply, ChatRequest, Effort, Message, ModelError, ModelErrorKind, Role,
};
use malha_engine::replies::{CachedModel, ask_all};
use malha_engine::text::count_tokens;
use malha_engine::types::{Clock, ModelPrice, SpendingLimit, Timestamp, UsageKey};
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
            return Err(ModelError::new(
                ModelErrorKind::Permanent,
                "echo",
                "out of order",
            ));
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
fn threads_of_one_run_that_ask_the_same_call_once() {
    let engine = Engine::in_memory(config()).unwrap();
    let echo = Echo::default();
    let replies = engine.replies(SpendingLimit::default());
    let model = CachedModel::new(&echo, &replies, "test");
    std::thread::scope(|threads| {
        for _ in 0..6 {
            threads.spawn(|| model.ask(&request("one"), None, &mut |_| {}).unwrap());
        }
    });
    assert_eq!(echo.calls.load(Ordering::SeqCst), 1);
}

/// Leaves its caller as a process that is killed in the middle of a call.
struct Killed;

impl ChatModel for Killed {
    fn name(&self) -> &'static str {
        "echo"
    }
    fn complete(
        &self,
        _request: &ChatRequest,
        _on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, ModelError> {
        panic!("killed")
    }
}

#[test]
fn a_claim_of_a_process_that_is_gone_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("malha.db");
    let engine = Engine::create(&path, config()).unwrap();
    let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let replies = std::mem::ManuallyDrop::new(engine.replies(SpendingLimit::default()));
        let model = CachedModel::new(&Killed, &replies, "test");
        model.ask(&request("one"), None, &mut |_| {})
    }));
    assert!(killed.is_err());
    let left = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap().path())
        .find(|path| path.to_string_lossy().contains("-asking-"))
        .unwrap();
    let echo = Echo::default();
    let replies = engine.replies(SpendingLimit::default());
    let model = CachedModel::new(&echo, &replies, "test");
    let ask = || model.try_ask(&request("one"), None, &mut |_| {}).unwrap();
    assert_eq!(ask(), None, "its lock is still held");
    // The system gives the lock up with the process: here it is another file of that name.
    std::fs::remove_file(&left).unwrap();
    std::fs::write(&left, "").unwrap();
    assert_eq!(ask().unwrap().text, "ONE");
    assert!(!left.exists());
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
        cost: Some(0.85),
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

/// Eight at once; counts as we do, and answers with `reply` tokens.
struct Crowd {
    reply: u64,
}

impl ChatModel for Crowd {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn concurrency(&self) -> usize {
        8
    }

    fn complete(
        &self,
        request: &ChatRequest,
        _on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, ModelError> {
        std::thread::sleep(Duration::from_millis(1));
        Ok(ChatReply {
            text: "said".to_owned(),
            input_tokens: Some(count_tokens(&request.messages[0].text) as u64),
            output_tokens: Some(self.reply),
            ..ChatReply::default()
        })
    }
}

#[test]
fn no_limit_is_passed_however_many_calls_are_on_their_way() {
    // Chinese takes more tokens than a quarter of its bytes.
    let text = "林砚秋在港口的潮信录里写下每一天的潮水。";
    let requests: Vec<ChatRequest> = (0..150)
        .map(|n| request(&format!("{text}{n:03}")))
        .collect();
    let prompt = count_tokens(&requests[10].messages[0].text) as u64;
    let price = &config().prices[0];
    let check = |reply: u64| {
        let most = prompt + 40;
        for limit in [
            SpendingLimit {
                tokens: Some(10 * most + 7),
                ..SpendingLimit::default()
            },
            SpendingLimit {
                cost: Some(10.4 * price.cost(prompt, 40)),
                ..SpendingLimit::default()
            },
        ] {
            let engine = Engine::in_memory(config()).unwrap();
            let replies = engine.replies(limit);
            let crowd = Crowd { reply };
            let model = CachedModel::new(&crowd, &replies, "test");
            let asked = ask_all(&model, &requests, &()).unwrap();
            let is_spent =
                |reply: &Result<_, Error>| matches!(reply, Err(Error::BudgetReached { .. }));
            assert!(asked.iter().any(is_spent));
            let spent = replies.spent();
            let tokens = spent.input_tokens + spent.output_tokens;
            // Never more, and what is left is too little for one more call.
            if let Some(limit) = limit.tokens {
                assert!(
                    tokens <= limit && tokens + most + 2 > limit,
                    "{tokens} of {limit}"
                );
            }
            if let Some(limit) = limit.cost {
                let cost = spent.cost;
                let one = price.cost(prompt + 2, 40);
                assert!(cost <= limit && cost + one > limit, "{cost} of {limit}");
            }
        }
    };
    // Replies that fill the room, and short ones.
    check(40);
    check(3);
}

#[test]
fn what_a_failed_call_took_is_on_the_bill() {
    struct Lost;
    impl ChatModel for Lost {
        fn name(&self) -> &'static str {
            "echo"
        }
        fn complete(
            &self,
            _request: &ChatRequest,
            _on_text: &mut dyn FnMut(&str),
        ) -> Result<ChatReply, ModelError> {
            let kind = ModelErrorKind::Transient { retry_after: None };
            let mut error = ModelError::new(kind, "echo", "no answer");
            error.effort = Effort {
                retries: 4,
                waited: Duration::from_millis(1500),
                lost: 3,
            };
            Err(error)
        }
    }
    let engine = Engine::in_memory(config()).unwrap();
    let replies = engine.replies(SpendingLimit::default());
    let model = CachedModel::new(&Lost, &replies, "test");
    let text = "one two three";
    model.ask(&request(text), None, &mut |_| {}).unwrap_err();
    let prompts = 3 * count_tokens(text) as u64;
    let spent = replies.spent();
    assert_eq!((spent.retries, spent.waited_ms, spent.failed), (4, 1500, 1));
    assert_eq!((spent.input_tokens, spent.output_tokens), (prompts, 0));
    assert!(spent.cost > 0.0);
    let line = &engine.usage(UsageKey::Step).unwrap()[0];
    assert_eq!((line.retries, line.waited_ms), (4, 1500));
    assert_eq!((line.input_tokens, line.failed), (prompts, 1));
    assert!((line.cost - spent.cost).abs() < 1e-12);
}

struct At(i64);

impl Clock for At {
    fn now(&self) -> Timestamp {
        Timestamp(self.0)
    }
}

/// While it is asked, somebody else takes its claim for that of a process that is gone, and is faster.
struct Overtaken<'a> {
    other: &'a Engine,
    folder: &'a Path,
}

impl ChatModel for Overtaken<'_> {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn complete(
        &self,
        request: &ChatRequest,
        _on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, ModelError> {
        let echo = Echo::default();
        let replies = self.other.replies(SpendingLimit::default());
        let model = CachedModel::new(&echo, &replies, "test");
        let busy = model.try_ask(request, None, &mut |_| {}).unwrap();
        assert_eq!(
            busy, None,
            "whoever is there is not overtaken, however late it is"
        );
        // As where the file system knows no locks.
        for file in std::fs::read_dir(self.folder).unwrap() {
            let path = file.unwrap().path();
            if path.to_string_lossy().contains("-asking-") {
                std::fs::remove_file(path).unwrap();
            }
        }
        let first = model.try_ask(request, None, &mut |_| {}).unwrap().unwrap();
        assert_eq!(first.text, "ONE");
        model.ask(&self::request("two"), None, &mut |_| {}).unwrap();
        Ok(ChatReply {
            text: "too late".to_owned(),
            input_tokens: Some(7),
            output_tokens: Some(5),
            ..ChatReply::default()
        })
    }
}

#[test]
fn of_two_replies_to_one_question_the_first_counts_and_both_are_on_the_bill() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("malha.db");
    let engine = Engine::create(&path, config()).unwrap().with_clock(At(0));
    // A minute ahead, so that a claim of now has run out.
    let other = Engine::open(&path, config())
        .unwrap()
        .with_clock(At(60_000));
    let replies = engine.replies(SpendingLimit::default());
    let slow = Overtaken {
        other: &other,
        folder: folder.path(),
    };
    let model = CachedModel::new(&slow, &replies, "test");
    let reply = model.ask(&request("one"), None, &mut |_| {}).unwrap();
    assert_eq!((reply.text.as_str(), reply.is_cached), ("ONE", false));
    assert_eq!(reply.input_tokens, 100);
    assert_eq!(replies.spent().input_tokens, 7, "what was paid here");
    let line = &engine.usage(UsageKey::Step).unwrap()[0];
    assert_eq!((line.calls, line.rejected, line.failed), (3, 1, 0));
    assert_eq!(line.input_tokens, 207);
    // What is rejected is that reply and none that came after it.
    replies.reject(reply.id, "no good").unwrap();
    assert!(model.peek(&request("one")).unwrap().is_none());
    assert!(model.peek(&request("two")).unwrap().is_some());
}

#[test]
fn a_model_that_answers_nothing_is_not_asked_for_ever() {
    let engine = Engine::in_memory(config()).unwrap();
    let echo = Echo {
        fails: true,
        ..Echo::default()
    };
    let replies = engine.replies(SpendingLimit::default());
    let model = CachedModel::new(&echo, &replies, "test");
    let requests: Vec<ChatRequest> = (0..50).map(|n| request(&n.to_string())).collect();
    let asked = ask_all(&model, &requests, &()).unwrap();
    assert!(
        asked
            .iter()
            .all(|reply| matches!(reply, Err(Error::Model(_))))
    );
    assert_eq!(echo.calls.load(Ordering::SeqCst), 5);
}
