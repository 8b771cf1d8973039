use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::hex::hex;
use super::{ReadTransaction, WriteLease, file_system, lease, migration};
use crate::{Error, Result};

/// How long `SQLite` itself waits for a lock that another connection holds for a moment
/// (recovery, a checkpoint, a writer that does not know the lease).
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(20);
/// How long opening waits for another process that is creating or migrating the same store.
const MIGRATION_WAIT: Duration = Duration::from_mins(1);
/// How long a reader waits for another process that is making the store or bringing its format up to
/// date. That takes a moment; whoever was killed in between leaves an empty file, or the old format.
const CREATION_WAIT: Duration = Duration::from_secs(5);
/// Between two looks at such a file.
const CREATION_PAUSE: Duration = Duration::from_millis(20);
/// Page cache of a connection in KiB. The operating system caches the file as well, so this bounds
/// our memory and costs little speed.
const CACHE_KIB: i64 = 32 * 1024;

/// Pages of the log after which it is copied back: fewer copies of pages that large runs write again.
const CHECKPOINT_PAGES: i64 = 8_000;

/// Settings of opening a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreOptions {
    /// Open although the file lies on a network file system, where locks may not hold.
    pub allow_network_file_system: bool,
}

/// One connection to a store. `Send`, not `Sync`: every thread opens its own, which is cheap.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: Option<PathBuf>,
    read_only: bool,
}

impl Store {
    /// Opens the store at `path` for reading and writing; makes it, and its folder, if it is not there.
    pub fn create_or_open(path: &Path) -> Result<Self> {
        Self::create_or_open_with(path, StoreOptions::default())
    }

