//! What real models wrote, through the reader: raw replies of another tool's run, and facts that small
//! models wrote as calls. The counts stand in docs/extraction.md.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use malha_engine::ExtractionRun;
use malha_engine::extraction::{
    ExtractionSettings, Schema, check_reply, read_part, read_reply, read_schema_reply,
    read_verdicts,
};
use malha_engine::language_model::{ChatModel, ChatReply, ChatRequest, ModelError};
use malha_engine::text::fold;
use serde_json::{Value, json};

#[path = "support/replay.rs"]
#[expect(dead_code, reason = "other tests need the rest")]
mod replay;

use replay::engine;

fn rows(path: &str) -> Option<Vec<Value>> {
    let data = std::env::var_os("MALHA_DATA_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let Ok(file) = std::fs::File::open(data.join(path)) else {
        println!("skipped: {path} is not there (MALHA_DATA_DIR)");
        return None;
    };
    let mut text = String::new();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut text)
        .unwrap();
    Some(
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}

#[test]
fn raw_replies_in_the_delimited_format() {
    let Some(rows) = rows("llm_cache/nano_graphrag_christmas_carol/llm_responses.jsonl.gz") else {
        return;
    };
    let (mut entities, mut relations, mut unread) = (0, 0, 0);
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for row in &rows {
        let text = row["return"].as_str().unwrap();
        let kind = match read_reply(text) {
            Ok(reply) => {
                entities += reply.entities.len();
                relations += reply.relations.len();
                unread += reply.unread.len();
                if reply.is_empty() {
                    "read, empty"
                } else {
                    "read"
                }
                .to_owned()
            }
            // Reports and yes-or-no answers of the same run are no extractions.
            Err(reason) => reason.to_string(),
        };
        *kinds.entry(kind).or_default() += 1;
    }
    println!(
        "{} replies: {kinds:?}; {entities} entities, {relations} relations, {unread} unread records",
        rows.len()
    );
    let records = |mark: &str| -> usize {
        let texts = rows.iter().map(|row| row["return"].as_str().unwrap());
        texts.map(|text| text.matches(mark).count()).sum()
    };
    assert_eq!(rows.len(), 187);
    let (named, tied) = (records("(\"entity\"<|>"), records("(\"relationship\"<|>"));
    assert!(entities * 100 >= named * 99, "{entities} of {named}");
    assert!(relations * 100 >= tied * 99, "{relations} of {tied}");
}

#[test]
fn facts_written_as_calls_by_small_models() {
    let Some(rows) = rows("text2kg/rows_dev.jsonl.gz") else {
        return;
    };
    let norm = |value: &Value| fold(value.as_str().unwrap_or_default());
    for model in ["Vicuna-13B", "Alpaca-LoRA-13B"] {
        let (mut replies, mut facts, mut theirs, mut shared) = (0, 0, 0, 0);
        let mut empty: BTreeMap<String, usize> = BTreeMap::new();
        for row in &rows {
            let Some(text) = row["llm"][model]["text"].as_str() else {
                continue;
            };
            replies += 1;
            let (found, kind) = match read_reply(text) {
                Ok(reply) => (reply.relations, "no fact in it".to_owned()),
                Err(reason) => (Vec::new(), reason.to_string()),
            };
            if found.is_empty() {
                *empty.entry(kind).or_default() += 1;
            }
            facts += found.len();
            let ours: Vec<(String, String)> = found
                .iter()
                .map(|tie| (fold(&tie.source), fold(&tie.target)))
                .collect();
            for triple in row["llm"][model]["parsed_by_authors"]
                .as_array()
                .into_iter()
                .flatten()
            {
                theirs += 1;
                shared += usize::from(ours.contains(&(norm(&triple[0]), norm(&triple[2]))));
            }
        }
        println!(
            "{model}: {replies} replies, without a fact {empty:?}, {facts} facts; {shared} of the {theirs} that the benchmark's own reader found"
        );
        assert!(replies > 1000, "{replies}");
        assert!(shared * 100 >= theirs * 80, "{shared} of {theirs}");
    }
}

