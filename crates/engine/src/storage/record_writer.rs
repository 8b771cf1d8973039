//! Records back into rows.

use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, ErrorCode, Statement};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::NamespaceId;
use super::record::{Reference, TABLES, Table};
use crate::{Error, Result};

/// Turns records back into rows of one namespace, in the order of an export: what a record refers to
/// comes before it.
pub(crate) struct RecordWriter<'connection> {
    namespace: NamespaceId,
    tables: Vec<TableWriter<'connection>>,
    resolvers: Vec<Resolver<'connection>>,
}

/// Why a record did not become a row.
#[derive(Debug)]
pub(crate) enum RecordError {
    /// The record is not usable; why.
    Unusable(String),
    /// The store failed.
    Failed(Error),
}

impl From<rusqlite::Error> for RecordError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error.into())
    }
}

struct TableWriter<'connection> {
    name: &'static str,
    insert: Statement<'connection>,
    /// What each parameter of `insert` takes, from the first.
    parameters: Vec<Parameter>,
}

enum Parameter {
    Namespace,
    Column(String),
    /// The row id that the column's value stands for, found by this resolver.
    Reference(String, usize),
}

/// Finds rows by what stands for them, and remembers them: many records name the same few.
struct Resolver<'connection> {
    name: &'static str,
    select: Statement<'connection>,
    known: FxHashMap<String, i64>,
}

impl<'connection> RecordWriter<'connection> {
    pub(crate) fn new(connection: &'connection Connection, namespace: NamespaceId) -> Result<Self> {
        let mut writer = Self {
            namespace,
            tables: Vec::new(),
            resolvers: Vec::new(),
        };
        for table in TABLES {
            let table = writer.table(connection, table)?;
            writer.tables.push(table);
        }
        Ok(writer)
    }

    fn table(
        &mut self,
        connection: &'connection Connection,
        table: &Table,
    ) -> Result<TableWriter<'connection>> {
        let insert = connection.prepare(&table.insert(connection)?)?;
        let mut parameters = Vec::new();
        for index in 1..=insert.parameter_count() {
            let name = insert
                .parameter_name(index)
                .and_then(|name| name.strip_prefix(':'))
                .expect("every parameter has a name");
            parameters.push(match table.reference(name) {
                _ if name == "namespace" => Parameter::Namespace,
                Some(reference) => {
                    Parameter::Reference(name.to_owned(), self.resolver(connection, reference)?)
                }
                None => Parameter::Column(name.to_owned()),
            });
        }
        Ok(TableWriter {
            name: table.name,
            insert,
            parameters,
        })
    }

    fn resolver(
        &mut self,
        connection: &'connection Connection,
        reference: &Reference,
    ) -> Result<usize> {
        let known = |resolver: &Resolver<'_>| resolver.name == reference.name;
        if let Some(at) = self.resolvers.iter().position(known) {
            return Ok(at);
        }
        let sql = format!("SELECT {}", reference.back.replace('$', ":value"));
        self.resolvers.push(Resolver {
            name: reference.name,
            select: connection.prepare(&sql)?,
            known: FxHashMap::default(),
        });
        Ok(self.resolvers.len() - 1)
    }

    /// Inserts a record. What is wrong with it is said in words for the user.
    pub(crate) fn insert(
        &mut self,
        table: &str,
        record: &Map<String, Value>,
    ) -> Result<(), RecordError> {
        let Some(table) = self.tables.iter_mut().find(|writer| writer.name == table) else {
            return Err(RecordError::Unusable(format!("unknown record {table:?}")));
        };
        let mut used = 0;
        for (index, parameter) in (1..).zip(&table.parameters) {
            let value = match parameter {
                Parameter::Namespace => SqlValue::Integer(self.namespace.0),
                Parameter::Column(name) => match record.get(name) {
                    Some(value) => {
                        used += 1;
                        to_sql(value)
                    }
                    None => SqlValue::Null,
                },
                Parameter::Reference(name, resolver) => match record.get(name) {
                    Some(value) => {
                        used += 1;
                        self.resolvers[*resolver].resolve(self.namespace, value)?
                    }
                    None => SqlValue::Null,
                },
            };
            table.insert.raw_bind_parameter(index, value)?;
        }
        if used < record.len() {
            return Err(table.unknown_field(record));
        }
        match table.insert.raw_execute() {
            Ok(_) => Ok(()),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                Err(RecordError::Unusable(format!(
                    "this {} stands there twice, or lacks a value ({error})",
                    table.name
                )))
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl TableWriter<'_> {
    fn unknown_field(&self, record: &Map<String, Value>) -> RecordError {
        let is_known = |field: &str| {
            self.parameters.iter().any(|parameter| match parameter {
                Parameter::Namespace => false,
                Parameter::Column(name) | Parameter::Reference(name, _) => name == field,
            })
        };
        let unknown = record
            .keys()
            .find(|field| !is_known(field))
            .map_or("", String::as_str);
        RecordError::Unusable(format!(
            "unknown field {unknown:?}; it was written by a newer malha"
        ))
    }
}

impl Resolver<'_> {
    fn resolve(&mut self, namespace: NamespaceId, value: &Value) -> Result<SqlValue, RecordError> {
        let list;
        let text = match value {
            Value::String(text) => text,
            other => {
                list = other.to_string();
                &list
            }
        };
        if let Some(&id) = self.known.get(text) {
            return Ok(SqlValue::Integer(id));
        }
        let id: Option<i64> = self.select.query_row(
            rusqlite::named_params! {":namespace": namespace.0, ":value": text},
            |row| row.get(0),
        )?;
        let id = id.ok_or_else(|| {
            RecordError::Unusable(format!(
                "it refers to the {} {text}, which is not in the file before it",
                self.name
            ))
        })?;
        self.known.insert(text.clone(), id);
        Ok(SqlValue::Integer(id))
    }
}

fn to_sql(value: &Value) -> SqlValue {
    match value {
        Value::Null => SqlValue::Null,
        Value::Bool(flag) => SqlValue::Integer(i64::from(*flag)),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => SqlValue::Integer(integer),
            None => SqlValue::Real(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => SqlValue::Text(text.clone()),
        list => SqlValue::Text(list.to_string()),
    }
}
