//! A store of labels and texts that no format can hold as they are, and what it says of itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use malha_engine::exchange::{ExportFormat, TripleOptions};
use malha_engine::types::{Clock, Timestamp};
use malha_engine::{DocumentInput, Engine, EngineConfig};
use serde_json::Value;

/// Titles of documents, which become names of entities.
pub(crate) const TITLES: &[&str] = &[
    "Ana",
    "CON",
    "a/b",
    "a:b",
    "..",
    "case",
    "CASE",
    "a < b && \"c\" ]]> 'd'",
    "back\\slash \\u0027 `tick`",
    "tab\tinside",
    "_x0001_ 😀 今天",
    "x\u{fffe}y",
    "esc\u{1b}[31mred\u{1}\u{c}",
];
pub(crate) const TEXT: &str =
    "Ana said \"yes\", it's\r\n]]> <b> \u{1}\u{1b}[0m\u{85}\u{2028} \\u0041 \\ `x` 😀\u{ffff}";
pub(crate) const TYPE: &str = "x` SET n.admin = true //";
pub(crate) const RELATIONS: &[&str] = &[
    "non-compliant",
    "definiert_icp-kriterien_für",
    "2nd_of",
    "has space",
    "MENTIONS",
    "r`el; \\u0060",
];

pub(crate) struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp(1_700_000_000_000)
    }
}

pub(crate) fn engine(folder: &Path, namespace: &str) -> Engine {
    let config = EngineConfig {
        namespace: namespace.to_owned(),
        ..EngineConfig::default()
    };
    let engine = Engine::in_memory(config).unwrap().with_clock(Fixed);
    let long = "L".repeat(300);
    let titles = TITLES.iter().copied().chain([long.as_str()]);
    let documents: Vec<DocumentInput> = titles
        .enumerate()
        .map(|(number, title)| DocumentInput {
            uri: format!("doc/{number}"),
            title: title.to_owned(),
            text: format!("{number} {TEXT}"),
        })
        .collect();
    engine.index_documents("doc", &documents, &()).unwrap();
    let facts: Vec<String> = RELATIONS
        .iter()
        .map(|relation| {
            let fact = serde_json::json!({
                "subject": "Ana", "relation": relation, "object": "Bia", "subject_type": TYPE,
                "valid_from": "2001", "valid_to": "2006",
            });
            fact.to_string()
        })
        .collect();
    load(&engine, folder, &facts.join("\n"));
    engine
}

pub(crate) fn load(engine: &Engine, folder: &Path, facts: &str) {
    let path = folder.join("facts.jsonl");
    fs::write(&path, facts).unwrap();
    let report = engine
        .import_triples(&path, "facts", &TripleOptions::default())
        .unwrap();
    assert_eq!(report.failed, 0, "{:?}", report.failures);
}

pub(crate) fn export(engine: &Engine, format: ExportFormat, folder: &Path) -> PathBuf {
    let path = folder.join(format.name());
    engine.export(format, false, &path, &()).unwrap();
    path
}

pub(crate) fn text(engine: &Engine, format: ExportFormat) -> String {
    let mut bytes = Vec::new();
    engine
        .export_to(format, false, Path::new("out"), &mut bytes, &())
        .unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The names of the entities, by the store itself.
pub(crate) fn names(engine: &Engine) -> BTreeSet<String> {
    strings(&text(engine, ExportFormat::Malha), "entity", "name")
}

pub(crate) fn chunks(engine: &Engine) -> BTreeSet<String> {
    strings(&text(engine, ExportFormat::Malha), "chunk", "text")
}

pub(crate) fn strings(records: &str, table: &str, column: &str) -> BTreeSet<String> {
    let records = records
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    records
        .filter_map(|record| Some(record.get(table)?[column].as_str()?.to_owned()))
        .collect()
}
