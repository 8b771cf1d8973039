use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use malha_engine::storage::Store;
use serde_json::{Value, json};

use crate::agent::{Agent, Server, Speaks as _};
use crate::stub::{Answer, Received, Stub};
use crate::support::Vault;

/// Holds answers back, so that no test depends on who is faster.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    fn wait(&self) {
        let is_open = self.0.0.lock().unwrap();
        drop(self.0.1.wait_while(is_open, |is_open| !*is_open).unwrap());
    }
}

/// A store of facts, and a chat model whose first query has a mistake, so that it is asked again. It answers when the
/// gate is open.
fn asked_again() -> (Vault, Stub, Gate) {
    let gate = Gate::default();
    let closed = gate.clone();
    let stub = Stub::start(move |_| {
        closed.wait();
        Answer::chat(&json!({"queries": ["MATCH (n:NoSuchThing) RETURN n"]}).to_string())
    });
    let config = format!(
        "[models]\nmodel = \"small\"\nbase_url = \"{}\"\nretries = 0\ntimeout_ms = 300000\n",
        stub.url
    );
    let facts = "Ana\ttrabalha_em\tPonte\tPessoa\tProjeto\n";
    let vault = Vault::new(&[("facts.tsv", facts), ("malha.toml", &config)]);
    vault.malha(&["init"]).expect(0);
    vault
        .malha(&["import", "--format", "triples", "facts.tsv"])
        .expect(0);
    (vault, stub, gate)
}

fn question() -> Value {
    json!({"question": "Quem trabalha na Ponte?", "mode": "cypher"})
}

/// The one reply is on the bill, and no other one.
fn one_reply_was_kept(vault: &Vault, stub: &Stub) {
    assert_eq!(stub.calls(), 1);
    let usage = vault.malha(&["usage", "--json"]).expect(0).json();
    assert_eq!(usage["lines"][0]["calls"], 1, "{usage}");
}

#[test]
fn a_question_that_is_cancelled_asks_its_model_no_more() {
    let (vault, stub, gate) = asked_again();
    let mut agent = Agent::start(&vault, &["-vv", "mcp"]);
    let call = agent.begin("ask", &question());
    stub.wait_for(1);
    agent.give_up(call);
    gate.open();
    // The server goes on, and ends when the work has.
    assert_eq!(agent.call("stats", &json!({}))["isError"], false);
    agent.end();
    one_reply_was_kept(&vault, &stub);
}

#[test]
fn a_client_that_goes_away_stops_its_question() {
    let (vault, stub, gate) = asked_again();
    let mut agent = Agent::start(&vault, &["-vv", "mcp"]);
    agent.begin("ask", &question());
    stub.wait_for(1);
    agent.go_away();
    gate.open();
    agent.end();
    one_reply_was_kept(&vault, &stub);
}

#[test]
fn a_session_that_ends_stops_its_question() {
    let (vault, stub, gate) = asked_again();
    let server = Server::start(&vault, &["-vv"]);
    let agent = server.agent();
    let mut other = server.agent();
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "ask", "arguments": question()}});
    std::thread::scope(|scope| {
        scope.spawn(|| agent.send("POST", &message));
        stub.wait_for(1);
        agent.end();
        server.log.wait_for("asked to stop");
        gate.open();
    });
    assert_eq!(other.call("stats", &json!({}))["isError"], false);
    // The server does not end with its sessions: its work is over when the reply is there.
    for _ in 0..1_000 {
        if vault.malha(&["usage", "--json"]).json()["lines"][0]["calls"] == 1 {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    one_reply_was_kept(&vault, &stub);
}

/// A model for vectors that takes its time over one question, and one that puts results in order.
#[test]
fn a_search_that_is_cancelled_asks_no_other_model() {
    let gate = Gate::default();
    let closed = gate.clone();
    let stub = Stub::start(move |request: &Received| {
        if request.path.ends_with("/rerank") {
            let count = request.body["documents"].as_array().map_or(0, Vec::len);
            let results: Vec<Value> = (0..count)
                .map(|index| json!({"index": index, "relevance_score": 0.5}))
                .collect();
            return Answer::ok(json!({ "results": results }));
        }
        let input = request.body["input"].as_array().unwrap();
        if input.iter().any(|text| text == "a slow question") {
            closed.wait();
        }
        let data: Vec<Value> = (0..input.len())
            .map(|index| json!({"index": index, "embedding": [1.0, 0.5, 0.25, 0.125]}))
            .collect();
        Answer::ok(json!({"data": data, "model": "stub"}))
    });
    let config = format!(
        "[embedding]\nprovider = \"openai\"\nmodel = \"stub\"\nbase_url = \"{0}\"\ndimensions = 4\n\
         timeout_ms = 300000\n[ab]\nlog = false\n[rerank]\nprovider = \"http\"\nmodel = \"stub\"\nurl = \"{0}/rerank\"\n",
        stub.url
    );
    let vault = Vault::with_notes(5);
    vault.write("malha.toml", config);
    vault.malha(&["index", "--embed"]).expect(0);
    let asked = |path: &str| {
        let received = stub.received();
        received
            .iter()
            .filter(|request| request.path.ends_with(path))
            .count()
    };
    let before = asked("/embeddings");
    let mut agent = Agent::start(&vault, &["-vv", "mcp"]);
    let call = agent.begin("search", &json!({"query": "a slow question"}));
    stub.wait_for(before + 1);
    agent.give_up(call);
    gate.open();
    let found = agent.call("search", &json!({"query": "Harbour Light"}));
    assert_eq!(found["isError"], false, "{found}");
    agent.end();
    assert_eq!(asked("/embeddings"), before + 2);
    assert_eq!(asked("/rerank"), 1, "for the question that was waited for");
}

/// What changes the store in several steps is done whole, whoever waits for it.
#[test]
fn a_change_that_is_cancelled_is_done_whole() {
    let vault = Vault::new(&[]);
    vault.malha(&["init"]).expect(0);
    let mut agent = Agent::start(&vault, &["-vv", "mcp"]);
    let other = Store::open(&vault.root.join(".malha/malha.db")).unwrap();
    let lease = other.write_lease("another writer", Duration::ZERO).unwrap();
    let entities: Vec<Value> = ["Ana", "Bia", "Caio"]
        .map(|name| {
            json!({"name": name, "entityType": "person",
                "observations": [format!("{name} rows"), format!("{name} sings")]})
        })
        .into();
    let call = agent.begin("create_entities", &json!({ "entities": entities }));
    // It waits for the lease by now.
    agent.wait_for_progress(call);
    agent.give_up(call);
    drop(lease);
    agent.end();
    let mut agent = Agent::start(&vault, &["mcp"]);
    let graph = agent.call("read_graph", &json!({}));
    let entities = graph["structuredContent"]["entities"].clone();
    assert_eq!(entities.as_array().unwrap().len(), 3, "{graph}");
    for entity in entities.as_array().unwrap() {
        let observations = entity["observations"].as_array().unwrap();
        assert_eq!(observations.len(), 2, "{entity}");
    }
    agent.end();
}
