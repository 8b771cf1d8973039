//! Queries in openCypher on a store: what they find, in which names and at which time, and that nothing in a
//! query, a parameter or a name can change what is stored.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use malha_engine::cypher::Phase;
use malha_engine::extraction::{EntityType, RelationType, Schema};
use malha_engine::types::CypherRequest;
use malha_engine::{DocumentInput, Engine, EngineConfig, Error, parse_times};
use serde_json::{Value, json};

use facts::{SEED, engine};
use random_queries::Random;

struct Silent;

impl malha_engine::Progress for Silent {}

#[track_caller]
fn rows(engine: &Engine, query: &str) -> Vec<Vec<Value>> {
    let mut request = CypherRequest::new(query);
    request.parameters.insert("nome".to_owned(), json!("Ana"));
    match engine.cypher(&request) {
        Ok(rows) => rows.rows,
        Err(error) => panic!("{query}: {error}"),
    }
}

#[track_caller]
fn refusal(engine: &Engine, query: &str) -> malha_engine::cypher::CypherError {
    match engine.cypher(&CypherRequest::new(query)) {
        Err(Error::Cypher(error)) => error,
        other => panic!("{query}: {other:?}"),
    }
}

#[test]
fn the_queries_of_the_first_texts_run_as_written() {
    let (_folder, engine) = engine(SEED);
    let around = rows(
        &engine,
        "MATCH (p:Pessoa {nome: $nome})-[r]-(vizinho)\nRETURN type(r), vizinho;",
    );
    let mut types: Vec<&str> = around.iter().filter_map(|row| row[0].as_str()).collect();
    types.sort_unstable();
    assert_eq!(types, ["non-compliant", "trabalha_em"]);
    let people = rows(
        &engine,
        "// Quem trabalha em projetos mencionados em documentos sobre a paralisação?
         MATCH (d:Documento)-[:MENCIONA_PROJETO]->(proj:Projeto)<-[:TRABALHA_EM]-(p:Pessoa)
         WHERE d.titulo CONTAINS 'paralisação'
         RETURN DISTINCT p.nome, proj.nome ORDER BY p.nome;",
    );
    assert_eq!(
        people,
        [
            [json!("Ana"), json!("Ponte")],
            [json!("Bia"), json!("Túnel")]
        ]
    );
    let tables = rows(
        &engine,
        "CALL show_tables();  // depois use a detecção de comunidades",
    );
    assert!(
        tables.iter().any(|row| row[0] == "Pessoa" && row[2] == 2),
        "{tables:?}"
    );
}

/// The same queries on a store whose types are English: the schema says what they are called in Portuguese.
#[test]
fn names_of_another_language_come_from_the_schema() {
    let facts = "\
Minutes of May: a paralisação\tMENTIONS_PROJECT\tBridge\tDocument\tProject
Ana\tWORKS_ON\tBridge\tPerson\tProject
";
    let (_folder, engine) = engine(facts);
    let query = "MATCH (d:Documento)-[:MENCIONA_PROJETO]->(proj:Projeto)<-[:TRABALHA_EM]-(p:Pessoa)
         WHERE d.titulo CONTAINS 'paralisação'
         RETURN DISTINCT p.nome, proj.nome;";
    let error = refusal(&engine, query);
    assert!(error.message.contains("MENCIONA_PROJETO"), "{error}");
    let in_portuguese = |name: &str| [("pt".to_owned(), name.to_owned())].into();
    let mut schema = Schema::default();
    for (name, label) in [("Document", "Documento"), ("Person", "Pessoa")] {
        let labels = in_portuguese(label);
        let kind = EntityType {
            labels,
            ..EntityType::default()
        };
        schema.entity.insert(name.to_owned(), kind);
    }
    for (name, label) in [
        ("WORKS_ON", "TRABALHA_EM"),
        ("MENTIONS_PROJECT", "MENCIONA_PROJETO"),
    ] {
        let labels = in_portuguese(label);
        let kind = RelationType {
            labels,
            ..RelationType::default()
        };
        schema.relation.insert(name.to_owned(), kind);
    }
    let engine = engine.with_schema(schema);
    assert_eq!(rows(&engine, query), [[json!("Ana"), json!("Bridge")]]);
    let around = "MATCH (p:Pessoa {nome: $nome})-[r]-(vizinho)\nRETURN type(r), vizinho;";
    assert_eq!(rows(&engine, around)[0][0], "WORKS_ON");
    let answer = engine.ask_graph("Em que trabalha a Ana?").unwrap();
    assert!(answer.queries[0].query.contains("WORKS_ON"), "{answer:?}");
}

