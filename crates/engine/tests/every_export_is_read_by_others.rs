//! Every format, with labels and texts that it cannot hold as they are, read back by a parser that is
//! not ours: nothing is lost and nothing becomes markup. `scripts/check-exports.py` does the same with
//! the programs that the formats are for.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use malha_engine::exchange::{ExportFormat, TripleOptions};
use malha_engine::types::{Clock, Timestamp};
use malha_engine::{DocumentInput, Engine, EngineConfig, Error};
use open_cypher::ast::visit::{Visitor, walk_expr, walk_label_expression, walk_path_factor};
use open_cypher::ast::{Expr, ExprKind, LabelExpression, LabelExpressionKind, LiteralKind};
use open_cypher::ast::{PathFactor, PathFactorKind};
use serde_json::Value;

/// Titles of documents, which become names of entities.
const TITLES: &[&str] = &[
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
const TEXT: &str =
    "Ana said \"yes\", it's\r\n]]> <b> \u{1}\u{1b}[0m\u{85}\u{2028} \\u0041 \\ `x` 😀\u{ffff}";
const TYPE: &str = "x` SET n.admin = true //";
const RELATIONS: &[&str] = &[
    "non-compliant",
    "definiert_icp-kriterien_für",
    "2nd_of",
    "has space",
    "MENTIONS",
    "r`el; \\u0060",
];

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp(1_700_000_000_000)
    }
}

fn engine(folder: &Path, namespace: &str) -> Engine {
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

fn load(engine: &Engine, folder: &Path, facts: &str) {
    let path = folder.join("facts.jsonl");
    fs::write(&path, facts).unwrap();
    let report = engine
        .import_triples(&path, "facts", &TripleOptions::default())
        .unwrap();
    assert_eq!(report.failed, 0, "{:?}", report.failures);
}

fn export(engine: &Engine, format: ExportFormat, folder: &Path) -> PathBuf {
    let path = folder.join(format.name());
    engine.export(format, false, &path, &()).unwrap();
    path
}

fn text(engine: &Engine, format: ExportFormat) -> String {
    let mut bytes = Vec::new();
    engine
        .export_to(format, false, Path::new("out"), &mut bytes, &())
        .unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The names of the entities, by the store itself.
fn names(engine: &Engine) -> BTreeSet<String> {
    strings(&text(engine, ExportFormat::Malha), "entity", "name")
}

fn chunks(engine: &Engine) -> BTreeSet<String> {
    strings(&text(engine, ExportFormat::Malha), "chunk", "text")
}

fn strings(records: &str, table: &str, column: &str) -> BTreeSet<String> {
    let records = records
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    records
        .filter_map(|record| Some(record.get(table)?[column].as_str()?.to_owned()))
        .collect()
}

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

/// What a parsed script says.
#[derive(Default)]
struct Said {
    texts: BTreeSet<String>,
    labels: BTreeSet<String>,
    types: BTreeSet<String>,
}

impl<'ast> Visitor<'ast> for Said {
    fn visit_expr(&mut self, node: &'ast Expr) {
        if let ExprKind::Literal(literal) = &node.kind
            && let LiteralKind::String(text) = &literal.kind
        {
            self.texts.insert(text.value.clone());
        }
        walk_expr(self, node);
    }

    fn visit_label_expression(&mut self, node: &'ast LabelExpression) {
        if let LabelExpressionKind::Name(name) = &node.kind {
            self.labels.insert(name.kind.text.clone());
        }
        walk_label_expression(self, node);
    }

    fn visit_path_factor(&mut self, node: &'ast PathFactor) {
        if let PathFactorKind::Relationship(relationship) = &node.kind
            && let Some(LabelExpressionKind::Name(name)) =
                relationship.labels.as_ref().map(|labels| &labels.kind)
        {
            self.types.insert(name.kind.text.clone());
        }
        walk_path_factor(self, node);
    }
}

#[test]
fn a_cypher_script_says_what_the_store_says_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), "default");
    let script = text(&engine, ExportFormat::Cypher);
    let mut said = Said::default();
    let mut set_labels = BTreeSet::new();
    for statement in script.split_inclusive(";\n") {
        // Commands of the database itself; no text of a user is in them.
        if statement.starts_with("CREATE INDEX malha_") {
            assert!(statement.ends_with(" ON (n.id);\n"), "{statement}");
            continue;
        }
        let parsed = open_cypher::parse(statement).unwrap_or_else(|error| {
            panic!("{statement}\n{error:?}");
        });
        assert_eq!(parsed.program.statements.len(), 1);
        said.visit_program(&parsed.program);
        set_labels.extend(labels_set(&parsed.program));
    }
    assert!(names(&engine).is_subset(&said.texts));
    assert!(chunks(&engine).is_subset(&said.texts));
    assert_eq!(set_labels, BTreeSet::from([TYPE.to_owned()]));
    for relation in RELATIONS {
        assert!(
            said.types.contains(*relation),
            "{relation} of {:?}",
            said.types
        );
    }
    assert!(
        said.labels
            .is_superset(&BTreeSet::from(["Entity".to_owned(), "Chunk".to_owned()]))
    );
    assert!(!script.contains("\\u0060") && !script.contains("\\u0027"));
}

