//! A provider of the tests: an HTTP server on a free port of this machine that answers by a function.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// What arrived.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
    /// Number of this request, from 0.
    pub(crate) number: usize,
}

/// What goes back.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Status(u16, Vec<(String, String)>, String),
    /// The connection ends without a word.
    Disconnect,
    /// The connection ends in the middle of this body.
    Half(String),
    /// The body comes in these pieces, with this pause before each but the first.
    Pieces(Vec<String>, Duration),
}

impl Answer {
    pub(crate) fn ok(body: impl std::fmt::Display) -> Self {
        Self::Status(200, Vec::new(), body.to_string())
    }

    /// The reply of a chat model, as `/chat/completions` puts it.
    pub(crate) fn chat(text: &str) -> Self {
        Self::ok(json!({
            "choices": [{ "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 11, "completion_tokens": 7 },
        }))
    }

    pub(crate) fn error(status: u16, message: &str) -> Self {
        let body = json!({ "error": { "message": message } }).to_string();
        Self::Status(status, Vec::new(), body)
    }
}

/// Runs until the test ends.
pub(crate) struct Stub {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<Received>>>,
    in_flight: Arc<AtomicUsize>,
    most_in_flight: Arc<AtomicUsize>,
}

impl Stub {
    pub(crate) fn start(answer: impl Fn(&Received) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let stub = Self {
            url,
            received: Arc::default(),
            in_flight: Arc::default(),
            most_in_flight: Arc::default(),
        };
        let shared = (
            Arc::clone(&stub.received),
            Arc::clone(&stub.in_flight),
            Arc::clone(&stub.most_in_flight),
        );
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, shared) = (Arc::clone(&answer), shared.clone());
                std::thread::spawn(move || {
                    let (received, in_flight, most) = shared;
                    serve(&stream, |mut request| {
                        let now = in_flight.fetch_add(1, Ordering::SeqCst) + 1;
                        most.fetch_max(now, Ordering::SeqCst);
                        {
                            let mut all = received.lock().unwrap();
                            request.number = all.len();
                            all.push(request.clone());
                        }
                        let answer = answer(&request);
                        in_flight.fetch_sub(1, Ordering::SeqCst);
                        answer
                    });
                });
            }
        });
        stub
    }

    /// All requests so far, in order of arrival.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    pub(crate) fn calls(&self) -> usize {
        self.received.lock().unwrap().len()
    }

    /// Returns when so many requests have come.
    #[track_caller]
    pub(crate) fn wait_for(&self, calls: usize) {
        let started = Instant::now();
        while self.calls() < calls {
            assert!(
                started.elapsed() < Duration::from_mins(4),
                "waited too long"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn most_in_flight(&self) -> usize {
        self.most_in_flight.load(Ordering::SeqCst)
    }
}

fn serve(stream: &TcpStream, mut answer: impl FnMut(Received) -> Answer) {
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    while let Some(request) = read(&mut reader) {
        let is_head = request.method == "HEAD";
        let (status, headers, body) = match answer(request) {
            Answer::Status(status, headers, body) => (status, headers, body),
            Answer::Half(body) => {
                let head = format!("HTTP/1.1 200 X\r\ncontent-length: {}\r\n\r\n", body.len());
                let _ = writer.write_all(format!("{head}{}", &body[..body.len() / 2]).as_bytes());
                let _ = stream.shutdown(std::net::Shutdown::Both);
                return;
            }
            Answer::Pieces(pieces, pause) => {
                let head = "HTTP/1.1 200 X\r\nconnection: close\r\n\r\n".to_owned();
                let _ = writer.write_all(head.as_bytes());
                for (number, piece) in pieces.iter().enumerate() {
                    if number > 0 {
                        std::thread::sleep(pause);
                    }
                    let _ = writer.write_all(piece.as_bytes());
                }
                let _ = stream.shutdown(std::net::Shutdown::Both);
                return;
            }
            Answer::Disconnect => {
                let _ = stream.shutdown(std::net::Shutdown::Both);
                return;
            }
        };
        let mut head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
        if body.starts_with('{') {
            head.push_str("content-type: application/json\r\n");
        }
        for (name, value) in headers {
            head = format!("{head}{name}: {value}\r\n");
        }
        let body = if is_head { "" } else { &body };
        let sent = writer.write_all(format!("{head}\r\n{body}").as_bytes());
        if sent.is_err() {
            return;
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Received> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = Vec::new();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(':') else {
            break;
        };
        let (name, value) = (name.to_lowercase(), value.trim().to_owned());
        if name == "content-length" {
            length = value.parse().ok()?;
        }
        headers.push((name, value));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Received {
        method,
        path,
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
        number: 0,
    })
}
