-- The ledger: what agents were asked and did, as their transcripts tell.

-- A transcript that was read, and how far.
CREATE TABLE transcript (
    id INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    path TEXT NOT NULL,
    -- byte at which the last turn begins, which may have grown since
    resume_at INTEGER NOT NULL DEFAULT 0,
    -- hash over the first and the last bytes before it: tells a file that grew from one that was rewritten
    fingerprint TEXT NOT NULL DEFAULT '',
    -- what earlier lines said that later ones do not repeat
    session TEXT NOT NULL DEFAULT '',
    folder TEXT NOT NULL DEFAULT '',
    UNIQUE (namespace, path)
);

CREATE TABLE turn (
    id INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    -- over session, time and question: a turn keeps its row when its file is renamed, copied or rewritten
    key TEXT NOT NULL,
    transcript INTEGER NOT NULL REFERENCES transcript(id),
    -- bytes of the transcript; NULL when it does not hold the turn any more
    start INTEGER,
    "end" INTEGER,
    session TEXT NOT NULL,
    asked_at INTEGER,
    answered_at INTEGER,
    question TEXT NOT NULL,
    answer TEXT NOT NULL,
    -- JSON arrays
    tools TEXT NOT NULL,
    commands TEXT NOT NULL,
    UNIQUE (namespace, key)
);
CREATE INDEX turn_transcript ON turn (transcript, start);
CREATE INDEX turn_asked ON turn (namespace, asked_at);

-- Files that a turn's tools read or changed, absolute where the transcript told the folder.
CREATE TABLE turn_file (
    turn INTEGER NOT NULL REFERENCES turn(id),
    path TEXT NOT NULL,
    PRIMARY KEY (turn, path)
) WITHOUT ROWID;
CREATE INDEX turn_file_path ON turn_file (path);

CREATE TABLE turn_decision (
    turn INTEGER NOT NULL REFERENCES turn(id),
    ordinal INTEGER NOT NULL,
    text TEXT NOT NULL,
    -- bytes of the transcript's line that holds it
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    PRIMARY KEY (turn, ordinal)
) WITHOUT ROWID;

-- Why a hook could not do its work: a row a failure.
CREATE TABLE ledger_log (
    id INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    at INTEGER NOT NULL,
    reason TEXT NOT NULL
);

-- Terms of our own tokenizer; rowid = turn.id.
CREATE VIRTUAL TABLE turn_fts USING fts5(
    body, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_+#.-@:/&$%'"
);

-- Which turns touched which documents of the store.
CREATE VIEW turn_document (turn, document) AS
SELECT f.turn, d.id FROM turn_file f
JOIN turn t ON t.id = f.turn
JOIN source s ON s.namespace = t.namespace
    AND substr(f.path, 1, length(s.root) + 1) = s.root || '/'
JOIN document d ON d.source = s.id AND d.path = substr(f.path, length(s.root) + 2)
    AND d.retracted_at IS NULL;
