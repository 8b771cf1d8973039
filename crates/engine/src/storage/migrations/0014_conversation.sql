-- Questions that go on with each other (`malha ask --session NAME`), with their answers.
CREATE TABLE conversation (
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    name TEXT NOT NULL,
    -- place in the conversation, from 1
    ordinal INTEGER NOT NULL,
    question TEXT NOT NULL,
    answer TEXT NOT NULL,
    -- JSON array: names that the question was about, for the next one that names nothing
    subject TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, name, ordinal)
) WITHOUT ROWID;
