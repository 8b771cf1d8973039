//! A source that is away, a uri that is taken, a file that was indexed before its folder.

use std::fs;
use std::path::{Path, PathBuf};

use malha_engine::types::SearchRequest;
use malha_engine::{DocumentInput, Engine, EngineConfig, SourceSpec};

struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn engine(&self) -> Engine {
        Engine::create(
            &self.folder.path().join(".malha/malha.db"),
            EngineConfig::default(),
        )
        .unwrap()
    }
}

fn spec(root: &Path) -> SourceSpec {
    SourceSpec {
        root: root.to_owned(),
        convention: None,
    }
}

fn uris(engine: &Engine, query: &str) -> Vec<String> {
    let response = engine.search(&SearchRequest::new(query)).unwrap();
    let mut uris: Vec<String> = response.results.into_iter().map(|hit| hit.uri).collect();
    uris.sort();
    uris
}

#[test]
fn a_folder_that_is_away_is_reported_and_its_documents_stay() {
    let home = Home::new();
    let here = home.write("here/a.md", "lighthouse keeper");
    let away = home.write("away/b.md", "lighthouse stairs");
    let engine = home.engine();
    let roots = [here.parent().unwrap(), away.parent().unwrap()];
    engine.index(&roots.map(spec), &()).unwrap();

    let parked = home.folder.path().join("parked");
    fs::rename(roots[1], &parked).unwrap();
    home.write("here/c.md", "lighthouse lamp");
    assert_eq!(
        engine.stale().unwrap(),
        2,
        "the new file and the one that is away"
    );
    let report = engine.index(&[], &()).unwrap();
    assert_eq!((report.added, report.removed), (1, 0));
    assert_eq!(report.failed.len(), 1);
    assert!(
        report.failed[0].uri.ends_with("away"),
        "{:?}",
        report.failed
    );
    assert_eq!(
        uris(&engine, "lighthouse"),
        ["away/b.md", "here/a.md", "here/c.md"]
    );

    fs::rename(&parked, roots[1]).unwrap();
    let report = engine.index(&[], &()).unwrap();
    assert_eq!((report.failed.len(), report.read), (0, 0));
}

#[test]
fn a_uri_that_is_taken_fails_its_document_alone() {
    let home = Home::new();
    let engine = home.engine();
    let given = DocumentInput {
        uri: "a.md".to_owned(),
        title: String::new(),
        text: "handed over, about tides".to_owned(),
    };
    engine.index_documents("given", &[given], &()).unwrap();
    let vault = home.write("given/a.md", "the vault's own, about tides");
    home.write("b.md", "another about tides");
    let report = engine.index(&[spec(home.folder.path())], &()).unwrap();
    assert_eq!((report.added, report.failed.len()), (1, 1));
    assert_eq!(report.failed[0].uri, "given/a.md");
    assert!(
        report.failed[0].reason.contains("rename"),
        "{:?}",
        report.failed
    );
    assert_eq!(uris(&engine, "tides"), ["b.md", "given/a.md"]);
    assert_eq!(
        engine
            .issues()
            .unwrap()
            .iter()
            .filter(|issue| issue.uri == "given/a.md")
            .count(),
        1
    );

    fs::rename(&vault, home.folder.path().join("c.md")).unwrap();
    let report = engine.index(&[], &()).unwrap();
    assert_eq!((report.added, report.failed.len()), (1, 0));
    assert_eq!(uris(&engine, "tides"), ["b.md", "c.md", "given/a.md"]);
}

#[test]
fn a_file_indexed_alone_becomes_part_of_its_folder() {
    let home = Home::new();
    let file = home.write("notes/a.md", "about anchors");
    let engine = home.engine();
    engine.index(&[spec(&file)], &()).unwrap();
    assert_eq!(uris(&engine, "anchors"), ["notes/a.md"]);
    fs::write(&file, "still about anchors").unwrap();
    assert_eq!(engine.index(&[], &()).unwrap().changed, 1);

    home.write("notes/b.md", "more anchors");
    engine.index(&[spec(file.parent().unwrap())], &()).unwrap();
    assert_eq!(uris(&engine, "anchors"), ["notes/a.md", "notes/b.md"]);
    let fresh = Engine::create(
        &home.folder.path().join("fresh/.malha/malha.db"),
        EngineConfig::default(),
    )
    .unwrap();
    fresh.index(&[spec(file.parent().unwrap())], &()).unwrap();
    assert_eq!(uris(&fresh, "anchors"), ["notes/a.md", "notes/b.md"]);
    assert_eq!(engine.digest().unwrap(), fresh.digest().unwrap());

    fs::remove_file(&file).unwrap();
    assert_eq!(engine.index(&[], &()).unwrap().removed, 1);
    assert_eq!(uris(&engine, "anchors"), ["notes/b.md"]);
}
