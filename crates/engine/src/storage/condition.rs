use std::path::PathBuf;

use super::store::with_suffix;
use super::{FORMAT_VERSION, Store, file_system, lease};
use crate::Result;

/// How a store is doing: what `malha doctor` shows of it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Condition {
    /// `None` in memory.
    pub path: Option<PathBuf>,
    /// Format of the file, and the one that this program writes.
    pub format: u32,
    pub newest_format: u32,
    pub sqlite: String,
    /// Type of the file system that holds it, where that can be known.
    pub file_system: Option<String>,
    /// `wal` for a store that was opened for writing.
    pub journal_mode: String,
    pub bytes: u64,
    /// Bytes of the write-ahead log, which goes back into the file when the last one closes it.
    pub log_bytes: u64,
    /// Bytes inside the file that a `backup` would leave out.
    pub free_bytes: u64,
    pub generation: u64,
    /// Who writes to it at this moment.
    pub writer: Option<String>,
    /// Rows of every table, by name; history included.
    pub tables: Vec<(String, u64)>,
    pub namespaces: Vec<String>,
}

impl Store {
    /// How the store is doing. Reads only.
    pub fn condition(&self) -> Result<Condition> {
        let _state = self.read()?;
        let number = |name: &str| -> Result<u64> {
            let value: i64 = self
                .connection()
                .pragma_query_value(None, name, |row| row.get(0))?;
            Ok(value as u64)
        };
        let page = number("page_size")?;
        let size_of = |suffix: &str| {
            self.path()
                .and_then(|path| std::fs::metadata(with_suffix(path, suffix)).ok())
                .map_or(0, |meta| meta.len())
        };
        Ok(Condition {
            path: self.path().map(ToOwned::to_owned),
            format: number("user_version")? as u32,
            newest_format: FORMAT_VERSION,
            sqlite: rusqlite::version().to_owned(),
            file_system: self.path().and_then(file_system::type_of),
            journal_mode: self
                .connection()
                .pragma_query_value(None, "journal_mode", |row| row.get(0))?,
            bytes: number("page_count")? * page,
            log_bytes: size_of("-wal"),
            free_bytes: number("freelist_count")? * page,
            generation: self.generation()?,
            writer: self.path().and_then(lease::current_holder),
            tables: self.table_sizes()?,
            namespaces: self.namespaces()?,
        })
    }

    fn table_sizes(&self) -> Result<Vec<(String, u64)>> {
        let mut names = self.connection().prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
                 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'chunk\\_fts%' ESCAPE '\\'
             ORDER BY name",
        )?;
        let names = names.query_map([], |row| row.get::<_, String>(0))?;
        let mut sizes = Vec::new();
        for name in names {
            let name = name?;
            let rows: i64 = self.connection().query_row(
                &format!("SELECT count(*) FROM \"{name}\""),
                [],
                |row| row.get(0),
            )?;
            sizes.push((name, rows as u64));
        }
        Ok(sizes)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn it_tells_sizes_and_the_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("malha.db");
        let store = Store::create_or_open(&path).unwrap();
        let idle = store.condition().unwrap();
        assert_eq!(idle.path.as_deref(), Some(path.as_path()));
        assert_eq!((idle.format, idle.writer), (FORMAT_VERSION, None));
        assert!(idle.bytes > 0 && idle.journal_mode == "wal");
        assert!(idle.tables.contains(&("namespace".to_owned(), 1)));
        let _lease = store.write_lease("malha index", Duration::ZERO).unwrap();
        let reader = Store::open_read_only(&path).unwrap();
        let busy = reader.condition().unwrap();
        assert!(busy.writer.unwrap().starts_with("malha index"));
    }
}
