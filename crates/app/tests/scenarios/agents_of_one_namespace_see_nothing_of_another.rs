//! D30.6 over the protocol: what one tenant is told, no tool shows to another one, and none takes it away.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::agent::{Agent, Server, Speaks};
use crate::support::Vault;

/// The secrets of the two, which everything they say holds. All else is the same for both: names, types, sessions.
const WORDS: [&str; 2] = ["zirconium", "palladium"];
const NAMESPACES: [&str; 2] = ["first", "second"];
/// With what is observed of them, their resources fill more than one page.
const PARTS: usize = 60;
/// More reports than both have communities together.
const REPORTS: u64 = 200;

fn told(agent: &mut impl Speaks, tool: &str, arguments: &Value) -> Value {
    let answer = agent.call(tool, arguments);
    assert_eq!(answer["isError"], false, "{tool} {arguments}: {answer}");
    answer["structuredContent"].clone()
}

/// Every tool that adds.
fn tell(agent: &mut impl Speaks, own: &str) {
    told(
        agent,
        "remember",
        &json!({
            "text": format!("The secret word of Ana is {own}"), "session": "s", "speaker": "Ana",
            "relations": [
                {"from": "Ana", "relation": "guards", "to": own},
                {"from": "Ana", "relation": "works_at", "to": "Mill", "context": format!("Ana grinds {own}.")},
            ],
            "claims": [{"subject": "Ana", "type": "rumour", "description": format!("Ana lost the {own}.")}],
        }),
    );
    let entities: Vec<Value> = (0..PARTS)
        .map(|n| {
            json!({"name": format!("Part {n}"), "entityType": "part",
                "observations": [format!("it is made of {own}"), format!("{own} number {n}")]})
        })
        .collect();
    told(agent, "create_entities", &json!({ "entities": entities }));
    // Rings of five, so that there are communities.
    let relations: Vec<Value> = (0..PARTS)
        .flat_map(|n| [(n, n / 5 * 5 + (n + 1) % 5), (n, n / 5 * 5 + (n + 2) % 5)])
        .map(|(from, to)| {
            json!({"from": format!("Part {from}"), "to": format!("Part {to}"), "relationType": "joins"})
        })
        .collect();
    told(
        agent,
        "create_relations",
        &json!({ "relations": relations }),
    );
    told(
        agent,
        "add_observations",
        &json!({"observations": [{"entityName": "Ana", "contents": [format!("she hid the {own} twice")]}]}),
    );
}

/// Every tool that reads, in every way in which it could look too far.
fn questions(foreign: &str) -> Vec<(&'static str, Value)> {
    let cypher = |query: &str| ("cypher", json!({"query": query, "limit": 10_000}));
    let ask = |mode: &str| {
        let question = format!("What does Ana know of {foreign}?");
        ("ask", json!({"question": question, "mode": mode}))
    };
    vec![
        (
            "recall",
            json!({"query": format!("Ana {foreign}"), "history": true, "hops": 6, "limit": 100}),
        ),
        ("recall", json!({"query": "secret word", "as_of": "2999"})),
        (
            "recall",
            json!({"query": "secret word", "known_at": "2999"}),
        ),
        (
            "search",
            json!({"query": format!("find {foreign}"), "limit": 100}),
        ),
        ("search", json!({"query": "secret word"})),
        ask("auto"),
        ask("hybrid"),
        ask("local"),
        ask("global"),
        ask("drift"),
        ask("cypher"),
        ("entity", json!({"name": "Ana"})),
        ("neighbors", json!({"name": "Ana", "hops": 6, "limit": 500})),
        ("path", json!({"from": "Ana", "to": "Mill"})),
        ("timeline", json!({"name": "Ana", "history": true})),
        ("communities", json!({"level": "coarse", "limit": 500})),
        ("communities", json!({"level": "fine", "limit": 500})),
        ("communities", json!({"entity": "Part 1"})),
        cypher("MATCH (n) RETURN n"),
        cypher("MATCH (a)-[r]->(b) RETURN a, type(r), r, b"),
        cypher("MATCH (c:Community) RETURN c"),
        cypher("CALL graph.communities() YIELD community RETURN community"),
        cypher(
            "CALL search.fulltext('secret') YIELD node MATCH (node)-[:PART_OF]->(d) RETURN node, d",
        ),
        cypher("CALL show_tables()"),
        cypher("CALL graph.pagerank('Ana') YIELD node RETURN node"),
        ("read_graph", json!({})),
        ("search_nodes", json!({"query": format!("find {foreign}")})),
        ("open_nodes", json!({"names": ["Ana", "Part 1"]})),
        ("undo", json!({})),
        ("forget", json!({"texts": [foreign], "sessions": ["s"]})),
        ("stats", json!({})),
    ]
}

