-- Format version 1. Later tiers add tables; nothing here may need a break.
-- Times are milliseconds UTC. Windows are half-open; NULL in an end column means open.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Grows with every committed change of content: tells whether a cache beside the store is fresh.
INSERT INTO meta VALUES ('generation', '0');

CREATE TABLE namespace (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
INSERT INTO namespace VALUES (1, 'default');

-- A folder or file that was indexed. `label` is the prefix of its documents' uris.
CREATE TABLE source (
    id INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    label TEXT NOT NULL,
    root TEXT NOT NULL,
    convention TEXT NOT NULL DEFAULT 'obsidian',
    UNIQUE (namespace, label)
);

-- One row a file seen: what incremental runs compare with. A file may hold many documents.
CREATE TABLE file (
    source INTEGER NOT NULL REFERENCES source(id),
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    content_hash BLOB NOT NULL,
    -- indexed | skipped | failed | attachment
    status TEXT NOT NULL,
    PRIMARY KEY (source, path)
) WITHOUT ROWID;

-- What was left out or odd, and why. Rewritten with its file.
CREATE TABLE issue (
    source INTEGER NOT NULL REFERENCES source(id),
    path TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    -- skipped | failed | warning
    severity TEXT NOT NULL,
    line INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (source, path, ordinal)
) WITHOUT ROWID;

CREATE TABLE document (
    id INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    public_id TEXT NOT NULL,
    uri TEXT NOT NULL,
    source INTEGER REFERENCES source(id),
    -- path of the file in its source; several documents may share one file
    path TEXT,
    -- the entity that stands for it; rows that share a title share one
    entity INTEGER NOT NULL REFERENCES entity(id),
    title TEXT NOT NULL,
    kind TEXT NOT NULL,
    language TEXT NOT NULL,
    content_hash BLOB NOT NULL,
    front_matter TEXT,
    -- JSON array of its other names
    aliases TEXT,
    -- extracted text, where the file itself is not the text
    text TEXT,
    valid_from INTEGER,
    valid_from_written TEXT,
    observed_at INTEGER,
    recorded_at INTEGER NOT NULL,
    retracted_at INTEGER
);
CREATE UNIQUE INDEX document_uri ON document (namespace, uri) WHERE retracted_at IS NULL;
CREATE INDEX document_file ON document (source, path) WHERE retracted_at IS NULL;
CREATE INDEX document_public ON document (public_id);
CREATE INDEX document_entity ON document (entity);

CREATE TABLE document_tag (
    document INTEGER NOT NULL REFERENCES document(id),
    folded TEXT NOT NULL,
    written TEXT NOT NULL,
    PRIMARY KEY (document, folded)
) WITHOUT ROWID;
CREATE INDEX document_tag_folded ON document_tag (folded);

CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES document(id),
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    line INTEGER NOT NULL,
    -- JSON array, outermost first
    heading_path TEXT NOT NULL,
    text TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    -- over title, heading path, language and text: a chunk of equal hash is kept as it is
    hash BLOB NOT NULL,
    recorded_at INTEGER NOT NULL,
    retracted_at INTEGER
);
CREATE INDEX chunk_document ON chunk (document, ordinal) WHERE retracted_at IS NULL;

-- Terms that our own tokenizer made; rowid = chunk.id; only current chunks are in it.
CREATE VIRTUAL TABLE chunk_fts USING fts5(
    title, heading, body,
    content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_+#.-@:/&$%'"
);
-- Bytes of terms that are gathered before they are sorted and written: large runs cost half as much as with 1 MB.
INSERT INTO chunk_fts (chunk_fts, rank) VALUES ('hashsize', 8388608);
-- Its terms with their document frequencies; holds no data of its own.
CREATE VIRTUAL TABLE chunk_fts_term USING fts5vocab(chunk_fts, row);

CREATE TABLE entity (
    id INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    public_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    properties TEXT,
    recorded_at INTEGER NOT NULL,
    retracted_at INTEGER,
    UNIQUE (namespace, kind, key)
);
CREATE INDEX entity_public ON entity (public_id);

-- Type is evidence, not identity: an entity has any number of types.
CREATE TABLE entity_type (
    entity INTEGER NOT NULL REFERENCES entity(id),
    type TEXT NOT NULL,
    -- where it was said: front matter, import, a chunk
    evidence TEXT NOT NULL,
    PRIMARY KEY (entity, type, evidence)
) WITHOUT ROWID;

