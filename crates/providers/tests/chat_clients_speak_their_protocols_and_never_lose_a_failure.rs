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
use serde_json::{Value, json};
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
    assert_eq!(sent.body["stream"], true);
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

/// Server-sent events, as Anthropic names them.
fn events(events: &[Value]) -> String {
    let named = |event: &Value| {
        let name = event["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {event}\n\n")
    };
    events.iter().map(named).collect()
}

fn anthropic_stream(deltas: &[Value], stop_reason: &str) -> String {
    let mut all = vec![
        json!({ "type": "message_start", "message": { "usage": {
            "input_tokens": 10, "cache_creation_input_tokens": 2, "output_tokens": 1,
        } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": {} }),
        json!({ "type": "ping" }),
    ];
    all.extend(
        deltas
            .iter()
            .map(|delta| json!({ "type": "content_block_delta", "index": 0, "delta": delta })),
    );
    all.extend([
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": stop_reason },
                "usage": { "output_tokens": 4 } }),
        json!({ "type": "message_stop" }),
    ]);
    events(&all)
}

fn ollama_stream(texts: &[&str], last: &Value) -> String {
    let piece = |text: &&str| {
        format!(
            "{}\n",
            json!({ "message": { "content": text }, "done": false })
        )
    };
    texts.iter().map(piece).collect::<String>() + &format!("{last}\n")
}

/// The same reply of every protocol: pieces where they are wanted, the whole text where they are not.
#[test]
fn every_protocol_streams() {
    let openai = [
        json!({ "choices": [{ "delta": { "content": "An" } }] }),
        // Some models send parts.
        json!({ "choices": [{ "delta": { "content": [{ "type": "text", "text": "a" }] } }] }),
        json!({ "choices": [{ "delta": {}, "finish_reason": "length" }],
                "usage": { "prompt_tokens": 12, "completion_tokens": 4 } }),
    ];
    let text = [
        json!({ "type": "text_delta", "text": "An" }),
        json!({ "type": "text_delta", "text": "a" }),
    ];
    let tool = [
        json!({ "type": "input_json_delta", "partial_json": "An" }),
        json!({ "type": "input_json_delta", "partial_json": "a" }),
    ];
    let last = json!({ "message": { "content": "" }, "done": true, "done_reason": "length",
                       "prompt_eval_count": 12, "eval_count": 4 });
    let cases = [
        (Protocol::OpenAi, events(&openai) + "data: [DONE]\n\n"),
        (Protocol::Anthropic, anthropic_stream(&text, "max_tokens")),
        (Protocol::Anthropic, anthropic_stream(&tool, "max_tokens")),
        (Protocol::Ollama, ollama_stream(&["An", "a"], &last)),
    ];
    for (protocol, body) in cases {
        for (stream, expected) in [(true, vec!["An", "a"]), (false, vec!["Ana"])] {
            let body = body.clone();
            // Such a stream says nothing of its length.
            let stub = Stub::start(move |_| Answer::Pieces(vec![body.clone()], Duration::ZERO));
            let model = client(ChatSettings {
                stream,
                ..settings(protocol, &stub.url)
            });
            let mut pieces = Vec::new();
            let reply = model
                .complete(&request(), &mut |text| pieces.push(text.to_owned()))
                .unwrap();
            assert_eq!(pieces, expected, "{protocol:?}");
            assert_eq!((reply.text.as_str(), reply.is_truncated), ("Ana", true));
            let tokens = (reply.input_tokens, reply.output_tokens);
            assert_eq!(tokens, (Some(12), Some(4)), "{protocol:?}");
            assert_eq!(stub.received()[0].body["stream"], true);
        }
    }
}

#[test]
fn a_stream_that_breaks_off_unheard_is_asked_for_again() {
    let cut = [
        (
            Protocol::OpenAi,
            events(&[json!({ "choices": [{ "delta": { "content": "An" } }] })]),
        ),
        // An error in words, whatever says afterwards that this was all.
        (
            Protocol::OpenAi,
            events(&[
                json!({ "choices": [{ "delta": { "content": "An" } }] }),
                json!({ "error": "generation failed" }),
            ]) + "data: [DONE]\n\n",
        ),
        (
            Protocol::Anthropic,
            events(&[
                json!({ "type": "content_block_delta", "delta": { "text": "An" } }),
                json!({ "type": "error", "error": { "message": "overloaded" } }),
            ]),
        ),
        (
            Protocol::Ollama,
            ollama_stream(&["An"], &json!({ "error": "out of memory" })),
        ),
    ];
    for (protocol, body) in cut {
        let stub = Stub::start(move |_| Answer::Pieces(vec![body.clone()], Duration::ZERO));
        let error = ask(&client(settings(protocol, &stub.url))).unwrap_err();
        assert!(
            matches!(error.kind, ModelErrorKind::Transient { .. }),
            "{error}"
        );
        assert_eq!((stub.calls(), error.effort.retries), (3, 2), "{error}");
        assert_eq!(error.effort.lost, 3, "each may be on the bill");
    }
}

#[test]
fn a_refusal_is_no_reply_and_is_not_asked_for_again() {
    let openai = [
        json!({ "choices": [{ "delta": { "refusal": "I will " } }] }),
        json!({ "choices": [{ "delta": { "refusal": "not." } }] }),
        json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }),
    ];
    let filtered = [json!({ "choices": [{ "delta": {}, "finish_reason": "content_filter" }] })];
    let whole =
        json!({ "choices": [{ "message": { "content": "" }, "finish_reason": "content_filter" }] });
    let said = json!({ "choices": [{ "message": { "content": null, "refusal": "I will not." } }] });
    let of_anthropic = json!({ "content": [], "stop_reason": "refusal" });
    let cases = [
        (Protocol::OpenAi, Answer::ok(events(&openai)), "I will not."),
        (
            Protocol::OpenAi,
            Answer::ok(events(&filtered)),
            "content_filter",
        ),
        (Protocol::OpenAi, Answer::ok(whole), "content_filter"),
        (Protocol::OpenAi, Answer::ok(said), "I will not."),
        (
            Protocol::OpenAi,
            Answer::error(400, "content_filter"),
            "content_filter",
        ),
        (
            Protocol::Anthropic,
            Answer::ok(anthropic_stream(&[], "refusal")),
            "refusal",
        ),
        (Protocol::Anthropic, Answer::ok(of_anthropic), "refusal"),
    ];
    for (protocol, answer, words) in cases {
        let stub = Stub::start(move |_| answer.clone());
        let error = ask(&client(settings(protocol, &stub.url))).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Refused, "{error}");
        assert!(error.message.contains(words), "{error}");
        assert_eq!(stub.calls(), 1);
    }
}

