use std::fmt::Write as _;

use malha_engine::Engine;
use malha_engine::extraction::{EntityType, RelationType, Schema};
use malha_engine::types::CypherRequest;
use serde_json::json;

use crate::asked::{refusal, rows};
use crate::facts::{SEED, engine};

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
