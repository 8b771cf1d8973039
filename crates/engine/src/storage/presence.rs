//! Who of those that ask models is still there: a locked file beside the store for each of them. The operating system
//! unlocks it when its process ends, however that happens.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use super::store::with_suffix;

/// That one user of a store is there, shown until it is dropped; and a look at the others.
#[derive(Debug)]
pub(crate) struct Presence {
    /// `None` for a store in memory, which nobody else can see.
    store: Option<PathBuf>,
    /// `None` also where the file system knows no locks.
    own: Option<(PathBuf, File)>,
}

impl Presence {
    pub(crate) fn show(store: Option<&Path>, owner: &str) -> Self {
        let own = store.and_then(|store| {
            let path = file_of(store, owner);
            let file = File::create(&path).ok()?;
            file.try_lock().ok()?;
            Some((path, file))
        });
        Self {
            store: store.map(Path::to_owned),
            own,
        }
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
        ana.clear("caio");
        assert_eq!(ana.of("caio"), None);
        drop(ana);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(Presence::show(None, "dora").of("dora"), None);
    }
}