CREATE TABLE alias (
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    folded TEXT NOT NULL,
    entity INTEGER NOT NULL REFERENCES entity(id),
    source TEXT NOT NULL,
    written TEXT NOT NULL,
    squashed TEXT NOT NULL,
    confidence REAL NOT NULL DEFAULT 1.0,
    PRIMARY KEY (namespace, folded, entity, source)
) WITHOUT ROWID;
CREATE INDEX alias_squashed ON alias (namespace, squashed);
CREATE INDEX alias_entity ON alias (entity);

-- In how many current chunks a name was discovered, by spelling. The vocabulary follows from it.
CREATE TABLE name_count (
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    folded TEXT NOT NULL,
    written TEXT NOT NULL,
    chunks INTEGER NOT NULL,
    PRIMARY KEY (namespace, folded, written)
) WITHOUT ROWID;

CREATE TABLE mention (
    chunk INTEGER NOT NULL REFERENCES chunk(id),
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    entity INTEGER NOT NULL REFERENCES entity(id),
    -- link | tag | name | llm
    how TEXT NOT NULL,
    PRIMARY KEY (chunk, start, entity, how)
) WITHOUT ROWID;

CREATE TABLE link (
    id INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES document(id),
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    line INTEGER NOT NULL,
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    -- folded last segment of the target: what a new or vanished note is looked up by
    key TEXT NOT NULL,
    -- the last segment as names are folded: an open link makes it a name
    form TEXT NOT NULL,
    anchor TEXT,
    label TEXT,
    relation TEXT,
    -- the line that holds the link: bytes [quote_start, quote_start + length of quote) of the document's text
    quote_start INTEGER NOT NULL,
    quote TEXT NOT NULL,
    -- resolved | unresolved | ambiguous | attachment | external
    status TEXT NOT NULL,
    rule TEXT,
    resolved INTEGER REFERENCES document(id),
    -- JSON array of uris when ambiguous; path when attachment
    candidates TEXT
);
CREATE INDEX link_document ON link (document);
CREATE INDEX link_key ON link (key);
CREATE INDEX link_open ON link (form) WHERE status IN ('unresolved', 'ambiguous');
CREATE INDEX link_resolved ON link (resolved) WHERE resolved IS NOT NULL;

CREATE TABLE relation_type (
    id INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    -- folded name
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (namespace, key)
);

CREATE TABLE relation (
    source INTEGER NOT NULL REFERENCES entity(id),
    target INTEGER NOT NULL REFERENCES entity(id),
    type INTEGER NOT NULL REFERENCES relation_type(id),
    -- 1 for the first window, then up
    version INTEGER NOT NULL,
    id INTEGER NOT NULL,
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    fact TEXT,
    properties TEXT,
    weight REAL NOT NULL,
    confidence REAL NOT NULL DEFAULT 1.0,
    exclusive INTEGER NOT NULL DEFAULT 0,
    valid_from INTEGER,
    valid_from_written TEXT,
    valid_to INTEGER,
    valid_to_written TEXT,
    recorded_at INTEGER NOT NULL,
    retracted_at INTEGER,
    observed_at INTEGER,
    superseded_by INTEGER,
    -- link | import | stated | llm
    origin TEXT NOT NULL,
    PRIMARY KEY (source, target, type, version)
) WITHOUT ROWID;
CREATE INDEX relation_reverse ON relation (target, source, type, version);
CREATE UNIQUE INDEX relation_id ON relation (id);

-- No derived row without evidence. `chunk` is NULL for what a file states outside its chunks (front matter, import).
CREATE TABLE evidence (
    relation INTEGER NOT NULL REFERENCES relation(id),
    document INTEGER NOT NULL REFERENCES document(id),
    -- bytes in the document's text
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    chunk INTEGER REFERENCES chunk(id),
    quote TEXT NOT NULL,
    retracted_at INTEGER,
    PRIMARY KEY (relation, document, start)
) WITHOUT ROWID;
CREATE INDEX evidence_document ON evidence (document);