    /// [`Store::create_or_open`] with settings.
    pub fn create_or_open_with(path: &Path, options: StoreOptions) -> Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| Error::Io {
                path: folder.to_owned(),
                source,
            })?;
        }
        Self::open_writable(path, options, OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens the existing store at `path` for reading and writing, migrating it when it is older.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, StoreOptions::default())
    }

    /// [`Store::open`] with settings.
    pub fn open_with(path: &Path, options: StoreOptions) -> Result<Self> {
        must_exist(path)?;
        Self::open_writable(path, options, OpenFlags::empty())
    }

    fn open_writable(path: &Path, options: StoreOptions, extra: OpenFlags) -> Result<Self> {
        file_system::check(path, options)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | extra;
        let connection = Connection::open_with_flags(path, flags).map_err(|e| explain(path, e))?;
        let store = Self {
            connection,
            path: Some(path.to_owned()),
            read_only: false,
        };
        store.configure().map_err(|e| explain(path, e))?;
        if migration::is_needed(&store.connection, path)? || !store.has_write_ahead_log()? {
            let lease = store.write_lease("malha (preparing the store)", MIGRATION_WAIT)?;
            migration::run(&store.connection, path)?;
            drop(lease);
        }
        Ok(store)
    }

    /// False for a copy that was made by a backup and not opened for writing since.
    fn has_write_ahead_log(&self) -> Result<bool> {
        let mode: String = self
            .connection
            .pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        Ok(mode.eq_ignore_ascii_case("wal"))
    }

    /// Opens the existing store at `path` without ever writing to it, also in a read-only folder.
    /// A store of an older format is refused, because reading it would mean to migrate it first.
    /// One that another process is only just making or migrating is waited for.
    pub fn open_read_only(path: &Path) -> Result<Self> {
        Self::open_read_only_within(path, CREATION_WAIT)
    }

    fn open_read_only_within(path: &Path, wait: Duration) -> Result<Self> {
        must_exist(path)?;
        let started = Instant::now();
        let mut is_held = None;
        loop {
            let store = Self::open_reading(path)?;
            if !migration::is_needed(&store.connection, path)? {
                return Ok(store);
            }
            let is_blank = migration::is_blank(&store.connection, path)?;
            match is_held {
                // Looked at again in any case: a holder that is gone by now has left the new format.
                None => {}
                Some(is_held) if started.elapsed() < wait && (is_blank || is_held) => {
                    std::thread::sleep(CREATION_PAUSE);
                }
                Some(_) => {
                    let reason = if is_blank {
                        "it was never finished; `malha index` makes the store that belongs there"
                    } else {
                        "it has an older format; open it once for writing (`malha index`) to bring it up to date"
                    };
                    return Err(store_error(path, reason));
                }
            }
            is_held = Some(lease::current_holder(path).is_some());
        }
    }

    fn open_reading(path: &Path) -> Result<Self> {
        match Self::open_shared(path, OpenFlags::SQLITE_OPEN_READ_ONLY, path) {
            Err(Error::Database(e)) if is_unwritable_folder(&e) => Self::open_unchanging(path),
            other => other,
        }
        .map_err(|e| match e {
            Error::Database(e) => explain(path, e),
            other => other,
        })
    }

    /// For a folder in which `SQLite` cannot make its shared-memory file: nobody can write there, so
    /// the file is read as unchanging. Refused when a write-ahead log is left over, which would be
    /// ignored that way.
    fn open_unchanging(path: &Path) -> Result<Self> {
        let log = with_suffix(path, "-wal");
        if std::fs::metadata(&log).is_ok_and(|meta| meta.is_file() && meta.len() > 0) {
            return Err(store_error(
                path,
                "its folder is read-only, but it holds unfinished changes in the -wal file; \
                 open it once in a writable folder",
            ));
        }
        let uri = format!("file:{}?immutable=1", uri_path(path));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        Self::open_shared(Path::new(&uri), flags, path)
    }

    fn open_shared(name: &Path, flags: OpenFlags, path: &Path) -> Result<Self> {
        let connection =
            Connection::open_with_flags(name, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        let store = Self {
            connection,
            path: Some(path.to_owned()),
            read_only: true,
        };
        store.configure()?;
        store.connection.pragma_update(None, "query_only", true)?;
        // The first read: an unreadable file is noticed here, by both ways of opening.
        migration::is_needed(&store.connection, path)?;
        Ok(store)
    }

    /// A store that lives in memory and ends with this value.
    pub fn in_memory() -> Result<Self> {
        let store = Self {
            connection: Connection::open_in_memory()?,
            path: None,
            read_only: false,
        };
        store.configure()?;
        migration::run(&store.connection, Path::new(":memory:"))?;
        Ok(store)
    }

    /// Settings of the connection, not of the file. Foreign keys are declared and checked by
    /// `verify`, not on every insert: that would cost the bulk load a look-up a row, and every
    /// delete an index per reference.
    fn configure(&self) -> Result<(), rusqlite::Error> {
        let connection = &self.connection;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(128);
        // Plans do not depend on bound values, so a statement is not prepared anew for each of them.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        connection.pragma_update(None, "foreign_keys", false)?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // A schema from an untrusted file must not run functions with side effects.
        connection.pragma_update(None, "trusted_schema", false)
    }

    /// Waits up to `wait` for the right to write. `holder` says who we are, for others to read
    /// (`malha index`). [`Error::Busy`] names the one who has it.
    ///
    /// Not re-entrant: a thread that holds a lease and asks for another one waits for itself until
    /// the time is over. The operating system gives the lease back when the process ends, however
    /// it ends.
    pub fn write_lease(&self, holder: &str, wait: Duration) -> Result<WriteLease<'_>> {
        if self.read_only {
            return Err(Error::Usage(
                "the store was opened read-only and cannot be changed".to_owned(),
            ));
        }
        WriteLease::take(self, holder, wait)
    }

    /// Grows with every committed change of content. A cache that was built at the same generation
    /// is fresh.
    pub fn generation(&self) -> Result<u64> {
        let generation: i64 = self
            .connection
            .prepare_cached("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'generation'")?
            .query_row([], |row| row.get(0))?;
        Ok(generation as u64)
    }

    /// The store's file; `None` in memory.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// True when it was opened by [`Store::open_read_only`].
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Several reads that see one state of the store, until the value is dropped. Inside a write
    /// transaction, or another read transaction, it is part of that one.
    pub fn read(&self) -> Result<ReadTransaction<'_>> {
        ReadTransaction::begin(self)
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(super) fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

fn must_exist(path: &Path) -> Result<()> {
    if path.is_file() {
        Ok(())
    } else {
        Err(store_error(
            path,
            "there is no store; make one with `malha init` or `malha index`",
        ))
    }
}

/// `path` with `suffix` after its last character, as `SQLite` names the files beside a database.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

pub(super) fn store_error(path: &Path, reason: &str) -> Error {
    Error::Store {
        path: path.to_owned(),
        reason: reason.to_owned(),
    }
}

/// What a failure to open means for the user.
pub(super) fn explain(path: &Path, error: rusqlite::Error) -> Error {
    let reason = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            "this file is no malha store, or its header is damaged; restore a backup, or move the \
             file away and run `malha index`"
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            "the file is damaged; restore a backup, or move it away and run `malha index`"
        }
        Some(ErrorCode::CannotOpen) => {
            "it cannot be opened; check that the folder exists and that you may read it"
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            "it may not be written; change the permissions or use a read-only command"
        }
        Some(ErrorCode::DiskFull) => "the disk is full",
        _ => return error.into(),
    };
    store_error(path, reason)
}

