//! The tables: what each is made of.

use super::ColumnKind::{Boolean, Floats, Integer, Json, Real, Text, Texts, Time};
use super::{GraphTable, TableKind, column};

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

/// Where current chunks come from, and their order. Names the chunk `c` and its document `d`.
macro_rules! chunks {
    ($joined:literal) => {
        concat!(
            " FROM document d JOIN chunk c ON c.document = d.id AND c.retracted_at IS NULL ",
            $joined,
            " WHERE d.namespace = ?1 AND d.retracted_at IS NULL ORDER BY d.uri, c.ordinal"
        )
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
        ", c.ordinal, c.start, c.\"end\", c.line, c.heading_path, c.text, c.tokens, c.recorded_at",
        chunks!("")
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

/// Where relations come from, and their order. Names the relation `r`, its ends `a` and `b`, its type `t`.
macro_rules! relations {
    ($joined:literal) => {
        concat!(
            " FROM relation r JOIN entity a ON a.id = r.source JOIN entity b ON b.id = r.target
              JOIN relation_type t ON t.id = r.type ",
            $joined,
            " WHERE r.namespace = ?1
                  AND (?2 OR coalesce(r.retracted_at, a.retracted_at, b.retracted_at) IS NULL)
              ORDER BY t.key, a.public_id, b.public_id, r.version"
        )
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
                 ORDER BY d.uri, v.start))",
        relations!("")
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
        ", e.public_id, m.how, m.start, m.\"end\"",
        chunks!(
            "JOIN mention m ON m.chunk = c.id
             JOIN entity e ON e.id = m.entity AND e.retracted_at IS NULL"
        ),
        ", m.start, e.public_id, m.how"
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
    sql: concat!("SELECT ", chunk_id!("c", "d"), ", d.public_id", chunks!("")),
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
        chunks!(
            "JOIN chunk n ON n.document = d.id AND n.retracted_at IS NULL AND n.ordinal =
              (SELECT min(x.ordinal) FROM chunk x
               WHERE x.document = d.id AND x.retracted_at IS NULL AND x.ordinal > c.ordinal)"
        )
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
        ", v.start, v.\"end\", v.quote",
        relations!(
            "JOIN evidence v ON v.relation = r.id AND (?2 OR v.retracted_at IS NULL)
             JOIN document d ON d.id = v.document
             LEFT JOIN chunk c ON c.id = v.chunk AND c.retracted_at IS NULL"
        ),
        ", d.uri, v.start"
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
