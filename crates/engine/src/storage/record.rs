//! Rows as records: every current row of a namespace as a map of named values in which row ids are
//! replaced by what they stand for, and back. The export format is made of these.
//!
//! Columns are taken from the schema, so a column that a migration adds is exported without a
//! change here.

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::{Map, Value};

use super::NamespaceId;
use crate::Result;
use crate::types::ChunkId;

/// What stands for a row id in a record, and how the row is found by it. `$` is the column on the
/// way out, the parameter on the way in.
pub(super) struct Reference {
    pub(super) name: &'static str,
    out: &'static str,
    pub(super) back: &'static str,
}

const SOURCE: Reference = Reference {
    name: "source",
    out: "(SELECT label FROM source WHERE id = $)",
    back: "(SELECT id FROM source WHERE namespace = :namespace AND label = $)",
};
const ENTITY: Reference = Reference {
    name: "entity",
    out: "(SELECT public_id FROM entity WHERE id = $)",
    back: "(SELECT id FROM entity WHERE public_id = $ AND namespace = :namespace)",
};
const DOCUMENT: Reference = Reference {
    name: "document",
    out: "(SELECT uri FROM document WHERE id = $)",
    back: "(SELECT id FROM document WHERE namespace = :namespace AND uri = $ AND retracted_at IS NULL)",
};
/// `[uri, ordinal]`
const CHUNK: Reference = Reference {
    name: "chunk",
    out: "(SELECT json_array(d.uri, c.ordinal) FROM chunk c JOIN document d ON d.id = c.document
           WHERE c.id = $ AND c.retracted_at IS NULL)",
    back:
        "(SELECT c.id FROM document d JOIN chunk c ON c.document = d.id AND c.retracted_at IS NULL
            WHERE d.namespace = :namespace AND d.uri = $ ->> 0 AND d.retracted_at IS NULL
                AND c.ordinal = $ ->> 1)",
};
const RELATION_TYPE: Reference = Reference {
    name: "relation type",
    out: "(SELECT key FROM relation_type WHERE id = $)",
    back: "(SELECT id FROM relation_type WHERE namespace = :namespace AND key = $)",
};
/// `[source entity, target entity, type, version]`
const RELATION: Reference = Reference {
    name: "relation",
    out: "(SELECT json_array(a.public_id, b.public_id, t.key, r.version) FROM relation r
           JOIN entity a ON a.id = r.source JOIN entity b ON b.id = r.target
           JOIN relation_type t ON t.id = r.type WHERE r.id = $)",
    back: "(SELECT r.id FROM entity a JOIN entity b JOIN relation_type t JOIN relation r
                ON r.source = a.id AND r.target = b.id AND r.type = t.id
            WHERE a.public_id = $ ->> 0 AND a.namespace = :namespace
                AND b.public_id = $ ->> 1 AND b.namespace = :namespace
                AND t.key = $ ->> 2 AND t.namespace = :namespace AND r.version = $ ->> 3)",
};
/// Public id: of claims that say the same, one is current.
const CLAIM: Reference = Reference {
    name: "claim",
    out: "(SELECT public_id FROM claim WHERE id = $)",
    back: "(SELECT id FROM claim WHERE public_id = $ AND namespace = :namespace AND retracted_at IS NULL)",
};
/// A row id of the table's own that others do not name.
const NUMBERED: Reference = Reference {
    name: "number",
    out: "NULL",
    back: "(SELECT coalesce(max(id), 0) + 1 FROM relation)",
};

/// One table of records.
pub(super) struct Table {
    pub(super) name: &'static str,
    references: &'static [(&'static str, &'static Reference)],
    /// Columns that have no place in a record.
    without: &'static [&'static str],
    /// Which rows `x` belong to the namespace `?1` and are current.
    current: &'static str,
    /// An order that depends on no row id.
    order: &'static str,
}

const IN_CURRENT_DOCUMENT: &str = "EXISTS (SELECT 1 FROM document d WHERE d.id = x.document \
     AND d.namespace = ?1 AND d.retracted_at IS NULL)";
const IN_SOURCE: &str =
    "EXISTS (SELECT 1 FROM source s WHERE s.id = x.source AND s.namespace = ?1)";

