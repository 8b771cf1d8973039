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

fn reasons(found: &Extraction) -> Vec<&str> {
    found.rejected.iter().map(|r| r.reason.as_str()).collect()
}

#[test]
fn an_id_of_an_entity_that_was_refused_means_no_other() {
    let text = "Ana leads Orion. Bea sings.";
    let reply = r#"{"entities":[{"id":"1","name":"Nobody"},{"id":"2","name":"Ana"},{"id":"3","name":"Orion"},{"id":"4","name":"Bea"}],
        "relations":[{"source":"1","target":"3","type":"LEADS"},{"source":"2","target":"3","type":"LEADS"},
        {"source":"0","target":"3","type":"LEADS"}]}"#;
    let found = checked(reply, text, &Schema::default());
    assert_eq!(ties(&found), ["Ana LEADS Orion"]);
    assert_eq!(
        reasons(&found)[1..],
        [
            "its source \"1\" was refused: the passage does not name it",
            "its source \"0\" is none of the entities",
        ]
    );
}

#[test]
fn words_that_point_are_no_names() {
    let text = "She leads Orion. 他住在港口。";
    let reply = r#"{"entities":[{"name":"She"},{"name":"Orion"},{"name":"他"},{"name":"港口"}],
        "relations":[{"source":"She","target":"Orion","type":"LEADS"},{"source":"他","target":"港口","type":"LIVES_IN"}]}"#;
    let found = checked(reply, text, &Schema::default());
    let names: Vec<&str> = found.entities.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["Orion", "港口"]);
    assert_eq!(found.rejected.len(), 4, "{:?}", found.rejected);
    let unlisted = r#"{"relations":[{"source":"She","target":"Orion","type":"LEADS"}]}"#;
    let found = checked(unlisted, text, &Schema::default());
    assert_eq!(
        reasons(&found),
        ["its source \"She\" names nothing by itself"]
    );
    assert!(found.entities.is_empty());
}

#[test]
fn where_types_are_declared_everything_has_one() {
    let tie = |source: &[&str], target: &[&str]| {
        let owned = |ends: &[&str]| ends.iter().map(|end| (*end).to_owned()).collect();
        RelationType {
            source: owned(source),
            target: owned(target),
            ..RelationType::default()
        }
    };
    let schema = Schema {
        entity: ["Person", "Project", "Place"]
            .map(|name| (name.to_owned(), EntityType::default()))
            .into(),
        relation: [
            ("LEADS".to_owned(), tie(&["Person"], &["Project"])),
            ("SEES".to_owned(), tie(&["Person"], &["Person", "Place"])),
        ]
        .into(),
        ..Schema::default()
    };
    let text = "Ana leads Orion. Ana sees Mars. Bea leads Arion, says Caio.";
    let reply = r#"{"entities":[{"name":"Ana","type":"Person"},{"id":"b","name":"Bea"},{"name":"Caio"}],
        "relations":[{"source":"Ana","target":"Orion","type":"LEADS"},{"source":"Ana","target":"Mars","type":"SEES"},
        {"source":"Arion","target":"b","type":"LEADS"},{"source":"Arion","target":"Caio","type":"SEES"}]}"#;
    let found = checked(reply, text, &schema);
    let named: Vec<String> = found
        .entities
        .iter()
        .map(|e| format!("{} {}", e.name, e.kinds.iter().cloned().collect::<String>()))
        .collect();
    assert_eq!(
        named,
        ["Ana Person", "Orion Project", "Arion Person", "Bea Project"]
    );
    assert_eq!(ties(&found), ["Ana LEADS Orion", "Arion LEADS Bea"]);
    assert_eq!(
        reasons(&found),
        [
            "its target \"Mars\" has no type, and more than one is allowed here",
            "its target \"Caio\" has no type, and more than one is allowed here",
            "it has no type, and no relation tells it",
        ]
    );
    // What is already known to be of a type gives the direction.
    let turned = r#"{"entities":[{"name":"Ana","type":"Person"}],"relations":[{"source":"Orion","target":"Ana","type":"LEADS"}]}"#;
    let found = checked(turned, text, &schema);
    assert_eq!(ties(&found), ["Ana LEADS Orion"]);
    assert!(found.entities[1].kinds.contains("Project"));
}

#[test]
fn properties_have_the_names_of_the_schema_and_no_others() {
    let mut person = EntityType {
        properties: vec!["born".to_owned(), "home town".to_owned()],
        ..EntityType::default()
    };
    let labels = [("pt".to_owned(), "nascimento".to_owned())].into();
    person.property_labels.insert("born".to_owned(), labels);
    let knows = RelationType {
        properties: vec!["since".to_owned()],
        ..RelationType::default()
    };
    let schema = Schema {
        entity: [
            ("Person".to_owned(), person),
            ("Place".to_owned(), EntityType::default()),
        ]
        .into(),
        relation: [("KNOWS".to_owned(), knows)].into(),
        ..Schema::default()
    };
    let text = "Ana knows Bea in Porto.";
    let reply = r#"{"entities":[{"name":"Ana","type":"Person","properties":{"Nascimento":1990,"homeTown":"Porto","mood":"glad"}},
        {"name":"Bea","type":"Person"},{"name":"Porto","type":"Place","properties":{"any":1}}],
        "relations":[{"source":"Ana","target":"Bea","type":"KNOWS","properties":{"Since":2001,"how":"well"}}]}"#;
    let found = checked(reply, text, &schema);
    assert_eq!(
        Value::Object(found.entities[0].properties.clone()),
        json!({ "born": 1990, "home town": "Porto" })
    );
    assert_eq!(
        Value::Object(found.entities[2].properties.clone()),
        json!({ "any": 1 }),
        "a type that declares none may have any"
    );
    assert_eq!(
        Value::Object(found.relations[0].properties.clone()),
        json!({ "since": 2001 })
    );
    let rejected: Vec<&str> = found.rejected.iter().map(|r| r.item.as_str()).collect();
    assert_eq!(
        rejected,
        [
            r#"{"of":"Ana","properties":{"mood":"glad"}}"#,
            r#"{"of":"KNOWS","properties":{"how":"well"}}"#,
        ]
    );
    assert_eq!(
        reasons(&found)[0],
        "its properties: they are not in the schema"
    );
}

