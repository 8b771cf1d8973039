//! Who of those that ask models is still there: a locked file beside the store for each of them. The operating system
//! unlocks it when its process ends, however that happens.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::store::with_suffix;

/// That one user of a store is there, shown until it is dropped; and a look at the others.
#[derive(Debug)]
pub(crate) struct Presence {
    /// `None` for a store in memory, which nobody else can see.
    store: Option<PathBuf>,
    /// `None` also where the file system knows no locks.
    own: Option<(PathBuf, File)>,
    /// Those who left their file behind, until somebody sees to it.
    gone: Mutex<Vec<String>>,
}

impl Presence {
    pub(crate) fn show(store: Option<&Path>, owner: &str) -> Self {
        let own = store.and_then(|store| {
            let path = file_of(store, owner);
            let file = File::create(&path).ok()?;
            if file.try_lock().is_err() {
                drop(file);
                let _ = std::fs::remove_file(&path);
                return None;
            }
            Some((path, file))
        });
        let shown = Self {
            store: store.map(Path::to_owned),
            own,
            gone: Mutex::default(),
        };
        let gone = store.map(others).unwrap_or_default();
        *shown.gone.lock().unwrap_or_else(PoisonError::into_inner) = gone
            .into_iter()
            .filter(|other| other != owner && shown.of(other) == Some(false))
            .collect();
        shown
    }

    /// Those whose files were found behind them when this one came; each is told once.
    pub(crate) fn take_gone(&self) -> Vec<String> {
        std::mem::take(&mut *self.gone.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether another user is there; `None` where it does not show.
    pub(crate) fn of(&self, owner: &str) -> Option<bool> {
        let file = File::open(file_of(self.store.as_deref()?, owner)).ok()?;
        match file.try_lock_shared() {
            Ok(()) => Some(false),
            Err(TryLockError::WouldBlock) => Some(true),
            Err(TryLockError::Error(_)) => None,
        }
    }

    /// Removes what somebody left who is gone.
    pub(crate) fn clear(&self, owner: &str) {
        if let Some(store) = &self.store {
            let _ = std::fs::remove_file(file_of(store, owner));
        }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        if let Some((path, _)) = &self.own {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// All who have a file beside a store, in order.
fn others(store: &Path) -> Vec<String> {
    let prefix = file_of(store, "");
    let Some(prefix) = prefix.file_name().and_then(|name| name.to_str()) else {
        return Vec::new();
    };
    let folder = store
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let files = std::fs::read_dir(folder.unwrap_or(Path::new(".")));
    let mut found: Vec<String> = files
        .into_iter()
        .flatten()
        .filter_map(|file| {
            Some(
                file.ok()?
                    .file_name()
                    .to_str()?
                    .strip_prefix(prefix)?
                    .to_owned(),
            )
        })
        .collect();
    found.sort_unstable();
    found
}

fn file_of(store: &Path, owner: &str) -> PathBuf {
    with_suffix(store, &format!("-asking-{owner}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_there_shows_until_it_goes() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("malha.db");
        let ana = Presence::show(Some(&store), "ana");
        let bea = Presence::show(Some(&store), "bea");
        assert_eq!((ana.of("bea"), bea.of("ana")), (Some(true), Some(true)));
        drop(bea);
        assert_eq!(ana.of("bea"), None);
        // As a process leaves it that was killed.
        std::fs::write(folder.path().join("malha.db-asking-caio"), "").unwrap();
        assert_eq!(ana.of("caio"), Some(false));
        let eva = Presence::show(Some(&store), "eva");
        assert_eq!(
            (eva.take_gone(), eva.take_gone()),
            (vec!["caio".to_owned()], Vec::new())
        );
        drop(eva);
        ana.clear("caio");
        assert_eq!(ana.of("caio"), None);
        drop(ana);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(Presence::show(None, "dora").of("dora"), None);
    }
}
