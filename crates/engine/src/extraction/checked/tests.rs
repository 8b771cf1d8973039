use serde_json::Value;

use super::super::reply::read_reply;
use super::super::schema::{EntityType, RelationType};
use super::*;

fn checked(reply: &str, text: &str, schema: &Schema) -> Extraction {
    check_reply(read_reply(reply).unwrap(), text, schema)
}

fn ties(found: &Extraction) -> Vec<String> {
    let name = |at: usize| &found.entities[at].name;
    found
        .relations
        .iter()
        .map(|tie| format!("{} {} {}", name(tie.source), tie.kind, name(tie.target)))
        .collect()
}

#[test]
fn edges_to_nowhere_and_to_oneself_are_rejected_with_reasons() {
    let text = "The Billing API writes to the Ledger. Also known as billing-api.";
    let reply = r#"{"entities":[{"name":"Billing API"},{"name":"Ledger"},{"name":"billing-api"}],
        "relations":[{"source":0,"target":1,"type":"WRITES"},{"source":0,"target":23,"type":"WRITES"},
        {"source":1,"target":1,"type":"WRITES"},{"source":"Billing API","target":"billing-api","type":"WRITES"}]}"#;
    let found = checked(reply, text, &Schema::default());
    assert_eq!(ties(&found), ["Billing API WRITES Ledger"]);
    let reasons: Vec<&str> = found.rejected.iter().map(|r| r.reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "its target \"23\" is none of the entities",
            "it leads from a thing to itself",
            "it leads from a thing to itself",
        ]
    );
}

#[test]
fn only_what_the_passage_says_is_kept() {
    let text = "Ana leads Orion. She lives in Porto.";
    let reply = r#"{"entities":[{"name":"Ana"},{"name":"Orion","aliases":["Project O"]},{"name":"NASA"},{"name":"Porto"}],
        "relations":[{"source":"Ana","target":"Orion","type":"LEADS","quote":"Ana leads Orion"},
        {"source":"Ana","target":"NASA","type":"WORKS_AT"},
        {"source":"Ana","target":"Porto","type":"LIVES_IN","quote":"Ana resides in Porto, Portugal"},
        {"source":"Ana","target":"Orion","type":"LEFT","status":"hypothetical"}]}"#;
    let found = checked(reply, text, &Schema::default());
    assert_eq!(ties(&found), ["Ana LEADS Orion", "Ana LIVES_IN Porto"]);
    assert!(
        found.entities[1].aliases.is_empty(),
        "the passage has no such alias"
    );
    assert_eq!(&text[found.relations[0].quote.clone()], "Ana leads Orion.");
    assert!(!found.relations[1].is_quoted);
    assert_eq!(&text[found.relations[1].quote.clone()], text);
    assert_eq!(found.rejected.len(), 3);
}

#[test]
fn a_schema_decides_types_and_directions() {
    let tie = RelationType {
        source: vec!["Person".to_owned()],
        target: vec!["Project".to_owned()],
        exclusive: true,
        ..RelationType::default()
    };
    let schema = Schema {
        entity: [
            ("Person".to_owned(), EntityType::default()),
            ("Project".to_owned(), EntityType::default()),
        ]
        .into(),
        relation: [("LEADS".to_owned(), tie)].into(),
        ..Schema::default()
    };
    let text = "Ana leads Orion near Mars.";
    let reply = r#"{"entities":[{"name":"Ana","type":"person"},{"name":"Orion","type":"Project"},{"name":"Mars","type":"Planet"}],
        "relations":[{"source":"Orion","target":"Ana","type":"leads"},{"source":"Ana","target":"Mars","type":"LEADS"},
        {"source":"Ana","target":"Orion","type":"LIKES"},{"source":"Ana","target":"Ana","type":"LEADS"}]}"#;
    let found = checked(reply, text, &schema);
    assert_eq!(ties(&found), ["Ana LEADS Orion"]);
    assert!(found.relations[0].is_exclusive);
    let reasons: Vec<&str> = found.rejected.iter().map(|r| r.reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "the type \"Planet\" is not in the schema",
            "its target \"Mars\" was refused: the type \"Planet\" is not in the schema",
            "the relation \"LIKES\" is not in the schema",
            "it leads from a thing to itself",
        ]
    );
}