/// What was said, without the question that answers repeat.
fn without(mut said: String, arguments: &Value) -> String {
    for asked in ["query", "question"] {
        if let Some(asked) = arguments[asked].as_str() {
            said = said.replace(asked, "");
        }
    }
    said
}

/// Asks everything; nothing of the other one is in any answer, and much of its own.
fn look_around(agent: &mut impl Speaks, own: &str, foreign: &str) {
    let mut found = 0;
    for (tool, arguments) in questions(foreign) {
        let answer = agent.call(tool, &arguments);
        assert_eq!(answer["isError"], false, "{tool} {arguments}: {answer}");
        let said = without(answer.to_string(), &arguments);
        assert!(!said.contains(foreign), "{tool} {arguments}: {said}");
        found += usize::from(said.contains(own));
    }
    assert!(found > 15, "its own word is found: {found}");
    for (tool, arguments) in [
        ("entity", json!({"name": foreign})),
        ("neighbors", json!({"name": foreign})),
        ("timeline", json!({"name": foreign})),
        ("path", json!({"from": "Ana", "to": foreign})),
        ("communities", json!({"entity": foreign})),
    ] {
        let answer = agent.call(tool, &arguments);
        assert_eq!(answer["isError"], true, "{tool}: {answer}");
    }
    let opened = told(agent, "open_nodes", &json!({"names": [foreign]}));
    assert_eq!(opened["entities"], json!([]));
    // Every number that a report may have, as a tool and as a resource.
    let mut reports = 0;
    for number in 1..=REPORTS {
        let answer = agent.call("communities", &json!({ "report": number }));
        assert!(!answer.to_string().contains(foreign), "{number}: {answer}");
        reports += usize::from(answer["isError"] == false);
        let uri = format!("malha://report/{number}");
        let read = agent.ask("resources/read", &json!({ "uri": uri }));
        assert!(!read.to_string().contains(foreign), "{uri}: {read}");
        assert_eq!(read["result"].is_null(), answer["isError"] == true, "{uri}");
    }
    assert!(
        reports > 5 && reports < REPORTS as usize,
        "{reports} reports"
    );
    for name in ["Ana", "Part 1", foreign] {
        let read = agent.ask(
            "resources/read",
            &json!({"uri": format!("malha://entity/{name}")}),
        );
        let said = read.to_string().replace(&format!("entity/{name}"), "");
        assert!(!said.contains(foreign), "{name}: {read}");
    }
}

/// Lists that come in pages: the tool, its arguments, and the cursor of its second page.
fn second_pages(agent: &mut impl Speaks) -> Vec<(&'static str, Value, String)> {
    [
        ("search", json!({"query": "Ana Part secret", "limit": 3})),
        ("communities", json!({"level": "fine", "limit": 3})),
        ("timeline", json!({"name": "Ana", "limit": 1})),
        ("read_graph", json!({"limit": 3})),
    ]
    .map(|(tool, arguments)| {
        let first = told(agent, tool, &arguments);
        let cursor = first["next_cursor"].as_str();
        let cursor = cursor.unwrap_or_else(|| panic!("{tool}: {first}"));
        (tool, arguments, cursor.to_owned())
    })
    .into()
}

/// All uris of documents, page by page, beginning behind a cursor.
fn resources(agent: &mut impl Speaks, mut cursor: Option<String>) -> (Vec<String>, Vec<String>) {
    let (mut uris, mut cursors) = (Vec::new(), Vec::new());
    loop {
        let parameters = match &cursor {
            Some(cursor) => json!({ "cursor": cursor }),
            None => json!({}),
        };
        let page = agent.ask("resources/list", &parameters)["result"].clone();
        let listed = page["resources"].as_array().unwrap().iter();
        uris.extend(listed.map(|one| one["uri"].as_str().unwrap().to_owned()));
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        match &cursor {
            Some(next) => cursors.push(next.clone()),
            None => return (uris, cursors),
        }
    }
}