fn is_unwritable_folder(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
    )
}

/// A path as it stands in a `file:` uri.
fn uri_path(path: &Path) -> String {
    let mut uri = String::new();
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'%' | b'?' | b'#' | 0x80.. => {
                uri.push('%');
                uri.push_str(&hex(&[byte]));
            }
            _ => uri.push(char::from(byte)),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn create_makes_folders_and_open_finds_it_again() {
        let folder = folder();
        let path = folder.path().join("a/b/malha.db");
        let store = Store::create_or_open(&path).unwrap();
        assert_eq!(store.path(), Some(path.as_path()));
        assert_eq!(store.generation().unwrap(), 0);
        drop(store);
        Store::open(&path).unwrap();
        Store::open_read_only(&path).unwrap();
    }

    #[test]
    fn a_missing_store_is_not_made_by_open() {
        let folder = folder();
        let path = folder.path().join("malha.db");
        for result in [Store::open(&path), Store::open_read_only(&path)] {
            assert!(matches!(result, Err(Error::Store { .. })));
        }
        assert!(!path.exists());
    }

    #[test]
    fn a_reader_waits_for_a_store_that_is_being_made() {
        let folder = folder();
        let path = folder.path().join("malha.db");
        std::fs::write(&path, "").unwrap();
        let unfinished = Store::open_read_only_within(&path, Duration::from_millis(50));
        let message = unfinished.unwrap_err().to_string();
        assert!(message.contains("never finished"), "{message}");

        let making = path.clone();
        let maker = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            Store::create_or_open(&making).map(drop)
        });
        assert_eq!(
            Store::open_read_only(&path).unwrap().generation().unwrap(),
            0
        );
        maker.join().unwrap().unwrap();

        // An old format is refused at once, unless somebody is at it.
        let store = Store::open(&path).unwrap();
        let format = |version: u32| {
            let set = store
                .connection
                .pragma_update(None, "user_version", version);
            set.unwrap();
        };
        format(1);
        let refused = Store::open_read_only(&path).unwrap_err().to_string();
        assert!(refused.contains("older format"), "{refused}");
        let lease = store.write_lease("test", Duration::ZERO).unwrap();
        let waiting = path.clone();
        let reader = std::thread::spawn(move || Store::open_read_only(&waiting).map(drop));
        std::thread::sleep(Duration::from_millis(100));
        format(migration::FORMAT_VERSION);
        drop(lease);
        reader.join().unwrap().unwrap();
    }

    #[test]
    fn a_read_only_store_refuses_to_write() {
        let folder = folder();
        let path = folder.path().join("malha.db");
        drop(Store::create_or_open(&path).unwrap());
        let store = Store::open_read_only(&path).unwrap();
        assert!(store.write_lease("test", Duration::ZERO).is_err());
        assert!(store.connection.execute("DELETE FROM meta", []).is_err());
    }

    #[test]
    fn where_the_shared_memory_file_cannot_be_made_reading_works() {
        let folder = folder();
        let path = folder.path().join("sto re?#%.db");
        drop(Store::create_or_open(&path).unwrap());
        // Folders in the place of these files: like a read-only folder, but true for root too.
        std::fs::create_dir(with_suffix(&path, "-shm")).unwrap();
        let store = Store::open_read_only(&path).unwrap();
        assert_eq!(store.generation().unwrap(), 0);
    }

    #[test]
    fn damaged_and_foreign_files_say_what_to_do() {
        let folder = folder();
        let check = |bytes: &[u8], expected: &str| {
            let path = folder.path().join("x.db");
            std::fs::write(&path, bytes).unwrap();
            for result in [Store::open(&path), Store::open_read_only(&path)] {
                let message = result.unwrap_err().to_string();
                assert!(message.contains(expected), "{message}");
                assert!(message.contains("x.db"), "{message}");
            }
            assert_eq!(std::fs::read(&path).unwrap(), bytes, "left untouched");
            std::fs::remove_file(&path).unwrap();
        };
        check(
            b"# A note, not a database\n".repeat(60).as_slice(),
            "no malha store",
        );
        let other = folder.path().join("other.db");
        Connection::open(&other)
            .unwrap()
            .execute_batch("CREATE TABLE customer (id); PRAGMA user_version = 1;")
            .unwrap();
        check(&std::fs::read(&other).unwrap(), "no malha store");
    }
}
