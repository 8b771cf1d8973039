use serde_json::{Value, json};

use crate::stub::{Answer, Received, Stub};
use crate::support::Vault;

/// A query to whoever is shown a graph, then a sentence about the first row.
fn answer(request: &Received) -> Answer {
    let text = |place: usize| {
        let messages = request.body["messages"].as_array().unwrap();
        messages[place]["content"].as_str().unwrap().to_owned()
    };
    Answer::chat(&if text(0).contains("<graph>") {
        let query = "MATCH (p:Pessoa)-[r:trabalha_em]->(b {name: 'Ponte'}) RETURN p.name, r";
        json!({ "queries": [query] }).to_string()
    } else if text(0).contains("in one word") {
        json!({"sentences": [{"text": "Ana.", "rows": [1]}]}).to_string()
    } else {
        json!({"sentences": [{"text": "Ana trabalha em Ponte.", "rows": [1]}]}).to_string()
    })
}

fn vault(models: &str) -> Vault {
    let facts =
        "Ana\ttrabalha_em\tPonte\tPessoa\tProjeto\nBia\ttrabalha_em\tCais\tPessoa\tProjeto\n";
    let vault = Vault::new(&[("facts.tsv", facts), ("malha.toml", models)]);
    vault.malha(&["init"]).expect(0);
    vault
        .malha(&["import", "--format", "triples", "facts.tsv"])
        .expect(0);
    vault
}

const QUESTION: [&str; 4] = ["ask", "--mode", "cypher", "Quem trabalha na Ponte?"];

#[test]
fn a_model_queries_the_graph() {
    let stub = Stub::start(answer);
    let vault = vault(&format!(
        "[models]\nmodel = \"small\"\nbase_url = \"{}\"\nretries = 0\n",
        stub.url
    ));
    let ran = vault.malha(&QUESTION).expect(0);
    assert!(
        ran.stdout.starts_with("Ana trabalha em Ponte. [1]\n\n[1] ")
            && ran.stdout.contains("(Ana)-[trabalha_em]->(Ponte)"),
        "{}",
        ran.stdout
    );
    let found = vault.malha(&[&QUESTION[..], &["--json"]].concat());
    let found: Value = found.expect(0).json();
    assert_eq!(found["mode"], "cypher");
    assert_eq!(found["model"], "small");
    assert_eq!(found["sentences"][0]["is_supported"], true);
    assert_eq!(found["graph"]["rows"][0]["nodes"][0]["name"], "Ana");
    assert_eq!(found["spent"]["cache_hits"], 2, "{found}");
    assert_eq!(stub.calls(), 2, "both replies were stored");
    let usage = vault.malha(&["usage", "--json"]).expect(0).json();
    assert_eq!(usage["lines"][0]["name"], "cypher");

    // A prompt of the user's own.
    vault.configure("[answers]\nprompts = \"own\"\n");
    vault.write("own/cypher/answer.md", "Answer in one word.");
    let ran = vault.malha(&QUESTION).expect(0);
    assert!(ran.stdout.starts_with("Ana. [1]"), "{}", ran.stdout);
    vault.write("own/cypher/rows.md", "{{rowz}}");
    let ran = vault.malha(&QUESTION).expect(78);
    assert!(ran.stderr.contains("rows.md:1"), "{}", ran.stderr);

    let plain = vault.malha(&[&QUESTION[..], &["--no-model", "--explain"]].concat());
    let plain = plain.expect(0);
    assert!(
        plain.stdout.contains("queries by templates"),
        "{}",
        plain.stdout
    );
}

#[test]
fn templates_stand_in_for_a_model_that_fails() {
    let stub = Stub::start(|_| Answer::error(401, "no such key"));
    let vault = vault(&format!(
        "[models]\nmodel = \"small\"\nbase_url = \"{}\"\nretries = 0\n",
        stub.url
    ));
    let ran = vault.malha(&QUESTION).expect(4);
    assert!(ran.stdout.contains("Ana"), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("templates asked the graph instead"),
        "{}",
        ran.stderr
    );
    let ran = vault
        .malha(&["ask", "--mode", "cypher", "Who painted it?"])
        .expect(3);
    assert_eq!(ran.stdout, "The graph does not know.\n");
}
