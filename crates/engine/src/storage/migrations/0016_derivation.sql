-- Passages that were asked about together, and what each passage was found to say.

-- Which part of a reply to several requests answers the request of a key. The reply is in `llm_call`.
CREATE TABLE llm_part (
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    -- of the request as it would be alone
    key BLOB NOT NULL,
    call INTEGER NOT NULL REFERENCES llm_call(id),
    -- from 1
    number INTEGER NOT NULL,
    PRIMARY KEY (namespace, key)
) WITHOUT ROWID;

-- What a passage says, read from its reply and checked, so that a run reads only what is new. It follows from
-- the reply, the passage and the schema, and can be deleted.
CREATE TABLE derivation (
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    document INTEGER NOT NULL REFERENCES document(id),
    -- first byte of the passage
    start INTEGER NOT NULL,
    -- SHA-256 over all that it follows from
    fingerprint BLOB NOT NULL,
    -- as JSON
    found TEXT NOT NULL,
    PRIMARY KEY (namespace, document, start)
) WITHOUT ROWID;
