//! Chat clients against a server of this machine: what they send, what they make of the answers, and how
//! they behave when there is none.

#[allow(dead_code, reason = "shared with tests that use other parts of it")]
mod stub;

use std::sync::Arc;
use std::time::{Duration, Instant};

use malha_engine::language_model::{
    ChatModel, ChatReply, ChatRequest, Message, ModelError, ModelErrorKind, Role,
};
use malha_providers::{
    ChatSettings, JsonReplies, Protocol, ProviderLimits, RetryPolicy, Secret, connect,
};
use serde_json::json;
use stub::{Answer, Stub};

const KEY: &str = "sk-never-shown";

fn settings(protocol: Protocol, base_url: &str) -> ChatSettings {
    ChatSettings {
        protocol,
        model: "small".to_owned(),
        base_url: base_url.to_owned(),
        key: Secret::new(KEY),
        timeout: Duration::from_secs(5),
        stream: false,
        json: JsonReplies::Schema,
        context_tokens: 0,
        retry: RetryPolicy {
            retries: 2,
            first_pause: Duration::from_millis(5),
            ..RetryPolicy::default()
        },
    }
}

fn limits() -> ProviderLimits {
    ProviderLimits {
        requests_per_minute: 0,
        tokens_per_minute: 0,
        concurrency: 4,
        proxy: None,
    }
}

fn client(settings: ChatSettings) -> Arc<dyn ChatModel> {
    connect(&[settings], &limits()).unwrap()
}

fn request() -> ChatRequest {
    ChatRequest {
        messages: vec![
            Message {
                role: Role::System,
                text: "Be brief. {curly} %s".to_owned(),
            },
            Message {
                role: Role::User,
                text: "Who keeps the light?".to_owned(),
            },
        ],
        max_output_tokens: 50,
        temperature: 0.0,
        reply_schema: Some(json!({ "type": "object" })),
    }
}

fn ask(model: &Arc<dyn ChatModel>) -> Result<ChatReply, ModelError> {
    model.complete(&request(), &mut |_| {})
}

#[test]
fn openai_compatible() {
    let stub = Stub::start(|_| Answer::chat("Ana"));
    let model = client(settings(Protocol::OpenAi, &stub.url));
    let reply = ask(&model).unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.model.as_str()),
        ("Ana", "small")
    );
    assert_eq!(
        (reply.input_tokens, reply.output_tokens),
        (Some(11), Some(7))
    );
    let sent = &stub.received()[0];
    assert_eq!(sent.path, "/chat/completions");
    assert!(
        sent.headers
            .contains(&("authorization".to_owned(), format!("Bearer {KEY}")))
    );
    assert_eq!(sent.body["messages"][0]["content"], "Be brief. {curly} %s");
    assert_eq!(
        sent.body["response_format"]["json_schema"]["schema"]["type"],
        "object"
    );
    assert_eq!(sent.body["max_tokens"], 50);
}

#[test]
fn an_endpoint_that_refuses_a_schema_is_asked_for_less_from_then_on() {
    let stub = Stub::start(
        |request| match request.body["response_format"]["type"].as_str() {
            Some(kind) => Answer::error(400, &format!("response_format {kind} is not supported")),
            None => Answer::chat("{}"),
        },
    );
    let model = client(settings(Protocol::OpenAi, &stub.url));
    assert_eq!(ask(&model).unwrap().text, "{}");
    assert_eq!(ask(&model).unwrap().text, "{}");
    let kinds: Vec<_> = stub
        .received()
        .iter()
        .map(|sent| sent.body["response_format"]["type"].clone())
        .collect();
    assert_eq!(
        json!(kinds),
        json!(["json_schema", "json_object", null, null])
    );
}

