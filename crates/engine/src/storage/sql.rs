//! SQL of the user's own, which can read everything and change nothing.

use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::ValueRef;
use serde_json::Value;

use super::Store;
use super::hex::hex;
use crate::{Error, Result};

/// Instructions of `SQLite`'s machine between two looks at the clock.
const STEPS_PER_LOOK: i32 = 10_000;

/// Bounds of one query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SqlLimits {
    /// Rows handed over; a further one only shows that there are more.
    pub rows: usize,
    /// Time after which the query is given up.
    pub time: Duration,
}

impl Default for SqlLimits {
    fn default() -> Self {
        Self {
            rows: 10_000,
            time: Duration::from_mins(1),
        }
    }
}

/// What became of a query whose rows were handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlOutcome {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows handed over.
    pub rows: usize,
    /// There were more rows than the limit.
    pub truncated: bool,
}

/// A store whose statements can be stopped, as long as this lives.
pub struct Stoppable<S: DerefMut<Target = Store>>(S);

impl<S: DerefMut<Target = Store>> Stoppable<S> {
    /// Statements end with [`Error::Interrupted`] once `stop` says so, which is asked now and then. Not for writing: a
    /// transaction would be rolled back in its middle.
    pub fn new(store: S, stop: impl Fn() -> bool + Send + 'static) -> Result<Self> {
        let mut stoppable = Self(store);
        stoppable.stop_when(stop)?;
        Ok(stoppable)
    }

    /// From now on `stop` says so instead.
    pub fn stop_when(&mut self, stop: impl Fn() -> bool + Send + 'static) -> Result<()> {
        self.0
            .connection_mut()
            .progress_handler(STEPS_PER_LOOK, Some(stop))?;
        Ok(())
    }
}

impl<S: DerefMut<Target = Store>> Deref for Stoppable<S> {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.0
    }
}

impl<S: DerefMut<Target = Store>> Drop for Stoppable<S> {
    fn drop(&mut self) {
        // It fails only on a connection that is gone.
        let _ = self
            .0
            .connection_mut()
            .progress_handler(0, None::<fn() -> bool>);
    }
}

impl Store {
    /// Runs one reading statement and hands over its rows with the columns' names. Blobs come as
    /// `x'…'` literals. The store must have been opened by [`Store::open_read_only`]; statements that
    /// would write, attach another file or change a setting are refused, whatever their spelling.
    /// `interrupted` is asked now and then and stops the query when it is true.
    pub fn sql(
        &mut self,
        sql: &str,
        limits: SqlLimits,
        interrupted: impl Fn() -> bool + Send + 'static,
        each: impl FnMut(&[String], Vec<Value>) -> Result<()>,
    ) -> Result<SqlOutcome> {
        if !self.is_read_only() {
            return Err(Error::Usage(
                "queries in SQL need a store that was opened read-only".to_owned(),
            ));
        }
        let connection = self.connection_mut();
        let deadline = Instant::now() + limits.time;
        connection.authorizer(Some(authorize))?;
        connection.progress_handler(
            STEPS_PER_LOOK,
            Some(move || interrupted() || Instant::now() >= deadline),
        )?;
        let result = run(connection, sql, limits.rows, each);
        connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
        connection.progress_handler(0, None::<fn() -> bool>)?;
        match result {
            Err(Error::Interrupted) if Instant::now() >= deadline => Err(Error::Usage(format!(
                "the query took longer than {} s and was given up; narrow it",
                limits.time.as_secs()
            ))),
            other => other,
        }
    }
}

