use serde_json::{Value, json};

use crate::support::Vault;

const MEMORY: &str = r#"{
  "entities": [
    {"name": "AgentAlpha", "type": "SoftwareAgent", "description": "Orchestrates services"},
    {"name": "BillingAPI", "type": "Service", "description": "Invoices and recurring payments"}],
  "relations": [
    {"from": "AgentAlpha", "to": "BillingAPI", "relation": "invokes", "context": "AgentAlpha starts the invoicing"},
    {"from": "AgentAlpha", "to": "BillingAPI", "relation": "watches"},
    {"from": "BillingAPI", "to": "DatabaseCluster", "relation": "stores in"},
    {"from": "", "to": "BillingAPI", "relation": "x"}]}"#;

fn names(list: &Value, field: &str) -> Vec<String> {
    let list = list.as_array().unwrap().iter();
    list.map(|item| item[field].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn what_is_remembered_is_recalled_with_its_neighbourhood() {
    let vault = Vault::new(&[]);
    vault.write("m.json", MEMORY);
    // The relation without a source costs none of the others.
    let report = vault
        .malha(&["remember", "--file", "m.json", "--json"])
        .expect(4)
        .json();
    assert_eq!(report["relations_added"], json!(3), "{report}");
    assert_eq!(report["failed"][0]["line"], json!(1));

    let recall = |query: &str| vault.malha(&["recall", query, "--json"]).expect(0).json();
    let found = recall("How do AgentAlpha and DatabaseCluster hang together?");
    assert_eq!(
        names(&json!([{"n": found["query"]}]), "n"),
        ["How do AgentAlpha and DatabaseCluster hang together?"]
    );
    let mut roots: Vec<&str> = found["entrypoint_roots"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    roots.sort_unstable();
    assert_eq!(roots, ["AgentAlpha", "DatabaseCluster"]);
    // Reached from two roots, each relation stands there once; parallel ones are both there.
    let mut relations = names(&found["relations"], "relation");
    relations.sort();
    assert_eq!(relations, ["invokes", "stores in", "watches"]);
    let mut entities = names(&found["entities"], "type");
    entities.sort();
    // What was only named is a Concept.
    assert_eq!(entities, ["Concept", "Service", "SoftwareAgent"]);
    // No name in the question: the likest entity is where the walk starts.
    let found = recall("recurring payments");
    assert_eq!(found["entrypoint_roots"][0], json!("BillingAPI"), "{found}");
    // A budget is kept, and it is said.
    let small = vault
        .malha(&["recall", "AgentAlpha", "--budget", "30", "--json"])
        .expect(0)
        .json();
    assert!(small["tokens"].as_u64().unwrap() <= 30);
    assert_eq!(small["cut"], json!(true));
    // Said again, a fact gains evidence and no twin.
    let again = [
        "remember",
        "--fact",
        "agentalpha|invokes|billingapi",
        "--json",
    ];
    let report = vault.malha(&again).expect(0).json();
    assert_eq!(
        (&report["relations_added"], &report["relations_repeated"]),
        (&json!(0), &json!(1))
    );
    vault.malha(&["verify"]).expect(0);
}

#[test]
fn recall_never_fails() {
    let vault = Vault::new(&[]);
    let found = vault.malha(&["recall", "anything", "--json"]).expect(0);
    let found = found.json();
    assert_eq!(found["evidence"], json!([]));
    assert!(found["notes"][0].as_str().unwrap().contains("no store"));
    for query in ["", " ", "NEAR(", "\"", "*", "\u{0}"] {
        vault.write("m.jsonl", "{\"text\": \"a\"}\n");
        vault.malha(&["remember", "--file", "m.jsonl"]).expect(0);
        if !query.contains('\u{0}') {
            vault.malha(&["recall", query, "--json"]).expect(0);
        }
    }
}

#[test]
fn corrections_stay_corrected_and_can_be_undone() {
    let vault = Vault::new(&[]);
    let state = ["remember", "--exclusive", "--fact", "Kiran|lives in|Pune"];
    vault.malha(&state).expect(0);
    let lives_in = || {
        let found = vault.malha(&["graph", "neighbors", "Kiran", "--hops", "1", "--json"]);
        names(&found.expect(0).json()["relations"], "target")
    };
    let correct = ["correct", "kiran", "lives in", "pune", "--instead", "Goa"];
    vault.malha(&correct).expect(0);
    assert_eq!(lives_in(), ["Goa"]);
    // Neither a memory nor a file brings it back.
    let report = vault.malha(&[&state[..], &["--json"]].concat()).expect(0);
    assert_eq!(report.json()["suppressed"], json!(["Kiran lives in Pune"]));
    vault.write("facts.tsv", "Kiran\tlives in\tPune\n");
    vault
        .malha(&["import", "--format", "triples", "facts.tsv"])
        .expect(0);
    assert_eq!(lives_in(), ["Goa"]);
    vault.malha(&["undo", "2"]).expect(0);
    assert_eq!(lives_in(), ["Pune"]);
    vault.malha(&["undo", "2"]).expect(2);
    vault.malha(&["undo", "99"]).expect(3);
    vault
        .malha(&["correct", "Kiran", "lives in", "Rome"])
        .expect(3);
    vault.malha(&["verify"]).expect(0);
}

#[test]
fn a_memory_of_one_namespace_is_in_no_other() {
    let vault = Vault::new(&[]);
    let remember = |namespace: &str, word: &str| {
        let fact = format!("{word}ton|keeps|{word}bird");
        vault
            .malha(&["--namespace", namespace, "remember", word, "--fact", &fact])
            .expect(0);
    };
    remember("my-group", "Quokka");
    remember("équipe", "Axolotl");
    for (namespace, word) in [
        ("my-group", "axolotl"),
        ("équipe", "quokka"),
        ("AND", "quokka"),
    ] {
        for command in ["recall", "search"] {
            let asked = ["--namespace", namespace, command, word, "--json"];
            let text = vault.malha(&asked).expect(0).json();
            let query = text["query"].as_str().unwrap().to_owned();
            let rest = text.to_string().to_lowercase().replacen(&query, "", 1);
            assert!(!rest.contains(word), "{namespace} {command}: {rest}");
        }
        let name = format!("{word}ton");
        for command in [
            &["describe", &name][..],
            &["timeline", &name],
            &["graph", "entity", &name],
        ] {
            let asked = [&["--namespace", namespace][..], command].concat();
            vault.malha(&asked).expect(3);
        }
        let undo = ["--namespace", namespace, "undo", "--json"];
        assert!(
            !vault
                .malha(&undo)
                .expect(0)
                .stdout
                .to_lowercase()
                .contains(word)
        );
    }
    vault
        .malha(&["--namespace", "\"x\"", "remember", "a"])
        .expect(2);
}
