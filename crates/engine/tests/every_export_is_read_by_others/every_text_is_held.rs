use std::collections::BTreeSet;
use std::fs;

use malha_engine::exchange::ExportFormat;
use malha_engine::{Engine, EngineConfig};
use serde_json::Value;

use crate::labels::{RELATIONS, TEXT, TITLES, chunks, engine, export, names, strings, text};

/// Replaces every `_xHHHH_` by its character.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("_x") {
        out.push_str(&rest[..at]);
        let code = rest.get(at + 2..at + 6);
        let is_closed = rest.as_bytes().get(at + 6) == Some(&b'_');
        let code = code.filter(|_| is_closed);
        let c = code.and_then(|code| char::from_u32(u32::from_str_radix(code, 16).ok()?));
        if let Some(c) = c {
            out.push(c);
            rest = &rest[at + 7..];
        } else {
            out.push_str("_x");
            rest = &rest[at + 2..];
        }
    }
    out + rest
}

#[test]
fn the_store_keeps_every_hostile_label() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), "default");
    // Those that differ only in case or punctuation are one entity and several documents.
    let titles = strings(&text(&engine, ExportFormat::Malha), "document", "title");
    for title in TITLES {
        assert!(titles.contains(*title), "{title:?} of {titles:?}");
    }
    assert!(names(&engine).len() > 10);
    assert!(chunks(&engine).iter().all(|text| text.ends_with(TEXT)));
}

#[test]
fn xml_is_strict_and_lossless() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), "default");
    let graphml = text(&engine, ExportFormat::Graphml);
    let document = roxmltree::Document::parse(&graphml).unwrap();
    let data = |key: &str| -> BTreeSet<String> {
        document
            .descendants()
            .filter(|node| node.attribute("key") == Some(key))
            .map(|node| unescaped(node.text().unwrap_or_default()))
            .collect()
    };
    assert_eq!(data("node.name"), names(&engine));
    assert_eq!(data("node.text"), chunks(&engine));
    let types = data("edge.type");
    assert!(
        RELATIONS.iter().all(|name| types.contains(*name)),
        "{types:?}"
    );

    let gexf = text(&engine, ExportFormat::Gexf);
    let document = roxmltree::Document::parse(&gexf).unwrap();
    let values = |key: &str| -> BTreeSet<String> {
        document
            .descendants()
            .filter(|node| node.attribute("for") == Some(key))
            .map(|node| unescaped(node.attribute("value").unwrap()))
            .collect()
    };
    assert_eq!(values("name"), names(&engine));
    assert_eq!(values("text"), chunks(&engine));
}

#[test]
fn tables_of_the_bulk_loaders_hold_every_text() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), "default");
    let check = |format, file: &str, column: &str, expected: BTreeSet<String>| {
        let path = export(&engine, format, folder.path()).join(file);
        let mut reader = csv::Reader::from_path(&path).unwrap();
        let at = reader
            .headers()
            .unwrap()
            .iter()
            .position(|name| name == column);
        let at = at.unwrap_or_else(|| panic!("no column {column} in {file}"));
        let found: BTreeSet<String> = reader
            .records()
            .map(|row| row.unwrap()[at].to_owned())
            .collect();
        assert_eq!(found, expected, "{file}");
    };
    let types: BTreeSet<String> = RELATIONS.iter().map(|&name| name.to_owned()).collect();
    check(
        ExportFormat::Neo4jCsv,
        "entity.csv",
        "name:string",
        names(&engine),
    );
    check(
        ExportFormat::Neo4jCsv,
        "chunk.csv",
        "text:string",
        chunks(&engine),
    );
    check(
        ExportFormat::Neo4jCsv,
        "relation.csv",
        ":TYPE",
        types.clone(),
    );
    check(
        ExportFormat::NeptuneCsv,
        "vertices/entity.csv",
        "name:String(single)",
        names(&engine),
    );
    check(
        ExportFormat::NeptuneCsv,
        "edges/relation.csv",
        "type:String",
        types,
    );
    check(ExportFormat::Ladybug, "entity.csv", "name", names(&engine));
    check(ExportFormat::Ladybug, "chunk.csv", "text", chunks(&engine));
    let schema = fs::read_to_string(folder.path().join("ladybug/schema.cypher")).unwrap();
    assert!(
        schema.contains("CREATE REL TABLE `r``el; \\u0060` (FROM"),
        "{schema}"
    );
    assert!(
        schema.contains("CREATE REL TABLE `MENTIONS_` (FROM"),
        "{schema}"
    );
}

#[test]
fn json_holds_every_text() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), "default");
    let value: Value = serde_json::from_str(&text(&engine, ExportFormat::Jsonld)).unwrap();
    let resources = value["@graph"].as_array().unwrap();
    let of_class = |class: &str, member: &str| -> BTreeSet<String> {
        resources
            .iter()
            .filter(|node| {
                node["@type"]
                    .as_array()
                    .is_some_and(|types| types.contains(&class.into()))
            })
            .map(|node| node[member][0].as_str().unwrap().to_owned())
            .collect()
    };
    let label = "http://www.w3.org/2000/01/rdf-schema#label";
    assert_eq!(of_class("urn:malha:term:Entity", label), names(&engine));
    assert_eq!(of_class("urn:malha:term:Chunk", "text"), chunks(&engine));

    let page = text(&engine, ExportFormat::Html);
    let (_, rest) = page.split_once("id=\"graph\">").unwrap();
    let (json, viewer) = rest.split_once("</script>").unwrap();
    let graph: Value = serde_json::from_str(json).unwrap();
    let found: BTreeSet<String> = graph["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node[1].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(found, names(&engine));
    assert!(!json.contains('<') && viewer.contains("'use strict'"));

    for line in text(&engine, ExportFormat::Ntriples).lines() {
        assert!(
            line.starts_with("<urn:malha:") && line.ends_with(" ."),
            "{line}"
        );
        assert!(!line.contains(char::is_control), "{line:?}");
    }
}

#[test]
fn a_vault_has_a_legal_file_for_every_label() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), "default");
    let vault = export(&engine, ExportFormat::Obsidian, folder.path());
    let labels = fs::read_to_string(vault.join("labels.jsonl")).unwrap();
    let mut found = BTreeSet::new();
    let mut files = BTreeSet::new();
    for line in labels.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let file = line["file"].as_str().unwrap();
        let note = fs::read_to_string(vault.join(file)).unwrap();
        assert!(files.insert(file.to_lowercase()), "{file} twice");
        if file.starts_with("Entities/") {
            let label = line["label"].as_str().unwrap();
            found.insert(label.to_owned());
            let name = note
                .lines()
                .find_map(|line| line.strip_prefix("name: "))
                .unwrap();
            assert_eq!(serde_json::from_str::<String>(name).unwrap(), label);
        }
    }
    assert_eq!(found, names(&engine));

    // Our own reader of vaults finds every link of the vault, and none that its texts only mention.
    let reader = Engine::in_memory(EngineConfig::default()).unwrap();
    let source = malha_engine::SourceSpec {
        root: vault,
        convention: None,
    };
    reader.index(&[source], &()).unwrap();
    let stats = reader.stats().unwrap();
    assert!(stats.links_resolved > 40, "{stats:?}");
    assert_eq!(
        (stats.links_unresolved, stats.links_ambiguous),
        (0, 0),
        "{stats:?}"
    );
}
