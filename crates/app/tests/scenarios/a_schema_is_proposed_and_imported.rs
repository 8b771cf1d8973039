use serde_json::json;

use crate::stub::{Answer, Stub};
use crate::support::Vault;

#[test]
fn a_model_proposes_a_schema_from_a_sample() {
    let stub = Stub::start(|request| {
        let passages = request.body["messages"][1]["content"].as_str().unwrap();
        if passages.contains("Passage 3:") {
            return Answer::chat("I would rather not.");
        }
        let schema = json!({
            "entity": { "Person": { "description": "Somebody", "examples": ["Ana"] }, "Ship": {} },
            "relation": { "SAILS": { "source": ["Person"], "target": ["Ship", "Ghost"] } },
        });
        Answer::chat(&format!("Here it is:\n```json\n{schema}\n```"))
    });
    let config = format!("[models]\nmodel = \"small\"\nbase_url = \"{}\"\n", stub.url);
    let vault = Vault::new(&[
        ("a.md", "Ana sails the Heron."),
        ("b.md", "Bea sails the Wren."),
        ("c.md", "Caio sails the Tern."),
        ("malha.toml", &config),
    ]);
    let infer = |sample: &str, more: &[&str]| {
        let mut arguments = vec!["schema", "infer", "--sample", sample];
        arguments.extend(more);
        vault.malha(&arguments)
    };
    infer("2", &[]).expect(1);
    assert_eq!(stub.calls(), 0, "there is no store");
    vault.index();
    let shown = infer("2", &["--json"]).expect(0).json();
    assert_eq!(shown["relation"]["SAILS"]["target"], json!(["Ship"]));
    let ran = infer("2", &["--out", "schema.toml"]).expect(0);
    assert!(ran.stderr.contains("wrote schema.toml"), "{}", ran.stderr);
    assert_eq!(stub.calls(), 1, "the reply is stored");
    let written = std::fs::read_to_string(vault.root.join("schema.toml")).unwrap();
    assert!(written.contains("[entity.Person]"), "{written}");
    let ran = vault.malha(&["schema", "check"]).expect(0);
    assert!(
        ran.stdout.contains("2 entity types, 1 relations"),
        "{}",
        ran.stdout
    );
    // Somebody's own work is never overwritten.
    infer("2", &["--out", "schema.toml"]).expect(1);
    let after = std::fs::read_to_string(vault.root.join("schema.toml")).unwrap();
    assert_eq!(after, written);
    // A reply without a schema is asked for anew.
    let ran = infer("3", &[]).expect(2);
    assert!(
        ran.stderr.contains("the reply holds no schema"),
        "{}",
        ran.stderr
    );
    infer("3", &[]).expect(2);
    assert_eq!(stub.calls(), 3);
    let runs = vault.malha(&["runs", "show"]).expect(0).stdout;
    assert!(
        runs.contains("2 entity types and 1 relations proposed; 1 calls"),
        "{runs}"
    );
    assert!(runs.contains("the reply holds no schema"), "{runs}");
}

#[test]
fn a_schema_is_made_of_table_definitions() {
    let vault = Vault::new(&[(
        "tables.cypher",
        "CREATE NODE TABLE Person(name STRING, born INT64, PRIMARY KEY(name));\n\
         CRIAR TABELA DE NÓ Projeto(nome STRING, CHAVE PRIMÁRIA(nome));\n\
         CREATE REL TABLE WORKS_ON(FROM Person TO Projeto, since DATE);\n\
         MATCH (n) RETURN n;\n",
    )]);
    let ran = vault
        .malha(&["schema", "import", "tables.cypher", "--out", "schema.toml"])
        .expect(0);
    assert!(ran.stderr.contains("line 4: not a table"), "{}", ran.stderr);
    vault.malha(&["schema", "check", "schema.toml"]).expect(0);
    let shown = vault
        .malha(&["schema", "import", "tables.cypher", "--json"])
        .expect(0)
        .json();
    assert_eq!(shown["relation"]["WORKS_ON"]["source"], json!(["Person"]));
    assert_eq!(shown["relation"]["WORKS_ON"]["target"], json!(["Projeto"]));
    vault.write("bad.cypher", "\nCREATE NODE TABLE A(name STRING");
    let ran = vault.malha(&["schema", "import", "bad.cypher"]).expect(1);
    assert!(
        ran.stderr.contains("bad.cypher: line 2: no closing"),
        "{}",
        ran.stderr
    );
    vault.malha(&["schema", "import", "none.cypher"]).expect(3);
}
