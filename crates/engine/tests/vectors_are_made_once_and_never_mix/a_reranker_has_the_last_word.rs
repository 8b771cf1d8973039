use std::sync::Arc;

use malha_engine::Engine;
use malha_engine::language_model::{ModelError, ModelErrorKind, Reranker};
use malha_engine::types::{Lane, LaneStatus, Mode, SearchResponse};

use crate::embedder::{documents, memory, search, uris};

/// Prefers short passages, or answers with these scores, or not at all.
struct Judge(Option<Vec<f32>>, bool);

impl Reranker for Judge {
    fn name(&self) -> &'static str {
        "judge"
    }

    fn rerank(&self, _: &str, passages: &[&str]) -> Result<Vec<f32>, ModelError> {
        if self.1 {
            return Err(ModelError::new(
                ModelErrorKind::Transient { retry_after: None },
                "judge",
                "HTTP 503",
            ));
        }
        let by_length = || passages.iter().map(|text| -(text.len() as f32)).collect();
        Ok(self.0.clone().unwrap_or_else(by_length))
    }
}

#[test]
fn a_reranker_has_the_last_word_and_a_broken_one_none() {
    let texts = [
        "bridge bridge bridge of the long old stone town",
        "a bridge",
        "bridge bridge by the river",
    ];
    let plain = memory();
    plain.index_documents("", &documents(&texts), &()).unwrap();
    let before = search(&plain, Mode::Keyword, "bridge");
    assert!(
        before
            .record
            .iter()
            .all(|record| record.lane != Lane::Rerank)
    );
    let judged = |engine: Engine, judge: fn() -> Judge| {
        engine.with_reranker(Box::new(move || Ok(Arc::new(judge()))))
    };
    let rerank_lane = |response: &SearchResponse| {
        let mut records = response.record.iter();
        let record = records.find(|record| record.lane == Lane::Rerank).unwrap();
        (record.status, record.candidates, record.reason.clone())
    };
    let engine = judged(plain, || Judge(None, false));
    let response = search(&engine, Mode::Keyword, "bridge");
    assert_eq!(uris(&response), ["1.md", "2.md", "0.md"]);
    assert_eq!(rerank_lane(&response), (LaneStatus::Ran, 3, String::new()));
    let nothing = search(&engine, Mode::Keyword, "zeppelin");
    assert_eq!(rerank_lane(&nothing).0, LaneStatus::Skipped);
    let engine = judged(engine, || Judge(None, true));
    let response = search(&engine, Mode::Keyword, "bridge");
    assert_eq!(response.results, before.results);
    assert_eq!(rerank_lane(&response).2, "judge: HTTP 503");
    for scores in [
        || Judge(Some(vec![f32::NAN; 3]), false),
        || Judge(Some(vec![1.0]), false),
    ] {
        let engine = judged(engine.at(malha_engine::types::Times::default()), scores);
        let response = search(&engine, Mode::Keyword, "bridge");
        assert_eq!(response.results, before.results);
        assert_eq!(rerank_lane(&response).0, LaneStatus::Failed);
    }
}
