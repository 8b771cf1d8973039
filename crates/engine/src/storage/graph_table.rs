//! The content of a namespace as a property graph: one list of tables of nodes and edges, whose rows
//! stream out in an order that depends on the content alone. Every graph export is made of these.

use std::cell::RefCell;
use std::collections::BTreeMap;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, ToSql, params};

use super::NamespaceId;
use crate::types::Progress;
use crate::{Error, Result};

/// One table: what its rows are called elsewhere, and their columns.
#[derive(Debug)]
pub(crate) struct GraphTable {
    /// Label of the nodes or type of the edges.
    pub(crate) name: &'static str,
    pub(crate) kind: TableKind,
    /// Of a node the first column is `id`; of an edge the first two are `source` and `target`.
    pub(crate) columns: &'static [Column],
    /// `?1` is the namespace; `?2` is whether retracted rows are wanted.
    pub(super) sql: &'static str,
}

impl GraphTable {
    /// The cell of the column `name`, which the table must have.
    pub(crate) fn cell<'a>(&self, row: &'a [Cell], name: &str) -> &'a Cell {
        let at = self.columns.iter().position(|column| column.name == name);
        &row[at.expect("only columns of the table are asked for")]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableKind {
    Node,
    /// Names of the tables that it leads between.
    Edge {
        from: &'static str,
        to: &'static str,
    },
    /// Rows that tell more of an edge or a node; only formats of tables have a place for them.
    Detail,
}

#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: ColumnKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Text,
    /// Any number of texts.
    Texts,
    /// A vector.
    Floats,
    /// JSON as text.
    Json,
    Integer,
    Real,
    Boolean,
    /// Milliseconds since 1970, UTC.
    Time,
}

/// A value of a row, of its column's kind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Null,
    Text(String),
    Texts(Vec<String>),
    Floats(Vec<f32>),
    Json(String),
    Integer(i64),
    Real(f64),
    Boolean(bool),
    Time(i64),
}

use ColumnKind::{Boolean, Floats, Integer, Json, Real, Text, Texts, Time};

pub(super) const fn column(name: &'static str, kind: ColumnKind) -> Column {
    Column { name, kind }
}

/// Entities with all their types and names. `type` is the one that most evidence supports.
pub(crate) const ENTITY: GraphTable = GraphTable {
    name: "Entity",
    kind: TableKind::Node,
    columns: &[
        column("id", Text),
        column("name", Text),
        column("kind", Text),
        column("type", Text),
        column("types", Texts),
        column("aliases", Texts),
        column("description", Text),
        column("properties", Json),
        column("recorded_at", Time),
        column("retracted_at", Time),
    ],
    sql: "SELECT e.public_id, e.name, e.kind,
              (SELECT x.type FROM entity_type x WHERE x.entity = e.id
               GROUP BY x.type ORDER BY count(*) DESC, x.type LIMIT 1),
              (SELECT json_group_array(type) FROM
                  (SELECT DISTINCT type FROM entity_type WHERE entity = e.id ORDER BY type)),
              (SELECT json_group_array(written) FROM
                  (SELECT DISTINCT written FROM alias
                   WHERE entity = e.id AND written <> e.name ORDER BY written)),
              e.description, e.properties, e.recorded_at, e.retracted_at
          FROM entity e
          WHERE e.namespace = ?1 AND (?2 OR e.retracted_at IS NULL) ORDER BY e.public_id",
};

