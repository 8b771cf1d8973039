use std::sync::atomic::Ordering;

use malha_engine::Error;
use malha_engine::types::{LaneStatus, Mode};

use crate::embedder::{Stub, Trouble, memory, search, sixteen, uris, vector_lane, with};

#[test]
fn one_bad_text_never_costs_the_others() {
    for (trouble, reason) in [
        (Trouble::Error, "HTTP 500"),
        (Trouble::NotNumbers, "no numbers"),
        (Trouble::Zero, "zero"),
        (Trouble::Short, "3 dimensions"),
        (Trouble::FewerVectors, "0 vectors came back for 1 texts"),
    ] {
        let stub = Stub::new("stub", 64, trouble);
        let engine = with(memory(), &stub);
        engine.index_documents("", &sixteen(), &()).unwrap();
        let report = engine.embed(&()).unwrap();
        assert_eq!((report.embedded, report.missing), (15, 1), "{reason}");
        assert_eq!(report.failed.len(), 1);
        assert_eq!(report.failed[0].uri, "9.md");
        assert!(
            report.failed[0].reason.contains(reason),
            "{:?}",
            report.failed
        );
        let state = engine.embedding_state().unwrap().unwrap();
        assert_eq!((state.vectors, state.missing, state.failed), (15, 1, 1));
        // It stays findable by its words, and no score is anything but a number.
        for mode in [Mode::Keyword, Mode::Hybrid, Mode::Auto, Mode::Notes] {
            let response = search(&engine, mode, "ivy");
            assert!(response.results.iter().all(|hit| hit.score.is_finite()));
            if mode != Mode::Notes {
                assert!(uris(&response).contains(&"9.md"), "{mode:?}");
            }
        }
        // A model that has recovered is asked for this one text only.
        let recovered = Stub::new("stub", 64, Trouble::None);
        let engine = with(engine, &recovered);
        let report = engine.embed(&()).unwrap();
        assert_eq!((report.embedded, report.missing), (1, 0));
        assert_eq!(recovered.texts.load(Ordering::Relaxed), 1);
        assert_eq!(engine.embedding_state().unwrap().unwrap().failed, 0);
    }
}

#[test]
fn a_model_that_is_down_ends_the_run_and_blames_no_text() {
    let stub = Stub::new("stub", 64, Trouble::Down);
    let engine = with(memory(), &stub);
    engine.index_documents("", &sixteen(), &()).unwrap();
    assert!(matches!(engine.embed(&()), Err(Error::Model(_))));
    assert!(stub.calls.load(Ordering::Relaxed) <= 3);
    assert_eq!(engine.embedding_state().unwrap().unwrap().failed, 0);
    // With vectors there but the model away, a search is the keyword search, and says why.
    let engine = with(engine, &Stub::new("stub", 64, Trouble::None));
    engine.embed(&()).unwrap();
    let engine = with(engine, &stub);
    let response = search(&engine, Mode::Hybrid, "harbour3");
    let plain = search(&engine, Mode::Keyword, "harbour3");
    assert_eq!(response.results, plain.results);
    assert_eq!(
        vector_lane(&response),
        (LaneStatus::Failed, "stub: HTTP 500")
    );
}

#[test]
fn another_dimension_is_refused_before_any_call_and_named() {
    let engine = with(memory(), &Stub::new("first", 64, Trouble::None));
    engine.index_documents("", &sixteen(), &()).unwrap();
    engine.embed(&()).unwrap();
    let second = Stub::new("second", 96, Trouble::None);
    let engine = with(engine, &second);
    let refusal = engine.embed(&()).unwrap_err().to_string();
    for part in ["first", "64", "second", "96", "malha reembed"] {
        assert!(refusal.contains(part), "{refusal}");
    }
    let response = search(&engine, Mode::Vector, "harbour3");
    assert_eq!(uris(&response), ["3.md"]);
    let (status, reason) = vector_lane(&response);
    assert_eq!(status, LaneStatus::Failed);
    assert!(reason.contains("malha reembed"), "{reason}");
    assert_eq!(second.calls.load(Ordering::Relaxed), 0);
}
