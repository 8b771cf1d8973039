//! Sources, the files seen in them, and what was odd about those.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, params};

use crate::Result;
use crate::types::{Issue, IssueSeverity, LinkConvention};

/// A folder or file that was indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceRow {
    pub id: i64,
    pub label: String,
    pub root: String,
    pub convention: LinkConvention,
}

/// A file as the last run saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileRow {
    pub path: String,
    pub size: u64,
    pub mtime_ns: i64,
    pub content_hash: Vec<u8>,
    pub status: FileStatus,
}

/// What the last run made of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileStatus {
    Indexed,
    Skipped,
    Failed,
    Attachment,
}

impl FileStatus {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Indexed => "indexed",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::Attachment => "attachment",
        }
    }

    fn parse(text: &str) -> Self {
        match text {
            "skipped" => Self::Skipped,
            "failed" => Self::Failed,
            "attachment" => Self::Attachment,
            _ => Self::Indexed,
        }
    }
}

/// Folder that holds a store; the folder around it is what uris are relative to.
pub(crate) const STORE_FOLDER: &str = ".malha";
/// Files that are looked for to see whether a vault moved along with its store.
const LOOKED_FOR: i64 = 50;

/// The folder around the store's own folder, where the store lies in one.
pub(crate) fn folder_of_store(store: &Path) -> Option<PathBuf> {
    let store = store.canonicalize().ok()?;
    let folder = store.parent()?;
    (folder.file_name()? == STORE_FOLDER).then(|| folder.parent().map(Path::to_owned))?
}

/// Where the vault around the store is now, if it was moved or copied together with the store: one of its files
/// is there.
fn moved_to(connection: &Connection, source: &SourceRow) -> Result<Option<String>> {
    let Some(folder) = connection.path().map(Path::new).and_then(folder_of_store) else {
        return Ok(None);
    };
    let mut statement = connection
        .prepare_cached("SELECT path FROM file WHERE source = ?1 ORDER BY path LIMIT ?2")?;
    let paths = statement.query_map(params![source.id, LOOKED_FOR], |row| row.get(0))?;
    for path in paths {
        let path: String = path?;
        if folder.join(path).exists() {
            return Ok(folder.to_str().map(str::to_owned));
        }
    }
    Ok(None)
}

/// Every source of a namespace, by label. The source around the store is where the store is, also after both were
/// moved.
pub(crate) fn sources(connection: &Connection, namespace: i64) -> Result<Vec<SourceRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, label, root, convention FROM source WHERE namespace = ?1 ORDER BY label",
    )?;
    let rows = statement.query_map([namespace], |row| {
        let convention: String = row.get(3)?;
        Ok(SourceRow {
            id: row.get(0)?,
            label: row.get(1)?,
            root: row.get(2)?,
            convention: LinkConvention::parse(&convention).unwrap_or_default(),
        })
    })?;
    let mut sources: Vec<SourceRow> = rows.collect::<rusqlite::Result<_>>()?;
    for source in &mut sources {
        if source.label.is_empty()
            && Path::new(&source.root).is_absolute()
            && let Some(root) = moved_to(connection, source)?
        {
            source.root = root;
        }
    }
    Ok(sources)
}

/// Adds a source, or gives an existing one of this label a new convention.
pub(crate) fn upsert_source(
    connection: &Connection,
    namespace: i64,
    label: &str,
    root: &str,
    convention: LinkConvention,
) -> Result<i64> {
    Ok(connection.query_row(
        "INSERT INTO source (namespace, label, root, convention) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (namespace, label) DO UPDATE SET root = excluded.root, convention = excluded.convention
         RETURNING id",
        params![namespace, label, root, convention.as_str()],
        |row| row.get(0),
    )?)
}