#[test]
fn properties_that_cannot_be_read_are_put_aside_with_their_text() {
    let check = |properties: Value, expected: Value, aside: Option<&str>| {
        let reply = json!({
            "entities": [{ "name": "Ana", "properties": properties }, "Bea"],
            "relations": [{ "source": "Ana", "target": "Bea", "type": "KNOWS", "properties": properties }],
        });
        let found = checked(&reply.to_string(), "Ana knows Bea.", &Schema::default());
        assert_eq!(ties(&found), ["Ana KNOWS Bea"], "{properties}");
        let read = Value::Object(found.entities[0].properties.clone());
        assert_eq!(read, expected, "{properties}");
        let read = Value::Object(found.relations[0].properties.clone());
        assert_eq!(read, expected, "{properties}");
        let items: Vec<&str> = found.rejected.iter().map(|r| r.item.as_str()).collect();
        let of =
            |name: &str| aside.map(|text| json!({ "of": name, "properties": text }).to_string());
        let wanted: Vec<String> = ["Ana", "KNOWS"].into_iter().filter_map(of).collect();
        assert_eq!(items, wanted, "{properties}");
    };
    let born = json!({ "born": "1990" });
    check(json!("{'born': '1990'}"), born.clone(), None);
    check(
        json!([{ "key": "born", "value": "1990" }]),
        born.clone(),
        None,
    );
    check(json!("[{\"born\": \"1990\"}]"), born, None);
    check(json!(""), json!({}), None);
    check(Value::Null, json!({}), None);
    check(json!([]), json!({}), None);
    check(
        json!("born 1990, sings"),
        json!({}),
        Some("born 1990, sings"),
    );
    check(json!("[1990]"), json!({}), Some("[1990]"));
    check(json!(7), json!({}), Some("7"));
}

#[test]
fn only_what_is_stated_or_implied_is_a_fact() {
    let check = |status: Option<&str>, expected: Option<bool>| {
        let reply = json!({
            "entities": ["Ana", "Orion"],
            "relations": [{ "source": "Ana", "target": "Orion", "type": "LEADS", "status": status }],
        });
        let found = checked(&reply.to_string(), "Ana leads Orion.", &Schema::default());
        let implied = found.relations.first().map(|tie| tie.is_implied);
        assert_eq!(implied, expected, "{status:?}");
        assert_eq!(
            found.rejected.len(),
            usize::from(expected.is_none()),
            "{status:?}"
        );
    };
    check(None, Some(false));
    for status in [
        "stated",
        "STATED",
        "explicit",
        "explicitly stated",
        "declarado",
        "事实",
        "true",
    ] {
        check(Some(status), Some(false));
    }
    for status in [
        "implied",
        "Inferred",
        "implicitly stated",
        "implícito",
        "隐含",
    ] {
        check(Some(status), Some(true));
    }
    for status in [
        "negated",
        "hypothetical",
        "planned",
        "planejado",
        "possível",
        "可能",
        "计划",
        "unconfirmed",
        "not stated",
        "stated as a plan",
        "false",
        "denied",
        "asked",
        "future",
        "否",
    ] {
        check(Some(status), None);
    }
}

#[test]
fn a_relation_declared_reflexive_may_lead_to_itself() {
    let reply = r#"{"entities":["Ana"],"relations":[{"source":"Ana","target":"Ana","type":"TEACHES"},{"source":"Ana","target":"Ana","type":"LEADS"}]}"#;
    let of = |reflexive: bool| RelationType {
        reflexive,
        ..RelationType::default()
    };
    let schema = Schema {
        relation: [
            ("TEACHES".to_owned(), of(true)),
            ("LEADS".to_owned(), of(false)),
        ]
        .into(),
        ..Schema::default()
    };
    let found = checked(reply, "Ana teaches and leads herself.", &schema);
    assert_eq!(ties(&found), ["Ana TEACHES Ana"]);
    assert_eq!(reasons(&found), ["it leads from a thing to itself"]);
}

#[test]
fn a_reply_that_ends_in_the_middle_says_so() {
    let check = |reply: &str, expected: bool| {
        let found = checked(reply, "Ana leads Orion.", &Schema::default());
        let names: Vec<&str> = found.entities.iter().map(|e| e.name.as_str()).collect();
        assert_eq!(names, ["Ana"], "{reply}");
        assert_eq!(!found.rejected.is_empty(), expected, "{reply}");
    };
    check(r#"{"entities":[{"name":"Ana"}],"relations":[]}"#, false);
    check(
        r#"{"entities":[{"name":"Ana"}],"relations":[{"source":"An"#,
        true,
    );
    check(r#"{"entities":[{"name":"Ana"},"#, true);
    // Half an item is none.
    check(r#"{"entities":[{"name":"Ana"},{"name":"Orion"#, true);
    check(r#"[{"entities":["Ana","leads"#, true);
    check(
        r#"{"entities":[{"name":"Ana"},{"name":"Orion","aliases":["O"#,
        true,
    );
    // It only forgot its brackets.
    check(r#"{"entities":[{"name":"Ana"}]"#, false);
    check(r#"{"entities":[{"name":"Ana"}]} and so on :{"#, false);
}
