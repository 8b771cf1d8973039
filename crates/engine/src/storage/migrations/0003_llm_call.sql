-- Calls of language models: the reply cache and the bill at once.

-- One row a call that came back, stored before anything reads the reply.
CREATE TABLE llm_call (
    id INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    -- SHA-256 over all that shaped the reply: step, model, messages, limits, schema
    key BLOB NOT NULL,
    -- extraction | repair | report | answer and so on
    step TEXT NOT NULL,
    -- the model that was asked for, and the one of its fallback chain that answered
    model TEXT NOT NULL,
    answered_by TEXT NOT NULL,
    -- uri of the document it was about: the bill outlives the document
    document TEXT,
    -- NULL: the call failed, and `error` says how
    reply TEXT,
    error TEXT,
    -- why the reply could not be used: it is kept for the bill and asked for anew
    rejected TEXT,
    is_truncated INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    -- in the currency of the price table of that day; NULL where it had no price
    cost REAL,
    retries INTEGER NOT NULL DEFAULT 0,
    waited_ms INTEGER NOT NULL DEFAULT 0,
    took_ms INTEGER NOT NULL DEFAULT 0,
    -- how often the stored reply served again
    hits INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX llm_call_key ON llm_call (namespace, key) WHERE reply IS NOT NULL AND rejected IS NULL;

-- A call that a process is making now, so that no other one makes it too. One that is not renewed
-- belonged to a process that is gone.
CREATE TABLE job (
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    key BLOB NOT NULL,
    owner TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, key)
) WITHOUT ROWID;
CREATE INDEX job_owner ON job (owner);
