use serde_json::Value;

use crate::support::Vault;

#[track_caller]
fn keys(value: &Value) -> Vec<&str> {
    let keys = value.as_object().unwrap().keys();
    keys.map(String::as_str).collect()
}

#[test]
fn json_keeps_its_shape() {
    let vault = Vault::new(&[
        ("Lighthouse.md", "The lens was ground by [[Ida Moss]].\n"),
        ("Ida Moss.md", "Learned her trade far away.\n"),
    ]);
    let report = vault.malha(&["index", "--json"]).expect(0).json();
    assert_eq!(report["added"], 2);
    assert_eq!(report["failed"], Value::Array(Vec::new()));

    let found = vault
        .malha(&["search", "--json", "lens", "Lighthouse"])
        .expect(0)
        .json();
    for key in [
        "query",
        "mode",
        "entry_entities",
        "results",
        "record",
        "notes",
        "stale",
    ] {
        assert!(keys(&found).contains(&key), "{key} is missing in {found}");
    }
    assert_eq!(found["query"], "lens Lighthouse");
    assert_eq!(found["mode"], "auto");
    assert_eq!(found["stale"], 0);
    let first = &found["results"][0];
    assert_eq!(first["uri"], "Lighthouse.md");
    assert_eq!(first["rank"], 1);
    assert_eq!(first["quote_line"], 1);
    let (start, end) = (
        first["start"].as_u64().unwrap(),
        first["end"].as_u64().unwrap(),
    );
    let source = "The lens was ground by [[Ida Moss]].\n";
    assert_eq!(
        &source[start as usize..end as usize],
        first["text"].as_str().unwrap()
    );
    assert!(
        first["text"]
            .as_str()
            .unwrap()
            .contains(first["quote"].as_str().unwrap())
    );

    let stats = vault.malha(&["stats", "--json"]).expect(0).json();
    assert_eq!(stats["documents"], 2);
    assert_eq!(stats["relations"], 1);
    let rows = vault.malha(&[
        "sql",
        "--json",
        "SELECT 1 AS one, 'x' AS two, NULL AS three",
    ]);
    assert_eq!(
        rows.expect(0).stdout.trim(),
        r#"[{"one":1,"two":"x","three":null}]"#
    );
    let paths = vault.malha(&["graph", "path", "--json", "Lighthouse", "Ida Moss"]);
    assert_eq!(
        paths.expect(0).json()[0]["nodes"].as_array().unwrap().len(),
        2
    );
}