/// Current documents, without their text: that is in the chunks.
pub(crate) const DOCUMENT: GraphTable = GraphTable {
    name: "Document",
    kind: TableKind::Node,
    columns: &[
        column("id", Text),
        column("uri", Text),
        column("title", Text),
        column("kind", Text),
        column("language", Text),
        column("aliases", Texts),
        column("tags", Texts),
        column("front_matter", Json),
        column("content_hash", Text),
        column("valid_from", Time),
        column("valid_from_written", Text),
        column("observed_at", Time),
        column("recorded_at", Time),
    ],
    sql: "SELECT d.public_id, d.uri, d.title, d.kind, d.language, coalesce(d.aliases, '[]'),
              (SELECT json_group_array(written) FROM
                  (SELECT written FROM document_tag WHERE document = d.id ORDER BY folded)),
              d.front_matter, lower(hex(d.content_hash)), d.valid_from, d.valid_from_written,
              d.observed_at, d.recorded_at
          FROM document d WHERE d.namespace = ?1 AND d.retracted_at IS NULL ORDER BY d.uri",
};

/// The id of chunk `c` of document `d`: by place, since row ids depend on history.
macro_rules! chunk_id {
    ($c:literal, $d:literal) => {
        concat!($d, ".public_id || '-' || ", $c, ".ordinal")
    };
}

/// Current chunks. `start` and `end` are bytes of the document's text.
pub(crate) const CHUNK: GraphTable = GraphTable {
    name: "Chunk",
    kind: TableKind::Node,
    columns: &[
        column("id", Text),
        column("ordinal", Integer),
        column("start", Integer),
        column("end", Integer),
        column("line", Integer),
        column("heading_path", Texts),
        column("text", Text),
        column("tokens", Integer),
        column("recorded_at", Time),
    ],
    sql: concat!(
        "SELECT ",
        chunk_id!("c", "d"),
        ", c.ordinal, c.start, c.\"end\", c.line, c.heading_path, c.text, c.tokens, c.recorded_at
          FROM document d JOIN chunk c ON c.document = d.id AND c.retracted_at IS NULL
          WHERE d.namespace = ?1 AND d.retracted_at IS NULL ORDER BY d.uri, c.ordinal"
    ),
};

/// Communities, where they have been computed; level 0 is the coarsest.
pub(crate) const COMMUNITY: GraphTable = GraphTable {
    name: "Community",
    kind: TableKind::Node,
    columns: &[
        column("id", Text),
        column("level", Integer),
        column("title", Text),
        column("summary", Text),
        column("report", Text),
        column("rating", Real),
    ],
    sql: "SELECT 'community-' || c.id, c.level, c.title, c.summary, c.report, c.rating
          FROM community c WHERE c.namespace = ?1 ORDER BY c.level, c.id",
};

/// Names a relation in every format: both ends, the folded type, and which of its windows it is.
macro_rules! relation_id {
    () => {
        "a.public_id || ':' || t.key || ':' || b.public_id || ':' || r.version"
    };
}

/// Relations with the four times; the evidence is JSON, a list of objects.
pub(crate) const RELATION: GraphTable = GraphTable {
    name: "Relation",
    kind: TableKind::Edge {
        from: "Entity",
        to: "Entity",
    },
    columns: &[
        column("source", Text),
        column("target", Text),
        column("type", Text),
        column("id", Text),
        column("version", Integer),
        column("fact", Text),
        column("properties", Json),
        column("weight", Real),
        column("confidence", Real),
        column("exclusive", Boolean),
        column("valid_from", Time),
        column("valid_from_written", Text),
        column("valid_to", Time),
        column("valid_to_written", Text),
        column("recorded_at", Time),
        column("retracted_at", Time),
        column("observed_at", Time),
        column("origin", Text),
        column("superseded_by", Text),
        column("evidence", Json),
    ],
    sql: concat!(
        "SELECT a.public_id, b.public_id, t.name, ",
        relation_id!(),
        ", r.version, r.fact, r.properties, r.weight, r.confidence, r.exclusive,
          r.valid_from, r.valid_from_written, r.valid_to, r.valid_to_written,
          r.recorded_at, r.retracted_at, r.observed_at, r.origin,
          (SELECT a.public_id || ':' || t.key || ':' || b.public_id || ':' || s.version
           FROM relation s JOIN entity a ON a.id = s.source JOIN entity b ON b.id = s.target
           JOIN relation_type t ON t.id = s.type WHERE s.id = r.superseded_by),
          (SELECT json_group_array(json_object('document', uri, 'chunk', chunk, 'start', start,
                                               'end', stop, 'quote', quote))
           FROM (SELECT d.uri, v.start, v.\"end\" AS stop, v.quote, ",
        chunk_id!("c", "d"),
        " AS chunk
                 FROM evidence v JOIN document d ON d.id = v.document
                 LEFT JOIN chunk c ON c.id = v.chunk AND c.retracted_at IS NULL
                 WHERE v.relation = r.id AND (?2 OR v.retracted_at IS NULL)
                 ORDER BY d.uri, v.start))
          FROM relation r JOIN entity a ON a.id = r.source JOIN entity b ON b.id = r.target
          JOIN relation_type t ON t.id = r.type
          WHERE r.namespace = ?1 AND (?2 OR coalesce(r.retracted_at, a.retracted_at,
                                                     b.retracted_at) IS NULL)
          ORDER BY t.key, a.public_id, b.public_id, r.version"
    ),
};

