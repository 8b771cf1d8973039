//! Chunks to vectors: in batches, each stored before the next, so that a run can be stopped at any chunk.

use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::{Job, synonyms};
use crate::language_model::{Embedder, EmbeddingSpace, ModelError, ModelErrorKind, TextRole};
use crate::storage::{self, PassageRow, SpaceState, WriteLease};
use crate::types::{ChunkId, EmbedReport, ItemFailure, Stage};
use crate::{Error, Result};

/// Chunks that are embedded, and stored, together.
const BATCH: usize = 64;
/// Between two tries to get the lease.
const PAUSE: Duration = Duration::from_millis(50);

/// Gives every current chunk of the namespace a vector in the embedder's space. With `replace`, a store that has
/// vectors of another space gets the new ones beside them, and changes over when all are there.
pub(crate) fn embed(job: &Job<'_>, embedder: &dyn Embedder, replace: bool) -> Result<EmbedReport> {
    let started = Instant::now();
    let space = embedder.space();
    let mut report = EmbedReport {
        model: space.model.clone(),
        dimensions: space.dimensions,
        embedded: 0,
        missing: 0,
        switched: false,
        failed: Vec::new(),
        elapsed_ms: 0,
    };
    let Some(namespace) = job
        .store
        .namespace(job.namespace)?
        .map(|namespace| namespace.0)
    else {
        return Ok(report);
    };
    let (id, is_replacement) = target_space(job, namespace, space, replace)?;
    let target = Target {
        namespace,
        id,
        space,
    };
    let connection = job.store.connection();
    let todo = storage::count_without_vector(connection, namespace, id)?;
    job.progress.stage(Stage::Embed, todo);
    let mut after = ChunkId(0);
    let mut interrupted = false;
    loop {
        if job.progress.interrupted() {
            interrupted = true;
            break;
        }
        let rows = storage::passages_without_vector(connection, namespace, id, after, BATCH)?;
        let Some(last) = rows.last() else {
            break;
        };
        after = last.chunk;
        let outcome = embed_batch(embedder, &rows)?;
        save(job, &target, &rows, &outcome)?;
        for (row, outcome) in rows.iter().zip(outcome) {
            match outcome {
                Ok(_) => report.embedded += 1,
                Err(reason) => report.failed.push(ItemFailure {
                    uri: row.uri.clone(),
                    line: row.line,
                    reason,
                }),
            }
        }
        job.progress.advance(rows.len());
    }
    if job.config.use_synonyms && !interrupted {
        synonyms::find(job, embedder, &target)?;
    }
    report.missing = storage::count_without_vector(connection, namespace, id)?;
    if is_replacement && !interrupted {
        switch(job, &target)?;
        report.switched = true;
    }
    report.elapsed_ms = started.elapsed().as_millis() as u64;
    Ok(report)
}

/// The space that a run fills.
pub(super) struct Target<'a> {
    pub namespace: i64,
    pub id: i64,
    pub space: &'a EmbeddingSpace,
}

impl Target<'_> {
    /// Asked in every transaction: another run may have replaced the space since, and a new one may have its number.
    pub(super) fn check(&self, connection: &Connection) -> Result<()> {
        for state in [SpaceState::Active, SpaceState::Building] {
            if let Some(stored) = storage::space(connection, self.namespace, state)?
                && (stored.id, &stored.space) == (self.id, self.space)
            {
                return Ok(());
            }
        }
        Err(Error::Usage(format!(
            "another run has replaced the vectors of {} meanwhile; run this one again if it is still wanted",
            self.space.model
        )))
    }
}

/// The space to fill, made if it is not there; and whether it is to replace the active one.
fn target_space(
    job: &Job<'_>,
    namespace: i64,
    wanted: &EmbeddingSpace,
    replace: bool,
) -> Result<(i64, bool)> {
    if let Some(found) = known_space(job, namespace, wanted, replace)? {
        return Ok(found);
    }
    let lease = job
        .store
        .write_lease("malha embed", job.config.lease_wait)?;
    // Another run may have made it while this one waited.
    if let Some(found) = known_space(job, namespace, wanted, replace)? {
        return Ok(found);
    }
    let connection = job.store.connection();
    let active = storage::space(connection, namespace, SpaceState::Active)?;
    let state = match active {
        None => SpaceState::Active,
        Some(_) => SpaceState::Building,
    };
    let transaction = lease.transaction()?;
    if let Some(other) = storage::space(connection, namespace, SpaceState::Building)? {
        storage::delete_space(connection, other.id)?;
    }
    let id = storage::insert_space(connection, namespace, wanted, state, job.clock.now())?;
    transaction.commit_bookkeeping()?;
    Ok((id, state == SpaceState::Building))
}

