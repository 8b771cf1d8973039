use std::time::{Duration, Instant};

use malha_engine::cypher::Phase;
use malha_engine::types::CypherRequest;
use serde_json::json;

use crate::asked::refusal;
use crate::facts::{SEED, engine};
use crate::random_queries::Random;

/// Buglog D22, D23: whatever a query looks like, it is refused by name or it only reads.
#[test]
fn nothing_that_writes_gets_through() {
    let (_folder, engine) = engine(SEED);
    let before = engine.digest().unwrap();
    for (query, word) in [
        ("CREATE (n)", "CREATE"),
        ("MATCH (n) /*x*/ DETACH/**/DELETE n", "DELETE"),
        ("MATCH (n) DeTaCh dElEtE n", "DELETE"),
        ("MATCH (n) SET n.admin = true", "SET"),
        ("MATCH (n) REMOVE n.name RETURN n", "REMOVE"),
        ("MERGE (n:Pessoa {nome: 'Eva'}) RETURN n", "MERGE"),
        ("FOREACH (x IN [1] | CREATE (n))", "FOREACH"),
        ("CALL { CREATE (n) } RETURN 1", "CREATE"),
        ("MATCH (n) CALL { WITH n DELETE n } RETURN 1", "DELETE"),
        ("ＣＲＥＡＴＥ (n)", "CREATE"),
        ("MATCH (n) ＤＥＴＡＣＨ ＤＥＬＥＴＥ n", "DETACH"),
        ("RETURN 1; CREATE (n)", "CREATE"),
        (
            "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
            "LOAD",
        ),
        ("DROP TABLE entity", "DROP"),
        (
            "MATCH (n) WHERE EXISTS { MATCH (n) SET n.x = 1 } RETURN n",
            "SET",
        ),
    ] {
        let error = refusal(&engine, query);
        assert_eq!(error.phase, Phase::CompileTime, "{query}");
        assert!(error.message.contains(word), "{query}: {error}");
    }
    for text in [
        "x` SET n.admin = true //",
        "'); DROP TABLE entity; --",
        "\" OR 1=1",
        "\u{0}",
        "${x}",
    ] {
        let mut request = CypherRequest::new("MATCH (n {name: $name}) RETURN n");
        request.parameters.insert("name".to_owned(), json!(text));
        assert!(engine.cypher(&request).unwrap().rows.is_empty());
        let label = text.replace('`', "``");
        refusal(&engine, &format!("MATCH (n:`{label}`) RETURN n"));
        let mut request = CypherRequest::new("CALL search.fulltext($q) YIELD node RETURN node");
        request.parameters.insert("q".to_owned(), json!(text));
        engine.cypher(&request).unwrap();
    }
    assert_eq!(engine.digest().unwrap(), before);
}

/// Random queries made of the words of real ones. `MALHA_FUZZ_SECONDS` sets how long; three by default.
#[test]
fn no_query_panics_hangs_or_outgrows_its_limit() {
    let (_folder, engine) = engine(SEED);
    let before = engine.digest().unwrap();
    let seconds = std::env::var("MALHA_FUZZ_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok());
    let until = Instant::now() + Duration::from_secs(seconds.unwrap_or(3));
    let mut random = Random::new(0x5eed);
    let (mut runs, mut answered) = (0, 0);
    while Instant::now() < until {
        let query = random.query();
        let mut request = CypherRequest::new(&query);
        request.timeout = Duration::from_millis(500);
        request
            .parameters
            .insert("p".to_owned(), json!(["Ana", 1, null]));
        let started = Instant::now();
        answered += usize::from(engine.cypher(&request).is_ok());
        assert!(started.elapsed() < Duration::from_secs(20), "{query}");
        runs += 1;
    }
    println!("{runs} queries, {answered} with an answer");
    assert!(
        answered * 50 > runs,
        "{answered} of {runs}: the queries have become nonsense"
    );
    assert_eq!(engine.digest().unwrap(), before);
}
