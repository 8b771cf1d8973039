//! The right to write: a file lock of the operating system beside the store.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::store::with_suffix;
use super::{Store, WriteTransaction};
use crate::{Error, Result};

/// First and longest pause between two tries.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// Enough for a command, a process id and a time.
const HOLDER_BYTES: u64 = 400;

/// The right to write to one store, held until it is dropped or the process ends.
#[derive(Debug)]
pub struct WriteLease<'store> {
    store: &'store Store,
    /// `None` for a store in memory, which nobody else can see.
    file: Option<File>,
}

impl<'store> WriteLease<'store> {
    pub(super) fn take(store: &'store Store, holder: &str, wait: Duration) -> Result<Self> {
        let file = match store.path() {
            None => None,
            Some(path) => Some(lock(path, holder, wait)?),
        };
        Ok(Self { store, file })
    }

    /// Starts a transaction. One at a time; dropped without commit, it changes nothing.
    pub fn transaction(&self) -> Result<WriteTransaction<'_>> {
        WriteTransaction::begin(self.store)
    }

    /// The store that may be written.
    pub fn store(&self) -> &'store Store {
        self.store
    }
}

impl Drop for WriteLease<'_> {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            // Only for readers of the file; closing it is what releases the lock.
            let _ = file.set_len(0);
        }
    }
}

/// Who holds the lease of the store at `path` now, in words; `None` when nobody does.
pub(super) fn current_holder(path: &Path) -> Option<String> {
    let file = File::open(with_suffix(path, "-lease")).ok()?;
    match file.try_lock_shared() {
        Ok(()) | Err(TryLockError::Error(_)) => None,
        Err(TryLockError::WouldBlock) => Some(read_holder(path)),
    }
}

fn lock(path: &Path, holder: &str, wait: Duration) -> Result<File> {
    let lock_path = with_suffix(path, "-lease");
    let io_error = |source| Error::Io {
        path: lock_path.clone(),
        source,
    };
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&lock_path)
        .map_err(io_error)?;
    let deadline = Instant::now() + wait;
    let mut pause = FIRST_PAUSE;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(source)) => return Err(io_error(source)),
        }
        let now = Instant::now();
        if now >= deadline {
            return Err(Error::Busy {
                holder: read_holder(path),
            });
        }
        std::thread::sleep(pause.min(deadline - now));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    let text = format!(
        "{holder} (process {}, since {})",
        std::process::id(),
        jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S UTC")
    );
    file.set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| file.write_all(text.as_bytes()))
        .map_err(io_error)?;
    Ok(file)
}

fn read_holder(path: &Path) -> String {
    let mut text = Vec::new();
    if let Ok(file) = File::open(with_suffix(path, "-lease")) {
        // A lease that ends while we read leaves an empty text.
        let _ = file.take(HOLDER_BYTES).read_to_end(&mut text);
    }
    let text = String::from_utf8_lossy(&text);
    if text.trim().is_empty() {
        "another process".to_owned()
    } else {
        text.trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_writer_waits_then_learns_who_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("malha.db");
        let first = Store::create_or_open(&path).unwrap();
        let second = Store::open(&path).unwrap();
        let lease = first.write_lease("malha index", Duration::ZERO).unwrap();
        let error = second
            .write_lease("malha import", Duration::from_millis(20))
            .unwrap_err();
        let Error::Busy { holder } = error else {
            panic!("{error}")
        };
        assert!(holder.starts_with("malha index (process "), "{holder}");
        assert_eq!(current_holder(&path), Some(holder));
        drop(lease);
        assert_eq!(current_holder(&path), None);
        second.write_lease("malha import", Duration::ZERO).unwrap();
    }
}
