//! The graph as a cache beside the store: read when its generation is the store's, else built anew.

use std::path::PathBuf;

use crate::Result;
use crate::graph::{Appended, Graph, GraphDelta, SnapshotFiles};
use crate::loading;
use crate::storage::Store;

/// The graph of `generation`, from the snapshot files or from the rows.
pub(super) fn load_or_build(store: &Store, namespace: i64, generation: u64) -> Result<Graph> {
    let files = snapshot_files(store, namespace);
    if let Some(files) = &files {
        match files.load(generation) {
            Ok(graph) => return Ok(graph),
            Err(reason) => tracing::debug!(%reason, "the graph is built from the store"),
        }
    }
    let graph = loading::build_graph(store.connection(), namespace, generation)?;
    if let Some(files) = files.filter(|_| !store.is_read_only()) {
        save(&files, &graph);
    }
    Ok(graph)
}

/// Adds what a small run changed to the snapshot. False when the snapshot has to be built anew.
pub(super) fn append(store: &Store, namespace: i64, delta: &GraphDelta) -> bool {
    let Some(files) = snapshot_files(store, namespace) else {
        return false;
    };
    match files.append(delta) {
        Ok(Appended::Written) => true,
        Ok(Appended::RebuildNeeded) => false,
        Err(error) => {
            tracing::warn!(%error, "the snapshot could not be extended");
            false
        }
    }
}

/// A cache that cannot be written costs time, nothing else.
fn save(files: &SnapshotFiles, graph: &Graph) {
    if let Err(error) = files.save(graph) {
        tracing::warn!(%error, "the snapshot could not be written; every process builds the graph itself");
    }
}

fn snapshot_files(store: &Store, namespace: i64) -> Option<SnapshotFiles> {
    let path = store.path()?;
    let name: PathBuf = match namespace {
        1 => path.to_owned(),
        other => path.with_extension(format!("{other}.db")),
    };
    Some(SnapshotFiles::beside(&name))
}
