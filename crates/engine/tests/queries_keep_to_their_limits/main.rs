//! A query ends at its limits and when it is cancelled, in the middle of whatever it does, and so does every other
//! question; one that is too large is refused.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use malha_engine::cypher::{CypherError, ErrorKind};
use malha_engine::types::{Cancel, CypherRequest};
use malha_engine::{Engine, Error};

use facts::{SEED, engine};

#[track_caller]
fn refusal(engine: &Engine, query: &str) -> CypherError {
    match engine.cypher(&CypherRequest::new(query)) {
        Err(Error::Cypher(error)) => error,
        other => panic!("{}: {other:?}", &query[..query.len().min(200)]),
    }
}

#[test]
fn limits_end_a_query_with_their_name() {
    let (_folder, engine) = engine(SEED);
    let mut request = CypherRequest::new("UNWIND range(1, 100) AS x RETURN x");
    request.max_rows = 10;
    let detail = |request: &CypherRequest| match engine.cypher(request) {
        Err(Error::Cypher(error)) => {
            assert_eq!(error.kind, ErrorKind::LimitExceeded);
            error.detail
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(detail(&request), "RowLimit");
    let endless = "UNWIND range(1, 1000000) AS x UNWIND range(1, 1000000) AS y RETURN count(*)";
    let mut request = CypherRequest::new(endless);
    request.timeout = Duration::from_millis(50);
    let started = Instant::now();
    assert_eq!(detail(&request), "TimeLimit");
    let large = "UNWIND range(1, 100000) AS x WITH x, range(1, 200000) AS l RETURN count(l)";
    let mut request = CypherRequest::new(large);
    request.timeout = Duration::from_millis(50);
    assert_eq!(detail(&request), "TimeLimit");
    // Far from the minutes that they would take without a limit.
    assert!(started.elapsed() < Duration::from_secs(20));
    let top = "UNWIND range(1, 1500000) AS i RETURN i ORDER BY i DESC LIMIT 2";
    let mut request = CypherRequest::new(top);
    request.timeout = Duration::from_mins(2);
    assert_eq!(
        engine.cypher(&request).unwrap().rows.len(),
        2,
        "only the first few are held"
    );
    for (query, expected) in [
        ("RETURN range(1, 100000000000)", "ValueTooLarge"),
        (
            "RETURN reduce(s = 'a', x IN range(1, 60) | s + s)",
            "ValueTooLarge",
        ),
        (
            "RETURN reduce(l = [1], x IN range(1, 60) | [l, l])",
            "ValueTooLarge",
        ),
        (
            "RETURN reduce(l = [], x IN range(1, 100000) | [l])",
            "ValueTooLarge",
        ),
        (
            "UNWIND range(1, 3000) AS x RETURN collect(reduce(s = 'a', y IN range(1, 17) | s + s) + x)",
            "MemoryLimit",
        ),
    ] {
        let mut request = CypherRequest::new(query);
        request.max_rows = u64::MAX;
        request.timeout = Duration::from_mins(2);
        assert_eq!(detail(&request), expected, "{query}");
    }
    let text =
        "WITH reduce(s = 'a', x IN range(1, 24) | s + s) AS s UNWIND range(1, 1000) AS i RETURN s";
    assert_eq!(
        detail(&CypherRequest::new(text)),
        "MemoryLimit",
        "rows are held too"
    );
    for (start, link, end) in [
        ("WITH [1] AS l RETURN l", "[0]", ""),
        ("WITH {a: 1} AS m RETURN m", "{.a}", ""),
        ("", "UNWIND [1] AS a ", "RETURN a"),
        ("", "MATCH (a) ", "RETURN a"),
        ("MATCH (n:A", "|B", ") RETURN n"),
        ("MATCH ()-[:a", "|b", "]->(n) RETURN n"),
        ("WITH 'a' AS l RETURN l", "[..1]", ""),
    ] {
        let chain = format!("{start}{}{end}", link.repeat(2_000));
        match engine.cypher(&CypherRequest::new(chain)) {
            Err(Error::Cypher(error)) => assert_eq!(error.detail, "QueryTooDeep", "{link}"),
            other => panic!("{link}: {other:?}"),
        }
    }
    let deep = format!("RETURN {}1{}", "(".repeat(5_000), ")".repeat(5_000));
    assert_eq!(refusal(&engine, &deep).detail, "QueryTooDeep");
    let long = format!("RETURN {}1", "1 + ".repeat(5_000));
    assert_eq!(refusal(&engine, &long).detail, "QueryTooDeep");
}

/// Each of these works for long in one call, one comparison or one value.
const LONG: &[&str] = &[
    "WITH reduce(s = 'a', x IN range(1, 25) | s + s) AS s RETURN s =~ '(a{1,60}){1,60}b'",
    "WITH reduce(s = 'ab', x IN range(1, 20) | s + s) AS s UNWIND range(1, 100000) AS i \
     RETURN count(size(split(s, 'b')))",
    "WITH reduce(s = 'ab', x IN range(1, 24) | s + s) AS s UNWIND range(1, 100000) AS i \
     RETURN count(toUpper(s))",
    "WITH range(1, 400000) AS l UNWIND range(1, 100000) AS i RETURN count(-i IN l)",
    "WITH range(1, 400000) AS l UNWIND range(1, 100000) AS i RETURN count(l = l[..399999] + i)",
    "WITH range(1, 400000) AS l UNWIND range(1, 100000) AS i RETURN count(size(reverse(l)))",
    "WITH range(1, 400000) AS l UNWIND range(1, 100000) AS i RETURN count(toStringList(l))",
    "UNWIND range(1, 100000) AS i UNWIND range(1, 100000) AS j WITH i * j % 1000003 AS k RETURN k ORDER BY k LIMIT 5",
    "UNWIND range(1, 1000000) AS i UNWIND range(1, 8) AS j RETURN percentileDisc(i * j % 1000003, 0.5)",
];

#[test]
fn one_long_call_ends_at_the_time_limit_and_when_it_is_cancelled() {
    let (_folder, engine) = engine(SEED);
    for query in LONG {
        let mut request = CypherRequest::new(*query);
        request.timeout = Duration::from_millis(200);
        let began = Instant::now();
        match engine.cypher(&request) {
            Err(Error::Cypher(error)) => assert_eq!(error.detail, "TimeLimit", "{query}: {error}"),
            other => panic!("{query}: {other:?}"),
        }
        let took = began.elapsed();
        assert!(took < Duration::from_secs(6), "{query}: {took:?}");

        request.timeout = Duration::MAX;
        let cancel = Cancel::default();
        let until = engine.until(cancel.clone());
        let began = Instant::now();
        let answer = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(200));
                cancel.cancel();
            });
            until.cypher(&request)
        });
        assert!(
            matches!(answer, Err(Error::Interrupted)),
            "{query}: {answer:?}"
        );
        let took = began.elapsed();
        assert!(took < Duration::from_secs(6), "{query}: {took:?}");
    }
}