fn run(
    connection: &rusqlite::Connection,
    sql: &str,
    limit: usize,
    mut each: impl FnMut(&[String], Vec<Value>) -> Result<()>,
) -> Result<SqlOutcome> {
    let mut statement = connection.prepare(sql).map_err(refusal)?;
    if !statement.readonly() || statement.column_count() == 0 {
        return Err(Error::Usage(
            "only statements that read are allowed, such as SELECT".to_owned(),
        ));
    }
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([]).map_err(refusal)?;
    let mut count = 0;
    while let Some(row) = rows.next().map_err(refusal)? {
        if count == limit {
            return Ok(SqlOutcome {
                columns,
                rows: count,
                truncated: true,
            });
        }
        let values = (0..columns.len())
            .map(|column| Ok(json(row.get_ref(column)?)))
            .collect::<Result<Vec<_>>>()?;
        each(&columns, values)?;
        count += 1;
    }
    Ok(SqlOutcome {
        columns,
        rows: count,
        truncated: false,
    })
}

/// Mistakes in the statement are the user's; the rest are ours.
fn refusal(error: rusqlite::Error) -> Error {
    match &error {
        rusqlite::Error::Empty => Error::Usage("there is no statement to run".to_owned()),
        rusqlite::Error::MultipleStatement => {
            Error::Usage("one statement at a time, please".to_owned())
        }
        rusqlite::Error::SqlInputError { msg, offset, .. } => {
            Error::Usage(format!("SQL: {msg} (at byte {offset})"))
        }
        rusqlite::Error::SqliteFailure(failure, message)
            if matches!(
                failure.code,
                rusqlite::ErrorCode::AuthorizationForStatementDenied
                    | rusqlite::ErrorCode::ReadOnly
                    | rusqlite::ErrorCode::Unknown
            ) =>
        {
            let message = message.as_deref().unwrap_or("refused");
            Error::Usage(format!(
                "SQL: {message} (the store is open for reading only)"
            ))
        }
        _ => error.into(),
    }
}

/// Allows what reads. Everything is denied that is not named here, so a new kind of action in a later
/// `SQLite` is denied too.
fn authorize(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => {
            Authorization::Allow
        }
        AuthAction::Function { function_name } if function_name != "load_extension" => {
            Authorization::Allow
        }
        AuthAction::Pragma {
            pragma_name,
            pragma_value,
        } if is_harmless_pragma(pragma_name, pragma_value) => Authorization::Allow,
        _ => Authorization::Deny,
    }
}

/// Pragmas that describe the schema (their value is a name) or show a setting (without a value).
fn is_harmless_pragma(name: &str, value: Option<&str>) -> bool {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "table_info" | "table_xinfo" | "table_list" | "index_list" | "index_info"
        | "index_xinfo" | "foreign_key_list" => true,
        "user_version" | "application_id" | "page_count" | "page_size" | "freelist_count"
        | "compile_options" | "data_version" | "function_list" | "journal_mode" => value.is_none(),
        _ => false,
    }
}