/// Communities are found when a query first reads them, and follow the store.
#[test]
fn communities_are_nodes_of_their_entities() {
    let mut facts = String::new();
    for group in ["Rio", "Mar"] {
        for (one, other) in [(1, 2), (2, 3), (1, 3), (3, 4), (1, 4)] {
            let _ = writeln!(facts, "{group} {one}\tliga\t{group} {other}\tLugar\tLugar");
        }
    }
    let (_folder, engine) = engine(&facts);
    // The word alone finds none: only a plan that reads them does.
    let words = "MATCH (n {name: 'communities'}) WHERE n.name <> 'IN_COMMUNITY' RETURN n";
    assert!(rows(&engine, words).is_empty());
    let any = "MATCH (c) WHERE 'Community' IN labels(c) RETURN count(c)";
    assert_eq!(rows(&engine, any), [[json!(0)]]);
    let known = "CALL show_tables() YIELD name, count WHERE name = 'Community' RETURN count";
    let found = rows(
        &engine,
        "MATCH (n:Lugar)-[:IN_COMMUNITY]->(c:Comunidade)
         RETURN c.titulo, c.size, count(n), collect(DISTINCT split(n.nome, ' ')[0]) ORDER BY c.titulo",
    );
    assert_eq!(found.len(), 2, "{found:?}");
    for row in &found {
        assert_eq!((&row[1], &row[2]), (&json!(4), &json!(4)), "{row:?}");
        assert_eq!(row[3].as_array().map(Vec::len), Some(1), "{row:?}");
        assert!(
            row[0].as_str().is_some_and(|title| title.contains(", ")),
            "{row:?}"
        );
    }
    let listed = rows(
        &engine,
        "CALL graph.communities(0) YIELD community, size RETURN community.title, size",
    );
    assert_eq!(listed.len(), 2);
    assert_eq!(rows(&engine, known), [[json!(2)]]);
    assert_eq!(
        rows(&engine, "MATCH (c:Community) RETURN count(c)"),
        [[json!(2)]]
    );
}

#[test]
fn likeness_without_vectors_says_how_to_get_them() {
    let (_folder, engine) = engine(SEED);
    for call in [
        "search.vector('x')",
        "db.index.vector.queryNodes('any', 3, 'x')",
    ] {
        let error = refusal(&engine, &format!("CALL {call} YIELD node RETURN node"));
        assert_eq!(error.detail, "NoVectors");
        assert!(error.message.contains("malha embed"), "{error}");
    }
}

#[test]
fn every_type_can_be_named_and_a_wrong_name_is_told_with_its_place() {
    #[track_caller]
    fn check(engine: &Engine, query: &str, expected: i64) {
        assert_eq!(rows(engine, query)[0][0], json!(expected), "{query}");
    }
    let (_folder, engine) = engine(SEED);
    check(
        &engine,
        "MATCH ()-[r:`non-compliant`]->() RETURN count(r)",
        1,
    );
    check(&engine, "MATCH ()-[r:NON_COMPLIANT]->() RETURN count(r)", 1);
    check(&engine, "MATCH (n:Person) RETURN count(n)", 2);
    check(&engine, "MATCH (n:Entity) RETURN count(n)", 7);
    check(&engine, "MATCH (n {name: 'Ana'}) RETURN n.degree", 2);
    for (query, place, near) in [
        ("MATCH (n:Pesoa) RETURN n", (1, 10), "Pessoa"),
        (
            "MATCH (n)\nMATCH (n)-[:TRABALHA_EN]->() RETURN n",
            (2, 13),
            "trabalha_em",
        ),
        ("MATCH (n:Pessoa) RETURN n.nam", (1, 27), "name"),
    ] {
        let error = refusal(&engine, query);
        assert_eq!(error.position, Some(place), "{query}");
        assert!(error.message.contains(near), "{error}");
    }
}

