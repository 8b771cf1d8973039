//! Names of exports that are not whole yet, and what killed processes left of theirs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Error, Result};

/// A file in the folder of an export that is not whole yet: locked as long as its process lives.
pub(super) const LOCK: &str = ".malha-export.lock";
/// A folder without that file may be about to get one.
const ABOUT_TO: Duration = Duration::from_mins(1);

/// A name of our own beside `path`; another process exports under another one.
pub(super) fn partial_name(path: &Path) -> Result<PathBuf> {
    sibling(path, &format!("{}.partial", std::process::id()))
}

pub(super) fn sibling(path: &Path, suffix: &str) -> Result<PathBuf> {
    let Some(name) = path.file_name() else {
        return Err(Error::Usage(format!(
            "{}: name a file or folder to write",
            path.display()
        )));
    };
    let mut name = name.to_owned();
    name.push(".");
    name.push(suffix);
    Ok(path.with_file_name(name))
}

/// Removes what processes that live no more left of exports to the same place. What cannot be removed stays: it is in
/// nobody's way.
pub(super) fn remove_leftovers(path: &Path) {
    let (Some(name), Ok(partial)) = (path.file_name(), partial_name(path)) else {
        return;
    };
    let name = name.to_string_lossy();
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let found = entry.file_name();
        let found = found.to_string_lossy();
        let process = found
            .strip_prefix(&*name)
            .and_then(|rest| rest.strip_prefix('.'))
            .and_then(|rest| rest.strip_suffix(".partial"));
        let is_ours = process.is_some_and(|process| {
            !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit())
        });
        let leftover = entry.path();
        if !is_ours || Some(&*found) == partial.file_name().and_then(|name| name.to_str()) {
            continue;
        }
        if leftover.is_dir() {
            if is_dead(&leftover.join(LOCK), &leftover) {
                let _ = fs::remove_dir_all(&leftover);
            }
        } else if is_dead(&leftover, &leftover) {
            let _ = fs::remove_file(&leftover);
        }
    }
}

/// Whether nobody holds the lock; without a file to lock, whether nothing has happened for a while.
fn is_dead(lock: &Path, leftover: &Path) -> bool {
    match File::options().write(true).open(lock) {
        Ok(file) => file.try_lock().is_ok(),
        Err(_) => fs::metadata(leftover)
            .and_then(|meta| meta.modified())
            .ok()
            .and_then(|changed| changed.elapsed().ok())
            .is_some_and(|age| age > ABOUT_TO),
    }
}