/// In an order in which every reference is to a table before.
pub(super) const TABLES: &[Table] = &[
    Table {
        name: "source",
        references: &[],
        without: &["id", "namespace"],
        current: "x.namespace = ?1",
        order: "x.label",
    },
    Table {
        name: "file",
        references: &[("source", &SOURCE)],
        without: &[],
        current: IN_SOURCE,
        order: "1, x.path",
    },
    Table {
        name: "issue",
        references: &[("source", &SOURCE)],
        without: &[],
        current: IN_SOURCE,
        order: "1, x.path, x.ordinal",
    },
    Table {
        name: "entity",
        references: &[],
        without: &["id", "namespace", "retracted_at"],
        current: "x.namespace = ?1 AND x.retracted_at IS NULL",
        order: "x.public_id",
    },
    Table {
        name: "entity_type",
        references: &[("entity", &ENTITY)],
        without: &[],
        current: "EXISTS (SELECT 1 FROM entity e WHERE e.id = x.entity AND e.namespace = ?1 \
                  AND e.retracted_at IS NULL)",
        order: "1, x.type, x.evidence",
    },
    Table {
        name: "alias",
        references: &[("entity", &ENTITY)],
        without: &["namespace"],
        current: "x.namespace = ?1",
        order: "x.folded, entity, x.source",
    },
    Table {
        name: "name_count",
        references: &[],
        without: &["namespace"],
        current: "x.namespace = ?1",
        order: "x.folded, x.written",
    },
    Table {
        name: "document",
        references: &[("source", &SOURCE), ("entity", &ENTITY)],
        without: &["id", "namespace", "retracted_at"],
        current: "x.namespace = ?1 AND x.retracted_at IS NULL",
        order: "x.uri",
    },
    Table {
        name: "document_tag",
        references: &[("document", &DOCUMENT)],
        without: &[],
        current: IN_CURRENT_DOCUMENT,
        order: "1, x.folded",
    },
    Table {
        name: "chunk",
        references: &[("document", &DOCUMENT)],
        without: &["id", "retracted_at"],
        current: "x.retracted_at IS NULL AND EXISTS (SELECT 1 FROM document d \
                  WHERE d.id = x.document AND d.namespace = ?1 AND d.retracted_at IS NULL)",
        order: "1, x.ordinal",
    },
    Table {
        name: "mention",
        references: &[("chunk", &CHUNK), ("entity", &ENTITY)],
        without: &[],
        current: "EXISTS (SELECT 1 FROM chunk c JOIN document d ON d.id = c.document \
                  WHERE c.id = x.chunk AND c.retracted_at IS NULL AND d.namespace = ?1)",
        order: "1, x.start, entity, x.how",
    },
    Table {
        name: "link",
        references: &[("document", &DOCUMENT), ("resolved", &DOCUMENT)],
        without: &["id"],
        current: IN_CURRENT_DOCUMENT,
        order: "1, x.start, x.\"end\", x.kind, x.target",
    },
    Table {
        name: "relation_type",
        references: &[],
        without: &["id", "namespace"],
        current: "x.namespace = ?1",
        order: "x.key",
    },
    Table {
        name: "relation",
        references: &[
            ("source", &ENTITY),
            ("target", &ENTITY),
            ("type", &RELATION_TYPE),
            ("id", &NUMBERED),
        ],
        without: &["namespace", "retracted_at", "superseded_by"],
        current: "x.namespace = ?1 AND x.retracted_at IS NULL",
        order: "source, target, type, x.version",
    },
    Table {
        name: "evidence",
        references: &[
            ("relation", &RELATION),
            ("document", &DOCUMENT),
            ("chunk", &CHUNK),
        ],
        without: &["retracted_at"],
        current: "x.retracted_at IS NULL AND EXISTS (SELECT 1 FROM relation r \
                  WHERE r.id = x.relation AND r.namespace = ?1 AND r.retracted_at IS NULL)",
        order: "1, document, x.start",
    },
    Table {
        name: "claim",
        references: &[("subject", &ENTITY), ("object", &ENTITY)],
        without: &["id", "namespace", "retracted_at"],
        current: "x.namespace = ?1 AND x.retracted_at IS NULL",
        order: "x.public_id",
    },
    Table {
        name: "claim_evidence",
        references: &[
            ("claim", &CLAIM),
            ("document", &DOCUMENT),
            ("chunk", &CHUNK),
        ],
        without: &["retracted_at"],
        current: "x.retracted_at IS NULL AND EXISTS (SELECT 1 FROM claim c \
                  WHERE c.id = x.claim AND c.namespace = ?1 AND c.retracted_at IS NULL)",
        order: "1, document, x.start",
    },
];

/// A column of a table as the schema declares it.
struct Column {
    name: String,
    is_blob: bool,
}

impl Table {
    fn columns(&self, connection: &Connection) -> Result<Vec<Column>> {
        let mut statement =
            connection.prepare_cached("SELECT name, type FROM pragma_table_info(?1)")?;
        let columns = statement.query_map([self.name], |row| {
            Ok(Column {
                name: row.get(0)?,
                is_blob: row.get::<_, String>(1)? == "BLOB",
            })
        })?;
        let columns: Vec<Column> = columns.collect::<Result<_, _>>()?;
        let kept = |column: &Column| !self.without.contains(&column.name.as_str());
        Ok(columns.into_iter().filter(kept).collect())
    }

