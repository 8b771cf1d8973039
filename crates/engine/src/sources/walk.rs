use std::fs::{self, DirEntry, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rayon::prelude::*;

use super::Format;
use super::ignore_rules::IgnoreRules;
use super::skip_rules::{SkipRule, skip_file, skip_folder};
use crate::error::{Error, Result};
use crate::types::Skipped;

/// Folders nested deeper than this are skipped: no real vault is, a runaway script's output may be.
const MAX_DEPTH: usize = 128;

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

impl Walk {
    fn skip(&mut self, uri: String, reason: impl Into<String>) {
        self.skipped.push(Skipped {
            uri,
            reason: reason.into(),
        });
    }

    fn keep(&mut self, uri: String, path: PathBuf, metadata: &Metadata, options: &WalkOptions) {
        let format = Format::of_path(&uri);
        let (size, limit) = (metadata.len(), options.max_file_size);
        if format.is_some() && size > limit {
            return self.skip(uri, format!("{size} bytes, more than the limit of {limit}"));
        }
        self.files.push(SourceFile {
            uri,
            path,
            size,
            mtime_ns: mtime_ns(metadata),
            format,
        });
    }

    fn absorb(&mut self, mut other: Self) {
        self.files.append(&mut other.files);
        self.skipped.append(&mut other.skipped);
    }
}

/// Limits of a walk.
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

/// Lists the files under `root` (a folder, or one file) by their metadata; reads none of them.
///
/// The rules, in this order: malha's and the editors' own folders, hidden names, `.malhaignore`,
/// `.gitignore` (of every folder down from `root`, and of its parents up to the one that holds
/// `.git`), copies made by sync conflicts, symbolic links (never followed), size. Everything they
/// leave out is in [`Walk::skipped`] with the reason; a left-out folder is one row.
///
/// # Errors
/// [`Error::Io`] when `root` itself cannot be read; anything below it that cannot is a skipped row.
pub fn walk(root: &Path, options: &WalkOptions) -> Result<Walk> {
    let io_error = |source| Error::Io {
        path: root.to_owned(),
        source,
    };
    let metadata = fs::metadata(root).map_err(io_error)?;
    let root = &std::path::absolute(root).map_err(io_error)?;
    let mut found = Walk::default();
    if metadata.is_dir() {
        fs::read_dir(root).map_err(io_error)?;
        let rules = IgnoreRules::above(root, &mut found.skipped);
        found.absorb(visit(root, "", &rules, 0, options));
    } else {
        let name = root.file_name().unwrap_or(root.as_os_str());
        let uri = name.to_string_lossy().into_owned();
        found.keep(uri, root.clone(), &metadata, options);
    }
    found.files.par_sort_unstable_by(|a, b| a.uri.cmp(&b.uri));
    found.skipped.sort_unstable();
    Ok(found)
}

fn visit(
    path: &Path,
    uri: &str,
    parent: &IgnoreRules<'_>,
    depth: usize,
    options: &WalkOptions,
) -> Walk {
    let mut found = Walk::default();
    let folder_uri = || if uri.is_empty() { "." } else { uri }.to_owned();
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) => {
            found.skip(folder_uri(), format!("the folder cannot be read: {error}"));
            return found;
        }
    };
    let mut named = Vec::new();
    for entry in entries {
        match entry {
            Ok(entry) => match entry.file_name().into_string() {
                Ok(name) => named.push((name, entry)),
                Err(name) => found.skip(
                    join(uri, &name.to_string_lossy()),
                    "its name is not valid UTF-8; rename it",
                ),
            },
            Err(error) => found.skip(
                folder_uri(),
                format!("the folder could not be listed to its end: {error}"),
            ),
        }
    }
    named.sort_unstable_by(|a, b| a.0.cmp(&b.0));

    let has = |name: &str| {
        named
            .binary_search_by(|(other, _)| other.as_str().cmp(name))
            .is_ok()
    };
    let rules = parent.below(path, uri, has, &mut found.skipped);
    let mut folders = Vec::new();
    for (name, entry) in &named {
        let child = join(uri, name);
        match judge(entry, name, &child, has, &rules) {
            Verdict::Skip(reason) => found.skip(child, reason),
            Verdict::Folder if depth + 1 >= MAX_DEPTH => {
                found.skip(child, format!("nested deeper than {MAX_DEPTH} folders"));
            }
            Verdict::Folder => folders.push((entry.path(), child)),
            Verdict::File(metadata) => {
                found.keep(child, entry.path(), &metadata, options);
            }
        }
    }
    // Entries hold the folder's descriptor open.
    drop(named);
    let below: Vec<Walk> = folders
        .par_iter()
        .map(|(path, uri)| visit(path, uri, &rules, depth + 1, options))
        .collect();
    for walk in below {
        found.absorb(walk);
    }
    found
}

fn judge(
    entry: &DirEntry,
    name: &str,
    uri: &str,
    has_sibling: impl Fn(&str) -> bool,
    rules: &IgnoreRules<'_>,
) -> Verdict {
    let file_type = match entry.file_type() {
        Ok(file_type) => file_type,
        Err(error) => return Verdict::Skip(format!("cannot be examined: {error}")),
    };
    let is_folder = file_type.is_dir();
    let built_in = if is_folder {
        skip_folder(name, uri)
    } else {
        skip_file(name, has_sibling)
    };
    if let Some(SkipRule(reason)) = built_in {
        return Verdict::Skip(reason.to_owned());
    }
    if !rules.is_empty()
        && let Some(reason) = rules.ignored(&entry.path(), is_folder)
    {
        return Verdict::Skip(reason);
    }
    if file_type.is_symlink() {
        return Verdict::Skip(describe_symlink(&entry.path()));
    }
    if is_folder {
        return Verdict::Folder;
    }
    if !file_type.is_file() {
        return Verdict::Skip("not a regular file (a pipe, socket or device)".to_owned());
    }
    match entry.metadata() {
        Ok(metadata) => Verdict::File(metadata),
        Err(error) => Verdict::Skip(format!("cannot be examined: {error}")),
    }
}

enum Verdict {
    Skip(String),
    Folder,
    File(Metadata),
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

fn describe_symlink(path: &Path) -> String {
    let target = match fs::read_link(path) {
        Ok(target) => target.display().to_string(),
        Err(error) => return format!("a symbolic link that cannot be read: {error}"),
    };
    if path.exists() {
        format!("a symbolic link (to {target}); links are not followed, index its target instead")
    } else {
        format!("a symbolic link to {target}, which does not exist")
    }
}

/// A file system without modification times gives 0, which only costs a look at the content.
fn mtime_ns(metadata: &Metadata) -> i64 {
    let Ok(time) = metadata.modified() else {
        return 0;
    };
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => {
            i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanoseconds| -nanoseconds)
        }
    }
}
