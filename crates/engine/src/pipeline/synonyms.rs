//! Names to vectors, and from those which names mean almost the same.

use super::Job;
use super::embedding::{Target, embed_texts, lease};
use crate::Result;
use crate::language_model::Embedder;
use crate::storage;
use crate::types::{EntityId, Stage};
use crate::vectors::VectorIndex;

/// Names that are embedded, and stored, together.
const BATCH: usize = 256;
/// Synonyms of a name, at most.
const MOST: usize = 5;
/// Cosine from which on a pair is stored; what a search follows is decided by its recipe.
const LEAST: f64 = 0.8;

/// Gives every name a vector and joins each to those nearest to it. Stops where the user wants it to; the next run
/// goes on from there.
pub(super) fn find(job: &Job<'_>, embedder: &dyn Embedder, target: &Target<'_>) -> Result<()> {
    let Target {
        namespace,
        id: space,
        ..
    } = *target;
    let connection = job.store.connection();
    job.progress.stage(Stage::Synonyms, 0);
    let mut after = EntityId(0);
    loop {
        if job.progress.interrupted() {
            return Ok(());
        }
        let names = storage::names_without_vector(connection, namespace, space, after, BATCH)?;
        let Some(&(last, _)) = names.last() else {
            break;
        };
        after = last;
        // Numbers and marks have no synonyms.
        let (entities, texts): (Vec<EntityId>, Vec<&str>) = names
            .iter()
            .filter(|(_, name)| name.chars().any(char::is_alphabetic))
            .map(|(entity, name)| (*entity, name.as_str()))
            .unzip();
        let vectors = embed_texts(embedder, &texts)?;
        // A name that the model fails on has no synonyms.
        let vectors: Vec<(EntityId, Vec<f32>)> = entities
            .into_iter()
            .zip(vectors)
            .filter_map(|(entity, vector)| Some((entity, vector.ok()?)))
            .collect();
        let lease = lease(job)?;
        let transaction = lease.transaction()?;
        target.check(connection)?;
        storage::insert_name_vectors(connection, space, &vectors)?;
        transaction.commit_bookkeeping()?;
    }
    let stored = storage::name_vectors(connection, space)?;
    let index = VectorIndex::new(
        embedder.space().dimensions,
        stored
            .iter()
            .map(|(entity, vector, _)| (entity.0, vector.clone())),
    );
    let new: Vec<_> = stored.iter().filter(|row| !row.2).collect();
    job.progress.stage(Stage::Synonyms, new.len());
    for batch in new.chunks(BATCH) {
        if job.progress.interrupted() {
            return Ok(());
        }
        let mut found = Vec::with_capacity(batch.len());
        for (entity, vector, _) in batch {
            let hits = index
                .search(vector, MOST, |owner| owner != entity.0)
                .unwrap_or_default();
            let near: Vec<(EntityId, f64)> = hits
                .into_iter()
                .filter(|hit| hit.score >= LEAST)
                .map(|hit| (EntityId(hit.owner), hit.score))
                .collect();
            found.push((*entity, near));
        }
        let lease = lease(job)?;
        let transaction = lease.transaction()?;
        target.check(connection)?;
        for (entity, near) in &found {
            storage::insert_synonyms(connection, space, *entity, near)?;
        }
        transaction.commit_bookkeeping()?;
        job.progress.advance(batch.len());
    }
    Ok(())
}
