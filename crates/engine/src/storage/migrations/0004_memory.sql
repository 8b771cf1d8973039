-- What people and agents give to remember, and what must not come back.

CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    name TEXT NOT NULL,
    UNIQUE (namespace, name)
);

-- A document of kind `episode`: a turn of a conversation, or facts given directly.
CREATE TABLE episode (
    document INTEGER PRIMARY KEY REFERENCES document(id),
    session INTEGER NOT NULL REFERENCES session(id),
    -- place in its session, from 1
    ordinal INTEGER NOT NULL,
    speaker INTEGER REFERENCES entity(id),
    said_at INTEGER NOT NULL,
    said_at_written TEXT
);
CREATE INDEX episode_session ON episode (session, ordinal);

-- One call that changed what is known: it can be undone.
CREATE TABLE operation (
    id INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    at INTEGER NOT NULL,
    -- remember | correct | undo
    kind TEXT NOT NULL,
    summary TEXT NOT NULL,
    -- JSON array of the paths of its episodes
    episodes TEXT NOT NULL,
    undone_at INTEGER
);
CREATE INDEX operation_namespace ON operation (namespace, id);

-- The facts that an operation took back.
CREATE TABLE operation_fact (
    operation INTEGER NOT NULL REFERENCES operation(id),
    relation INTEGER NOT NULL REFERENCES relation(id),
    PRIMARY KEY (operation, relation)
) WITHOUT ROWID;

-- What was forgotten or corrected and must not come back: keyed hashes only, so that the store does not say what.
CREATE TABLE tombstone (
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    -- document | entity | fact
    kind TEXT NOT NULL,
    hash BLOB NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (namespace, kind, hash)
) WITHOUT ROWID;
