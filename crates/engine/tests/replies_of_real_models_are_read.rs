//! What real models wrote, through the reader: raw replies of another tool's run, and facts that small
//! models wrote as calls. The counts stand in docs/extraction.md.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use malha_engine::extraction::{read_part, read_reply};
use malha_engine::text::fold;
use serde_json::Value;

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
        let (mut replies, mut empty, mut facts, mut theirs, mut shared) = (0, 0, 0, 0, 0);
        for row in &rows {
            let Some(text) = row["llm"][model]["text"].as_str() else {
                continue;
            };
            replies += 1;
            let found = read_reply(text)
                .map(|reply| reply.relations)
                .unwrap_or_default();
            empty += usize::from(found.is_empty());
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
            "{model}: {replies} replies, {empty} without a fact, {facts} facts; {shared} of the {theirs} that the benchmark's own reader found"
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
        Just("//".to_owned()),
        Just("/*".to_owned()),
        ".{0,6}",
    ];
    let mut runner = proptest::test_runner::TestRunner::default();
    runner
        .run(&proptest::collection::vec(piece, 0..40), |pieces| {
            let text = pieces.concat();
            let _ = read_reply(&text);
            let _ = read_part(&text, 1, false);
            let _ = read_part(&text, 2, true);
            Ok(())
        })
        .unwrap();
}
