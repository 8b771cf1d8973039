//! Spans of runs, their steps and calls of models, sent to a collector: OTLP over HTTP in its JSON encoding
//! (opentelemetry.io/docs/specs/otlp). Only with the feature `otel`, and only where `OTEL_EXPORTER_OTLP_ENDPOINT`
//! names a collector.

mod encoding;
mod exporter;
mod layer;

use tracing::Level;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use self::exporter::Exporter;
use self::layer::SpanLayer;
use crate::config::Collector;
use crate::ui::stderr::{self, Verbosity};

/// The engine's log, for those who asked for it, and its spans, for a collector: what is left of them is sent when
/// this is dropped.
#[must_use]
pub(crate) struct Log {
    _exporter: Option<Exporter>,
}

impl Log {
    pub(crate) fn start(verbosity: Verbosity) -> Self {
        let log = (verbosity >= Verbosity::Debug).then(|| {
            tracing_subscriber::fmt::layer()
                .with_writer(std::io::stderr)
                .with_ansi(false)
                .with_filter(tracing_subscriber::filter::LevelFilter::DEBUG)
        });
        let exporter = match Collector::from_environment() {
            Ok(Some(collector)) => Some(Exporter::start(collector)),
            Ok(None) => None,
            Err(reason) => {
                stderr::warning(verbosity, &format!("no spans are sent: {reason}"));
                None
            }
        };
        // What other crates note may hold anything.
        let is_ours = filter_fn(|metadata| {
            *metadata.level() <= Level::INFO && metadata.target().starts_with("malha")
        });
        let spans = exporter
            .as_ref()
            .map(|exporter| SpanLayer::new(exporter.sender()).with_filter(is_ours));
        tracing_subscriber::registry().with(log).with(spans).init();
        Self {
            _exporter: exporter,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::sync::mpsc;
    use std::time::Duration;

    use serde_json::Value;

    use super::*;

    /// Takes requests until `wanted` spans came: method, path, headers, and the spans.
    fn listen(listener: TcpListener, wanted: usize) -> mpsc::Receiver<(String, Vec<Value>)> {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let (mut head_seen, mut spans) = (String::new(), Vec::new());
            while spans.len() < wanted {
                let (mut stream, _) = listener.accept().unwrap();
                let mut bytes = Vec::new();
                let mut buffer = [0; 4096];
                let body = loop {
                    let read = stream.read(&mut buffer).unwrap();
                    bytes.extend_from_slice(&buffer[..read]);
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    let Some((head, body)) = text.split_once("\r\n\r\n") else {
                        continue;
                    };
                    let length: usize = head
                        .lines()
                        .find_map(|line| {
                            line.to_lowercase()
                                .strip_prefix("content-length: ")
                                .map(str::to_owned)
                        })
                        .unwrap()
                        .parse()
                        .unwrap();
                    if body.len() >= length {
                        head_seen = head.to_owned();
                        break body.to_owned();
                    }
                };
                let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
                stream.write_all(answer.as_bytes()).unwrap();
                let sent: Value = serde_json::from_str(&body).unwrap();
                let resource = &sent["resourceSpans"][0];
                assert_eq!(
                    resource["resource"]["attributes"][0]["value"]["stringValue"],
                    "malha-test"
                );
                spans.extend(
                    resource["scopeSpans"][0]["spans"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .cloned(),
                );
            }
            sender.send((head_seen, spans)).unwrap();
        });
        receiver
    }

    #[test]
    fn spans_arrive_with_their_parents_and_fields() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = listen(listener, 3);
        let exporter = Exporter::start(Collector {
            url: format!("http://127.0.0.1:{port}/v1/traces"),
            headers: vec![("x-tenant".to_owned(), "a".to_owned())],
            timeout: Duration::from_secs(5),
            service: "malha-test".to_owned(),
        });
        let subscriber = tracing_subscriber::registry().with(SpanLayer::new(exporter.sender()));
        tracing::subscriber::with_default(subscriber, || {
            let run = tracing::info_span!("run", passages = 3_u64, cost = tracing::field::Empty);
            run.in_scope(|| {
                for number in 0..2_i64 {
                    let call = tracing::info_span!("call", number, error = tracing::field::Empty);
                    call.in_scope(|| ());
                    if number == 1 {
                        call.record("error", "HTTP 500");
                    }
                }
            });
            run.record("cost", 0.5);
        });
        drop(exporter);
        let (head, spans) = received.recv_timeout(Duration::from_secs(10)).unwrap();
        assert!(head.starts_with("POST /v1/traces "), "{head}");
        assert!(head.to_lowercase().contains("x-tenant: a"), "{head}");
        let named = |name: &str| -> Vec<&Value> {
            spans.iter().filter(|span| span["name"] == name).collect()
        };
        let (run, calls) = (named("run")[0], named("call"));
        assert_eq!(calls.len(), 2);
        assert!(run.get("parentSpanId").is_none());
        for call in &calls {
            assert_eq!(call["parentSpanId"], run["spanId"]);
            assert_eq!(call["traceId"], run["traceId"]);
        }
        let attribute = |span: &Value, key: &str| -> Value {
            let all = span["attributes"].as_array().unwrap();
            all.iter().find(|one| one["key"] == key).unwrap()["value"].clone()
        };
        assert_eq!(attribute(run, "passages")["intValue"], "3");
        assert_eq!(attribute(run, "cost")["doubleValue"], 0.5);
        let failed: Vec<&Value> = calls
            .iter()
            .map(|call| &call["status"])
            .filter(|status| status["code"] == 2)
            .collect();
        assert_eq!(failed.len(), 1);
        assert_eq!(failed[0]["message"], "HTTP 500");
        let nanos = |key: &str| run[key].as_str().unwrap().parse::<u64>().unwrap();
        assert!(nanos("endTimeUnixNano") >= nanos("startTimeUnixNano"));
        assert_eq!(run["traceId"].as_str().unwrap().len(), 32);
        assert_eq!(run["spanId"].as_str().unwrap().len(), 16);
    }

    #[test]
    fn a_collector_that_is_not_there_costs_nothing_but_the_spans() {
        let exporter = Exporter::start(Collector {
            url: "http://127.0.0.1:9/v1/traces".to_owned(),
            headers: Vec::new(),
            timeout: Duration::from_millis(200),
            service: "malha-test".to_owned(),
        });
        let subscriber = tracing_subscriber::registry().with(SpanLayer::new(exporter.sender()));
        tracing::subscriber::with_default(subscriber, || {
            tracing::info_span!("run").in_scope(|| {});
        });
        drop(exporter);
    }
}
