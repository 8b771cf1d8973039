//! Queries on a store: their rows, or why there are none.

use malha_engine::cypher::CypherError;
use malha_engine::types::CypherRequest;
use malha_engine::{Engine, Error};
use serde_json::{Value, json};

#[track_caller]
pub(crate) fn rows(engine: &Engine, query: &str) -> Vec<Vec<Value>> {
    let mut request = CypherRequest::new(query);
    request.parameters.insert("nome".to_owned(), json!("Ana"));
    match engine.cypher(&request) {
        Ok(rows) => rows.rows,
        Err(error) => panic!("{query}: {error}"),
    }
}

#[track_caller]
pub(crate) fn refusal(engine: &Engine, query: &str) -> CypherError {
    match engine.cypher(&CypherRequest::new(query)) {
        Err(Error::Cypher(error)) => error,
        other => panic!("{query}: {other:?}"),
    }
}