/// Which chunk speaks of which entity. `start` and `end` are bytes of the document's text.
pub(crate) const MENTIONS: GraphTable = GraphTable {
    name: "MENTIONS",
    kind: TableKind::Edge {
        from: "Chunk",
        to: "Entity",
    },
    columns: &[
        column("source", Text),
        column("target", Text),
        column("how", Text),
        column("start", Integer),
        column("end", Integer),
    ],
    sql: concat!(
        "SELECT ",
        chunk_id!("c", "d"),
        ", e.public_id, m.how, m.start, m.\"end\"
          FROM document d JOIN chunk c ON c.document = d.id AND c.retracted_at IS NULL
          JOIN mention m ON m.chunk = c.id
          JOIN entity e ON e.id = m.entity AND e.retracted_at IS NULL
          WHERE d.namespace = ?1 AND d.retracted_at IS NULL
          ORDER BY d.uri, c.ordinal, m.start, e.public_id, m.how"
    ),
};

/// From a chunk to its document.
pub(crate) const PART_OF: GraphTable = GraphTable {
    name: "PART_OF",
    kind: TableKind::Edge {
        from: "Chunk",
        to: "Document",
    },
    columns: &[column("source", Text), column("target", Text)],
    sql: concat!(
        "SELECT ",
        chunk_id!("c", "d"),
        ", d.public_id
          FROM document d JOIN chunk c ON c.document = d.id AND c.retracted_at IS NULL
          WHERE d.namespace = ?1 AND d.retracted_at IS NULL ORDER BY d.uri, c.ordinal"
    ),
};

/// From a chunk to the one that follows it in its document.
pub(crate) const NEXT: GraphTable = GraphTable {
    name: "NEXT",
    kind: TableKind::Edge {
        from: "Chunk",
        to: "Chunk",
    },
    columns: &[column("source", Text), column("target", Text)],
    sql: concat!(
        "SELECT ",
        chunk_id!("c", "d"),
        ", ",
        chunk_id!("n", "d"),
        "
          FROM document d JOIN chunk c ON c.document = d.id AND c.retracted_at IS NULL
          JOIN chunk n ON n.document = d.id AND n.retracted_at IS NULL AND n.ordinal =
              (SELECT min(x.ordinal) FROM chunk x
               WHERE x.document = d.id AND x.retracted_at IS NULL AND x.ordinal > c.ordinal)
          WHERE d.namespace = ?1 AND d.retracted_at IS NULL ORDER BY d.uri, c.ordinal"
    ),
};

/// From a document to the entity that stands for it.
pub(crate) const ABOUT: GraphTable = GraphTable {
    name: "ABOUT",
    kind: TableKind::Edge {
        from: "Document",
        to: "Entity",
    },
    columns: &[column("source", Text), column("target", Text)],
    sql: "SELECT d.public_id, e.public_id
          FROM document d JOIN entity e ON e.id = d.entity AND e.retracted_at IS NULL
          WHERE d.namespace = ?1 AND d.retracted_at IS NULL ORDER BY d.uri",
};