fn json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        // An infinite number has no form in JSON and becomes null.
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => format!("x'{}'", hex(bytes)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_store(test: impl FnOnce(&mut Store)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("malha.db");
        drop(Store::create_or_open(&path).unwrap());
        let before = std::fs::read(&path).unwrap();
        test(&mut Store::open_read_only(&path).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_eq!(
            std::fs::read_dir(folder.path())
                .unwrap()
                .filter(|entry| {
                    let name = entry.as_ref().unwrap().file_name();
                    !name.to_string_lossy().starts_with("malha.db")
                })
                .count(),
            0
        );
    }

    fn rows(store: &mut Store, sql: &str, limit: usize) -> Result<(Vec<Vec<Value>>, SqlOutcome)> {
        let mut rows = Vec::new();
        let limits = SqlLimits {
            rows: limit,
            time: Duration::from_secs(5),
        };
        let outcome = store.sql(
            sql,
            limits,
            || false,
            |_, row| {
                rows.push(row);
                Ok(())
            },
        )?;
        Ok((rows, outcome))
    }

    #[test]
    fn values_of_every_kind_come_as_json() {
        with_store(|store| {
            let (rows, outcome) =
                rows(store, "SELECT 1 AS a, 2.5, 'é', NULL, x'0aff', 9e999", 9).unwrap();
            assert_eq!(
                Value::from(rows),
                serde_json::json!([[1, 2.5, "é", null, "x'0aff'", null]])
            );
            assert_eq!(outcome.columns[0], "a");
            assert!(!outcome.truncated);
        });
    }

    #[test]
    fn limits_hold() {
        with_store(|store| {
            let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
                           SELECT i FROM n";
            let (found, outcome) = rows(store, endless, 3).unwrap();
            assert_eq!((found.len(), outcome.truncated), (3, true));
            let limits = SqlLimits {
                rows: 10,
                time: Duration::from_millis(30),
            };
            let sql = format!("SELECT count(*) FROM ({endless})");
            let slow = store.sql(&sql, limits, || false, |_, _| Ok(()));
            assert!(slow.unwrap_err().to_string().contains("took longer"));
            let stopped = store.sql(&sql, SqlLimits::default(), || true, |_, _| Ok(()));
            assert!(matches!(stopped, Err(Error::Interrupted)));
            assert!(rows(store, "SELECT 1", 1).is_ok(), "usable afterwards");
        });
    }

    #[test]
    fn a_stoppable_store_ends_its_statements_and_no_others() {
        let count = |store: &Store, most: &str| -> Result<i64> {
            let sql = format!(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n {most})
                 SELECT count(*) FROM n"
            );
            Ok(store.connection().query_row(&sql, [], |row| row.get(0))?)
        };
        with_store(|store| {
            let mut stoppable = Stoppable::new(&mut *store, || true).unwrap();
            let endless = count(&stoppable, "");
            assert!(matches!(endless, Err(Error::Interrupted)), "{endless:?}");
            let long = "LIMIT 100000";
            assert!(count(&stoppable, long).is_err());
            stoppable.stop_when(|| false).unwrap();
            assert_eq!(count(&stoppable, long).unwrap(), 100_000);
            stoppable.stop_when(|| true).unwrap();
            drop(stoppable);
            assert_eq!(count(store, long).unwrap(), 100_000);
        });
    }

    #[test]
    fn nothing_can_be_changed() {
        with_store(|store| {
            for sql in [
                "DELETE FROM meta",
                "UPDATE meta SET value = 1",
                "INSERT INTO meta VALUES ('a', 'b') RETURNING key",
                "WITH x AS (SELECT 1) INSERT INTO meta SELECT 'a', 'b' FROM x",
                "dElEtE/**/FROM meta",
                "ＤＥＬＥＴＥ FROM meta",
                "SELECT 1; DELETE FROM meta",
                "CREATE TABLE t (a)",
                "CREATE TEMP TABLE t (a)",
                "DROP VIEW nodes",
                "ATTACH 'other.db' AS other",
                "VACUUM",
                "VACUUM INTO 'copy.db'",
                "PRAGMA query_only = 0",
                "PRAGMA user_version = 7",
                "PRAGMA journal_mode = DELETE",
                "PRAGMA writable_schema = 1",
                "SELECT load_extension('x')",
                "BEGIN IMMEDIATE",
                "REINDEX",
                "",
                "-- nothing",
                "SELEKT 1",
            ] {
                let error = rows(store, sql, 1).unwrap_err();
                assert!(matches!(error, Error::Usage(_)), "{sql}: {error:?}");
            }
            for sql in [
                "SELECT * FROM nodes, edges, aliases, chunks, communities, memberships",
                "SELECT name FROM pragma_table_info('chunk')",
                "PRAGMA user_version",
                "SELECT count(*) FROM chunk_fts WHERE chunk_fts MATCH 'a'",
                "SELECT term, doc FROM chunk_fts_term WHERE term = 'a'",
            ] {
                rows(store, sql, 1).unwrap_or_else(|error| panic!("{sql}: {error}"));
            }
        });
    }
}