#[test]
fn a_stream_is_heard_piece_by_piece() {
    let events = [
        json!({ "choices": [{ "delta": { "role": "assistant", "content": "An" } }] }),
        json!({ "choices": [{ "delta": { "content": "a" } }] }),
        json!({ "choices": [{ "delta": {}, "finish_reason": "length" }] }),
        json!({ "choices": [], "usage": { "prompt_tokens": 3, "completion_tokens": 2 } }),
    ];
    let text = events
        .map(|event| {
            format!(
                "data: {event}

"
            )
        })
        .concat();
    let stub = Stub::start(move |_| Answer::ok(format!(": hello\n{text}data: [DONE]\n\n")));
    let model = client(ChatSettings {
        stream: true,
        ..settings(Protocol::OpenAi, &stub.url)
    });
    let mut pieces = Vec::new();
    let reply = model
        .complete(&request(), &mut |text| pieces.push(text.to_owned()))
        .unwrap();
    assert_eq!(pieces, ["An", "a"]);
    assert_eq!((reply.text.as_str(), reply.is_truncated), ("Ana", true));
    assert_eq!(
        (reply.input_tokens, reply.output_tokens),
        (Some(3), Some(2))
    );
}

#[test]
fn a_stream_that_breaks_off_is_a_failure_and_is_not_said_twice() {
    let stub =
        Stub::start(|_| Answer::ok("data: {\"choices\":[{\"delta\":{\"content\":\"An\"}}]}\n\n"));
    let model = client(ChatSettings {
        stream: true,
        ..settings(Protocol::OpenAi, &stub.url)
    });
    let mut heard = String::new();
    let error = model
        .complete(&request(), &mut |text| heard.push_str(text))
        .unwrap_err();
    assert!(
        matches!(error.kind, ModelErrorKind::Transient { .. }),
        "{error}"
    );
    assert_eq!((heard.as_str(), stub.calls()), ("An", 1));
}

#[test]
fn anthropic() {
    let stub = Stub::start(|_| {
        Answer::ok(json!({
            "content": [{ "type": "tool_use", "name": "reply", "input": { "name": "Ana" } }],
            "stop_reason": "tool_use",
            "usage": { "input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 4 },
        }))
    });
    let model = client(settings(Protocol::Anthropic, &stub.url));
    let reply = ask(&model).unwrap();
    assert_eq!(reply.text, r#"{"name":"Ana"}"#);
    assert_eq!(
        (reply.input_tokens, reply.output_tokens),
        (Some(15), Some(4))
    );
    let sent = &stub.received()[0];
    assert_eq!(sent.path, "/v1/messages");
    assert!(
        sent.headers
            .contains(&("x-api-key".to_owned(), KEY.to_owned()))
    );
    assert_eq!(sent.body["system"], "Be brief. {curly} %s");
    assert_eq!(sent.body["messages"].as_array().unwrap().len(), 1);
    assert_eq!(sent.body["tool_choice"]["name"], "reply");
}

#[test]
fn ollama() {
    let stub = Stub::start(|_| {
        Answer::ok(json!({
            "message": { "content": "Ana" }, "done": true, "done_reason": "stop",
            "prompt_eval_count": 9, "eval_count": 1,
        }))
    });
    let model = client(settings(Protocol::Ollama, &stub.url));
    let reply = ask(&model).unwrap();
    assert_eq!((reply.text.as_str(), reply.input_tokens), ("Ana", Some(9)));
    let sent = &stub.received()[0];
    assert_eq!(sent.path, "/api/chat");
    assert_eq!(sent.body["format"], json!({ "type": "object" }));
    assert_eq!(sent.body["options"]["num_ctx"], 8192);

    let mut long = request();
    long.messages[1].text = "word ".repeat(20_000);
    let error = model.complete(&long, &mut |_| {}).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::TooLong);
    assert_eq!(stub.calls(), 1, "what cannot fit is not sent");
}

#[test]
fn what_may_pass_is_tried_again_and_what_stays_is_not() {
    let check = |bad: Answer, expected_calls: usize| {
        let stub = Stub::start(move |request| {
            if request.number < 2 {
                bad.clone()
            } else {
                Answer::chat("Ana")
            }
        });
        let result = ask(&client(settings(Protocol::OpenAi, &stub.url)));
        assert_eq!(stub.calls(), expected_calls, "{result:?}");
        result
    };
    for bad in [
        Answer::error(500, "busy"),
        Answer::error(429, "slow down"),
        Answer::Disconnect,
        Answer::ok("<html>gateway</html>"),
        Answer::ok("{}"),
    ] {
        assert_eq!(check(bad, 3).unwrap().retries, 2);
    }
    let error = check(Answer::error(401, &format!("key {KEY} is wrong")), 1).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Permanent);
    assert!(!error.to_string().contains(KEY), "{error}");
    let error = check(Answer::error(400, "maximum context length is 8"), 1).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::TooLong);
}