CREATE TABLE community (
    id INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    -- 0 is the coarsest
    level INTEGER NOT NULL,
    parent INTEGER REFERENCES community(id),
    title TEXT,
    summary TEXT,
    report TEXT,
    rating REAL,
    content_hash BLOB,
    stale INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE membership (
    entity INTEGER NOT NULL REFERENCES entity(id),
    level INTEGER NOT NULL,
    community INTEGER NOT NULL REFERENCES community(id),
    PRIMARY KEY (entity, level)
) WITHOUT ROWID;

CREATE TABLE embedding (
    space INTEGER NOT NULL,
    chunk INTEGER NOT NULL REFERENCES chunk(id),
    vector BLOB NOT NULL,
    PRIMARY KEY (space, chunk)
) WITHOUT ROWID;

-- Every indexing run, with what it did (an IngestReport as JSON).
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    started_at INTEGER NOT NULL,
    finished_at INTEGER,
    report TEXT
);

-- The present of the default namespace under the names of the first GraphRAG scripts. Ids are text.
-- They do not touch the full-text index, so that any sqlite3 shell can read them.
CREATE VIEW nodes (id, label, name, type, "desc", degree) AS
SELECT e.public_id, coalesce(t.type, 'Entity'), e.name, t.type, e.description,
       (SELECT count(*) FROM relation r
        WHERE r.source = e.id AND r.retracted_at IS NULL
          AND coalesce(r.valid_from, -9e18) <= n.ms AND n.ms < coalesce(r.valid_to, 9e18))
     + (SELECT count(*) FROM relation r
        WHERE r.target = e.id AND r.source <> e.id AND r.retracted_at IS NULL
          AND coalesce(r.valid_from, -9e18) <= n.ms AND n.ms < coalesce(r.valid_to, 9e18))
FROM entity e
JOIN namespace s ON s.id = e.namespace AND s.name = 'default'
JOIN (SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS ms) n
-- the type that most evidence supports
LEFT JOIN entity_type t ON t.entity = e.id AND (t.type, t.evidence) = (
    SELECT x.type, min(x.evidence) FROM entity_type x WHERE x.entity = e.id
    GROUP BY x.type ORDER BY count(*) DESC, x.type LIMIT 1)
WHERE e.retracted_at IS NULL;

CREATE VIEW edges (src, dst, rel, weight, source_chunk) AS
SELECT a.public_id, b.public_id, t.name, r.weight,
       (SELECT CAST(v.chunk AS TEXT) FROM evidence v
        WHERE v.relation = r.id AND v.chunk IS NOT NULL AND v.retracted_at IS NULL
        ORDER BY v.document, v.start LIMIT 1)
FROM relation r
JOIN namespace s ON s.id = r.namespace AND s.name = 'default'
JOIN (SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS ms) n
JOIN entity a ON a.id = r.source
JOIN entity b ON b.id = r.target
JOIN relation_type t ON t.id = r.type
WHERE r.retracted_at IS NULL
  AND coalesce(r.valid_from, -9e18) <= n.ms AND n.ms < coalesce(r.valid_to, 9e18);

-- Both the folded form and the lower-case form as written can be looked up.
CREATE VIEW aliases (alias, alias_sq, node_id) AS
SELECT a.folded, a.squashed, e.public_id FROM alias a
JOIN namespace s ON s.id = a.namespace AND s.name = 'default'
JOIN entity e ON e.id = a.entity AND e.retracted_at IS NULL
UNION
SELECT lower(a.written), a.squashed, e.public_id FROM alias a
JOIN namespace s ON s.id = a.namespace AND s.name = 'default'
JOIN entity e ON e.id = a.entity AND e.retracted_at IS NULL;

CREATE VIEW chunks (id, text, vector) AS
SELECT CAST(c.id AS TEXT), c.text,
       (SELECT m.vector FROM embedding m WHERE m.chunk = c.id ORDER BY m.space LIMIT 1)
FROM chunk c
JOIN document d ON d.id = c.document
JOIN namespace s ON s.id = d.namespace AND s.name = 'default'
WHERE c.retracted_at IS NULL;

CREATE VIEW communities (community_id, level, title, report, summary) AS
SELECT c.id, c.level, c.title, c.report, c.summary FROM community c
JOIN namespace s ON s.id = c.namespace AND s.name = 'default';

CREATE VIEW memberships (node_id, community_id, level) AS
SELECT e.public_id, m.community, m.level FROM membership m
JOIN entity e ON e.id = m.entity AND e.retracted_at IS NULL
JOIN namespace s ON s.id = e.namespace AND s.name = 'default';