/// Labels that `SET n:Label` gives, and proof that nothing else is set than whole rows.
fn labels_set(program: &open_cypher::ast::Program) -> BTreeSet<String> {
    use open_cypher::ast::{ClauseKind, SetItemKind};
    struct Sets(BTreeSet<String>);
    impl<'ast> Visitor<'ast> for Sets {
        fn visit_clause(&mut self, clause: &'ast open_cypher::ast::Clause) {
            match &clause.kind {
                ClauseKind::Set(set) => {
                    for item in &set.items {
                        match &item.kind {
                            SetItemKind::Labels { labels, .. } => {
                                let mut said = Said::default();
                                said.visit_label_expression(labels);
                                self.0.extend(said.labels);
                            }
                            SetItemKind::MergeProperties { .. } => {}
                            other => panic!("sets {other:?}"),
                        }
                    }
                }
                ClauseKind::Unwind(_) | ClauseKind::Match(_) | ClauseKind::Merge(_) => {}
                other => panic!("a clause of another kind: {other:?}"),
            }
        }
    }
    let mut sets = Sets(BTreeSet::new());
    sets.visit_program(program);
    sets.0
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

#[test]
fn every_namespace_goes_out_alone_and_the_same_each_time() {
    let folder = tempfile::tempdir().unwrap();
    for namespace in ["my-group", "a:b", "équipe", "AND", "_"] {
        let engine = engine(folder.path(), namespace);
        for format in ExportFormat::ALL {
            let one = folder.path().join("one");
            let two = folder.path().join("two");
            let report = engine.export(format, false, &one, &()).unwrap();
            assert!(
                report.rows.values().sum::<u64>() > 15,
                "{format}: {report:?}"
            );
            engine.export(format, false, &two, &()).unwrap();
            assert_eq!(contents(&one), contents(&two), "{format} of {namespace}");
            for path in [&one, &two] {
                if path.is_dir() {
                    fs::remove_dir_all(path).unwrap();
                } else {
                    fs::remove_file(path).unwrap();
                }
            }
        }
    }
    let other = EngineConfig {
        namespace: "unknown".to_owned(),
        ..EngineConfig::default()
    };
    let empty = Engine::in_memory(other).unwrap();
    for format in ExportFormat::ALL {
        empty
            .export(format, false, &folder.path().join(format.name()), &())
            .unwrap();
    }
}

fn contents(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    if path.is_file() {
        return vec![(PathBuf::new(), fs::read(path).unwrap())];
    }
    let mut all = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            if file.is_dir() {
                folders.push(file);
            } else {
                let name = file.strip_prefix(path).unwrap().to_owned();
                all.push((name, fs::read(&file).unwrap()));
            }
        }
    }
    all.sort();
    all
}

#[test]
fn history_goes_out_only_when_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), "default");
    load(&engine, folder.path(), "[\"Ana\", \"knows\", \"Rui\"]\n");
    load(&engine, folder.path(), "[\"Ana\", \"likes\", \"Eva\"]\n");
    for format in ExportFormat::ALL {
        let path = folder.path().join("present");
        engine.export(format, false, &path, &()).unwrap();
        let present = contents(&path);
        let has = |contents: &[(PathBuf, Vec<u8>)], word: &str| {
            contents.iter().any(|(_, bytes)| {
                bytes
                    .windows(word.len())
                    .any(|window| window == word.as_bytes())
            })
        };
        // Parquet is compressed; its text is looked at by the script.
        let is_readable = format != ExportFormat::Parquet;
        assert!(!is_readable || has(&present, "likes"), "{format}");
        // Our own format keeps the names of types.
        assert!(
            format == ExportFormat::Malha || !has(&present, "knows"),
            "{format}"
        );
        let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        match engine.export(format, true, &path, &()) {
            Ok(_) => assert!(!is_readable || has(&contents(&path), "knows"), "{format}"),
            Err(error) => assert!(
                format == ExportFormat::Malha && matches!(error, Error::Usage(_)),
                "{format}: {error}"
            ),
        }
        let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
    }
}