/// The space to fill, where there is one already; refuses another model's unless it is to be replaced.
fn known_space(
    job: &Job<'_>,
    namespace: i64,
    wanted: &EmbeddingSpace,
    replace: bool,
) -> Result<Option<(i64, bool)>> {
    let connection = job.store.connection();
    match storage::space(connection, namespace, SpaceState::Active)? {
        None => return Ok(None),
        Some(active) if active.space == *wanted => return Ok(Some((active.id, false))),
        Some(active) if !replace => return Err(mixed_spaces(&active.space, wanted)),
        Some(_) => {}
    }
    let building = storage::space(connection, namespace, SpaceState::Building)?;
    Ok(building
        .filter(|building| building.space == *wanted)
        .map(|building| (building.id, true)))
}

/// Says which two models do not go together, and what to do.
pub(crate) fn mixed_spaces(stored: &EmbeddingSpace, configured: &EmbeddingSpace) -> Error {
    Error::Usage(format!(
        "this store's vectors are of {}, the configured model is {}; vectors of two models cannot be compared. \
         Run `malha reembed` to make new ones, or configure the first model again",
        describe(stored),
        describe(configured)
    ))
}

fn describe(space: &EmbeddingSpace) -> String {
    format!(
        "{} ({} dimensions, {} pooling, prefixes {:?} and {:?})",
        space.model, space.dimensions, space.pooling, space.query_prefix, space.passage_prefix
    )
}

/// Only now the old vectors go.
fn switch(job: &Job<'_>, target: &Target<'_>) -> Result<()> {
    let connection = job.store.connection();
    let lease = lease(job)?;
    let transaction = lease.transaction()?;
    target.check(connection)?;
    if let Some(old) = storage::space(connection, target.namespace, SpaceState::Active)?
        && old.id != target.id
    {
        storage::delete_space(connection, old.id)?;
    }
    storage::activate_space(connection, target.id)?;
    transaction.commit_bookkeeping()
}

/// The lease, however long another run holds it: what has been made is not to be lost.
pub(super) fn lease<'a>(job: &Job<'a>) -> Result<WriteLease<'a>> {
    loop {
        match job.store.write_lease("malha embed", job.config.lease_wait) {
            Err(Error::Busy { .. }) if job.progress.interrupted() => {
                return Err(Error::Interrupted);
            }
            Err(Error::Busy { .. }) => std::thread::sleep(PAUSE),
            other => return other,
        }
    }
}

/// The lease is held for a moment only, so that others write while vectors are being made.
fn save(
    job: &Job<'_>,
    target: &Target<'_>,
    rows: &[PassageRow],
    outcome: &[Result<Vec<f32>, String>],
) -> Result<()> {
    let connection = job.store.connection();
    let lease = lease(job)?;
    let transaction = lease.transaction()?;
    let vectors: Vec<(ChunkId, Vec<f32>)> = rows
        .iter()
        .zip(outcome)
        .filter_map(|(row, outcome)| Some((row.chunk, outcome.clone().ok()?)))
        .collect();
    target.check(connection)?;
    storage::insert_vectors(connection, target.id, &vectors)?;
    for (row, outcome) in rows.iter().zip(outcome) {
        if let Err(reason) = outcome {
            storage::insert_failure(connection, target.id, row.chunk, reason)?;
        }
    }
    transaction.commit_bookkeeping()
}

fn embed_batch(
    embedder: &dyn Embedder,
    rows: &[PassageRow],
) -> Result<Vec<Result<Vec<f32>, String>>> {
    let texts: Vec<String> = rows.iter().map(passage).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    embed_texts(embedder, &texts)
}

