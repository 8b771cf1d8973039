//! Export and import of the `malha` format: the same digest, a sound store, searchable at once; a file
//! that was cut or changed is refused whole.

use std::path::Path;
use std::time::Duration;

use malha_engine::exchange::{TripleOptions, export_malha, import_malha, import_triples};
use malha_engine::storage::Store;
use malha_engine::types::{Namespace, Timestamp};
use malha_engine::{Engine, EngineConfig, Error, Result, SourceSpec};

const NOTES: &[(&str, &str)] = &[
    (
        "Rivers/Tejo.md",
        "---\naliases: [Tagus]\ntags: [rio, água]\ndate: 2024-05-01\n---\n# Tejo\n\nPasses [[Lisboa]] and \
         meets the sea near [[Nowhere]].\n\n## Crossing\n\ncrossed by:: [[Ponte 25 de Abril]]\n",
    ),
    (
        "Lisboa.md",
        "Lisboa lies on the [[Tejo]]. São Jorge looks down. Ponte Vasco da Gama is long.\n",
    ),
    (
        "Ponte 25 de Abril.md",
        "A bridge. Ponte Vasco da Gama is the other one; São Jorge sees both.\n",
    ),
    ("Empty.md", "   \n"),
    ("jogos.md", "今天玩成语接龙游戏 #jogo\n"),
];

fn store_with_content(folder: &Path) -> Store {
    let vault = folder.join("vault");
    for (name, text) in NOTES {
        let path = vault.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let path = folder.join("malha.db");
    let engine = Engine::create(&path, EngineConfig::default()).unwrap();
    let source = SourceSpec {
        root: vault,
        convention: None,
    };
    engine.index(&[source], &()).unwrap();
    drop(engine);
    let facts = folder.join("facts.tsv");
    std::fs::write(&facts, "Ana\tlives in\tLisboa\tPerson\tCity\t2001\t2006\n").unwrap();
    let store = Store::open(&path).unwrap();
    let lease = store.write_lease("test", Duration::ZERO).unwrap();
    let transaction = lease.transaction().unwrap();
    import_triples(
        &transaction,
        &Namespace::default(),
        &facts,
        "import:facts.tsv",
        &TripleOptions::default(),
        Timestamp(1),
    )
    .unwrap();
    transaction.commit().unwrap();
    drop(lease);
    store
}

fn export(store: &Store, namespace: &Namespace) -> String {
    let mut bytes = Vec::new();
    export_malha(store, namespace, Path::new("out.jsonl"), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn import(store: &Store, namespace: &Namespace, text: &str) -> Result<u64> {
    let lease = store.write_lease("test", Duration::ZERO)?;
    let transaction = lease.transaction()?;
    let records = import_malha(
        &transaction,
        namespace,
        Path::new("in.jsonl"),
        text.as_bytes(),
    )?;
    transaction.commit()?;
    Ok(records)
}

#[test]
fn same_digest_and_same_bytes_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_with_content(folder.path());
    let default = Namespace::default();
    assert_eq!(store.verify().unwrap().violations, []);
    let text = export(&store, &default);
    assert_eq!(text, export(&store, &default), "one order");
    for table in [
        "source",
        "file",
        "issue",
        "entity",
        "entity_type",
        "alias",
        "name_count",
        "document",
        "document_tag",
        "chunk",
        "mention",
        "link",
        "relation_type",
        "relation",
        "evidence",
    ] {
        assert!(text.contains(&format!("\n{{\"{table}\":")), "{table}");
    }
    let path = folder.path().join("copy.db");
    let copy = Store::create_or_open(&path).unwrap();
    let records = import(&copy, &default, &text).unwrap();
    assert_eq!(records as usize, text.lines().count() - 2);
    assert_eq!(
        copy.digest(&default).unwrap(),
        store.digest(&default).unwrap()
    );
    assert_eq!(copy.verify().unwrap().violations, []);
    assert_eq!(export(&copy, &default), text);
    let generation = copy.generation().unwrap();
    assert_eq!(import(&copy, &default, &text).unwrap(), 0, "already there");
    assert_eq!(copy.generation().unwrap(), generation);
}

#[test]
fn another_namespace_takes_it_and_keeps_to_itself() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_with_content(folder.path());
    let default = Namespace::default();
    let before = store.digest(&default).unwrap();
    let other = Namespace::new("équipe-2").unwrap();
    import(&store, &other, &export(&store, &default)).unwrap();
    assert_eq!(store.digest(&other).unwrap(), before);
    assert_eq!(store.digest(&default).unwrap(), before);
    assert_eq!(store.verify().unwrap().violations, []);
}

#[test]
fn what_is_cut_changed_or_of_another_kind_is_refused_whole() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_with_content(folder.path());
    let default = Namespace::default();
    let text = export(&store, &default);
    let lines: Vec<&str> = text.lines().collect();
    let check = |text: &str, line: usize, expected: &str| {
        let fresh = Store::in_memory().unwrap();
        let empty = fresh.digest(&default).unwrap();
        let error = import(&fresh, &default, text).unwrap_err();
        let Error::Import {
            line: found,
            reason,
            ..
        } = &error
        else {
            panic!("{error:?}")
        };
        assert!(reason.contains(expected), "{reason} / {expected}");
        assert_eq!(*found, line, "{reason}");
        assert_eq!(fresh.digest(&default).unwrap(), empty);
    };
    check("", 1, "no malha export");
    check("{\"subject\":\"A\"}\n", 1, "no malha export");
    check(&lines[..lines.len() - 1].join("\n"), lines.len(), "cut");
    check(&text.replace("\"Tejo\"", "\"Teju\""), 1, "changed");
    let mut half = lines.clone();
    half[3] = &half[3][..10];
    check(&half.join("\n"), 4, "no JSON");
    let unknown = text.replacen("{\"entity\":{", "{\"entity\":{\"mass\":1,", 1);
    let at = unknown
        .lines()
        .position(|line| line.contains("mass"))
        .unwrap()
        + 1;
    check(&unknown, at, "unknown field \"mass\"");
    let newer = text.replacen("\"malha_export\":1", "\"malha_export\":9", 1);
    check(&newer, 1, "update malha");
    let without: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| !line.starts_with("{\"document\":"))
        .collect();
    let at = without
        .iter()
        .position(|line| line.starts_with("{\"document_tag\""))
        .unwrap()
        + 1;
    check(&without.join("\n"), at, "not in the file");
    let error = import(&store, &default, &text.replacen("sha256:", "sha256:0", 1)).unwrap_err();
    assert!(error.to_string().contains("holds other content"), "{error}");
}