#[test]
fn one_spelling_of_a_name_is_one_entity() {
    let text = "“ROMAN EMPIRE ” and Roman  Empire and Roman\u{200b} Empire";
    let names = [
        "\"ROMAN EMPIRE \"",
        "ROMAN EMPIRE",
        "“Roman Empire”",
        "Roman  Empire",
        "&quot;Roman Empire&quot;",
        "Roman\u{200b} Empire",
    ];
    let entities: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    let found = checked(
        &json!({ "entities": entities }).to_string(),
        text,
        &Schema::default(),
    );
    assert_eq!(found.entities.len(), 1, "{found:?}");
    assert_eq!(found.rejected, Vec::new());
}

#[test]
fn two_types_of_one_name_are_both_kept() {
    let reply = r#"{"entities":[{"name":"A1","type":"Concept"},{"name":"a1","type":"Tool"}]}"#;
    let found = checked(reply, "A1", &Schema::default());
    assert_eq!(found.entities.len(), 1);
    assert_eq!(found.entities[0].kinds.len(), 2);
}

#[test]
fn identifiers_and_brackets_of_models_are_no_part_of_a_name() {
    let text = "Ana Prado wrote Arion. Ana Prado (singer) is another, see ana_id.";
    let check = |written: &str, expected: &[&str]| {
        let reply = json!({ "entities": [{ "name": written }] }).to_string();
        let found = checked(&reply, text, &Schema::default());
        let names: Vec<&str> = found
            .entities
            .iter()
            .map(|entity| entity.name.as_str())
            .collect();
        assert_eq!(names, expected, "{written}");
    };
    check("Ana_Prado", &["Ana Prado"]);
    check("Arion (comics character)", &["Arion"]);
    check("Arion_(comicsCharacter)", &["Arion"]);
    check("Ana Prado (singer)", &["Ana Prado (singer)"]);
    check("Ana_Reis", &[]);
    check("ana_id", &["ana_id"]);
    let reply = r#"{"relations":[{"source":"Arion_(comicsCharacter)","type":"creator","target":"Ana_Prado"}]}"#;
    assert_eq!(
        ties(&checked(reply, text, &Schema::default())),
        ["Arion creator Ana Prado"]
    );
}

#[test]
fn a_name_stays_in_the_script_of_the_passage() {
    let text = "她在臺灣大學學習物理。";
    let reply = r#"{"entities":[{"name":"台湾大学","type":"University"},{"name":"物理"}],
        "relations":[{"source":"台湾大学","target":"物理","type":"TEACHES","quote":"她在台湾大学学习物理"}]}"#;
    let found = checked(reply, text, &Schema::default());
    assert_eq!(ties(&found), ["臺灣大學 TEACHES 物理"]);
    assert!(found.relations[0].is_quoted);
    assert_eq!(&text[found.relations[0].quote.clone()], text);
}

#[test]
fn a_quote_names_at_least_one_of_the_two() {
    let text = "Ana came early. She met Bea at noon. It rained.";
    let check = |quote: &str, is_quoted: bool, evidence: &str| {
        let reply = json!({
            "entities": ["Ana", "Bea"],
            "relations": [{ "source": "Ana", "type": "MET", "target": "Bea", "quote": quote }],
        });
        let found = checked(&reply.to_string(), text, &Schema::default());
        let tie = &found.relations[0];
        assert_eq!(
            (tie.is_quoted, &text[tie.quote.clone()]),
            (is_quoted, evidence),
            "{quote}"
        );
    };
    check("She met Bea at noon.", true, "She met Bea at noon.");
    check("It rained.", false, "Ana came early. She met Bea at noon.");
}