/// Procedures over a graph in which everything is joined with everything.
#[test]
fn procedures_end_at_the_time_limit() {
    let mut facts = String::new();
    for one in 0..240 {
        for other in (0..240).filter(|other| *other != one) {
            let _ = writeln!(facts, "n{one}\tr\tn{other}");
        }
    }
    let (_folder, engine) = engine(&facts);
    for call in [
        "graph.shortestPath('n1', 'n2', 30, 100000) YIELD path",
        "graph.pagerank('n1', 100000) YIELD node",
        "graph.neighbors('n1', 5, 100000) YIELD node",
        "graph.communities() YIELD community",
    ] {
        let query = format!("UNWIND range(1, 1000000) AS i CALL {call} RETURN count(*)");
        let mut request = CypherRequest::new(&query);
        // Communities are found before the clock runs.
        assert!(
            engine
                .cypher(&CypherRequest::new("MATCH (c:Community) RETURN count(c)"))
                .is_ok()
        );
        request.timeout = Duration::from_millis(300);
        let began = Instant::now();
        match engine.cypher(&request) {
            Err(Error::Cypher(error)) => assert_eq!(error.detail, "TimeLimit", "{query}: {error}"),
            other => panic!("{query}: {other:?}"),
        }
        let took = began.elapsed();
        assert!(took < Duration::from_secs(5), "{query}: {took:?}");
        request.timeout = Duration::MAX;
        let cancel = Cancel::default();
        let until = engine.until(cancel.clone());
        cancel.cancel();
        assert!(
            matches!(until.cypher(&request), Err(Error::Interrupted)),
            "{query}"
        );
        // Nothing of the stopped query is left behind.
        request.query = "MATCH (n) RETURN count(n)".to_owned();
        assert!(engine.cypher(&request).is_ok());
    }
}

