use std::io::ErrorKind;
use std::path::Path;

use super::Store;
use super::store::with_suffix;
use crate::{Error, Result};

impl Store {
    /// Writes a compact copy of the store to `target` while others read and write, and returns its
    /// size in bytes. Never overwrites: an existing file is refused.
    pub fn backup(&self, target: &Path) -> Result<u64> {
        let io_error = |source| Error::Io {
            path: target.to_owned(),
            source,
        };
        if target.symlink_metadata().is_ok() {
            let taken = "there is a file already; choose another name for the backup";
            return Err(io_error(std::io::Error::new(
                ErrorKind::AlreadyExists,
                taken,
            )));
        }
        let Some(name) = target.to_str() else {
            return Err(io_error(std::io::Error::other(
                "the name must be valid Unicode",
            )));
        };
        // Under another name first, so that a backup that was cut short is never taken for one.
        let partial = with_suffix(target, ".partial");
        let partial_name = format!("{name}.partial");
        match std::fs::remove_file(&partial) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(io_error(error));
            }
            _ => {}
        }
        let connection = self.connection();
        connection.pragma_update(None, "query_only", false)?;
        let copied = connection.execute("VACUUM INTO ?1", [&partial_name]);
        connection.pragma_update(None, "query_only", self.is_read_only())?;
        if let Err(error) = copied {
            // Only a part of a copy can be lost here.
            let _ = std::fs::remove_file(&partial);
            return Err(match error.sqlite_error_code() {
                Some(rusqlite::ErrorCode::CannotOpen) => io_error(std::io::Error::other(
                    "it cannot be made; check that its folder exists and may be written",
                )),
                Some(rusqlite::ErrorCode::DiskFull) => {
                    io_error(std::io::Error::from(ErrorKind::StorageFull))
                }
                _ => error.into(),
            });
        }
        let file = std::fs::File::open(&partial).map_err(io_error)?;
        file.sync_all().map_err(io_error)?;
        std::fs::hard_link(&partial, target)
            .and_then(|()| std::fs::remove_file(&partial))
            // Not every file system has hard links.
            .or_else(|_| std::fs::rename(&partial, target))
            .map_err(io_error)?;
        Ok(file.metadata().map_err(io_error)?.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Namespace;
    use std::time::Duration;

    #[test]
    fn a_backup_is_a_store_of_the_same_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("malha.db");
        let store = Store::create_or_open(&path).unwrap();
        let lease = store.write_lease("test", Duration::ZERO).unwrap();
        let transaction = lease.transaction().unwrap();
        transaction
            .namespace(&Namespace::new("kept").unwrap())
            .unwrap();
        transaction.commit().unwrap();
        for (source, name) in [
            (&store, "copy 'one'.db"),
            (&Store::open_read_only(&path).unwrap(), "two.db"),
        ] {
            let target = folder.path().join(name);
            let bytes = source.backup(&target).unwrap();
            assert_eq!(bytes, std::fs::metadata(&target).unwrap().len());
            let copy = Store::open(&target).unwrap();
            assert_eq!(copy.namespaces().unwrap(), ["default", "kept"]);
            assert_eq!(copy.generation().unwrap(), store.generation().unwrap());
            let mode: String = copy
                .connection()
                .pragma_query_value(None, "journal_mode", |row| row.get(0))
                .unwrap();
            assert_eq!(mode, "wal");
        }
        assert!(!folder.path().join("two.db.partial").exists());

        // The store and its copy go on by themselves: no generation means both.
        drop(lease);
        let copy = Store::open(&folder.path().join("two.db")).unwrap();
        let generations = [&store, &copy].map(|store| {
            let lease = store.write_lease("test", Duration::ZERO).unwrap();
            let transaction = lease.transaction().unwrap();
            transaction
                .namespace(&Namespace::new("new").unwrap())
                .unwrap();
            transaction.commit().unwrap();
            store.generation().unwrap()
        });
        assert_ne!(generations[0], generations[1]);
    }

    #[test]
    fn nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::in_memory().unwrap();
        let target = folder.path().join("notes.md");
        std::fs::write(&target, "mine").unwrap();
        let taken = store.backup(&target).unwrap_err().to_string();
        assert!(
            taken
                .ends_with("notes.md: there is a file already; choose another name for the backup")
        );
        assert_eq!(std::fs::read(&target).unwrap(), b"mine");
        let nowhere = folder.path().join("no/such/folder/x.db");
        let nowhere = store.backup(&nowhere).unwrap_err().to_string();
        assert!(
            nowhere.contains("check that its folder exists"),
            "{nowhere}"
        );
    }
}
