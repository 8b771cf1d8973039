//! A folder of notes with its store.

use std::fs;
use std::path::PathBuf;

use malha_engine::types::{IngestReport, Mode, SearchRequest};
use malha_engine::{Engine, EngineConfig, SourceSpec};
use serde_json::Value;

/// A folder of notes with its store.
pub(crate) struct Vault {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) engine: Engine,
}

impl Vault {
    pub(crate) fn new(notes: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("v")).unwrap();
        let engine =
            Engine::create(&folder.path().join("malha.db"), EngineConfig::default()).unwrap();
        let vault = Self { folder, engine };
        for (path, text) in notes {
            vault.write(path, text);
        }
        vault.index();
        vault
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("v")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn index(&self) -> IngestReport {
        let source = SourceSpec {
            root: self.root(),
            convention: None,
        };
        let report = self.engine.index(&[source], &()).unwrap();
        assert!(report.failed.is_empty(), "{:?}", report.failed);
        report
    }

    pub(crate) fn rename(&self, from: &str, to: &str) {
        let (from, to) = (self.root().join(from), self.root().join(to));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(from, to).unwrap();
    }

    /// Rows of a query, their cells joined by blanks.
    pub(crate) fn rows(&self, sql: &str) -> Vec<String> {
        let store = self.folder.path().join("malha.db");
        let reader = Engine::open_read_only(&store, EngineConfig::default()).unwrap();
        let line = |row: &Vec<Value>| {
            let cells = row.iter().map(|cell| match cell {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            cells.collect::<Vec<_>>().join(" ")
        };
        reader.sql(sql).unwrap().rows.iter().map(line).collect()
    }

    /// `source type target` of every current relation.
    pub(crate) fn relations(&self) -> Vec<String> {
        self.rows(
            "SELECT s.name, y.name, t.name FROM relation r JOIN entity s ON s.id = r.source
             JOIN entity t ON t.id = r.target JOIN relation_type y ON y.id = r.type
             WHERE r.retracted_at IS NULL ORDER BY s.name, y.name, t.name",
        )
    }

    pub(crate) fn search(&self, mode: Mode, query: &str) -> Vec<String> {
        let request = SearchRequest {
            mode,
            ..SearchRequest::new(query)
        };
        let found = self.engine.search(&request).unwrap();
        found.results.into_iter().map(|found| found.uri).collect()
    }
}