/// What a row shows counts as memory: nodes are small in a query and large in an answer.
#[test]
fn nodes_of_an_answer_count_as_memory() {
    let (_folder, engine) = engine(SEED);
    let query = "MATCH (n {name: 'Ana'}) UNWIND range(1, 500000) AS i RETURN collect(n)";
    let began = Instant::now();
    let mut request = CypherRequest::new(query);
    request.timeout = Duration::from_mins(2);
    match engine.cypher(&request) {
        Err(Error::Cypher(error)) => assert_eq!(error.detail, "MemoryLimit", "{error}"),
        other => panic!("{:?}", other.map(|rows| rows.rows.len())),
    }
    request.timeout = Duration::from_millis(100);
    match engine.cypher(&request) {
        Err(Error::Cypher(error)) => assert_eq!(error.detail, "TimeLimit", "{error}"),
        other => panic!("{:?}", other.map(|rows| rows.rows.len())),
    }
    assert!(began.elapsed() < Duration::from_mins(2));
}

/// Long queries of every shape are answered or refused soon, on a thread of two megabytes.
#[test]
fn large_queries_are_bound_or_refused_soon() {
    let (_folder, engine) = engine(SEED);
    let queries = [
        many("MATCH ", &|_| "()".into(), ",", " RETURN 1 LIMIT 1"),
        many("MATCH ", &|n| format!("(a{n})"), ",", " RETURN 1 LIMIT 1"),
        many(
            "MATCH ",
            &|n| format!("(a{n} {{name: 'Ana'}})"),
            ",",
            " RETURN 1 LIMIT 1",
        ),
        many(
            "MATCH ",
            &|n| format!("(a{n} {{name: a{}.name}})", n + 1),
            ",",
            ",(a0) RETURN 1",
        ),
        many("MATCH (a)", &|_| "-->()".into(), "", " RETURN 1 LIMIT 1"),
        many(
            "MATCH (a)",
            &|n| format!("-[r{n}]->(a{n})"),
            "",
            " RETURN 1 LIMIT 1",
        ),
        many(
            "MATCH ",
            &|n| format!("p{n}=(a)-->(b{n})"),
            ",",
            " RETURN 1 LIMIT 1",
        ),
        many(
            "MATCH (n) RETURN ",
            &|n| format!("n.name AS c{n}"),
            ",",
            " LIMIT 1",
        ),
        many(
            "MATCH (n) RETURN ",
            &|n| format!("count(n.name + {n})"),
            ",",
            "",
        ),
        many(
            "MATCH (n) RETURN ",
            &|n| format!("n.name + {n} AS c{n}, count(n) + {n} AS d{n}"),
            ",",
            "",
        ),
        many("RETURN [", &|n| n.to_string(), ",", "]"),
        many("RETURN {", &|n| format!("k{n}: {n}"), ",", "}"),
        many(
            "RETURN CASE 1 ",
            &|n| format!("WHEN {n} THEN {n}"),
            " ",
            " END",
        ),
        many("RETURN coalesce(", &|n| n.to_string(), ",", ")"),
        many(
            "MATCH (n) WITH n ORDER BY ",
            &|n| format!("n.name + {n}"),
            ",",
            " RETURN 1 LIMIT 1",
        ),
        many("MATCH (n", &|n| format!(":L{n}"), "", ") RETURN n"),
        many("MATCH (n:", &|n| format!("L{n}"), "&", ") RETURN n"),
        many("RETURN 1", &|_| "!".into(), "", ""),
        many("RETURN ", &|_| "-".into(), "", "1"),
        many("RETURN ", &|_| "NOT ".into(), "", "true"),
        many("RETURN ", &|_| "[".into(), "", ""),
        many("RETURN ", &|_| "(".into(), "", ""),
        many("MATCH ", &|_| "(".into(), "", ""),
        many("RETURN '", &|_| "\\n".into(), "", "'"),
        many("RETURN /*", &|_| "*".into(), "", ""),
        many("RETURN `", &|_| "``".into(), "", "`"),
        many("RETURN 1 AS a ", &|_| "//\n".into(), "", ""),
        many("", &|_| "RETURN 1 UNION ".into(), "", "RETURN 1"),
        many("", &|_| ";".into(), "", ""),
        many(
            "MATCH (n) WHERE ",
            &|n| format!("n.name = '{n}'"),
            " OR ",
            " RETURN n",
        ),
        many(
            "MATCH (n) WHERE n.name IN [",
            &|n| format!("'{n}'"),
            ",",
            "] RETURN n",
        ),
        many("MATCH (n) WHERE (n)", &|_| "-->()".into(), "", " RETURN n"),
        many("MATCH (n) RETURN n", &|_| "{.*".into(), "", ""),
        many("MATCH (n) RETURN ", &|n| format!("x{n}"), "", ""),
        "x".repeat(1 << 20),
        "RETURN '".to_owned() + &"é".repeat(1 << 19) + "'",
        "\u{0}".repeat(1_000),
        String::new(),
    ];
    std::thread::scope(|scope| {
        let bind = || {
            for query in &queries {
                let mut request = CypherRequest::new(query.as_str());
                request.timeout = Duration::from_millis(500);
                request.max_rows = 100;
                let began = Instant::now();
                let answer = engine.cypher(&request).map(|rows| rows.rows.len());
                let took = began.elapsed();
                let shown: String = query.chars().take(60).collect();
                println!(
                    "{took:?} {shown} {:?}",
                    answer.map_err(|error| error.to_string())
                );
                assert!(took < Duration::from_secs(8), "{shown}: {took:?}");
            }
        };
        let builder = std::thread::Builder::new().stack_size(2 << 20);
        builder.spawn_scoped(scope, bind).unwrap().join().unwrap();
    });
}

