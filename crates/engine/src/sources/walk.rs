use std::path::{Path, PathBuf};

use super::Format;
use crate::error::{Error, Result};
use crate::types::Skipped;

/// A file found by [`walk`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Path relative to the root, with `/`.
    pub uri: String,
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
    /// Modification time, nanoseconds since the Unix epoch.
    pub mtime_ns: i64,
    /// `None`: an attachment, listed for link resolution but not read.
    pub format: Option<Format>,
}

/// What a folder holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walk {
    /// Sorted by uri; attachments included.
    pub files: Vec<SourceFile>,
    /// Sorted by uri; a skipped folder is one row.
    pub skipped: Vec<Skipped>,
}

/// Limits and rules of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkOptions {
    /// Larger files that would be read are skipped. Bytes.
    pub max_file_size: u64,
}

impl Default for WalkOptions {
    fn default() -> Self {
        Self {
            max_file_size: 64 * 1024 * 1024,
        }
    }
}

/// Lists the files under `root` (a folder or one file) without reading them.
///
/// # Errors
/// [`Error::Io`] when `root` itself cannot be read; anything below it that cannot is in `skipped`.
pub fn walk(root: &Path, options: &WalkOptions) -> Result<Walk> {
    let mut found = Walk::default();
    std::fs::metadata(root).map_err(|source| Error::Io {
        path: root.to_owned(),
        source,
    })?;
    for entry in ignore::WalkBuilder::new(root)
        .require_git(false)
        .build()
        .flatten()
    {
        let (Ok(metadata), Ok(relative)) = (entry.metadata(), entry.path().strip_prefix(root))
        else {
            continue;
        };
        if !metadata.is_file() || metadata.len() > options.max_file_size {
            continue;
        }
        let uri = relative.to_string_lossy().replace('\\', "/");
        let mtime_ns = metadata
            .modified()
            .ok()
            .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
            .map_or(0, |duration| duration.as_nanos() as i64);
        found.files.push(SourceFile {
            format: Format::of_path(&uri),
            uri,
            path: entry.path().to_owned(),
            size: metadata.len(),
            mtime_ns,
        });
    }
    found.files.sort_by(|a, b| a.uri.cmp(&b.uri));
    Ok(found)
}