#[test]
fn an_answer_may_take_longer_than_the_timeout_but_no_pause_in_it() {
    let piece = |text: &str| events(&[json!({ "choices": [{ "delta": { "content": text } }] })]);
    let end = "data: [DONE]\n\n".to_owned();
    let timed = |answer: Answer, timeout: u64| {
        let stub = Stub::start(move |_| answer.clone());
        let mut settings = settings(Protocol::OpenAi, &stub.url);
        settings.timeout = Duration::from_millis(timeout);
        settings.retry.retries = 0;
        ask(&client(settings))
    };
    let mut pieces = vec![piece("a"); 12];
    pieces.push(end);
    let slow = Answer::Pieces(pieces, Duration::from_millis(100));
    assert_eq!(timed(slow, 1000).unwrap().text.len(), 12);
    let silent = Answer::Pieces(vec![piece("a"), piece("b")], Duration::from_secs(5));
    let error = timed(silent, 50).unwrap_err();
    assert!(
        error.message.contains("no answer within 1 s (timeout_ms)"),
        "{error}"
    );
}

#[test]
fn a_server_that_cannot_stream_is_asked_for_whole_answers() {
    let stub = Stub::start(|request| {
        if request.body["stream"] == true {
            Answer::error(400, "this organisation may not stream this model")
        } else {
            Answer::chat("Ana")
        }
    });
    let model = client(settings(Protocol::OpenAi, &stub.url));
    assert_eq!(ask(&model).unwrap().text, "Ana");
    assert_eq!(ask(&model).unwrap().text, "Ana");
    assert_eq!(stub.calls(), 3);
}

