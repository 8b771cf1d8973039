use std::fs;
use std::path::{Path, PathBuf};

use malha_engine::exchange::ExportFormat;
use malha_engine::{Engine, EngineConfig, Error};

use crate::labels::{engine, load};

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