#[test]
fn no_bytes_make_the_reader_panic() {
    use proptest::prelude::*;
    let piece = prop_oneof![
        Just("{".to_owned()),
        Just("}".to_owned()),
        Just("[".to_owned()),
        Just("]".to_owned()),
        Just("\"".to_owned()),
        Just("'".to_owned()),
        Just(":".to_owned()),
        Just(",".to_owned()),
        Just("\\u".to_owned()),
        Just("\\ud83d\\u".to_owned()),
        Just("<think>".to_owned()),
        Just("</think>".to_owned()),
        Just("<|>".to_owned()),
        Just("(\"entity\"".to_owned()),
        Just("\"entities\":".to_owned()),
        Just("\"passages\":[".to_owned()),
        Just("\"passage\":1,".to_owned()),
        Just(r#"{"entities":[{"name":"Ana","type":"Person"},"#.to_owned()),
        Just(r#"{"id":1,"name":"Bea","properties":{"born":1,"x":[]}},"#.to_owned()),
        Just(r#"],"relations":[{"source":"Ana","target":1,"type":"KNOWS","quote":"Ana sees 林"},"#.to_owned()),
        Just(r#"],"claims":[{"subject":"Ana","type":"SAYS","status":"x","description":"d","quote":"Ana"}"#.to_owned()),
        Just(r#"{"number":1,"same":"yes"}"#.to_owned()),
        Just(r#"{"entity":{"Person":{}},"relation":{"R":{"source":"Person"}}}"#.to_owned()),
        Just("Ana sees Bea. ".to_owned()),
        Just("林砚秋…".to_owned()),
        Just("//".to_owned()),
        Just("/*".to_owned()),
        ".{0,6}",
    ];
    let schemas = [Schema::default(), small_schema()];
    let mut runner = proptest::test_runner::TestRunner::default();
    let pieces = proptest::collection::vec(piece, 0..40);
    runner
        .run(&(pieces.clone(), pieces), |(reply, passage)| {
            let (text, passage) = (reply.concat(), passage.concat());
            let _ = read_part(&text, 1, 2, false);
            let _ = read_part(&text, 2, 3, true);
            let _ = read_verdicts(&text, 2);
            if let Ok(schema) = read_schema_reply(&text) {
                let _ = schema.check();
            }
            // Said of itself, and of something else.
            for passage in [text.as_str(), &passage] {
                for schema in &schemas {
                    let Ok(reply) = read_reply(&text) else {
                        continue;
                    };
                    let found = check_reply(reply, passage, schema);
                    for entity in &found.entities {
                        let is_typed = schema.entity.is_empty() || !entity.kinds.is_empty();
                        prop_assert!(is_typed, "{entity:?}");
                        for place in &entity.places {
                            prop_assert!(passage.get(place.clone()).is_some(), "{entity:?}");
                        }
                    }
                    for tie in &found.relations {
                        let ends = tie.source.max(tie.target);
                        prop_assert!(ends < found.entities.len(), "{tie:?}");
                        prop_assert!(passage.get(tie.quote.clone()).is_some(), "{tie:?}");
                    }
                    for claim in &found.claims {
                        prop_assert!(claim.subject < found.entities.len(), "{claim:?}");
                        prop_assert!(passage.get(claim.quote.clone()).is_some(), "{claim:?}");
                    }
                }
            }
            Ok(())
        })
        .unwrap();
}

fn small_schema() -> Schema {
    let text = r#"{
        "entity": { "Person": { "properties": ["born"] }, "Place": {} },
        "relation": { "KNOWS": { "source": ["Person"], "target": ["Person"] },
            "SEES": { "source": ["Person"], "target": ["Person", "Place"], "reflexive": true } },
        "claim": { "SAYS": { "subject": ["Person"] } }
    }"#;
    serde_json::from_str(text).unwrap()
}

/// What gpt-4o-mini found in a book, by passage.
struct Recorded {
    /// By document: items with the names that have to stand in the passage.
    items: BTreeMap<String, Vec<(Vec<String>, bool, Value)>>,
    texts: Vec<(String, String)>,
}

impl Recorded {
    fn load() -> Option<Self> {
        let folder = "llm_cache/lightrag_medical_gpt4omini";
        let chunks = rows(&format!("{folder}/chunks.jsonl.gz"))?;
        let mut items: BTreeMap<String, Vec<_>> = BTreeMap::new();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        for (file, is_relation) in [("entities", false), ("relations", true)] {
            for row in rows(&format!("{folder}/{file}.jsonl.gz"))? {
                let descriptions = text(&row["description"]);
                let mut descriptions = descriptions.split("<SEP>").cycle();
                for chunk in text(&row["source_id"]).split("<SEP>") {
                    let said = descriptions.next().unwrap_or_default();
                    let (names, item) = if is_relation {
                        let kind = text(&row["keywords"]).to_uppercase().replace(' ', "_");
                        let kind = kind.split(',').next().unwrap_or_default().to_owned();
                        let item = json!({
                            "source": row["source"], "target": row["target"], "type": kind,
                            "fact": said, "status": "stated",
                        });
                        (vec![text(&row["source"]), text(&row["target"])], item)
                    } else {
                        let item = json!({
                            "name": row["id"], "type": row["entity_type"], "description": said,
                        });
                        (vec![text(&row["id"])], item)
                    };
                    let names = names.iter().map(|name| name.to_lowercase()).collect();
                    items
                        .entry(chunk.to_owned())
                        .or_default()
                        .push((names, is_relation, item));
                }
            }
        }
        let texts = chunks
            .iter()
            .map(|chunk| (text(&chunk["id"]), text(&chunk["text"])))
            .collect();
        Some(Self { items, texts })
    }
}

impl ChatModel for Recorded {
    fn name(&self) -> &'static str {
        "recorded"
    }

    fn complete(
        &self,
        request: &ChatRequest,
        _on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, ModelError> {
        let (_, passage) = request.messages[1].text.split_once("Passage:\n").unwrap();
        let passage = passage.trim();
        let (id, text) = self
            .texts
            .iter()
            .find(|(_, text)| text.contains(passage))
            .expect("a passage of the book");
        // What was found in the longer passages of that run belongs to the one of ours that names it first.
        let start = text[..text.find(passage).unwrap()].to_lowercase().len();
        let place = start..start + passage.to_lowercase().len();
        let folded = text.to_lowercase();
        let first = |name: &String| folded.find(name.as_str()).unwrap_or_default();
        let (mut entities, mut relations) = (Vec::new(), Vec::new());
        for (names, is_relation, item) in self.items.get(id).into_iter().flatten() {
            if !place.contains(&names.iter().map(first).max().unwrap_or_default()) {
                continue;
            }
            if *is_relation {
                // Quotes were not asked for then: the sentence that holds both names, or what is said of them.
                let quote = passage
                    .split_inclusive(". ")
                    .find(|sentence| {
                        let sentence = sentence.to_lowercase();
                        names.iter().all(|name| sentence.contains(name))
                    })
                    .map_or(item["fact"].as_str().unwrap_or_default(), str::trim);
                let mut item = item.clone();
                item["quote"] = quote.into();
                relations.push(item);
            } else {
                entities.push(item.clone());
            }
        }
        Ok(ChatReply {
            text: json!({ "entities": entities, "relations": relations }).to_string(),
            ..ChatReply::default()
        })
    }
}

#[test]
fn before_the_first_call_replies_are_reckoned_by_those_of_a_real_model() {
    let Some(model) = Recorded::load() else {
        return;
    };
    let settings = ExtractionSettings::default();
    // The constant comes from one half of the book; the other is foretold by it.
    for (name, half) in [("measured on", 0), ("foretold", 1)] {
        let texts: Vec<(&str, &str)> = model
            .texts
            .iter()
            .skip(half)
            .step_by(2)
            .map(|(id, text)| (id.as_str(), text.as_str()))
            .collect();
        let engine = engine(&texts);
        let run = ExtractionRun::new(&model, &settings);
        let estimate = engine.estimate_extraction(&run, 0, &()).unwrap();
        let spent = engine.extract(&run, &()).unwrap().spent;
        println!(
            "{name}: {} calls of {}, {} tokens in of {}, {} out of {}",
            estimate.calls,
            spent.calls,
            estimate.input_tokens,
            spent.input_tokens,
            estimate.output_tokens,
            spent.output_tokens
        );
        assert_eq!(estimate.calls, spent.calls);
        for (guessed, real) in [
            (estimate.input_tokens, spent.input_tokens),
            (estimate.output_tokens, spent.output_tokens),
        ] {
            assert!((guessed as f64 / real as f64 - 1.0).abs() < 0.1);
        }
    }
}