/// One of the two tells its secret and asks everything, while the other one does the same.
fn live(agent: &mut impl Speaks, number: usize, both: &Both) {
    let (own, foreign) = (WORDS[number], WORDS[1 - number]);
    tell(agent, own);
    both.meet();
    look_around(agent, own, foreign);
    // What the first round stored, such as reports, is there now.
    both.meet();
    look_around(agent, own, foreign);

    let (uris, cursors) = resources(agent, None);
    let mut with_secret = 0;
    for uri in &uris {
        let read = agent.ask("resources/read", &json!({ "uri": uri }));
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        assert!(!text.contains(foreign), "{uri}: {text}");
        with_secret += usize::from(text.contains(own));
    }
    assert!(with_secret > 2 * PARTS, "{with_secret} of {}", uris.len());
    let operations = told(agent, "undo", &json!({}))["operations"].clone();
    let entity = told(agent, "entity", &json!({"name": "Ana"}))["entities"][0].clone();
    *both.shared[number].lock().unwrap() = Shared {
        pages: second_pages(agent),
        cursors,
        uris,
        operation: operations[0]["id"].as_i64().unwrap(),
        claim: entity["claims"][0]["id"].as_str().unwrap().to_owned(),
        id: entity["entity"]["public_id"].as_str().unwrap().to_owned(),
    };
    both.meet();

    // The other one's cursors only say where to go on in one's own lists.
    let other = both.shared[1 - number].lock().unwrap().clone();
    assert_eq!((other.pages.len(), other.cursors.len()), (4, 1));
    for (tool, mut arguments, cursor) in other.pages {
        arguments["cursor"] = json!(cursor);
        let said = told(agent, tool, &arguments).to_string();
        assert!(!said.contains(foreign), "{tool}: {said}");
    }
    let own_uris = both.shared[number].lock().unwrap().uris.clone();
    for cursor in other.cursors {
        let (behind, _) = resources(agent, Some(cursor));
        assert!(!behind.is_empty() && behind.iter().all(|uri| own_uris.contains(uri)));
    }
    // Its uris and ids lead to nothing of it.
    for uri in &other.uris {
        let read = agent.ask("resources/read", &json!({ "uri": uri }));
        assert!(!read.to_string().contains(foreign), "{uri}: {read}");
    }
    for (tool, arguments) in [
        ("entity", json!({"name": other.id})),
        ("neighbors", json!({"name": other.id, "hops": 6})),
        ("timeline", json!({"name": other.id})),
        ("open_nodes", json!({"names": [other.id]})),
    ] {
        let answer = agent.call(tool, &arguments);
        assert!(!answer.to_string().contains(foreign), "{tool}: {answer}");
    }
    both.meet();
}