    pub(super) fn reference(&self, column: &str) -> Option<&'static Reference> {
        self.references
            .iter()
            .find(|(name, _)| *name == column)
            .map(|(_, reference)| *reference)
    }

    fn select(&self, connection: &Connection) -> Result<String> {
        let columns: Vec<String> = self
            .columns(connection)?
            .iter()
            .map(|column| {
                let own = format!("x.\"{}\"", column.name);
                let value = match self.reference(&column.name) {
                    Some(reference) => reference.out.replace('$', &own),
                    None if column.is_blob => format!("lower(hex({own}))"),
                    None => own,
                };
                format!("{value} AS \"{}\"", column.name)
            })
            .collect();
        Ok(format!(
            "SELECT {} FROM {} x WHERE {} ORDER BY {}",
            columns.join(", "),
            self.name,
            self.current,
            self.order
        ))
    }

    /// The statement that inserts a record: a parameter for every column and one for the namespace.
    pub(super) fn insert(&self, connection: &Connection) -> Result<String> {
        let mut names = Vec::new();
        let mut values = Vec::new();
        for column in self.columns(connection)? {
            let parameter = format!(":{}", column.name);
            values.push(match self.reference(&column.name) {
                Some(reference) if reference.is_numbered() => reference.back.to_owned(),
                _ if column.is_blob => format!("unhex({parameter})"),
                _ => parameter,
            });
            names.push(format!("\"{}\"", column.name));
        }
        if self.without.contains(&"namespace") {
            names.push("namespace".to_owned());
            values.push(":namespace".to_owned());
        }
        Ok(format!(
            "INSERT INTO {} ({}) VALUES ({})",
            self.name,
            names.join(", "),
            values.join(", ")
        ))
    }
}

impl Reference {
    fn is_numbered(&self) -> bool {
        self.name == NUMBERED.name
    }

    fn is_list(&self) -> bool {
        self.out.contains("json_array")
    }
}

/// Hands over every current row of the namespace as the name of its table and its record. Values
/// that are NULL are left out.
pub(crate) fn for_each_record(
    connection: &Connection,
    namespace: NamespaceId,
    mut each: impl FnMut(&'static str, Map<String, Value>) -> Result<()>,
) -> Result<()> {
    for table in TABLES {
        let mut statement = connection.prepare(&table.select(connection)?)?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([namespace.0])?;
        while let Some(row) = rows.next()? {
            let mut record = Map::new();
            for (column, name) in names.iter().enumerate() {
                let is_list = table.reference(name).is_some_and(Reference::is_list);
                match row.get_ref(column)? {
                    ValueRef::Null => {}
                    ValueRef::Text(text) if is_list => {
                        let list = serde_json::from_slice(text).expect("SQLite writes JSON");
                        record.insert(name.clone(), list);
                    }
                    value => {
                        record.insert(name.clone(), to_json(value));
                    }
                }
            }
            each(table.name, record)?;
        }
    }
    Ok(())
}

fn to_json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        // Blobs are written as hexadecimal text before they come here.
        ValueRef::Null | ValueRef::Blob(_) => Value::Null,
    }
}

/// A current chunk with all that its terms come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexedText {
    pub(crate) id: ChunkId,
    pub(crate) language: String,
    pub(crate) title: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) heading_path: Vec<String>,
    pub(crate) text: String,
}

/// Hands over the current chunks of the namespace, by id.
pub(crate) fn for_each_text(
    connection: &Connection,
    namespace: NamespaceId,
    mut each: impl FnMut(&IndexedText) -> Result<()>,
) -> Result<()> {
    let list = |text: Option<String>| -> Vec<String> {
        text.and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    };
    let mut statement = connection.prepare_cached(
        "SELECT c.id, d.language, d.title, d.aliases, c.heading_path, c.text
         FROM chunk c JOIN document d ON d.id = c.document
         WHERE d.namespace = ?1 AND d.retracted_at IS NULL AND c.retracted_at IS NULL ORDER BY c.id",
    )?;
    let mut rows = statement.query([namespace.0])?;
    while let Some(row) = rows.next()? {
        each(&IndexedText {
            id: ChunkId(row.get(0)?),
            language: row.get(1)?,
            title: row.get(2)?,
            aliases: list(row.get(3)?),
            heading_path: list(row.get(4)?),
            text: row.get(5)?,
        })?;
    }
    Ok(())
}

/// Whether anything was ever stored in the namespace.
pub(crate) fn has_content(connection: &Connection, namespace: NamespaceId) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM source WHERE namespace = ?1
             UNION ALL SELECT 1 FROM entity WHERE namespace = ?1
             UNION ALL SELECT 1 FROM document WHERE namespace = ?1",
        )?
        .exists([namespace.0])?)
}