#[test]
fn retries_end_and_keep_the_reason() {
    let stub = Stub::start(|_| Answer::error(503, "no capacity"));
    let error = ask(&client(settings(Protocol::OpenAi, &stub.url))).unwrap_err();
    assert_eq!(stub.calls(), 3);
    assert!(error.message.contains("no capacity"), "{error}");
    assert!(error.message.contains("after 3 tries"), "{error}");
}

#[test]
fn retry_after_is_honoured() {
    let stub = Stub::start(|request| {
        if request.number == 0 {
            let header = ("retry-after".to_owned(), "0.3".to_owned());
            Answer::Status(429, vec![header], String::new())
        } else {
            Answer::chat("Ana")
        }
    });
    let start = Instant::now();
    let reply = ask(&client(settings(Protocol::OpenAi, &stub.url))).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(300));
    // The pause began before the wait was measured.
    assert!(reply.waited >= Duration::from_millis(250));
}

#[test]
fn a_provider_that_asks_for_too_much_patience_is_given_up() {
    let stub = Stub::start(|_| {
        let header = ("retry-after".to_owned(), "90000".to_owned());
        Answer::Status(429, vec![header], String::new())
    });
    assert!(ask(&client(settings(Protocol::OpenAi, &stub.url))).is_err());
    assert_eq!(stub.calls(), 1);
}

#[test]
fn calls_at_once_stay_within_the_limit() {
    let stub = Stub::start(|_| {
        std::thread::sleep(Duration::from_millis(10));
        Answer::chat("Ana")
    });
    let model = client(settings(Protocol::OpenAi, &stub.url));
    std::thread::scope(|threads| {
        for _ in 0..12 {
            threads.spawn(|| ask(&model).unwrap());
        }
    });
    assert_eq!(stub.calls(), 12);
    assert!(stub.most_in_flight() <= 4, "{}", stub.most_in_flight());
}

#[test]
fn the_next_model_of_a_chain_steps_in_and_says_so() {
    let broken = Stub::start(|_| Answer::error(500, "busy"));
    let sound = Stub::start(|_| Answer::chat("Ana"));
    let chain = [
        settings(Protocol::OpenAi, &broken.url),
        ChatSettings {
            model: "large".to_owned(),
            ..settings(Protocol::OpenAi, &sound.url)
        },
    ];
    let model = connect(&chain, &limits()).unwrap();
    assert_eq!(model.name(), "small");
    assert_eq!(ask(&model).unwrap().model, "large");
}

#[test]
fn a_server_that_is_not_there_is_named_without_path_or_key() {
    let mut settings = settings(Protocol::OpenAi, "http://127.0.0.1:9/secret-path");
    settings.retry.retries = 0;
    let error = ask(&client(settings)).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("http://127.0.0.1:9"), "{text}");
    assert!(
        !text.contains("secret-path") && !text.contains(KEY),
        "{text}"
    );
}

#[test]
fn a_slow_answer_ends_at_the_timeout() {
    let stub = Stub::start(|_| {
        std::thread::sleep(Duration::from_secs(3));
        Answer::chat("late")
    });
    let mut settings = settings(Protocol::OpenAi, &stub.url);
    settings.timeout = Duration::from_millis(100);
    settings.retry.retries = 0;
    let start = Instant::now();
    let error = ask(&client(settings)).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(2));
    assert!(error.message.contains("no answer within"), "{error}");
}

#[test]
fn debugging_output_hides_the_key() {
    let shown = format!("{:?}", settings(Protocol::OpenAi, "http://x"));
    assert!(!shown.contains(KEY), "{shown}");
}
