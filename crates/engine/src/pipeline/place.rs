//! Which source a path belongs to.

use std::path::Path;

use rusqlite::Connection;

use super::Job;
use super::scan::IN_MEMORY;
use crate::storage::{self, SourceRow};
use crate::types::{LinkConvention, SourceSpec};
use crate::{Error, Result};

/// Part of a source that a run looks at: everything, or what lies under a path.
pub(super) struct Part {
    pub source: SourceRow,
    pub under: Option<String>,
    pub convention: Option<LinkConvention>,
}

/// The source a path belongs to, made if there is none. Sources that lie inside a new one become part of it.
pub(super) fn place_spec(
    job: &Job<'_>,
    connection: &Connection,
    namespace: i64,
    spec: &SourceSpec,
) -> Result<Part> {
    let root = std::path::absolute(&spec.root)
        .and_then(|path| path.canonicalize())
        .map_err(|source| Error::Io {
            path: spec.root.clone(),
            source,
        })?;
    let text = root.to_str().ok_or_else(|| {
        Error::Usage(format!("{}: the path is not valid Unicode", root.display()))
    })?;
    let known = storage::sources(connection, namespace)?;
    if let Some(source) = known.iter().find(|source| source.root == text) {
        return Ok(Part {
            source: source.clone(),
            under: None,
            convention: spec.convention,
        });
    }
    if let Some((source, under)) = known.iter().find_map(|source| {
        let under = root.strip_prefix(&source.root).ok()?.to_str()?;
        (source.root != IN_MEMORY).then(|| (source, under.replace('\\', "/")))
    }) {
        return Ok(Part {
            source: source.clone(),
            under: Some(under),
            convention: spec.convention,
        });
    }
    let label = new_label(job, &root, &known);
    let convention = spec.convention.unwrap_or_default();
    let id = storage::upsert_source(connection, namespace, &label, text, convention)?;
    for inner in &known {
        if let Ok(prefix) = Path::new(&inner.root).strip_prefix(&root)
            && inner.root != IN_MEMORY
        {
            let prefix = prefix.to_str().unwrap_or_default().replace('\\', "/");
            storage::absorb_source(connection, inner.id, id, &prefix)?;
        }
    }
    Ok(Part {
        source: SourceRow {
            id,
            label,
            root: text.to_owned(),
            convention,
        },
        under: None,
        convention: spec.convention,
    })
}

/// The path from the folder that holds the store's folder, when the root lies there; else the root's name,
/// with a number when that is taken.
fn new_label(job: &Job<'_>, root: &Path, known: &[SourceRow]) -> String {
    let base = job.store.path().and_then(storage::folder_of_store);
    if let Some(inside) = base
        .as_deref()
        .and_then(|base| root.strip_prefix(base).ok())
        && let Some(inside) = inside.to_str()
        && known.iter().all(|source| source.label != inside)
    {
        return inside.replace('\\', "/");
    }
    let name = root.file_name().map_or_else(
        || "root".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    );
    let mut label = name.clone();
    let mut number = 1;
    while known.iter().any(|source| source.label == label) {
        number += 1;
        label = format!("{name}-{number}");
    }
    label
}