/// A vector, or the reason why there is none, for each text. Whatever goes wrong with one is narrowed down to it by
/// halving; a model that answers nothing at all ends the run.
pub(super) fn embed_texts(
    embedder: &dyn Embedder,
    texts: &[&str],
) -> Result<Vec<Result<Vec<f32>, String>>> {
    let mut outcome = vec![Err(String::new()); texts.len()];
    if texts.is_empty() {
        return Ok(outcome);
    }
    match checked(embedder, texts) {
        Ok(vectors) => {
            for (slot, vector) in outcome.iter_mut().zip(vectors) {
                *slot = vector;
            }
        }
        Err(error) => {
            // When neither the first nor the last text alone succeeds, the trouble is not with a text.
            let alone = [texts[0], texts[texts.len() - 1]];
            if texts.len() > 1 && alone.iter().all(|text| checked(embedder, &[text]).is_err()) {
                return Err(error.into());
            }
            if texts.len() == 1 && !is_about_the_text(&error) {
                return Err(error.into());
            }
            halve(embedder, texts, &error, &mut outcome);
        }
    }
    // A vector that is none gets a second chance, alone.
    for (slot, text) in outcome.iter_mut().zip(texts) {
        if let Err(reason) = slot
            && let Ok(mut vectors) = checked(embedder, &[text])
        {
            *slot = vectors.pop().unwrap_or_else(|| Err(reason.clone()));
        }
    }
    Ok(outcome)
}

fn is_about_the_text(error: &ModelError) -> bool {
    !matches!(error.kind, ModelErrorKind::Transient { .. })
}

/// Tries both halves of what failed together.
fn halve(
    embedder: &dyn Embedder,
    texts: &[&str],
    error: &ModelError,
    outcome: &mut [Result<Vec<f32>, String>],
) {
    if texts.len() == 1 {
        outcome[0] = Err(error.message.clone());
        return;
    }
    let middle = texts.len() / 2;
    let (left, right) = outcome.split_at_mut(middle);
    for (texts, outcome) in [(&texts[..middle], left), (&texts[middle..], right)] {
        match checked(embedder, texts) {
            Ok(vectors) => {
                for (slot, vector) in outcome.iter_mut().zip(vectors) {
                    *slot = vector;
                }
            }
            Err(error) => halve(embedder, texts, &error, outcome),
        }
    }
}

/// One checked vector a text; too few or too many of them are an error of the whole call.
fn checked(
    embedder: &dyn Embedder,
    texts: &[&str],
) -> Result<Vec<Result<Vec<f32>, String>>, ModelError> {
    let vectors = embedder.embed(texts, TextRole::Passage)?;
    if vectors.len() != texts.len() {
        return Err(ModelError::new(
            ModelErrorKind::Permanent,
            embedder.space().model.clone(),
            format!(
                "{} vectors came back for {} texts",
                vectors.len(),
                texts.len()
            ),
        ));
    }
    let dimensions = embedder.space().dimensions;
    Ok(vectors
        .into_iter()
        .map(|vector| check(vector, dimensions))
        .collect())
}

/// A vector of the right length, all numbers, not all zero; brought to length 1.
fn check(mut vector: Vec<f32>, dimensions: usize) -> Result<Vec<f32>, String> {
    if vector.len() != dimensions {
        return Err(format!(
            "the vector has {} dimensions instead of {dimensions}",
            vector.len()
        ));
    }
    if !vector.iter().all(|value| value.is_finite()) {
        return Err("the vector holds values that are no numbers".to_owned());
    }
    let length = vector
        .iter()
        .map(|&value| f64::from(value).powi(2))
        .sum::<f64>()
        .sqrt();
    if length < 1e-12 {
        return Err("the vector is zero".to_owned());
    }
    for value in &mut vector {
        *value = (f64::from(*value) / length) as f32;
    }
    Ok(vector)
}

/// Title, headings and text: what a chunk says without its document would often not tell what it is about.
fn passage(row: &PassageRow) -> String {
    let mut passage = row.title.clone();
    for heading in &row.heading_path {
        if *heading != row.title {
            passage.push('\n');
            passage.push_str(heading);
        }
    }
    passage.push('\n');
    passage.push_str(&row.text);
    passage
}