/// From an entity to its community, one a level.
pub(crate) const IN_COMMUNITY: GraphTable = GraphTable {
    name: "IN_COMMUNITY",
    kind: TableKind::Edge {
        from: "Entity",
        to: "Community",
    },
    columns: &[
        column("source", Text),
        column("target", Text),
        column("level", Integer),
    ],
    sql: "SELECT e.public_id, 'community-' || m.community, m.level
          FROM membership m JOIN entity e ON e.id = m.entity AND e.retracted_at IS NULL
          WHERE e.namespace = ?1 ORDER BY m.level, m.community, e.public_id",
};

/// From a community to the coarser one that holds it.
pub(crate) const WITHIN: GraphTable = GraphTable {
    name: "WITHIN",
    kind: TableKind::Edge {
        from: "Community",
        to: "Community",
    },
    columns: &[column("source", Text), column("target", Text)],
    sql: "SELECT 'community-' || c.id, 'community-' || c.parent
          FROM community c WHERE c.namespace = ?1 AND c.parent IS NOT NULL ORDER BY c.level, c.id",
};

/// Where relations are stated, a row a place.
pub(crate) const EVIDENCE: GraphTable = GraphTable {
    name: "Evidence",
    kind: TableKind::Detail,
    columns: &[
        column("relation", Text),
        column("document", Text),
        column("chunk", Text),
        column("start", Integer),
        column("end", Integer),
        column("quote", Text),
    ],
    sql: concat!(
        "SELECT ",
        relation_id!(),
        ", d.public_id, ",
        chunk_id!("c", "d"),
        ", v.start, v.\"end\", v.quote
          FROM relation r JOIN entity a ON a.id = r.source JOIN entity b ON b.id = r.target
          JOIN relation_type t ON t.id = r.type
          JOIN evidence v ON v.relation = r.id AND (?2 OR v.retracted_at IS NULL)
          JOIN document d ON d.id = v.document
          LEFT JOIN chunk c ON c.id = v.chunk AND c.retracted_at IS NULL
          WHERE r.namespace = ?1 AND (?2 OR coalesce(r.retracted_at, a.retracted_at,
                                                     b.retracted_at) IS NULL)
          ORDER BY t.key, a.public_id, b.public_id, r.version, d.uri, v.start"
    ),
};

/// Vectors of chunks, where a model has made them; one row a chunk and space.
pub(crate) const EMBEDDING: GraphTable = GraphTable {
    name: "Embedding",
    kind: TableKind::Detail,
    columns: &[
        column("chunk", Text),
        column("space", Integer),
        column("vector", Floats),
    ],
    sql: concat!(
        "SELECT ",
        chunk_id!("c", "d"),
        ", v.space, v.vector
          FROM embedding v JOIN chunk c ON c.id = v.chunk AND c.retracted_at IS NULL
          JOIN document d ON d.id = c.document AND d.retracted_at IS NULL
          WHERE d.namespace = ?1 ORDER BY v.space, d.uri, c.ordinal"
    ),
};

/// Nodes of a property graph.
pub(crate) const NODES: &[&GraphTable] = &[&ENTITY, &DOCUMENT, &CHUNK, &COMMUNITY];

/// Edges between entities and what they stand in; relations are apart, because each has its own type.
pub(crate) const EDGES: &[&GraphTable] =
    &[&MENTIONS, &PART_OF, &NEXT, &ABOUT, &IN_COMMUNITY, &WITHIN];

/// Reads the tables of one namespace, the same state of the store for all of them as long as its
/// transaction lives.
pub(crate) struct GraphReader<'a> {
    connection: &'a Connection,
    /// None when the namespace has never been written to; it then has no rows.
    namespace: Option<NamespaceId>,
    /// Hand over retracted relations and entities too.
    history: bool,
    progress: &'a dyn Progress,
    counts: RefCell<BTreeMap<&'static str, u64>>,
}