#[test]
fn a_proxy_is_asked_in_place_of_the_server() {
    let proxy = Stub::start(|request| match request.method.as_str() {
        "CONNECT" => Answer::Status(200, Vec::new(), String::new()),
        _ => Answer::chat("Ana"),
    });
    let limits = ProviderLimits {
        proxy: Some(proxy.url.replace("://", "://ana:secret@")),
        ..limits()
    };
    // An address of documentation: nobody answers there.
    let settings = settings(Protocol::OpenAi, "http://192.0.2.7:81/v1");
    let model = connect(std::slice::from_ref(&settings), &limits).unwrap();
    assert_eq!(ask(&model).unwrap().text, "Ana");
    let received = proxy.received();
    let text = format!("{received:?}");
    assert!(text.contains("192.0.2.7:81"), "{text}");
    let login = |one: &stub::Received| {
        let mut headers = one.headers.iter();
        headers.any(|(name, value)| name == "proxy-authorization" && value.starts_with("Basic "))
    };
    assert!(received.iter().any(login), "{text}");

    let nobody = ProviderLimits {
        proxy: Some("http://ana:secret@127.0.0.1:9".to_owned()),
        ..limits
    };
    let error = ask(&connect(&[settings], &nobody).unwrap()).unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
    assert_eq!(error.effort.lost, 0, "nothing reached the model");
    let unknown = ProviderLimits {
        proxy: Some("not a proxy".to_owned()),
        ..nobody
    };
    assert!(connect(&[], &unknown).is_err());
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
    assert!(
        sent.headers
            .contains(&("authorization".to_owned(), format!("Bearer {KEY}")))
    );

    // Letters that take more tokens than their bytes tell.
    let mut long = request();
    long.messages[1].text = "é ü ñ ".repeat(4000);
    let error = model.complete(&long, &mut |_| {}).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::TooLong);
    assert_eq!(stub.calls(), 1, "what cannot fit is not sent");
}

#[test]
fn a_prompt_that_a_server_cut_is_too_long() {
    let stub = Stub::start(|_| {
        Answer::ok(json!({
            "message": { "content": "Ana" }, "done": true, "done_reason": "stop",
            "prompt_eval_count": 512, "eval_count": 1,
        }))
    });
    let model = client(ChatSettings {
        context_tokens: 512,
        ..settings(Protocol::Ollama, &stub.url)
    });
    assert_eq!(ask(&model).unwrap_err().kind, ModelErrorKind::TooLong);
}

#[test]
fn what_has_no_room_is_sent_to_nobody() {
    for protocol in [Protocol::OpenAi, Protocol::Anthropic, Protocol::Ollama] {
        let stub = Stub::start(|_| Answer::chat("Ana"));
        let model = client(ChatSettings {
            context_tokens: 40,
            ..settings(protocol, &stub.url)
        });
        assert_eq!(ask(&model).unwrap_err().kind, ModelErrorKind::TooLong);
        assert_eq!(stub.calls(), 0);
    }
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
        assert_eq!(check(bad, 3).unwrap().effort.retries, 2);
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
    assert!(reply.effort.waited >= Duration::from_millis(250));
}

#[test]
fn a_provider_that_asks_for_too_much_patience_is_given_up() {
    let stub = Stub::start(|_| {
        let header = ("retry-after".to_owned(), "90000".to_owned());
        Answer::Status(429, vec![header], String::new())
    });
    let model = client(settings(Protocol::OpenAi, &stub.url));
    let waits = |error: ModelError| match error.kind {
        ModelErrorKind::Transient { retry_after } => retry_after.unwrap(),
        _ => panic!("{error}"),
    };
    assert_eq!(waits(ask(&model).unwrap_err()).as_secs(), 90_000);
    // Nor is it asked by anybody else of this process.
    let other = client(settings(Protocol::OpenAi, &stub.url));
    assert!(waits(ask(&other).unwrap_err()).as_secs() > 80_000);
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
    assert_eq!(model.names(), ["small", "large"]);
    let reply = ask(&model).unwrap();
    assert_eq!((reply.model.as_str(), reply.effort.retries), ("large", 2));
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
