use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use malha_engine::types::{Clock, Correction, Timestamp};
use malha_engine::{DocumentInput, Engine, EngineConfig, parse_times};
use serde_json::json;

use crate::asked::{refusal, rows};
use crate::facts::{SEED, engine};
use crate::metaqa;

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
fn imported_facts_are_cited_with_their_line() {
    let (_folder, engine) = engine(SEED);
    let answer = engine.ask_graph("Em que trabalha a Ana?").unwrap();
    assert_eq!(
        (answer.evidence[0].uri.as_str(), answer.evidence[0].line),
        ("import:facts", 4)
    );
}

/// A fact that was taken back by mistake, and restored, stands where it stood.
#[test]
fn a_fact_that_is_recorded_again_keeps_its_line() {
    let (_folder, engine) = engine(SEED);
    let wrong = Correction {
        source: "Ana".to_owned(),
        relation: "trabalha_em".to_owned(),
        target: "Ponte".to_owned(),
        ..Correction::default()
    };
    let operation = engine.correct(&wrong).unwrap().operation.unwrap();
    engine.undo(operation).unwrap();
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
    engine.index_documents("notes", &documents, &()).unwrap();
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

/// Passages that were not there yet are no neighbours either, before or behind.
#[test]
fn passages_follow_one_another_as_of_the_asked_moment() {
    #[derive(Clone)]
    struct Day(Arc<AtomicI64>);
    impl Clock for Day {
        fn now(&self) -> Timestamp {
            Timestamp(self.0.load(Ordering::SeqCst) * 86_400_000)
        }
    }
    let day = Day(Arc::new(AtomicI64::new(19_000)));
    let engine = Engine::in_memory(EngineConfig::default())
        .unwrap()
        .with_clock(day.clone());
    let write = |parts: &[&str]| {
        let say = |part: &&str| {
            let lines =
                (1..60).map(|line| format!("Line {line} of what there is to say of {part}.\n"));
            format!("## {part}\n\n{}\n", lines.collect::<String>())
        };
        let text = parts.iter().map(say).collect();
        let document = DocumentInput {
            uri: "a.md".to_owned(),
            title: "Alfa".to_owned(),
            text,
        };
        engine.index_documents("notes", &[document], &()).unwrap();
    };
    write(&["First", "Middle"]);
    day.0.store(19_100, Ordering::SeqCst);
    // As long as what it stands in for, so that the passages behind it stay as they were.
    write(&["Other", "Middle", "Behind"]);
    let then = engine.at(parse_times(None, Some("2022-02-01")).unwrap());
    let count = |engine: &Engine, query: &str| rows(engine, query)[0][0].as_i64().unwrap();
    let passages = "MATCH (c:Chunk) RETURN count(c)";
    let (all, old) = (count(&engine, passages), count(&then, passages));
    assert!(old > 0 && all >= old + 2, "{old} of {all}");
    for query in [
        "MATCH (c:Chunk)-[:NEXT]->(n) RETURN count(n)",
        "MATCH (c:Chunk)<-[:NEXT]-(n) RETURN count(n)",
    ] {
        assert_eq!(count(&engine, query), all - 1, "{query}");
        assert_eq!(count(&then, query), old - 1, "{query}");
    }
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