impl<'a> GraphReader<'a> {
    pub(crate) fn new(
        connection: &'a Connection,
        namespace: Option<NamespaceId>,
        history: bool,
        progress: &'a dyn Progress,
    ) -> Self {
        Self {
            connection,
            namespace,
            history,
            progress,
            counts: RefCell::default(),
        }
    }

    /// Hands over every row of `table`, one cell a column.
    pub(crate) fn rows(
        &self,
        table: &GraphTable,
        each: impl FnMut(&[Cell]) -> Result<()>,
    ) -> Result<()> {
        if let Some(namespace) = self.namespace {
            let count = self.query(table, params![namespace.0, self.history], each)?;
            self.counts.borrow_mut().insert(table.name, count);
        }
        Ok(())
    }

    /// Hands over the rows of one item, whose id the table's statement takes as `?3`.
    pub(crate) fn rows_of(
        &self,
        table: &GraphTable,
        id: &str,
        each: impl FnMut(&[Cell]) -> Result<()>,
    ) -> Result<()> {
        if let Some(namespace) = self.namespace {
            self.query(table, params![namespace.0, self.history, id], each)?;
        }
        Ok(())
    }

    fn query(
        &self,
        table: &GraphTable,
        parameters: &[&dyn ToSql],
        mut each: impl FnMut(&[Cell]) -> Result<()>,
    ) -> Result<u64> {
        let mut statement = self.connection.prepare_cached(table.sql)?;
        // A statement takes as many of them as it names.
        let taken = statement.parameter_count();
        for (index, value) in (1..).zip(parameters).take(taken) {
            statement.raw_bind_parameter(index, value)?;
        }
        let mut rows = statement.raw_query();
        let mut cells = Vec::with_capacity(table.columns.len());
        let mut count = 0;
        while let Some(row) = rows.next()? {
            if self.progress.interrupted() {
                return Err(Error::Interrupted);
            }
            cells.clear();
            for (index, column) in table.columns.iter().enumerate() {
                cells.push(cell(row, index, column.kind)?);
            }
            each(&cells)?;
            count += 1;
        }
        Ok(count)
    }

    /// Number of rows of every table that was read to its end, by name.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.counts.borrow().clone()
    }
}

fn cell(row: &Row<'_>, index: usize, kind: ColumnKind) -> Result<Cell> {
    let value = row.get_ref(index)?;
    if value == ValueRef::Null {
        return Ok(Cell::Null);
    }
    Ok(match kind {
        Text => Cell::Text(row.get(index)?),
        Json => Cell::Json(row.get(index)?),
        Texts => {
            let json: String = row.get(index)?;
            Cell::Texts(serde_json::from_str(&json).unwrap_or_default())
        }
        Floats => {
            let bytes: Vec<u8> = row.get(index)?;
            let (numbers, _) = bytes.as_chunks::<4>();
            Cell::Floats(
                numbers
                    .iter()
                    .map(|&bytes| f32::from_le_bytes(bytes))
                    .collect(),
            )
        }
        Integer => Cell::Integer(row.get(index)?),
        Real => Cell::Real(row.get(index)?),
        Boolean => Cell::Boolean(row.get(index)?),
        Time => Cell::Time(row.get(index)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_one_kind_of_value_everywhere() {
        let mut kinds = BTreeMap::new();
        for table in NODES.iter().chain(EDGES).chain(&[&RELATION]) {
            let first: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
            match table.kind {
                TableKind::Edge { .. } => assert_eq!(first[..2], ["source", "target"]),
                _ => assert_eq!(first[0], "id"),
            }
            for column in table.columns {
                let kind = *kinds.entry(column.name).or_insert(column.kind);
                assert_eq!(kind, column.kind, "{}.{}", table.name, column.name);
            }
        }
    }
}
