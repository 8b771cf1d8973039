use serde_json::json;

use crate::support::Vault;

fn vault() -> Vault {
    let vault = Vault::new(&[("other.md", "The bread is old.")]);
    for month in 1..=6 {
        let note = format!(
            "---\ndate: 2024-{month:02}-15\ntags: [review]\n---\nThe review of month {month} praises the bread of \
             [[Baker {month}]].\n"
        );
        vault.write(&format!("reviews/{month}.md"), note);
    }
    vault.index();
    vault
}

#[test]
fn a_question_about_some_documents_counts_them() {
    let vault = vault();
    let ask = |more: &[&str]| {
        let mut arguments = vec!["ask", "--mode", "global", "What do the reviews praise?"];
        arguments.extend(more);
        vault.malha(&arguments)
    };
    let ran = ask(&["--since", "2024-02", "--until", "2024-04"]).expect(0);
    for month in [2, 3, 4] {
        let quote = format!("The review of month {month} praises");
        assert!(ran.stdout.contains(&quote), "{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("month 5"), "{}", ran.stdout);
    assert!(
        ran.stdout
            .contains("3 documents match, 3 cited, 1 without a date left out"),
        "{}",
        ran.stdout
    );
    let found = ask(&["--under", "reviews", "--tag", "review", "--json"])
        .expect(0)
        .json();
    assert_eq!(
        found["documents"],
        json!({"matching": 6, "undated": 0, "cited": 6})
    );
    let none = ask(&["--since", "2030"]).expect(3);
    assert!(none.stdout.contains("0 documents match"), "{}", none.stdout);
    ask(&["--since", "soon"]).expect(2);
    ask(&["--since", "2024-05", "--until", "2024-01"]).expect(2);
}

#[test]
fn a_conversation_goes_on_by_name() {
    let vault = vault();
    let ask = |question: &str| {
        let arguments = ["ask", "--session", "bread", question, "--json"];
        // Whether the notes know it is another matter.
        vault.malha(&arguments).json()
    };
    let first = ask("What does the review of month 3 say of Baker 3?");
    assert!(first["understood_as"].is_null(), "{first}");
    let second = ask("Which bread does she bake?");
    let understood = second["understood_as"].as_str().unwrap();
    assert!(
        understood.starts_with("Which bread does she bake? ("),
        "{understood}"
    );
    vault.malha(&["verify"]).expect(0);
}
