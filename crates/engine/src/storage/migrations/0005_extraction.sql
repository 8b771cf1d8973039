-- Extraction by a chat model: how it is asked, what was left out and why.

-- Every way that a namespace was extracted, newest last: replies to an earlier one serve as long as it
-- asked for no less.
CREATE TABLE schema_version (
    id INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    model TEXT NOT NULL,
    -- schema, prompts, sizes as JSON
    settings TEXT NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE INDEX schema_version_namespace ON schema_version (namespace, id);

-- Passages whose reply could not be used (the next run asks again), and items of good replies that were
-- not stored. Derived anew by every run; only `dropped` is the user's.
CREATE TABLE quarantine (
    id INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    -- SHA-256 over document, passage, kind and item
    hash BLOB NOT NULL,
    document INTEGER NOT NULL REFERENCES document(id),
    chunk INTEGER NOT NULL REFERENCES chunk(id),
    -- passage | entity | relation | item
    kind TEXT NOT NULL,
    item TEXT NOT NULL,
    reason TEXT NOT NULL,
    -- 1: the user wants no more of it; a passage is then not asked for again
    dropped INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    UNIQUE (namespace, hash)
);
CREATE INDEX quarantine_document ON quarantine (document);

-- index | extract and so on: what a run was.
ALTER TABLE run ADD COLUMN kind TEXT NOT NULL DEFAULT 'index';
