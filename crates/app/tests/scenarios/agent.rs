//! Agents that speak the Model Context Protocol to the program, on its stdin and stdout or over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Vault;

/// Asks, and gives what comes back.
pub(crate) trait Speaks {
    /// The whole answer to a request.
    fn ask(&mut self, method: &str, parameters: &Value) -> Value;

    /// The result of a tool.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        answer["result"].clone()
    }
}

fn hello() -> Value {
    json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
}

/// `malha mcp`, spoken to line by line.
pub(crate) struct Agent {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    log: Log,
    next: u64,
}

impl Agent {
    pub(crate) fn start(vault: &Vault, arguments: &[&str]) -> Self {
        let mut child = vault
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut agent = Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            log: Log::of(&mut child),
            child,
            next: 0,
        };
        agent.ask("initialize", &hello());
        agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Begins a call whose answer nobody reads; its number.
    pub(crate) fn begin(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.next += 1;
        let id = self.next;
        let parameters =
            json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": id}});
        self.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": parameters}),
        );
        id
    }

    /// Waits until a call that was begun tells that it goes on.
    pub(crate) fn wait_for_progress(&mut self, id: u64) {
        loop {
            let message = self.read();
            let told = &message["params"];
            if told["progressToken"] == id && told["progress"].as_f64() > Some(0.0) {
                return;
            }
        }
    }

    /// Gives up a call, and returns when its work knows.
    pub(crate) fn give_up(&mut self, id: u64) {
        self.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": id, "reason": "never mind"}}),
        );
        self.log.wait_for("asked to stop");
    }

    /// A line of the server; each is protocol.
    fn read(&mut self) -> Value {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).unwrap();
        assert_ne!(read, 0, "the server ended: {}", self.log.text());
        let message: Value = serde_json::from_str(&line).expect("a line of protocol");
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// Closes stdin, and returns when the work of calls under way knows.
    pub(crate) fn go_away(&mut self) {
        drop(self.input.take());
        self.log.wait_for("asked to stop");
    }

    /// Closes stdin and waits for the end.
    pub(crate) fn end(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Speaks for Agent {
    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        loop {
            let message = self.read();
            if message["id"] == id {
                return message;
            }
        }
    }
}

/// `malha mcp --http`, until the test ends.
pub(crate) struct Server {
    child: Child,
    pub(crate) log: Log,
    address: String,
}

impl Server {
    pub(crate) fn start(vault: &Vault, arguments: &[&str]) -> Self {
        let mut child = vault
            .command(&[arguments, &["mcp", "--http", "0"]].concat())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Log::of(&mut child);
        let line = log.wait_for("http://127.0.0.1:");
        let (_, address) = line.split_once("http://").unwrap();
        let address = address.trim_end().trim_end_matches("/mcp").to_owned();
        Self {
            child,
            log,
            address,
        }
    }

    /// An agent with a session of its own.
    pub(crate) fn agent(&self) -> HttpAgent {
        HttpAgent::start(&self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// An agent over HTTP.
#[derive(Clone)]
pub(crate) struct HttpAgent {
    address: String,
    session: String,
    next: u64,
}

impl HttpAgent {
    fn start(address: &str) -> Self {
        let mut agent = Self {
            address: address.to_owned(),
            session: String::new(),
            next: 1,
        };
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello()});
        let (status, head, _) = agent.send("POST", &request);
        assert_eq!(status, 200, "{head}");
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        let session = lines.find(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"));
        session.expect("a session").1.clone_into(&mut agent.session);
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(agent.send("POST", &ready).0, 202);
        agent
    }

    /// Status, head and body of the answer to a message.
    pub(crate) fn send(&self, method: &str, message: &Value) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let body = message.to_string();
        let session = match self.session.as_str() {
            "" => String::new(),
            id => format!("mcp-session-id: {id}\r\nmcp-protocol-version: 2025-06-18\r\n"),
        };
        // An older version of HTTP, whose answers end with the connection.
        let head = format!(
            "{method} /mcp HTTP/1.0\r\nhost: {}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{session}content-length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), body.to_owned())
    }

    /// The same agent, in the session of another one.
    pub(crate) fn in_session_of(&self, other: &Self) -> Self {
        Self {
            session: other.session.clone(),
            ..self.clone()
        }
    }

    /// Ends the session.
    pub(crate) fn end(&self) {
        let (status, head, _) = self.send("DELETE", &json!({}));
        assert!((200..300).contains(&status), "{head}");
    }
}

impl Speaks for HttpAgent {
    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters});
        let (status, head, body) = self.send("POST", &request);
        assert_eq!(status, 200, "{head}\n{body}");
        let events = body.lines().filter_map(|line| line.strip_prefix("data:"));
        let mut messages = events.filter_map(|data| serde_json::from_str::<Value>(data).ok());
        let answer = messages.find(|message| message["id"] == id);
        answer.unwrap_or_else(|| panic!("no answer in {body}"))
    }
}

/// What a program says on stderr, while it runs.
#[derive(Clone)]
pub(crate) struct Log(Arc<(Mutex<Vec<String>>, Condvar)>);

impl Log {
    fn of(child: &mut Child) -> Self {
        let log = Self(Arc::default());
        let (lines, written) = (BufReader::new(child.stderr.take().unwrap()), log.clone());
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                written.0.0.lock().unwrap().push(line);
                written.0.1.notify_all();
            }
        });
        log
    }

    /// The first line with these words, as soon as it is there.
    pub(crate) fn wait_for(&self, words: &str) -> String {
        let (lines, changed) = &*self.0;
        let has = |lines: &Vec<String>| lines.iter().any(|line| line.contains(words));
        let lines = lines.lock().unwrap();
        let (lines, waited) = changed
            .wait_timeout_while(lines, Duration::from_mins(2), |lines| !has(lines))
            .unwrap();
        assert!(!waited.timed_out(), "{words} in {lines:?}");
        let mut with = lines.iter().filter(|line| line.contains(words));
        with.next().unwrap().clone()
    }

    fn text(&self) -> String {
        self.0.0.lock().unwrap().join("\n")
    }
}