#[test]
fn variables_functions_procedures_and_clauses_are_suggested() {
    let (_folder, engine) = engine(SEED);
    for (query, told) in [
        ("MATCH (pessoa) RETURN pesoa", "did you mean pessoa?"),
        (
            "MATCH (pessoa) WHERE (pesoa)-->() RETURN 1",
            "did you mean pessoa?",
        ),
        ("RETURN toUper('a')", "did you mean toupper"),
        ("RETURN cuont(1)", "did you mean count"),
        (
            "CALL graph.neighbours('Ana')",
            "did you mean graph.neighbors?",
        ),
        ("CALL nothing.like.it()", "there are db.labels"),
        (
            "CALL search.fulltext('a', -1) YIELD node RETURN 1",
            "from 0 to 100000, not -1",
        ),
        (
            "CALL search.fulltext('a', 'b') YIELD node RETURN 1",
            "not a string",
        ),
    ] {
        let error = refusal(&engine, query);
        assert!(error.message.contains(told), "{query}: {error}");
    }
    for query in [
        "",
        "MATCH (n) RETRN n",
        "MATCH (n) WHERE",
        "MATCH (n) RETURN n LIMT 1",
    ] {
        let error = refusal(&engine, query);
        for word in [
            "CREATE", "MERGE", "DELETE", "SET", "REMOVE", "FOREACH", "LOAD CSV", "INSERT",
        ] {
            assert!(
                !error.message.contains(&format!("`{word}`")),
                "{query}: {error}"
            );
        }
    }
}

#[test]
fn imported_facts_are_cited_with_their_line() {
    let (_folder, engine) = engine(SEED);
    let answer = engine.ask_graph("Em que trabalha a Ana?").unwrap();
    assert_eq!(
        (answer.evidence[0].uri.as_str(), answer.evidence[0].line),
        ("import:facts", 4)
    );
}

/// Distinct ends of runs are met breadth first; they are those that the runs themselves end at, in which no
/// relationship comes twice.
#[test]
fn distinct_ends_are_those_of_the_runs() {
    let mut random = 0x2545_f491_u32;
    let mut below = |most: u32| {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        random % most
    };
    for round in 0..12 {
        let mut facts = String::from("n0\tr0\tn1\tN\tN\n");
        for _ in 0..(3 + round) {
            let (one, kind, other) = (below(5), below(2), below(5));
            let _ = writeln!(facts, "n{one}\tr{kind}\tn{other}\tN\tN");
        }
        let (_folder, engine) = engine(&facts);
        for arrows in [("-", "->"), ("<-", "-"), ("-", "-")] {
            for hops in ["*1..2", "*1..4", "*0..3", ":r0*1..3", "*..2"] {
                let run = format!("(a){}[{hops}]{}(b)", arrows.0, arrows.1);
                let expected = rows(
                    &engine,
                    &format!(
                        "MATCH (a:N) MATCH p = {run} WITH DISTINCT a, last(nodes(p)) AS b RETURN a.name AS x, count(b) AS n ORDER BY x"
                    ),
                );
                for counted in [
                    format!(
                        "MATCH (a:N) MATCH {run} RETURN a.name AS x, count(DISTINCT b) AS n ORDER BY x"
                    ),
                    format!(
                        "MATCH (a:N) MATCH {run} WHERE b.name <> '' RETURN a.name AS x, count(DISTINCT b) AS n ORDER BY x"
                    ),
                    format!(
                        "MATCH (a:N) MATCH {run} WITH DISTINCT a, b RETURN a.name AS x, count(b) AS n ORDER BY x"
                    ),
                ] {
                    assert_eq!(rows(&engine, &counted), expected, "{counted}\n{facts}");
                }
                let all = format!("MATCH (a:N) MATCH {run} RETURN count(DISTINCT b) AS n");
                let ends = format!(
                    "MATCH (a:N) MATCH p = {run} WITH last(nodes(p)) AS b RETURN count(DISTINCT b) AS n"
                );
                assert_eq!(rows(&engine, &all), rows(&engine, &ends), "{all}\n{facts}");
            }
        }
    }
}

#[test]
fn passages_documents_and_names_hang_together() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::create(&folder.path().join("malha.db"), EngineConfig::default()).unwrap();
    let documents = [("a.md", "Alfa"), ("b.md", "Beta")].map(|(uri, title)| DocumentInput {
        uri: uri.to_owned(),
        title: title.to_owned(),
        text: format!("{title} knows Gamma Delta well.\n\nGamma Delta knows Alfa.\n"),
    });
    engine
        .index_documents("notes", &documents, &Silent)
        .unwrap();
    let count = |query: &str| rows(&engine, query)[0][0].clone();
    assert_eq!(count("MATCH (d:Document) RETURN count(d)"), 2);
    assert_eq!(
        count("MATCH (c:Chunk)-[:PART_OF]->(d:Document {title: 'Alfa'}) RETURN count(c)"),
        1
    );
    let mentioned =
        "MATCH (:Document {titulo: 'Beta'})<-[:PART_OF]-(c)-[:MENTIONS]->(e {name: 'Alfa'})
        RETURN count(e)";
    assert_eq!(count(mentioned), 1);
    let found = "CALL search.fulltext('gamma') YIELD node, score
        MATCH (node)-[:PART_OF]->(d) RETURN d.uri ORDER BY d.uri";
    assert_eq!(
        rows(&engine, found),
        [[json!("notes/a.md")], [json!("notes/b.md")]]
    );
}