/// Makes the files and documents of `inner` belong to `outer`, where their paths start with `prefix`. The
/// next walk reads them again, and finds those that are gone.
pub(crate) fn absorb_source(
    connection: &Connection,
    inner: i64,
    outer: i64,
    prefix: &str,
) -> Result<()> {
    connection.execute(
        "UPDATE document SET source = ?2, path = rtrim(?3 || '/' || path, '/') WHERE source = ?1",
        params![inner, outer, prefix],
    )?;
    connection.execute(
        "INSERT OR REPLACE INTO file (source, path, size, mtime_ns, content_hash, status)
         SELECT ?2, rtrim(?3 || '/' || path, '/'), -1, -1, x'', status FROM file WHERE source = ?1",
        params![inner, outer, prefix],
    )?;
    for table in ["file", "issue"] {
        connection.execute(&format!("DELETE FROM {table} WHERE source = ?1"), [inner])?;
    }
    connection.execute("DELETE FROM source WHERE id = ?1", [inner])?;
    // Row ids are given again.
    connection.execute("DELETE FROM meta WHERE key = ?1", [convention_key(inner)])?;
    Ok(())
}

fn convention_key(source: i64) -> String {
    format!("convention:{source}")
}

/// The link convention that somebody stated for a source; `None` where it is detected.
pub(crate) fn stated_convention(
    connection: &Connection,
    source: i64,
) -> Result<Option<LinkConvention>> {
    let stated = super::meta(connection, &convention_key(source))?;
    Ok(stated.and_then(|name| LinkConvention::parse(&name)))
}

/// Keeps the link convention that somebody stated for a source.
pub(crate) fn state_convention(
    connection: &Connection,
    source: i64,
    convention: LinkConvention,
) -> Result<()> {
    super::set_meta(connection, &convention_key(source), convention.as_str())
}

/// Keeps this link convention for all sources of a namespace; with `None`, forgets what was stated.
pub(crate) fn state_conventions(
    connection: &Connection,
    namespace: i64,
    convention: Option<LinkConvention>,
) -> Result<()> {
    for source in sources(connection, namespace)? {
        match convention {
            Some(convention) => state_convention(connection, source.id, convention)?,
            None => {
                connection.execute(
                    "DELETE FROM meta WHERE key = ?1",
                    [convention_key(source.id)],
                )?;
            }
        }
    }
    Ok(())
}

/// Every file of a source, by path.
pub(crate) fn files(connection: &Connection, source: i64) -> Result<Vec<FileRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT path, size, mtime_ns, content_hash, status FROM file WHERE source = ?1 ORDER BY path",
    )?;
    let rows = statement.query_map([source], |row| {
        let status: String = row.get(4)?;
        Ok(FileRow {
            path: row.get(0)?,
            size: row.get::<_, i64>(1)? as u64,
            mtime_ns: row.get(2)?,
            content_hash: row.get(3)?,
            status: FileStatus::parse(&status),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Number of files that a source has.
pub(crate) fn count_files(connection: &Connection, source: i64) -> Result<usize> {
    let count: i64 = connection
        .prepare_cached("SELECT count(*) FROM file WHERE source = ?1")?
        .query_row([source], |row| row.get(0))?;
    Ok(count as usize)
}

/// Bytes of all known files of a namespace.
pub(crate) fn known_bytes(connection: &Connection, namespace: i64) -> Result<u64> {
    let bytes: i64 = connection
        .prepare_cached(
            "SELECT coalesce(sum(f.size), 0) FROM file f JOIN source s ON s.id = f.source WHERE s.namespace = ?1",
        )?
        .query_row([namespace], |row| row.get(0))?;
    Ok(bytes as u64)
}

/// The content hash of a file; `None` when the source has none at this path.
pub(crate) fn file_hash(
    connection: &Connection,
    source: i64,
    path: &str,
) -> Result<Option<Vec<u8>>> {
    Ok(connection
        .prepare_cached("SELECT content_hash FROM file WHERE source = ?1 AND path = ?2")?
        .query_row(params![source, path], |row| row.get(0))
        .optional()?)
}

/// Content hashes of all files of a source, by path.
pub(crate) fn file_hashes(
    connection: &Connection,
    namespace: i64,
    label: &str,
) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut statement = connection.prepare_cached(
        "SELECT f.path, f.content_hash FROM file f JOIN source s ON s.id = f.source
         WHERE s.namespace = ?1 AND s.label = ?2",
    )?;
    let rows = statement.query_map(params![namespace, label], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Records what a file looked like; replaces the row of an earlier run.
pub(crate) fn save_file(connection: &Connection, source: i64, file: &FileRow) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO file (source, path, size, mtime_ns, content_hash, status)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            source,
            file.path,
            file.size as i64,
            file.mtime_ns,
            file.content_hash,
            file.status.as_str()
        ])?;
    Ok(())
}

/// Records that a file was touched without a change of its content.
pub(crate) fn touch_file(
    connection: &Connection,
    source: i64,
    path: &str,
    size: u64,
    mtime_ns: i64,
) -> Result<()> {
    connection
        .prepare_cached("UPDATE file SET size = ?3, mtime_ns = ?4 WHERE source = ?1 AND path = ?2")?
        .execute(params![source, path, size as i64, mtime_ns])?;
    Ok(())
}

/// Forgets a file that is gone, with its issues.
pub(crate) fn remove_file(connection: &Connection, source: i64, path: &str) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM file WHERE source = ?1 AND path = ?2")?
        .execute(params![source, path])?;
    clear_issues(connection, source, path)
}

/// Drops the issues of a file before it is read again.
pub(crate) fn clear_issues(connection: &Connection, source: i64, path: &str) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM issue WHERE source = ?1 AND path = ?2")?
        .execute(params![source, path])?;
    Ok(())
}

