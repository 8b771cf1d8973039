//! Names of exports that are not whole yet, and what killed processes left of theirs.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::{Error, Result};

/// A file in the folder of an export that is not whole yet: locked as long as its process lives.
pub(super) const LOCK: &str = ".malha-export.lock";
/// What has changed within this time may be about to get its lock, or lie on a file system without locks.
const A_WHILE: Duration = Duration::from_mins(1);

/// A name of our own beside `path`, which no other export has had: `NAME.PROCESS-MOMENT.partial`.
pub(super) fn partial_name(path: &Path) -> Result<PathBuf> {
    named(path, "", &format!(".{}.partial", tag()))
}

/// A name for the export that was there before, while the new one takes its place.
pub(super) fn former_name(path: &Path) -> Result<PathBuf> {
    named(path, ".", &format!(".{}{FORMER}", tag()))
}

/// Ends the name of a former export that was moved out of the way.
const FORMER: &str = ".malha-former";

fn tag() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let moment = now.map_or(0, |now| now.as_nanos());
    format!("{}-{moment:x}", std::process::id())
}

fn is_tag(text: &str) -> bool {
    let digits = |text: &str, radix| !text.is_empty() && text.chars().all(|c| c.is_digit(radix));
    text.split_once('-')
        .is_some_and(|(process, moment)| digits(process, 10) && digits(moment, 16))
}

fn named(path: &Path, before: &str, after: &str) -> Result<PathBuf> {
    let Some(name) = path.file_name() else {
        return Err(Error::Usage(format!(
            "{}: name a file or folder to write",
            path.display()
        )));
    };
    let mut own = OsString::from(before);
    own.push(name);
    own.push(after);
    Ok(path.with_file_name(own))
}

/// What lies beside `path` under its name with a tag of ours in between.
fn beside(path: &Path, before: &str, after: &str) -> Vec<PathBuf> {
    let Some(name) = path.file_name() else {
        return Vec::new();
    };
    let start = format!("{before}{}.", name.to_string_lossy());
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let between = name
                .strip_prefix(&start)
                .and_then(|rest| rest.strip_suffix(after));
            between.is_some_and(is_tag)
        })
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// Former exports to `path` that a killed process left moved out of the way.
pub(super) fn formers(path: &Path) -> Vec<PathBuf> {
    beside(path, ".", FORMER)
}

/// Removes what processes that live no more left of exports to the same place. What cannot be removed stays: it is in
/// nobody's way.
pub(super) fn remove_leftovers(path: &Path) {
    for leftover in beside(path, "", ".partial") {
        if leftover.is_dir() {
            if is_dead(&leftover.join(LOCK), &leftover) {
                let _ = fs::remove_dir_all(&leftover);
            }
        } else if is_dead(&leftover, &leftover) {
            let _ = fs::remove_file(&leftover);
        }
    }
}

/// Whether nothing has happened to it for a while, and nobody holds its lock.
fn is_dead(lock: &Path, leftover: &Path) -> bool {
    let age = fs::metadata(leftover)
        .and_then(|meta| meta.modified())
        .ok()
        .and_then(|changed| changed.elapsed().ok());
    age.is_some_and(|age| age > A_WHILE)
        && File::options()
            .write(true)
            .open(lock)
            .map_or(true, |file| file.try_lock().is_ok())
}
