-- What the numbers in `embedding.space` mean. One space of a namespace is active; another one may be
-- filled beside it, and takes its place in one transaction.
CREATE TABLE embedding_space (
    id INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace(id),
    model TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    query_prefix TEXT NOT NULL,
    passage_prefix TEXT NOT NULL,
    pooling TEXT NOT NULL,
    is_normalized INTEGER NOT NULL,
    -- active | building
    state TEXT NOT NULL,
    -- changes with every stored vector: tells whether a cache is fresh
    generation INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    UNIQUE (namespace, state)
);

-- Chunks for which the model gave no usable vector; they are tried again by the next run.
CREATE TABLE embedding_failure (
    space INTEGER NOT NULL REFERENCES embedding_space(id),
    chunk INTEGER NOT NULL REFERENCES chunk(id),
    reason TEXT NOT NULL,
    PRIMARY KEY (space, chunk)
) WITHOUT ROWID;
