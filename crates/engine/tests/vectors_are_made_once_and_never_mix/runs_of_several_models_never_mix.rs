use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use malha_engine::language_model::{Embedder, EmbeddingSpace, ModelError, TextRole};
use malha_engine::storage::Store;
use malha_engine::types::{LaneStatus, Mode};
use malha_engine::{Engine, EngineConfig};

use crate::embedder::{Stub, Trouble, memory, search, sixteen, uris, vector_lane, with};

#[test]
fn the_new_space_stands_beside_the_old_one_until_it_is_complete() {
    let first = Stub::new("first", 64, Trouble::None);
    let engine = with(memory(), &first);
    engine.index_documents("", &sixteen(), &()).unwrap();
    engine.embed(&()).unwrap();
    let down = with(engine, &Stub::new("second", 96, Trouble::Down));
    assert!(down.reembed(&()).is_err());
    let state = down.embedding_state().unwrap().unwrap();
    assert_eq!((state.space.model.as_str(), state.vectors), ("first", 16));
    assert_eq!(state.building, Some(("second".to_owned(), 16)));
    let engine = with(down, &first);
    assert_eq!(
        vector_lane(&search(&engine, Mode::Vector, "harbour3")).0,
        LaneStatus::Ran
    );

    let engine = with(engine, &Stub::new("second", 96, Trouble::None));
    let report = engine.reembed(&()).unwrap();
    assert!(report.switched && report.embedded == 16);
    let state = engine.embedding_state().unwrap().unwrap();
    assert_eq!((state.space.model.as_str(), state.vectors), ("second", 16));
    assert_eq!(state.building, None);
    assert_eq!(uris(&search(&engine, Mode::Vector, "harbour3"))[0], "3.md");
}

/// Does something else in the middle of its first call.
struct Interrupting {
    inner: Arc<Stub>,
    meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Embedder for Interrupting {
    fn space(&self) -> &EmbeddingSpace {
        self.inner.space()
    }

    fn embed(&self, texts: &[&str], role: TextRole) -> Result<Vec<Vec<f32>>, ModelError> {
        if let Some(meanwhile) = self.meanwhile.lock().unwrap().take() {
            meanwhile();
        }
        self.inner.embed(texts, role)
    }
}

#[test]
fn runs_of_two_models_at_once_never_mix_their_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("malha.db");
    let open = |stub: &Arc<Stub>| {
        with(
            Engine::create(&path, EngineConfig::default()).unwrap(),
            stub,
        )
    };
    let stub = |model: &str| Stub::new(model, 64, Trouble::None);
    let first = open(&stub("first"));
    first.index_documents("", &sixteen(), &()).unwrap();
    first.embed(&()).unwrap();

    // A run of one model begins; one of another model, and the same, replace what it fills while it works.
    let replaced_by = |own: &'static str, other: Arc<Stub>| {
        let engine = open(&other);
        let embedder = Arc::new(Interrupting {
            inner: stub(own),
            meanwhile: Mutex::new(Some(Box::new(move || {
                engine.reembed(&()).unwrap();
            }))),
        });
        let engine = Engine::create(&path, EngineConfig::default()).unwrap();
        engine.with_embedder(Box::new(move || Ok(embedder.clone())))
    };
    let error = replaced_by("second", stub("third"))
        .reembed(&())
        .unwrap_err();
    assert!(error.to_string().contains("another run"), "{error}");
    let third = open(&stub("third"));
    let state = third.embedding_state().unwrap().unwrap();
    assert_eq!((state.space.model.as_str(), state.vectors), ("third", 16));
    assert!(state.building.is_none());

    let report = replaced_by("fourth", stub("fourth")).reembed(&()).unwrap();
    assert_eq!(report.missing, 0);
    let fourth = open(&stub("fourth"));
    let state = fourth.embedding_state().unwrap().unwrap();
    assert_eq!((state.space.model.as_str(), state.vectors), ("fourth", 16));
    assert_eq!(uris(&search(&fourth, Mode::Vector, "harbour3"))[0], "3.md");
    let engine = Engine::open_read_only(&path, EngineConfig::default()).unwrap();
    let rows = engine.sql("SELECT count(DISTINCT space), count(*) FROM embedding");
    assert_eq!(rows.unwrap().rows[0], [1, 16]);
}

#[test]
fn vectors_wait_for_the_lease_as_long_as_another_run_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("malha.db");
    let config = EngineConfig {
        lease_wait: Duration::ZERO,
        ..EngineConfig::default()
    };
    let stub = Stub::new("stub", 64, Trouble::None);
    let engine = Engine::create(&path, config).unwrap();
    engine.index_documents("", &sixteen(), &()).unwrap();
    let writer = path.clone();
    // Takes the lease while vectors are being made, and gives it back long after.
    let meanwhile = move || {
        let (taken, is_taken) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let store = Store::open(&writer).unwrap();
            let lease = store.write_lease("malha index", Duration::ZERO).unwrap();
            taken.send(()).unwrap();
            std::thread::sleep(Duration::from_millis(300));
            drop(lease);
        });
        is_taken.recv().unwrap();
    };
    let embedder = Arc::new(Interrupting {
        inner: Arc::clone(&stub),
        meanwhile: Mutex::new(Some(Box::new(meanwhile))),
    });
    let engine = engine.with_embedder(Box::new(move || Ok(embedder.clone())));
    let report = engine.embed(&()).unwrap();
    assert_eq!((report.embedded, report.missing), (16, 0));
    assert_eq!(stub.texts.load(Ordering::Relaxed), 16, "none is made twice");
}