#[test]
fn a_query_looks_at_the_asked_moment() {
    let facts = "\
Ana\tworks_at\tAcme\tPerson\tCompany\t2010\t2015
Ana\tworks_at\tBeta\tPerson\tCompany\t2015\t
";
    let (_folder, engine) = engine(facts);
    let query = "MATCH ({name: 'Ana'})-[r:WORKS_AT]->(c) RETURN c.name, r.valid_from.year";
    let at = |date: &str| rows(&engine.at(parse_times(Some(date), None).unwrap()), query);
    assert_eq!(at("2012-06-01"), [[json!("Acme"), json!(2010)]]);
    assert_eq!(at("2020-06-01"), [[json!("Beta"), json!(2015)]]);
    assert!(at("2001-01-01").is_empty());
}

#[test]
fn procedures_answer() {
    let (_folder, engine) = engine(SEED);
    let near = rows(
        &engine,
        "CALL graph.neighbors('Ana', 1) YIELD node, depth RETURN node.name ORDER BY 1",
    );
    assert_eq!(near.len(), 2);
    let ranked = rows(
        &engine,
        "CALL graph.pagerank('Ana') YIELD node, score RETURN node.name, score",
    );
    assert_eq!(ranked[0][0], "Ana");
    let path = rows(
        &engine,
        "CALL graph.shortestPath('Ana', 'Túnel') YIELD path RETURN [n IN nodes(path) | n.name]",
    );
    assert_eq!(path, [[json!(["Ana", "Bia", "Túnel"])]]);
    let path = rows(
        &engine,
        "MATCH p = shortestPath((a {name: 'Ana'})-[*]-(b {name: 'Orçamento'})) RETURN length(p)",
    );
    assert_eq!(path, [[json!(3)]]);
    for call in [
        "db.labels()",
        "db.relationshipTypes()",
        "db.propertyKeys()",
        "graph.communities()",
    ] {
        rows(&engine, &format!("CALL {call}"));
    }
    let schema = rows(&engine, "CALL db.schema.visualization()");
    assert!(
        schema[0][0]
            .as_array()
            .is_some_and(|labels| !labels.is_empty())
    );
}

/// Buglog D21, D22: every relation type and label is stored as it was spelled, and a query can name it.
#[test]
fn strange_types_can_be_asked_for() {
    let long = "r".repeat(200);
    let types = [
        "non-compliant",
        "co-worker",
        "definiert_icp-kriterien_für",
        "2nd_of",
        "has space",
        &long,
        "x` SET n.admin = true //",
        "a\"b'c)",
        "// no comment",
    ];
    let mut facts = String::from("Ana\t\tBia\tPessoa\tPessoa\n");
    for (place, name) in types.iter().enumerate() {
        let _ = writeln!(facts, "Ana\t{name}\tn{place}\tPessoa\t{name}");
    }
    let (_folder, engine) = engine(&facts);
    let before = engine.digest().unwrap();
    for (place, name) in types.iter().enumerate() {
        let quoted = name.replace('`', "``");
        let query =
            format!("MATCH (a)-[r:`{quoted}`]->(n:`{quoted}`) RETURN type(r), n.name, n.admin");
        let request = CypherRequest::new(query.replace(", n.admin", ""));
        let found = engine.cypher(&request).unwrap().rows;
        assert_eq!(found, [[json!(name), json!(format!("n{place}"))]], "{name}");
        // Nothing that a label holds has become a property.
        assert_eq!(refusal(&engine, &query).detail, "UnknownName", "{name}");
    }
    assert_eq!(
        rows(&engine, "MATCH ()-[r]->() RETURN count(r)"),
        [[json!(types.len())]]
    );
    assert_eq!(engine.digest().unwrap(), before);
}

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

/// The gold paths of `MetaQA`'s questions as queries give the answers that walking its base gives.
#[test]
fn the_paths_of_metaqa_reach_their_ceiling() {
    let data = std::env::var_os("MALHA_DATA_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        Into::into,
    );
    let folder = data.join("metaqa");
    if !folder.join("kb.tsv.gz").exists() {
        println!("skipped: no MetaQA (set MALHA_DATA_DIR)");
        return;
    }
    metaqa::check(&folder);
}

#[path = "support/facts.rs"]
mod facts;
#[path = "metaqa/mod.rs"]
mod metaqa;
#[path = "random_queries/mod.rs"]
mod random_queries;
