//! What a note about one entity, document or community tells: tables of one item's rows.

use super::graph_table::{ColumnKind, GraphTable, TableKind, column};

use ColumnKind::{Boolean, Integer, Json, Text, Texts, Time};

/// Relations of the entity `?3`, those from it first. `quotes` is a list of `[document id, document
/// title, quote]`.
pub(crate) const RELATIONS_OF_ENTITY: GraphTable = GraphTable {
    name: "relations of an entity",
    kind: TableKind::Detail,
    columns: &[
        column("outgoing", Boolean),
        column("type", Text),
        column("other_id", Text),
        column("other_name", Text),
        column("fact", Text),
        column("valid_from", Time),
        column("valid_to", Time),
        column("retracted_at", Time),
        column("quotes", Json),
    ],
    sql: "SELECT outgoing, t.name, o.public_id, o.name, r.fact, r.valid_from, r.valid_to,
              r.retracted_at,
              (SELECT json_group_array(json_array(public_id, title, quote)) FROM
                  (SELECT d.public_id, d.title, v.quote
                   FROM evidence v JOIN document d ON d.id = v.document
                   WHERE v.relation = r.id AND d.retracted_at IS NULL
                       AND (?2 OR v.retracted_at IS NULL)
                   ORDER BY d.uri, v.start))
          FROM (SELECT 1 AS outgoing, r.target AS other, r.* FROM entity e
                JOIN relation r ON r.source = e.id
                WHERE e.public_id = ?3 AND e.namespace = ?1
                UNION ALL
                SELECT 0, r.source, r.* FROM entity e JOIN relation r ON r.target = e.id
                WHERE e.public_id = ?3 AND e.namespace = ?1) r
          JOIN entity o ON o.id = r.other JOIN relation_type t ON t.id = r.type
          WHERE r.namespace = ?1 AND (?2 OR coalesce(r.retracted_at, o.retracted_at) IS NULL)
          ORDER BY outgoing DESC, t.key, o.name, o.public_id, r.version",
};

/// Documents that mention the entity `?3`, and whether it stands for the document.
pub(crate) const DOCUMENTS_OF_ENTITY: GraphTable = GraphTable {
    name: "documents of an entity",
    kind: TableKind::Detail,
    columns: &[
        column("id", Text),
        column("title", Text),
        column("mentions", Integer),
        column("about", Boolean),
    ],
    sql: "SELECT d.public_id, d.title, sum(mentions), max(about) FROM
              (SELECT c.document, count(*) AS mentions, 0 AS about FROM entity e
               JOIN mention m ON m.entity = e.id
               JOIN chunk c ON c.id = m.chunk AND c.retracted_at IS NULL
               WHERE e.public_id = ?3 AND e.namespace = ?1 AND (?2 OR e.retracted_at IS NULL)
               GROUP BY c.document
               UNION ALL
               SELECT d.id, 0, 1 FROM entity e JOIN document d ON d.entity = e.id
               WHERE e.public_id = ?3 AND e.namespace = ?1) x
          JOIN document d ON d.id = x.document
          WHERE d.namespace = ?1 AND d.retracted_at IS NULL GROUP BY d.id ORDER BY d.uri",
};

/// Chunks of the document `?3`, in order.
pub(crate) const CHUNKS_OF_DOCUMENT: GraphTable = GraphTable {
    name: "chunks of a document",
    kind: TableKind::Detail,
    columns: &[
        column("line", Integer),
        column("heading_path", Texts),
        column("text", Text),
    ],
    sql: "SELECT c.line, c.heading_path, c.text FROM document d
          JOIN chunk c ON c.document = d.id AND c.retracted_at IS NULL
          WHERE d.public_id = ?3 AND d.namespace = ?1 AND d.retracted_at IS NULL
          ORDER BY c.ordinal",
};

/// Entities of the community `?3`.
pub(crate) const ENTITIES_OF_COMMUNITY: GraphTable = GraphTable {
    name: "entities of a community",
    kind: TableKind::Detail,
    columns: &[column("id", Text), column("name", Text)],
    sql: "SELECT e.public_id, e.name FROM membership m JOIN entity e ON e.id = m.entity
          WHERE m.community = CAST(substr(?3, length('community-') + 1) AS INTEGER)
              AND e.namespace = ?1 AND (?2 OR e.retracted_at IS NULL)
          ORDER BY e.name, e.public_id",
};