/// What one of them finds, for the other one to try.
#[derive(Clone, Default)]
struct Shared {
    pages: Vec<(&'static str, Value, String)>,
    cursors: Vec<String>,
    uris: Vec<String>,
    operation: i64,
    claim: String,
    id: String,
}

/// What the two have in common.
#[derive(Default)]
struct Both {
    met: Mutex<usize>,
    has_come: Condvar,
    shared: [Mutex<Shared>; 2],
}

impl Both {
    /// Waits for the other one.
    fn meet(&self) {
        let mut met = self.met.lock().unwrap();
        *met += 1;
        let both = met.next_multiple_of(2);
        self.has_come.notify_all();
        let wait = Duration::from_mins(4);
        let waited = self
            .has_come
            .wait_timeout_while(met, wait, |met| *met < both);
        assert!(!waited.unwrap().1.timed_out(), "the other one never came");
    }
}

/// Every tool that takes away, with all that the other one could name.
fn take_away(agent: &mut impl Speaks, other: &Shared) {
    for (tool, arguments) in [
        ("undo", json!({"operation": other.operation})),
        (
            "correct",
            json!({"claim": other.claim, "description": "Ana lost nothing."}),
        ),
    ] {
        let answer = agent.call(tool, &arguments);
        assert_eq!(answer["isError"], true, "{tool}: {answer}");
    }
    told(
        agent,
        "correct",
        &json!({"from": "Ana", "relation": "works_at", "to": "Mill"}),
    );
    told(
        agent,
        "delete_observations",
        &json!({"deletions": [{"entityName": "Ana", "observations": ["she hid the palladium twice",
            "she hid the zirconium twice"]}]}),
    );
    told(
        agent,
        "delete_relations",
        &json!({"relations": [{"from": "Part 1", "to": "Part 2", "relationType": "joins"}]}),
    );
    told(
        agent,
        "delete_entities",
        &json!({"entityNames": ["Part 3", "Part 4", WORDS[0], WORDS[1]]}),
    );
    // By its own names there may be nothing left, or nothing ever was.
    let place = |uri: &String| uri.trim_start_matches("malha://document/").to_owned();
    for (kind, name) in [
        ("documents", place(&other.uris[0])),
        ("documents", place(&other.uris[PARTS])),
        ("entities", other.id.clone()),
        ("entities", "Mill".to_owned()),
        ("sessions", "s".to_owned()),
    ] {
        let answer = agent.call("forget", &json!({kind: [name], "confirm": true}));
        assert!(answer["isError"].is_boolean(), "{kind} {name}: {answer}");
    }
    told(
        agent,
        "forget",
        &json!({"texts": WORDS, "under": ["memory"], "confirm": true}),
    );
}

/// Two clients of two servers of one store, at the same time.
#[test]
fn agents_over_http_see_nothing_of_another_namespace() {
    let vault = Vault::new(&[]);
    let at = |namespace: &'static str| ["--store", "both.db", "--namespace", namespace];
    vault
        .malha(&[&at("first")[..], &["init"]].concat())
        .expect(0);
    let servers = NAMESPACES.map(|namespace| Server::start(&vault, &at(namespace)));
    let mut agents = [servers[0].agent(), servers[1].agent()];
    let both = Both::default();
    std::thread::scope(|scope| {
        let lives = agents.iter_mut().enumerate().map(|(number, agent)| {
            let both = &both;
            scope.spawn(move || live(agent, number, both))
        });
        for life in lives.collect::<Vec<_>>() {
            life.join().unwrap();
        }
    });
    let digest = || {
        let verify = [&at("second")[..], &["verify", "--digest"]].concat();
        vault.malha(&verify).expect(0).stdout
    };
    let before = digest();
    let other = both.shared[1].lock().unwrap().clone();
    let [first, second] = &mut agents;
    std::thread::scope(|scope| {
        let taking = scope.spawn(|| take_away(first, &other));
        // Meanwhile the other one sees all that is its own.
        while !taking.is_finished() {
            let (uris, _) = resources(second, None);
            assert_eq!(uris, other.uris);
        }
    });
    look_around(second, WORDS[1], WORDS[0]);
    assert_eq!(digest(), before);
    let stats = told(first, "stats", &json!({}));
    assert_eq!(stats["documents"], 0, "{stats}");

    // A session is known to its own server only, and not once it has ended.
    let lost = agents[1].in_session_of(&agents[0]);
    let stats = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call",
        "params": {"name": "stats", "arguments": {}}});
    assert_eq!(lost.send("POST", &stats).0, 404);
    agents[0].end();
    assert_eq!(agents[0].send("POST", &stats).0, 404);
    vault
        .malha(&[&at("second")[..], &["verify"]].concat())
        .expect(0);
}

/// The same on stdin and stdout, each server its own process.
#[test]
fn agents_on_stdin_and_stdout_see_nothing_of_another_namespace() {
    let vault = Vault::new(&[]);
    let mut agents = NAMESPACES.map(|namespace| {
        let store = ["--store", "both.db", "--namespace", namespace, "mcp"];
        Agent::start(&vault, &store)
    });
    let both = Both::default();
    std::thread::scope(|scope| {
        for (number, agent) in agents.iter_mut().enumerate() {
            let both = &both;
            scope.spawn(move || live(agent, number, both));
        }
    });
    agents.into_iter().for_each(Agent::end);
}
