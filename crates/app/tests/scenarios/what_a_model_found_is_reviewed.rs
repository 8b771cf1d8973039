use serde_json::json;

use crate::support::Vault;

/// Facts of another program, so that no model is needed.
fn vault() -> Vault {
    let triples = json!([
        {
            "id": "a.md", "entities": ["João Silva", "Joao Silvo"],
            "triples": [["João Silva", "leads", "Lagoa"], ["Ana", "leads", "Lagoa"]],
        },
        { "id": "nowhere.md", "triples": [] },
    ]);
    Vault::new(&[
        (
            "a.md",
            "João Silva leads Lagoa. Joao Silvo is a slip of the pen.",
        ),
        ("facts.openie", &triples.to_string()),
    ])
}

#[test]
fn what_a_model_found_is_reviewed() {
    let vault = vault();
    vault.malha(&["index"]).expect(0);
    let import = ["import", "--format", "openie", "facts.openie", "--json"];
    let report = vault.malha(&import).expect(4).json();
    assert_eq!(
        (&report["matched"], &report["relations"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(
        report["failures"].as_array().map(Vec::len),
        Some(1),
        "{report}"
    );
    let aside = vault.malha(&["quarantine", "list"]).expect(0).stdout;
    assert!(aside.contains("Ana"), "no passage names her: {aside}");

    let shown = vault.malha(&["review", "extraction"]).expect(0).stdout;
    assert!(
        shown.contains("João Silva  leads  Lagoa") && shown.contains('«'),
        "{shown}"
    );
    let sample = vault
        .malha(&["review", "extraction", "--json"])
        .expect(0)
        .json();
    let number = sample["sample"][0]["id"].to_string();
    let wrong = format!("{number}=wrong");
    let judged = vault
        .malha(&["review", "extraction", "--verdict", &wrong, "--json"])
        .expect(0)
        .json();
    assert_eq!(judged["precision"][0]["precision"], json!(0.0));
    let neighbors = ["graph", "neighbors", "João Silva", "--json"];
    let left = vault.malha(&neighbors).expect(0).json();
    assert_eq!(left["relations"], json!([]), "{left}");
    vault.malha(&import).expect(4);
    let left = vault.malha(&neighbors).expect(0).json();
    assert_eq!(left["relations"], json!([]), "it stays away");
    let right = format!("{number}=right");
    let table = vault
        .malha(&["review", "extraction", "--verdict", &right])
        .expect(0)
        .stdout;
    assert!(table.contains("100.0"), "{table}");
    let back = vault.malha(&neighbors).expect(0).json();
    assert_eq!(back["relations"].as_array().map(Vec::len), Some(1));
    vault
        .malha(&["review", "extraction", "--verdict", "999=right"])
        .expect(3);
    vault
        .malha(&["review", "extraction", "--verdict", "1=maybe"])
        .expect(2);

    let pairs = vault
        .malha(&["review", "merges", "list", "--json"])
        .expect(0)
        .json();
    assert_eq!(
        (pairs.as_array().map(Vec::len), &pairs[0]["status"]),
        (Some(1), &json!("proposed"))
    );
    let pair = pairs[0]["id"].to_string();
    let merged = vault
        .malha(&["review", "merges", "accept", &pair, "--json"])
        .expect(0)
        .json();
    assert_eq!(merged[0]["status"], json!("merged"));
    let apart = vault
        .malha(&["review", "merges", "reject", &pair, "--json"])
        .expect(0)
        .json();
    assert_eq!(
        (&apart[0]["status"], &apart[0]["decided_by"]),
        (&json!("apart"), &json!("user"))
    );
    let open = vault
        .malha(&["review", "merges", "undo", &pair, "--json"])
        .expect(0)
        .json();
    assert_eq!(
        (&open[0]["status"], &open[0]["decided_by"]),
        (&json!("proposed"), &json!(null))
    );
    let table = vault
        .malha(&["review", "merges", "list", "--status", "proposed"])
        .expect(0)
        .stdout;
    assert!(table.contains("similar"), "{table}");
    vault
        .malha(&["review", "merges", "accept", "999"])
        .expect(3);
}
