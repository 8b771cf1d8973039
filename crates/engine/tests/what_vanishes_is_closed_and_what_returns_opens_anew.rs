//! Two times of hand-made links: a window opens with the run that first saw the link, or with the note's own
//! date, and closes with the run that missed it. Nothing is overwritten.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use malha_engine::types::{Clock, Timestamp};
use malha_engine::{Engine, EngineConfig, SourceSpec};
use serde_json::{Value, json};

/// A clock that the test sets.
#[derive(Clone, Default)]
struct Hand(Arc<AtomicI64>);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }
}

const WINDOWS: &str = "SELECT version, valid_from, valid_to, recorded_at, retracted_at FROM relation ORDER BY version";

#[test]
fn what_vanishes_is_closed_and_what_returns_opens_anew() {
    let folder = tempfile::tempdir().unwrap();
    let vault = folder.path().join("vault");
    fs::create_dir(&vault).unwrap();
    fs::write(vault.join("b.md"), "# B").unwrap();
    let store = folder.path().join("store.db");
    let hand = Hand::default();
    let engine = Engine::create(&store, EngineConfig::default())
        .unwrap()
        .with_clock(hand.clone());
    let run = |at: i64, text: &str| {
        hand.0.store(at, Ordering::Relaxed);
        fs::write(vault.join("a.md"), text).unwrap();
        let sources = [SourceSpec {
            root: vault.clone(),
            convention: None,
        }];
        engine.index(&sources, &()).unwrap();
        let reader = Engine::open_read_only(&store, EngineConfig::default()).unwrap();
        Value::from(
            reader
                .sql(WINDOWS)
                .unwrap()
                .rows
                .into_iter()
                .map(Value::from)
                .collect::<Vec<_>>(),
        )
    };

    assert_eq!(
        run(1_000, "to [[b]]"),
        json!([[1, 1_000, null, 1_000, null]])
    );
    assert_eq!(
        run(2_000, "to [[b]], again"),
        json!([[1, 1_000, null, 1_000, null]])
    );
    assert_eq!(
        run(3_000, "no link here"),
        json!([[1, 1_000, 3_000, 1_000, 3_000]])
    );
    assert_eq!(
        run(4_000, "to [[b]] once more!"),
        json!([
            [1, 1_000, 3_000, 1_000, 3_000],
            [2, 4_000, null, 4_000, null]
        ])
    );
    // A note's own date is when its links began to hold: 2021-03-04, UTC.
    assert_eq!(
        run(5_000, "---\ndate: 2021-03-04\n---\nto [[b]] once more!"),
        json!([
            [1, 1_000, 3_000, 1_000, 3_000],
            [2, 1_614_816_000_000_i64, null, 4_000, null]
        ])
    );
    fs::remove_file(vault.join("b.md")).unwrap();
    let windows = run(6_000, "---\ndate: 2021-03-04\n---\nto [[b]], gone");
    assert_eq!(windows[1][4], json!(6_000), "the target went: {windows}");
}
