//! Questions about a date over twenty thousand dated facts of others, which are no part of this repository.

use std::path::{Path, PathBuf};

use malha_engine::EngineConfig;
use malha_evaluation::evaluate_temporal;

#[test]
fn every_question_about_a_date_is_answered_exactly() {
    let folder = std::env::var_os("MALHA_DATA_DIR")
        .map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
            PathBuf::from,
        )
        .join("temporal_yago");
    let (facts, queries) = (folder.join("facts.jsonl.gz"), folder.join("asof_dev.jsonl"));
    if !facts.is_file() {
        println!("skipped: no {} (set MALHA_DATA_DIR)", facts.display());
        return;
    }
    let report = evaluate_temporal(&facts, &queries, &EngineConfig::default()).unwrap();
    assert!(report.exact >= 100.0, "{:?}", report.wrong);
    assert!(report.questions > 300 && report.facts > 20_000);
    // Periods that end before they start are listed, and cost no other fact.
    assert!(!report.refused.is_empty());
}