/// Records an issue of a file; `ordinal` numbers the issues of one file.
pub(crate) fn add_issue(
    connection: &Connection,
    source: i64,
    path: &str,
    ordinal: usize,
    severity: IssueSeverity,
    line: usize,
    reason: &str,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO issue (source, path, ordinal, severity, line, reason)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            source,
            path,
            ordinal as i64,
            severity.as_str(),
            line as i64,
            reason
        ])?;
    Ok(())
}

/// The paths of a source's files that are no notes, by path: attachments, tables whose rows are documents, and files
/// without text.
pub(crate) fn attachments(connection: &Connection, namespace: i64) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT s.label, f.path FROM file f JOIN source s ON s.id = f.source
         WHERE s.namespace = ?1 AND (f.status = 'attachment' OR NOT EXISTS
             (SELECT 1 FROM document d WHERE d.source = f.source AND d.path = f.path
              AND d.retracted_at IS NULL AND d.kind <> 'row'))
         ORDER BY s.label, f.path",
    )?;
    let rows = statement.query_map([namespace], |row| {
        let (label, path): (String, String) = (row.get(0)?, row.get(1)?);
        Ok(join_uri(&label, &path))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A document's uri: the source's label, then the path in it.
pub(crate) fn join_uri(label: &str, path: &str) -> String {
    match (label, path) {
        ("", path) => path.to_owned(),
        (label, "") => label.to_owned(),
        (label, path) => format!("{label}/{path}"),
    }
}

/// Every issue of a namespace, by uri.
pub(crate) fn issues(connection: &Connection, namespace: i64) -> Result<Vec<Issue>> {
    let mut statement = connection.prepare_cached(
        "SELECT s.label, i.path, i.severity, i.line, i.reason FROM issue i JOIN source s ON s.id = i.source
         WHERE s.namespace = ?1 ORDER BY s.label, i.path, i.ordinal",
    )?;
    let rows = statement.query_map([namespace], |row| {
        let (label, path, severity): (String, String, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Issue {
            severity: IssueSeverity::parse(&severity).unwrap_or(IssueSeverity::Warning),
            uri: join_uri(&label, &path),
            line: row.get::<_, i64>(3)? as usize,
            reason: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
