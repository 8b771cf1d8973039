//! Damage anywhere in the file: an error or a list of violations, never a panic and never silence.

use std::path::Path;
use std::time::Duration;

use malha_engine::Error;
use malha_engine::exchange::{TripleOptions, import_triples};
use malha_engine::storage::Store;
use malha_engine::types::{Namespace, Timestamp};

const PAGE: usize = 8192;

fn store_file(folder: &Path) -> Vec<u8> {
    let path = folder.join("malha.db");
    let facts = folder.join("facts.tsv");
    let lines: Vec<String> = (0..2_000)
        .map(|i| format!("Entity {i}\tUSES\tEntity {}", i * 7 % 2_000 + 1))
        .collect();
    std::fs::write(&facts, lines.join("\n")).unwrap();
    let store = Store::create_or_open(&path).unwrap();
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
    assert_eq!(store.verify().unwrap().violations, []);
    drop(store);
    std::fs::read(path).unwrap()
}

/// What opening and checking a file with these bytes says.
fn verdict(path: &Path, bytes: &[u8]) -> String {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let _ = std::fs::remove_file(name);
    }
    std::fs::write(path, bytes).unwrap();
    let checked = Store::open_read_only(path).and_then(|store| store.verify());
    match checked {
        Ok(found) if found.violations.is_empty() => "sound".to_owned(),
        Ok(found) => found.violations[0].check.clone(),
        Err(error @ (Error::Store { .. } | Error::Database(_))) => error.to_string(),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn no_damaged_page_goes_unnoticed() {
    let folder = tempfile::tempdir().unwrap();
    let sound = store_file(folder.path());
    let path = folder.path().join("damaged.db");
    assert_eq!(verdict(&path, &sound), "sound");
    let pages = sound.len() / PAGE;
    assert!(pages > 40, "{pages} pages");
    for page in (0..pages).step_by(7) {
        let mut bytes = sound.clone();
        bytes[page * PAGE..][..64].fill(0xff);
        let found = verdict(&path, &bytes);
        assert_ne!(found, "sound", "page {page}");
        assert!(!found.contains("locked"), "{found}");
    }
}

#[test]
fn a_file_that_was_cut_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let sound = store_file(folder.path());
    let path = folder.path().join("cut.db");
    for length in [0, 10, 100, PAGE, sound.len() / 2, sound.len() - PAGE] {
        assert_ne!(verdict(&path, &sound[..length]), "sound", "{length} bytes");
    }
}