/// As many parts as fit into the longest query that is read.
fn many(start: &str, each: &dyn Fn(usize) -> String, between: &str, end: &str) -> String {
    let mut query = start.to_owned();
    for number in 0.. {
        let part = each(number);
        if query.len() + part.len() + between.len() + end.len() > 99_000 {
            break;
        }
        if number > 0 {
            query.push_str(between);
        }
        query.push_str(&part);
    }
    query + end
}

/// The largest patterns that are taken are also run, on a stack as large as that of a program's
/// main thread; with optimisation a quarter of it does.
#[test]
fn the_largest_patterns_run() {
    let (_folder, engine) = engine(SEED);
    let chain = format!("MATCH (a){} RETURN count(*)", "-->()".repeat(55));
    let apart = format!(
        "MATCH {} RETURN 1 LIMIT 1",
        vec!["({name: 'Ana'})"; 200].join(",")
    );
    let clauses = "MATCH (:Pessoa) ".repeat(98) + "RETURN 1 LIMIT 1";
    // A ring, round which walks go on and on.
    let lines = (0..600).map(|one| format!("n{one}\tr\tn{}", (one + 1) % 600));
    let ring = lines.collect::<Vec<_>>().join("\n");
    let (_ring, round) = facts::engine(&ring);
    let walks = format!(
        "MATCH (a {{name: 'n0'}}){} RETURN 1",
        "-[*50..50]->()".repeat(10)
    );
    let more = format!("MATCH {} RETURN 1", vec!["()"; 201].join(","));
    std::thread::scope(|scope| {
        let run = || {
            for query in [&chain, &apart, &clauses] {
                let answer = engine.cypher(&CypherRequest::new(query.as_str()));
                assert!(answer.is_ok(), "{:?}: {answer:?}", &query[..40]);
            }
            assert_eq!(refusal(&engine, &more).detail, "QueryTooDeep");
            assert_eq!(refusal(&round, &walks).detail, "DepthLimit");
        };
        let builder = std::thread::Builder::new().stack_size(8 << 20);
        builder.spawn_scoped(scope, run).unwrap().join().unwrap();
    });
}

#[path = "../support/facts.rs"]
mod facts;
mod memory_is_given_back;
mod questions_end_when_nobody_waits;
#[path = "../support/village.rs"]
mod village;
